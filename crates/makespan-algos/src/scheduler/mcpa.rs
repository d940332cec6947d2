//! The scheduler MCPA (modified CPA).

use makespan_core::{Instance, Objective, Unsupported};

use super::moldable_graph::{self, PlacingRule};
use crate::kernel::critical_area::{CpaLimits, allotments};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// CPA with an additional limit. The tasks of one precedence level together get at most as many processors as the
/// platform has, so that they can run at the same time.
///
/// Source: S. Bansal, P. Kumar, K. Singh, "An improved two-step algorithm for task and data parallel scheduling in
/// distributed memory machines", Parallel Computing 32(10), 2006, DOI 10.1016/j.parco.2006.08.004. The level of a task
/// is the maximum number of tasks on a path that leads to the task. Assumptions: as [`Cpa`](super::Cpa). Guarantee:
/// none. Complexity and deviations: as in CPA. In a level with more tasks than processors, each task keeps its
/// smallest allotment.
///
/// ```
/// use makespan_algos::scheduler::Mcpa;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time};
///
/// let job = |name: &str| {
///     let times = [4, 2].map(Time::from_seconds);
///     Job::new(name, Profile::table(times.to_vec()).unwrap())
/// };
/// let instance = Instance::new(Platform::flat(2).unwrap(), vec![job("a"), job("b")], vec![]).unwrap();
/// let plan = Mcpa::default().schedule(&instance, &mut Context::default()).unwrap();
/// // Both tasks are on one level, and keep one processor each.
/// assert!(plan.into_schedule().unwrap().placements().iter().all(|one| one.processors.len() == 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mcpa {
    /// The rule that places the tasks.
    pub placing: PlacingRule,
}

impl Scheduler for Mcpa {
    fn name(&self) -> String {
        moldable_graph::named("mcpa", self.placing)
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        moldable_graph::supports("mcpa", instance, self.placing)
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, _: &mut Context) -> Result<Plan, ScheduleError> {
        moldable_graph::planned(self, "mcpa", instance, self.placing, |packing| {
            let most = instance.processors();
            let limits = CpaLimits { slower: 1.0, processors: most.into(), most, of_level: Some(most.into()) };
            allotments(packing, &limits)
        })
    }
}
