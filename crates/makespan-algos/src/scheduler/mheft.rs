//! The scheduler M-HEFT (HEFT for moldable tasks).

use makespan_core::{Instance, Objective, Unsupported};

use super::check_supported;
use super::moldable_graph::{clusters, earliest, packing_on_clusters};
use crate::kernel::clusters::{ClusterId, Clusters};
use crate::kernel::packing::{Packing, Row};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// HEFT for moldable tasks: places tasks by decreasing upward rank. Each task gets the cluster and the allotment with
/// which it ends first.
///
/// Source: H. Casanova, F. Desprez, F. Suter, "From heterogeneous task scheduling to heterogeneous mixed parallel
/// scheduling", Euro-Par 2004, DOI 10.1007/978-3-540-27866-5_30. The limit on allotments is one of the limits of T.
/// N'Takpé, F. Suter, H. Casanova, ISPDC 2007, DOI 10.1109/ISPDC.2007.3. Without this limit, tasks take whole clusters.
/// Assumptions: every task fits onto one cluster. A cluster consists of the nodes of one speed, or of a single node if
/// transfers take time. Guarantee: none. Complexity: O(n (m + log n) + e c) for n tasks with e edges on m processors of
/// c clusters. Deviations: the rank of a task uses its time on its fewest processors, averaged over the clusters that
/// can run it on this number of processors. Each processor runs its tasks in the order in which they are placed, so no
/// task starts in an earlier gap. If several allotments have equal ends, the smallest one is used. An allotment is
/// omitted if a smaller allotment is at least as fast.
///
/// ```
/// use makespan_algos::scheduler::Mheft;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Node, Platform, Profile, Time};
///
/// let nodes = vec![Node { speed: 2.0, ..Node::new("fast", 1) }, Node::new("slow", 4)];
/// let times = [8, 4, 3, 2].map(Time::from_seconds);
/// let job = Job::new("a", Profile::table(times.to_vec()).unwrap());
/// let instance = Instance::new(Platform::new(nodes).unwrap(), vec![job], vec![]).unwrap();
/// let plan = |share| Mheft { share }.schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
/// assert_eq!((plan(100).makespan(), plan(50).makespan()), (Time::from_seconds(2), Time::from_seconds(4)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mheft {
    /// Maximum allotment of a task, in per cent of a cluster. If the smallest allotment of a task exceeds this maximum,
    /// the task gets its smallest allotment.
    pub share: u32,
}

impl Default for Mheft {
    fn default() -> Self {
        Self { share: 100 }
    }
}

impl Scheduler for Mheft {
    fn name(&self) -> String {
        if *self == Self::default() { "mheft".into() } else { format!("mheft[share={}]", self.share) }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        clusters(&packing_on_clusters(instance)?).map(drop)
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, _: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        let unsupported = |reason| ScheduleError::Unsupported { scheduler: self.name(), reason };
        let packing = packing_on_clusters(instance).map_err(unsupported)?;
        let clusters = clusters(&packing).map_err(unsupported)?;
        let ranks = packing.ranks_by(|row| mean_time(&packing, &clusters, row));
        let offered = |clusters: &Clusters<'_, '_>, row: Row, cluster: ClusterId| {
            let processors = clusters.all()[cluster.index()].processors();
            let most = (u64::from(processors) * u64::from(self.share) / 100).max(1) as u32;
            let runs = |choice: &u32| clusters.time(row, *choice, cluster).is_some();
            let fewest = packing.choices_of(row).find(runs);
            let within = packing.choices_of(row).filter(|&choice| packing.choice(choice).processors <= most);
            // A task that needs more than `share` gets its smallest allotment.
            let within: Vec<u32> = within.filter(runs).collect();
            if within.is_empty() { fewest.into_iter().collect() } else { within }.into_iter()
        };
        Ok(earliest(&packing, clusters, &ranks, offered))
    }
}

/// Returns the mean time of a row with its fewest processors, over the clusters that can run the row. A row is a task
/// or the equal tasks of a bag.
fn mean_time(packing: &Packing<'_>, clusters: &Clusters<'_, '_>, row: Row) -> f64 {
    let fewest = |cluster| packing.choices_of(row).find_map(|choice| clusters.time(row, choice, cluster));
    let times: Vec<f64> = ClusterId::first(clusters.all().len()).filter_map(fewest).map(|time| time as f64).collect();
    times.iter().sum::<f64>() / times.len().max(1) as f64
}
