//! Functions that several schedulers for graphs of moldable tasks share. These schedulers choose all allotments before
//! they place tasks, or place each task on one cluster.

mod allotted;

use makespan_core::{Instance, Schedule, Unsupported};

use super::{INSTEAD, needs_open_processors, packed};
use crate::kernel::clusters::{ClusterId, Clusters};
use crate::kernel::packing::{Packing, Row};
use crate::plan::Plan;

pub use allotted::PlacingRule;
pub(super) use allotted::{named, planned, supports};

/// Returns the packing of an instance for schedulers that place each task on a cluster after earlier tasks. Returns an
/// error if tasks need more than a number of processors that are always open.
pub(super) fn packing_on_clusters(instance: &Instance) -> Result<Packing<'_>, Unsupported> {
    let refused = |what: &str| Err(Unsupported(format!("{what}, which the algorithm does not support; use {INSTEAD}")));
    packed::needs_no_resources(instance, "algorithm", INSTEAD)?;
    needs_open_processors(instance)?;
    if instance.platform().restricts_placement() {
        return refused("jobs are kept within nodes (placement = compact)");
    }
    if let Some(task) = instance.task_ids().find(|&task| instance.profile(task).machine_times().is_some()) {
        return refused(&format!("`{}` has its own time on each machine", instance.name(task)));
    }
    packed::packing(instance)
}

/// Returns the clusters of a packing. Each task must be able to run on at least one of them.
pub(super) fn clusters<'p, 'a>(packing: &'p Packing<'a>) -> Result<Clusters<'p, 'a>, Unsupported> {
    let clusters = Clusters::new(packing);
    let runs = |row: &_| {
        let mut on = ClusterId::first(clusters.all().len());
        on.any(|cluster| packing.choices_of(*row).any(|choice| clusters.time(*row, choice, cluster).is_some()))
    };
    if let Some(row) = packing.rows().find(|row| !runs(row)) {
        let name = packing.instance().name(packing.first_of(row));
        let clusters = if packing.instance().has_transfers() { "one node" } else { "nodes of one speed" };
        return Err(Unsupported(format!("it runs each task on {clusters}, but `{name}` needs more; use {INSTEAD}")));
    }
    Ok(clusters)
}

/// Places all tasks by decreasing rank. `offered` returns the allotments of a row that are allowed on a cluster. A row
/// is a task or the equal tasks of a bag. Each task gets the cluster and the allotment with which it ends first. If
/// several ends are equal, the task gets the fewest processors, and then the fastest cluster.
pub(super) fn earliest<I: Iterator<Item = u32>>(
    packing: &Packing<'_>,
    mut clusters: Clusters<'_, '_>,
    ranks: &[f64],
    offered: impl Fn(&Clusters<'_, '_>, Row, ClusterId) -> I,
) -> Plan {
    for task in packing.ready_first(|row| -ranks[row.index()]) {
        clusters.see_arrivals(task);
        let row = packing.row_of(task);
        let each = ClusterId::first(clusters.all().len()).flat_map(|cluster| {
            let ends = offered(&clusters, row, cluster).filter_map(|choice| {
                let end = clusters.end(row, choice, cluster)?;
                Some((end, packing.choice(choice).processors, cluster, choice))
            });
            ends.collect::<Vec<_>>()
        });
        let (_, _, cluster, choice) = each.min().expect("each task can run on some cluster");
        clusters.place(task, choice, cluster);
    }
    Schedule::new(clusters.into_placements()).into()
}
