//! The initial schedules of a search.

use std::time::Instant;

use makespan_bounds::PricedChoice;
use makespan_core::{FreeTime, Instance, ProcSet, Schedule, ScheduleBuilder, Stop, TaskId, Time};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::change::Solution;
use crate::free_time::Skyline;
use crate::kernel::choices::{Choice, Choices};
use crate::kernel::fit::Fit;
use crate::kernel::list::{self, AllottedTask};
use crate::plan::Context;
use crate::search::SearchCourse;

/// The algorithms of the catalogue, the fast ones first.
const CATALOGUE: [&str; 9] = [
    "list[order=saf]",
    "list[order=shelf]",
    "list[order=smith]",
    "dual",
    "gang",
    "gang[packed=yes]",
    "list[order=weighted-lptf]",
    "sweep[steps=0]",
    "demt",
];

/// If best placement is required, the algorithms that are tried directly after the first one. In this case, `sweep`
/// gives by far the best plans.
const IN_BEST_PLACEMENT: [&str; 2] = ["sweep[steps=0]", "shelves"];

/// Number of plans that are made even if the time limit has passed. These plans are list schedules. Each takes about
/// as long as reading the instance.
const ALWAYS: usize = 3;

/// Returns the plans of the algorithms in [`CATALOGUE`] that can be made before `end`, but at least [`ALWAYS`] plans.
/// After a request to stop, returns only the first plan.
pub(super) fn catalogue(instance: &Instance, seed: u64, end: Option<Instant>, stop: &Stop) -> Vec<Schedule> {
    let mut plans = Vec::with_capacity(CATALOGUE.len());
    let compact = instance.platform().restricts_placement();
    let early = IN_BEST_PLACEMENT.into_iter().filter(|_| compact);
    let others = CATALOGUE.into_iter().skip(1).filter(|spec| !compact || !IN_BEST_PLACEMENT.contains(spec));
    for spec in CATALOGUE.into_iter().take(1).chain(early).chain(others) {
        let late = plans.len() >= ALWAYS && end.is_some_and(|end| Instant::now() >= end);
        if late || stop.is_requested() && !plans.is_empty() {
            break;
        }
        let plan = crate::scheduler(spec).ok().and_then(|scheduler| {
            scheduler.schedule(instance, &mut Context { stop: stop.clone(), ..Context::with_seed(seed) }).ok()
        });
        plans.extend(plan.and_then(crate::plan::Plan::into_schedule));
    }
    plans
}

/// Returns a schedule by a greedy list algorithm. For each job, `priced` contains the start and the allotment that cost
/// least at some prices. The list has the jobs in the order of these starts. Jobs with equal starts are in Smith's
/// order. In the schedule, each job has this allotment, but it may have another start.
pub(super) fn priced(instance: &Instance, priced: &[PricedChoice]) -> Schedule {
    let area_over_weight = |choice: &PricedChoice| {
        let job = instance.simple(choice.job);
        let area = job.profile().work(choice.processors) as f64;
        area / (job.weight.millionths().max(1)) as f64
    };
    let mut order: Vec<(Time, f64, AllottedTask)> = priced
        .iter()
        .map(|choice| {
            let allotted = AllottedTask { task: instance.job(choice.job).first(), processors: choice.processors };
            (choice.start, area_over_weight(choice), allotted)
        })
        .collect();
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.task.cmp(&b.2.task)));
    let order: Vec<AllottedTask> = order.into_iter().map(|(_, _, allotted)| allotted).collect();
    let mut builder = ScheduleBuilder::new(instance);
    list::place(&mut builder, instance, &order, instance.first_release());
    builder.finish()
}

/// Returns the solution with the allotments of the choices `priced`, sorted by the starts of the choices. The prices
/// ignore processor time after the limit. So a choice may be so slow that the task alone exceeds the limit. Such a
/// choice is replaced by the smallest allotment that keeps the limit.
pub(super) fn priced_solution(choices: &Choices, priced: &[PricedChoice], limit: Option<Time>) -> Solution {
    let mut order: Vec<u32> = priced.iter().map(|choice| choice.job.0).collect();
    order.sort_by_key(|&task| (priced[task as usize].start, task));
    let most = limit.map_or(i64::MAX, Time::ticks);
    let within = |choice: &PricedChoice| {
        let (task, nearest) = (choice.job.0, choices.nearest(choice.job.0, choice.processors));
        let all = choices.of(task);
        let passes = |choice: &Choice| choice.time > most.saturating_sub(choices.release(task));
        let short = all.partition_point(passes).min(all.len() - 1) as u32;
        nearest.max(short)
    };
    Solution { order, chosen: priced.iter().map(within).collect() }
}

