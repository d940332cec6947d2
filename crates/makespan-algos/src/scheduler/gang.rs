//! One job at a time on as many processors as it can use.

use std::cmp::Reverse;

use makespan_core::{
    Context, Guarantee, Instance, Objective, Plan, ScheduleBuilder, ScheduleError, Scheduler, Unsupported,
};

use super::list_graham::density;
use super::{check_supported, needs_equal_processors};
use crate::kernel::list::{self, Allotted};
use crate::kernel::open::Open;

/// Every job on the fewest processors that give its shortest time, by decreasing weight over time.
///
/// Source: the baseline "Gang" of Dutot, Eyraud, Mounié and Trystram, SPAA 2004, DOI 10.1145/1007912.1007932, section
/// 4.1. Optimal for weighted completion when all speed-ups are linear up to the whole platform. Guarantee: none in
/// general. Complexity: O(n log n). Deviation: a job that cannot use the whole platform leaves the rest to the next
/// jobs of the list. Around unavailable processors a job gets the allotment with which it ends first, counted from when the
/// work before it is done on all that is open.
///
/// ```
/// use makespan_algos::scheduler::Gang;
/// use makespan_core::{Context, Instance, Job, Platform, Profile, Scheduler, SpeedupLaw, Time};
///
/// let profile = Profile::law(Time::from_seconds(8), SpeedupLaw::Linear {}, 1, 4).unwrap();
/// let instance = Instance::new(Platform::flat(4).unwrap(), vec![Job::new("a", profile)], vec![]).unwrap();
/// let plan = Gang.schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().makespan(), Time::from_seconds(2));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gang;

impl Scheduler for Gang {
    fn name(&self) -> String {
        "gang".into()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        needs_equal_processors(instance)
    }

    fn guarantee(&self, _instance: &Instance, _objective: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, _context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        let allotted = |job| Allotted { job, processors: instance.job(job).profile().fastest() };
        let mut list: Vec<Allotted> = instance.ids().map(allotted).collect();
        list.sort_by_cached_key(|entry| {
            let profile = instance.job(entry.job).profile();
            Reverse(density(instance, entry.job, profile.shortest()))
        });
        let from = instance.first_release();
        if let Some(open) = Open::of(instance, from) {
            open.earliest(instance, &mut list);
        }
        let mut builder = ScheduleBuilder::new(instance);
        list::place(&mut builder, instance, &list, from);
        Ok(builder.finish().into())
    }
}
