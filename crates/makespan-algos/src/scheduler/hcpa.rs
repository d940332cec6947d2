//! The scheduler HCPA (CPA for heterogeneous platforms).

use makespan_core::{Instance, Objective, Unsupported};

use super::check_supported;
use super::moldable_graph::{clusters, earliest, packing_on_clusters};
use crate::kernel::clusters::{ClusterId, Clusters};
use crate::kernel::critical_area::{CpaLimits, allotments};
use crate::kernel::packing::{Packing, Row};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// CPA for several clusters of different speeds. Allotments are chosen on a reference cluster that has the total power
/// of the platform. On a real cluster, a task gets the fewest processors with which it is at least as fast as on the
/// reference cluster. Each task is placed on the cluster on which it ends first.
///
/// Source: T. N'Takpé, F. Suter, "Critical path and area based scheduling of parallel task graphs on heterogeneous
/// platforms", ICPADS 2006, DOI 10.1109/ICPADS.2006.32; T. N'Takpé, F. Suter, H. Casanova, "A comparison of scheduling
/// approaches for mixed-parallel applications on heterogeneous platforms", ISPDC 2007, DOI 10.1109/ISPDC.2007.3.
/// Assumptions: every task fits onto one cluster. A cluster consists of the nodes of one speed, or of a single node if
/// transfers take time. Guarantee: none. Complexity: O(n m (n + e)) for n tasks with e edges on m processors of the
/// reference cluster. Deviations: processors of the reference cluster are as fast as the slowest processors of the
/// platform. The mean area is computed as in CPA, without the corrections that were published later for few tasks on
/// many processors. The deviations of [`Cpa`](super::Cpa) are also deviations of this scheduler.
///
/// ```
/// use makespan_algos::scheduler::Hcpa;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Node, Platform, Profile, Time};
///
/// let nodes = vec![Node { speed: 2.0, ..Node::new("fast", 1) }, Node::new("slow", 4)];
/// let times = [8, 4, 3, 2].map(Time::from_seconds);
/// let job = Job::new("a", Profile::table(times.to_vec()).unwrap());
/// let instance = Instance::new(Platform::new(nodes).unwrap(), vec![job], vec![]).unwrap();
/// let plan = Hcpa.schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hcpa;

impl Scheduler for Hcpa {
    fn name(&self) -> String {
        "hcpa".into()
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
        let reference = Reference::of(&clusters);
        let limits = CpaLimits {
            slower: reference.slower,
            processors: reference.processors,
            most: reference.most,
            of_level: None,
        };
        let choices = allotments(&packing, &limits);
        let time = |row: Row| reference.slower * packing.fastest(choices[row.index()]) as f64;
        let ranks = packing.ranks_by(time);
        let offered = |clusters: &Clusters<'_, '_>, row: Row, cluster: ClusterId| {
            translated(&packing, clusters, row, cluster, time(row)).into_iter()
        };
        Ok(earliest(&packing, clusters, &ranks, offered))
    }
}

/// The reference cluster.
struct Reference {
    /// The factor by which the run times on the reference cluster exceed the run times on the fastest processors of the
    /// platform.
    slower: f64,
    /// Number of reference processors that together are as fast as the whole platform.
    processors: f64,
    /// Number of reference processors that together are as fast as the most powerful cluster of the platform.
    most: u32,
}

impl Reference {
    fn of(clusters: &Clusters<'_, '_>) -> Self {
        let all = clusters.all();
        let speeds = || all.iter().map(|cluster| cluster.speed);
        let (fastest, slowest) = (speeds().fold(0.0, f64::max), speeds().fold(f64::INFINITY, f64::min));
        let power = || all.iter().map(|cluster| f64::from(cluster.processors()) * cluster.speed / slowest);
        Self { slower: fastest / slowest, processors: power().sum(), most: power().fold(1.0, f64::max) as u32 }
    }
}

/// Returns an allotment for a task on a cluster: the fewest processors with which the task is at least as fast as on
/// the reference cluster. If no allotment is fast enough, returns the allotment with the most processors that the
/// cluster allows.
fn translated(
    packing: &Packing<'_>,
    clusters: &Clusters<'_, '_>,
    row: Row,
    cluster: ClusterId,
    reference: f64,
) -> Option<u32> {
    let mut slower = None;
    for choice in packing.choices_of(row) {
        match clusters.time(row, choice, cluster) {
            Some(time) if time as f64 <= reference => return Some(choice),
            Some(_) => slower = Some(choice),
            None => {}
        }
    }
    slower
}