/// Converts a schedule to an order and allotments. If `choices` does not contain an allotment of the schedule, the next
/// smaller allotment is used.
pub(super) fn solution(choices: &Choices, schedule: &Schedule) -> Solution {
    let mut chosen = vec![0; choices.tasks()];
    for placement in schedule.placements() {
        chosen[placement.task.index()] = choices.nearest(placement.task.0 as u32, placement.processors.len());
    }
    Solution { order: schedule.placements().iter().map(|placement| placement.task.0 as u32).collect(), chosen }
}

/// Returns the solution with its tasks sorted by deadline (J. R. Jackson 1955). Tasks without a deadline come last.
pub(super) fn by_deadline(instance: &Instance, solution: &Solution) -> Solution {
    let mut order = solution.order.clone();
    let due = |task: u32| instance.job_of(TaskId::at(task as usize)).deadline.unwrap_or(Time::MAX);
    order.sort_by_key(|&task| due(task));
    Solution { order, ..solution.clone() }
}

/// Returns the schedule of a solution by serial insertion.
pub(super) fn schedule(instance: &Instance, choices: &Choices, solution: &Solution) -> Schedule {
    let mut builder = ScheduleBuilder::new(instance);
    let mut skyline = Skyline::new(instance);
    let pools = skyline.pools().map(<[ProcSet]>::to_vec);
    for &task in &solution.order {
        let choice = choices.of(task)[solution.chosen[task as usize] as usize];
        let start = skyline.earliest_fit(choice.processors, choice.time, choices.release(task));
        builder.hold(TaskId::at(task as usize), skyline.hold(choice.processors, start, start + choice.time));
    }
    match pools {
        Some(pools) => builder.finish_from(pools),
        None => builder.finish(),
    }
}

/// The range of deadlines for the search for a short schedule, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadlines {
    /// A proven bound: no schedule is shorter.
    pub(super) floor: i64,
    /// The search ends when it has found a schedule with at most this makespan, in ticks.
    pub(super) enough: i64,
    /// The makespan of a known schedule, in ticks.
    pub(super) reached: i64,
}

/// Returns a short schedule by [`Fit`]. Tries deadlines between the proven bound and the reached makespan. Ends when a
/// schedule is short enough or `course` is over.
pub(super) fn fitted(
    instance: &Instance,
    choices: &Choices,
    Deadlines { floor, enough, mut reached }: Deadlines,
    random: &mut ChaCha8Rng,
    course: &mut SearchCourse,
) -> Option<Solution> {
    let mut fit = Fit::new(instance, choices);
    let mut best = None;
    // First try the order by run time with evenly spaced deadlines. Then try perturbed orders with random deadlines.
    let mut plain = 0..PLAIN;
    while reached > enough && course.step().is_some() {
        let (share, perturbed) = match plain.next() {
            Some(step) => (step as f64 / PLAIN as f64, None),
            None => (random.random::<f64>(), Some(&mut *random)),
        };
        let deadline = floor + ((reached - floor) as f64 * share) as i64;
        let Some(makespan) = fit.meet(deadline, perturbed) else { continue };
        if makespan < reached {
            reached = makespan;
            let mut chosen = vec![0; choices.tasks()];
            let mut placed = fit.placed().to_vec();
            placed.sort_unstable_by_key(|placed| (placed.start, placed.task));
            placed.iter().for_each(|placed| chosen[placed.task as usize] = placed.chosen);
            best = Some(Solution { order: placed.iter().map(|placed| placed.task).collect(), chosen });
            // Stop trying the order by run time, because its next deadlines are after the makespan that was reached.
            plain = 0..0;
        }
    }
    best
}

/// Number of deadlines that are tried with the order by run time.
const PLAIN: usize = 32;
