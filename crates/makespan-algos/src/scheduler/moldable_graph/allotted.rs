//! Plans graphs. All allotments are chosen before any task is placed.

use makespan_core::{Instance, Unsupported};

use super::{clusters, packing_on_clusters};
use crate::kernel::clusters::{ClusterId, Clusters};
use crate::kernel::packing::Packing;
use crate::plan::{Plan, ScheduleError, Scheduler};
use crate::scheduler::{needs_open_processors, packed};

/// The rule that places tasks with fixed allotments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacingRule {
    /// Tasks are placed by decreasing bottom level. Each task runs on the processors that become free first, as in
    /// CPA.
    #[default]
    FirstFree,
    /// Tasks are placed by a list, forward in time. If a task does not fit yet, later tasks may start before it.
    List,
}

named!(PlacingRule { "first-free" => FirstFree, "list" => List });

/// Returns the spec of the scheduler `name` with the rule `placing`.
pub(in crate::scheduler) fn named(name: &str, placing: PlacingRule) -> String {
    if placing == PlacingRule::default() { name.to_owned() } else { format!("{name}[placing={placing}]") }
}

/// Checks that a rule can place the tasks of an instance. `name` is the name of the scheduler.
pub(in crate::scheduler) fn supports(name: &str, instance: &Instance, placing: PlacingRule) -> Result<(), Unsupported> {
    needs_open_processors(instance)?;
    match placing {
        PlacingRule::List => packed::supports(instance),
        PlacingRule::FirstFree => {
            let instead = |error: Unsupported| Unsupported(format!("{error}, or `{name}[placing=list]`"));
            let packing = packing_on_clusters(instance).map_err(instead)?;
            one_cluster(name, &packing).map(drop)
        }
    }
}

fn one_cluster<'p, 'a>(name: &str, packing: &'p Packing<'a>) -> Result<Clusters<'p, 'a>, Unsupported> {
    let clusters = clusters(packing)?;
    if clusters.all().len() == 1 {
        return Ok(clusters);
    }
    let why = if packing.instance().has_transfers() { "data take time between nodes" } else { "nodes differ in speed" };
    let instead = format!("`hcpa`, `mheft` or `{name}[placing=list]`");
    Err(Unsupported(format!("it supports one cluster of equal processors, but {why}; use {instead}")))
}

/// Returns the plan with the allotments that `allotments` chooses. If these allotments use up too much of a consumable,
/// the allotments are changed.
pub(in crate::scheduler) fn planned(
    scheduler: &dyn Scheduler,
    name: &str,
    instance: &Instance,
    placing: PlacingRule,
    allotments: impl FnOnce(&Packing<'_>) -> Vec<u32>,
) -> Result<Plan, ScheduleError> {
    let unsupported = |reason| ScheduleError::Unsupported { scheduler: scheduler.name(), reason };
    supports(name, instance, placing).map_err(unsupported)?;
    let packing = packed::packing(instance).map_err(unsupported)?;
    let choices = packed::repaired(&packing, allotments(&packing)).map_err(unsupported)?;
    let ranks = packing.ranks(&choices);
    if placing == PlacingRule::List {
        let list = packing.list(&choices, |row| -ranks[row.index()]);
        return packed::planned(scheduler, packed::carried_out(&packing, &list, false));
    }
    let mut clusters = one_cluster(name, &packing).map_err(unsupported)?;
    for task in packing.ready_first(|row| -ranks[row.index()]) {
        clusters.see_arrivals(task);
        clusters.place(task, choices[packing.row_of(task).index()], ClusterId(0));
    }
    Ok(makespan_core::Schedule::new(clusters.into_placements()).into())
}
