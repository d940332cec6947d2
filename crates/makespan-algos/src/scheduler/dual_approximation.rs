//! The 3/2 dual approximation as a scheduler.

use makespan_core::{Instance, Objective, Reservation, ScheduleBuilder, TaskId, Time, Unsupported};

use super::allotment::DualAllotment;
use super::{all_monotone, by_guess, check_supported, is_unrestricted, needs_equal_processors};
use crate::kernel::{batches::by_batches, list, shelves};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Builds two shelves. The length of the first shelf is the guess: the smallest makespan that the dual test does not
/// prove impossible. The second shelf is half as long.
///
/// Source: G. Mounié, C. Rapine, D. Trystram, SIAM J. Comput. 37(2), 2007, DOI 10.1137/S0097539701385995. Assumptions:
/// none. If best placement is required, a greedy list in shelf order places the tasks instead, with the same
/// allotments. A list is also used if the tasks do not fit into the shelves because they are not monotone (rigid tasks,
/// superlinear speed-up). If processors are unavailable at times, allotments are chosen for the open processors and for
/// several lengths of the schedule. The least of these lengths is the shortest length in which the open processor time
/// is enough for the work. Each set of allotments gives a list. The list that ends first is kept.
///
/// Guarantee (makespan): 3/2 for monotone tasks. If some tasks have speed-up laws, 7 ticks are added, because the times
/// of these tasks are rounded up ([`shelves::two_shelves`]). If some task is not monotone, the guarantee is 2, plus 4
/// ticks for each task with a law, but at least 7 ticks if there is such a task. The ratio is doubled if there are
/// release dates, which the batch rule handles. The ratio is also doubled if the knapsack is too large
/// ([`makespan_bounds::dual::is_exact`]). There is no guarantee with unavailable processors or best placement.
///
/// Complexity for n tasks on m processors: O(n log n log m) for each step of the search, or O(n m) for steps that need
/// the knapsack. Deviations: a small task goes to the largest gap instead of the first gap in which it fits.
///
/// ```
/// use makespan_algos::scheduler::DualApproximation;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time};
///
/// let times = [12, 6, 4].map(Time::from_seconds).to_vec();
/// let jobs = ["a", "b"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
/// let instance = Instance::new(Platform::flat(3).unwrap(), jobs, vec![]).unwrap();
/// let plan = DualApproximation.schedule(&instance, &mut Context::default()).unwrap();
/// assert!(plan.into_schedule().unwrap().makespan() <= Time::from_seconds(12));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DualApproximation;

impl Scheduler for DualApproximation {
    fn name(&self) -> String {
        "dual".into()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        needs_equal_processors(instance)
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        if objective != Objective::Makespan || !is_unrestricted(instance) {
            return None;
        }
        let rounded = instance.simple_jobs().filter(|job| job.profile().rounds_up()).count() as i64;
        let guarantee = if all_monotone(instance) {
            Guarantee::ratio(3, 2).plus_ticks(if rounded > 0 { shelves::ROUNDING } else { 0 })
        } else {
            Guarantee::ratio(2, 1).plus_ticks((4 * rounded).max(shelves::ROUNDING * rounded.min(1)))
        };
        let guarantee = by_guess(guarantee, instance.tasks() as usize, instance.processors());
        Some(if instance.has_release_dates() { guarantee.doubled() } else { guarantee })
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        let mut lists = 0;
        let schedule = by_batches(instance, |builder, tasks, from| {
            let dual = DualAllotment::of(instance, tasks);
            if let Some(end) = shelved(builder, instance, &dual, tasks, from) {
                return end;
            }
            lists += 1;
            let list = dual.list(builder, from);
            list::place(builder, instance, &list, from)
        });
        if lists > 0 && is_unrestricted(instance) {
            context.remarks.push(
                "some jobs are not monotone, so they do not fit into the two shelves; a list schedule with the same \
                 allotments is used instead"
                    .into(),
            );
        }
        Ok(schedule.into())
    }
}

/// Places the two shelves from `from` on, and returns their end. Returns `None` if the shelves cannot be built.
fn shelved(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    dual: &DualAllotment<'_>,
    tasks: &[TaskId],
    from: Time,
) -> Option<Time> {
    if !is_unrestricted(instance) {
        return None;
    }
    let shelved = shelves::two_shelves(&dual.profiles, &dual.first_shelf, dual.guess, instance.processors())?;
    let mut end = from;
    for placed in shelved {
        let processors = placed.processors.len();
        let start = from + placed.start;
        let stop = start + dual.profiles[placed.task].time(processors);
        builder.hold(tasks[placed.task], Reservation::on_open_platform(processors, start, stop));
        end = end.max(stop);
    }
    Some(end)
}
