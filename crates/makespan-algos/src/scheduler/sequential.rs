//! The scheduler that runs every task on its fewest processors.

use std::cmp::Reverse;

use makespan_core::{Instance, Objective, ScheduleBuilder, Unsupported};

use super::{check_supported, counted_or_packed, greedy_list_guarantee, packed};
use crate::kernel::list::{self, AllottedTask};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Runs every task on the fewest processors that it accepts, usually one. The longest task comes first.
///
/// Source: the baseline "Sequential" of Dutot, Eyraud, Mounié and Trystram, SPAA 2004, DOI 10.1145/1007912.1007932,
/// section 4.1; the order is Graham's LPT (SIAM J. Appl. Math. 17, 1969, DOI 10.1137/0117039). Guarantee: if every task
/// is rigid, 2 for the makespan (Garey and Graham). Otherwise none. Complexity: O(n log n) for n tasks.
///
/// ```
/// use makespan_algos::scheduler::Sequential;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time};
///
/// let job = |name: &str, time| Job::new(name, Profile::rigid(1, Time::from_seconds(time)).unwrap());
/// let jobs = vec![job("a", 2), job("b", 3), job("c", 5)];
/// let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
/// let plan = Sequential.schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(5));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Scheduler for Sequential {
    fn name(&self) -> String {
        "sequential".into()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        counted_or_packed(instance)
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        let rigid = instance.simple_jobs().all(|job| job.profile().is_rigid());
        greedy_list_guarantee(instance, objective).filter(|_| rigid)
    }

    fn schedule(&self, instance: &Instance, _context: &mut Context) -> Result<Plan, ScheduleError> {
        if !packed::is_counted(instance) {
            return packed::planned(self, packed::sequential(instance));
        }
        check_supported(self, instance)?;
        let allotted = |task| AllottedTask { task, processors: instance.profile(task).min_processors() };
        let mut list: Vec<AllottedTask> = instance.task_ids().map(allotted).collect();
        list.sort_by_key(|entry| Reverse(instance.profile(entry.task).longest()));
        let mut builder = ScheduleBuilder::new(instance);
        list::place(&mut builder, instance, &list, instance.first_release());
        Ok(builder.finish().into())
    }
}
