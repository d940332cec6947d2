//! The scheduler CPA (critical path and area).

use makespan_core::{Instance, Objective, Unsupported};

use super::moldable_graph::{self, PlacingRule};
use crate::kernel::critical_area::{CpaLimits, allotments};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Critical path and area: allotments grow along the critical path until the path is at most as long as the mean area
/// (the total area divided by the number of processors). Then the tasks are placed by decreasing bottom level, each on
/// the processors that become free first.
///
/// Source: A. Radulescu, A. van Gemund, "A low-cost approach towards mixed task and data parallel scheduling", Int.
/// Conf. Parallel Processing 2001, DOI 10.1109/ICPP.2001.952048. Assumptions: processors are always open. Without
/// `placing=list`, the processors are one cluster of equal processors. Guarantee: none. Complexity: O(n m (n + e)) for
/// n tasks with e edges on m processors. Deviations: an allotment is omitted if a smaller allotment is at least as
/// fast. The critical path includes the mean times of transfers. Several jobs are planned together, and releases are
/// taken into account only when tasks are placed. With `placing=list`, tasks are placed by a list forward in time. If a
/// task does not fit yet, later tasks of the list may start earlier. The list takes needs and speeds into account.
///
/// ```
/// use makespan_algos::scheduler::Cpa;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Edge, Graph, Instance, Job, NamedTask, Payload, Platform, Profile, Time};
///
/// let seconds = |times: &[i64]| times.iter().map(|&time| Time::from_seconds(time)).collect();
/// let task = |name, times: &[i64]| NamedTask::new(name, Profile::table(seconds(times)).unwrap());
/// let tasks = vec![task("a", &[4, 2]), task("b", &[3, 3]), task("c", &[3, 3])];
/// let edge = |to| Edge { from: 0, to, payload: Payload::Bytes(0) };
/// let job = Job::compound("fork", Graph::new(tasks, vec![edge(1), edge(2)]).unwrap());
/// let instance = Instance::new(Platform::flat(2).unwrap(), vec![job], vec![]).unwrap();
/// let plan = Cpa::default().schedule(&instance, &mut Context::default()).unwrap();
/// // The critical path of 7 s is longer than the mean area of 5 s, so a gets the second processor.
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpa {
    /// The rule that places the tasks.
    pub placing: PlacingRule,
}

impl Scheduler for Cpa {
    fn name(&self) -> String {
        moldable_graph::named("cpa", self.placing)
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        moldable_graph::supports("cpa", instance, self.placing)
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, _: &mut Context) -> Result<Plan, ScheduleError> {
        moldable_graph::planned(self, "cpa", instance, self.placing, |packing| {
            let processors = instance.processors();
            let limits = CpaLimits { slower: 1.0, processors: processors.into(), most: processors, of_level: None };
            allotments(packing, &limits)
        })
    }
}
