//! The scheduler `gang`: one task at a time, on as many processors as it can use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Instance, Objective, ScheduleBuilder, TaskId, Time, Unsupported};

use super::allotment::DualAllotment;
use super::list_graham::density;
use super::{check_supported, counted_or_packed, packed};
use crate::kernel::list::{self, AllottedTask};
use crate::kernel::open::OpenPlatform;
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Runs one task after another, each on all processors, in the order of decreasing weight divided by time.
///
/// Source: the baseline "Gang" of Dutot, Eyraud, Mounié and Trystram, SPAA 2004, DOI 10.1145/1007912.1007932, section
/// 4.1. The baseline is optimal for weighted completion if all speed-ups are linear up to the whole platform.
/// Guarantee: none in general. Complexity: O(n log n) for n tasks, plus one placement for each task. Deviations: a task
/// gets the fewest processors on which it is as fast as on all processors. The other processors stay idle. The next
/// task is the first task in this order that has been released. If processors are unavailable at times, a task gets the
/// allotment with which it ends first. If the plan would then end much later than a list that minimises the makespan,
/// the tasks are planned as a list. Tasks that would still end much later come first in this list. The baseline has no
/// option [`Gang::packed`].
///
/// ```
/// use makespan_algos::scheduler::Gang;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, SpeedupLaw, Time};
///
/// let profile = Profile::law(Time::from_seconds(8), SpeedupLaw::Linear {}, 1, 4).unwrap();
/// let instance = Instance::new(Platform::flat(4).unwrap(), vec![Job::new("a", profile)], vec![]).unwrap();
/// let plan = Gang::default().schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(2));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gang {
    /// Whether the tasks are planned as a list, so that later tasks use the processors that an earlier task leaves
    /// idle.
    pub packed: bool,
}

impl Scheduler for Gang {
    fn name(&self) -> String {
        if self.packed { "gang[packed=yes]".into() } else { "gang".into() }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        counted_or_packed(instance)
    }

    fn guarantee(&self, _instance: &Instance, _objective: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        if !packed::is_counted(instance) {
            return packed::planned(self, packed::gang(instance, self.packed));
        }
        check_supported(self, instance)?;
        let allotted = |task| AllottedTask { task, processors: instance.profile(task).fastest() };
        let mut list: Vec<AllottedTask> = instance.task_ids().map(allotted).collect();
        list.sort_by_cached_key(|entry| {
            let profile = instance.profile(entry.task);
            Reverse(density(instance, entry.task, profile.shortest()))
        });
        let from = instance.first_release();
        let open = OpenPlatform::of(instance, from);
        if let Some(open) = &open {
            open.earliest(instance, &mut list);
        }
        let mut builder = ScheduleBuilder::new(instance);
        let end = if self.packed {
            list::place(&mut builder, instance, &list, from)
        } else {
            one_by_one(&mut builder, instance, &list, open.as_ref())
        };
        if let Some(near) = open.and_then(|open| brought_forward(instance, &open, list, end)) {
            context.remarks.push(
                "because of the unavailable periods, one job at a time would end far too late; so the jobs are \
                 planned as a list, and jobs that would still end too late come first"
                    .into(),
            );
            builder = ScheduleBuilder::new(instance);
            list::place(&mut builder, instance, &near, from);
        }
        Ok(builder.finish().into())
    }
}

/// If the plan ends much later than a list that minimises the makespan, returns a list that ends earlier. Otherwise,
/// returns `None`.
fn brought_forward(
    instance: &Instance,
    open: &OpenPlatform<'_>,
    list: Vec<AllottedTask>,
    end: Time,
) -> Option<Vec<AllottedTask>> {
    let tasks: Vec<TaskId> = instance.task_ids().collect();
    let lists = open.lists(instance, DualAllotment::of(instance, &tasks).in_shelf_order());
    let mut builder = ScheduleBuilder::new(instance);
    let shortest = open.shortest(&mut builder, instance, &lists);
    (end > open.latest(shortest.end)).then(|| open.near(&mut builder, instance, list, shortest))
}

/// Places each task at the end of the previous task. The next task is the first task of the list among the tasks that
/// have been released by then.
fn one_by_one(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    list: &[AllottedTask],
    open: Option<&OpenPlatform<'_>>,
) -> Time {
    let release = |at: usize| instance.release(list[at].task);
    let mut arrivals: Vec<usize> = (0..list.len()).collect();
    arrivals.sort_by_key(|&at| (release(at), at));
    let mut arrivals = arrivals.into_iter().peekable();
    let mut waiting: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    let mut now = instance.first_release();
    while !waiting.is_empty() || arrivals.peek().is_some() {
        if let (true, Some(&next)) = (waiting.is_empty(), arrivals.peek()) {
            now = now.max(release(next));
        }
        while let Some(at) = arrivals.next_if(|&at| release(at) <= now) {
            waiting.push(Reverse(at));
        }
        if let Some(Reverse(at)) = waiting.pop() {
            let AllottedTask { task, processors } = list[at];
            let chosen = open.and_then(|open| open.ends_first(instance.profile(task), now));
            now =
                list::place(builder, instance, &[AllottedTask { task, processors: chosen.unwrap_or(processors) }], now);
        }
    }
    now
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, Profile, TaskId, Time};

    use super::*;

    #[test]
    fn only_packed_jobs_run_side_by_side() {
        let job = |name: &str| Job::new(name, Profile::rigid(1, Time::from_seconds(5)).unwrap());
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![job("a"), job("b")], vec![]).unwrap();
        let makespan = |packed| {
            let plan = Gang { packed }.schedule(&instance, &mut Context::default()).unwrap();
            plan.into_schedule().unwrap().makespan()
        };
        assert_eq!((makespan(false), makespan(true)), (Time::from_seconds(10), Time::from_seconds(5)));
    }

    #[test]
    fn what_is_released_later_does_not_hold_up_what_waits() {
        let job = |name: &str, time, release| {
            let job = Job::new(name, Profile::rigid(1, Time::from_seconds(time)).unwrap());
            job.with_release(Time::from_seconds(release))
        };
        let jobs = vec![job("short but late", 1, 3), job("long", 5, 0), job("longer", 7, 0)];
        let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
        let schedule = Gang::default().schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
        let order: Vec<TaskId> = schedule.placements().iter().map(|placement| placement.task).collect();
        assert_eq!(order, [TaskId(1), TaskId(0), TaskId(2)]);
        assert_eq!(schedule.makespan(), Time::from_seconds(13));
    }
}
