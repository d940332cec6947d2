//! The three stages in which DEMT compacts batches.

use makespan_core::{FreeTime, Instance, Placement, Schedule, ScheduleBuilder, TaskId, Time, WeightedTime};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::doubling::Batch;
use super::list::{AllottedTask, ListSweep};
use super::open::REPAIRS;
use crate::free_time::Period;

/// First stage: starts each pile at the start of its batch, and runs the tasks of the pile one after another. Returns
/// the end of the last task.
pub fn place_raw(builder: &mut ScheduleBuilder<'_>, batches: &[Batch], from: Time) -> Time {
    let mut last = from;
    for batch in batches {
        for pile in &batch.piles {
            let mut after = from + batch.offset;
            for allotted in pile {
                after = builder.place_earliest(allotted.task, allotted.processors, after).1;
            }
            last = last.max(after);
        }
    }
    last
}

/// Changes the batches so that no task ends after `period.until` in the first stage. Tasks that would end later move
/// into a new first batch, and get their allotments from `first`. This step is repeated up to `REPAIRS` times. If tasks
/// still end after `period.until`, all tasks move into one batch.
pub fn near(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    mut batches: Vec<Batch>,
    first: &[AllottedTask],
    period: Period,
) -> Vec<Batch> {
    let front = |late: &dyn Fn(TaskId) -> bool| Batch {
        offset: Time::ZERO,
        piles: first.iter().filter(|allotted| late(allotted.task)).map(|&allotted| vec![allotted]).collect(),
    };
    for _ in 0..REPAIRS {
        let mut late = late_tasks(builder, instance, &batches, period);
        if late.is_empty() {
            return batches;
        }
        late.sort_unstable();
        let is_late = |task: TaskId| late.binary_search(&task).is_ok();
        for batch in &mut batches {
            batch.piles.iter_mut().for_each(|pile| pile.retain(|allotted| !is_late(allotted.task)));
            batch.piles.retain(|pile| !pile.is_empty());
        }
        batches.insert(0, front(&is_late));
    }
    vec![front(&|_| true)]
}

/// Returns the tasks that end after `period.until` in the first stage. The builder is unchanged on return.
fn late_tasks(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    batches: &[Batch],
    period: Period,
) -> Vec<TaskId> {
    let mut late = Vec::new();
    let mut reserved = Vec::new();
    for batch in batches {
        for pile in &batch.piles {
            let mut after = period.from + batch.offset;
            for allotted in pile {
                let duration = allotted.time(instance);
                let start = builder.timeline().earliest_fit(allotted.processors, duration, after);
                after = start + duration;
                reserved.push(builder.timeline().hold(allotted.processors, start, after));
                late.extend((after > period.until).then_some(allotted.task));
            }
        }
    }
    reserved.iter().for_each(|reservation| builder.timeline().release(reservation));
    late
}

/// Second stage: starts each task of a schedule as soon as its processors are idle.
pub fn shift_left(instance: &Instance, schedule: &Schedule) -> Schedule {
    let mut idle_from = vec![Time::ZERO; instance.processors() as usize];
    let mut shifted = Vec::with_capacity(schedule.placements().len());
    for placement in schedule.placements() {
        let idle = placement.processors.iter().map(|id| idle_from[id as usize]).max().unwrap_or(Time::ZERO);
        let earliest = idle.max(instance.release(placement.task));
        let mut moved = placement.clone();
        if earliest < placement.start {
            moved.start = earliest;
            moved.end = earliest + (placement.end - placement.start);
        }
        if meets_closed(instance, &moved) {
            moved.clone_from(placement);
        }
        moved.processors.iter().for_each(|id| idle_from[id as usize] = moved.end);
        shifted.push(moved);
    }
    Schedule::new(shifted)
}

fn meets_closed(instance: &Instance, placement: &Placement) -> bool {
    instance.unavailable().iter().any(|period| {
        period.start < placement.end
            && placement.start < period.end
            && !period.processors.is_disjoint(&placement.processors)
    })
}

/// The order that is shuffled in the third stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// The order of the batches.
    Batches,
    /// The order of the tasks within each batch.
    Jobs,
    /// Both orders alternately.
    Both,
}

/// Parameters of the search for a better order in the third stage.
#[derive(Debug)]
pub struct ShuffleParameters<'a> {
    /// The order that is shuffled.
    pub shuffle: Shuffle,
    /// The number of random orders that are tried.
    pub tries: u32,
    /// The random number generator.
    pub random: &'a mut ChaCha8Rng,
}

/// Third stage: orders the tasks as a list. At first, the list contains the batches in their order, and the tasks of a
/// batch by decreasing weight divided by area. Then tries random changes of the best list so far: exchanges two
/// batches, or shuffles the tasks in each batch. Returns the list with the least weighted completion.
pub fn best_list(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    batches: &[Batch],
    from: Time,
    shuffling: ShuffleParameters<'_>,
) -> Vec<AllottedTask> {
    let ShuffleParameters { shuffle, tries, random } = shuffling;
    let ordered = |batch: &Batch| {
        let mut tasks: Vec<AllottedTask> = batch.piles.iter().flatten().copied().collect();
        tasks.sort_by_cached_key(|allotted| std::cmp::Reverse(weight_over_area(instance, *allotted)));
        tasks
    };
    let mut best: Vec<Vec<AllottedTask>> = batches.iter().map(ordered).filter(|batch| !batch.is_empty()).collect();
    let mut list = best.concat();
    let mut sweep = ListSweep::default();
    let mut least = weighted_completion(builder, instance, &list, from, &mut sweep);
    let mut tried = best.clone();
    for attempt in 0..tries {
        tried.clone_from(&best);
        if shuffle == Shuffle::Batches || shuffle == Shuffle::Both && attempt % 2 == 0 {
            exchange(&mut tried, random);
        } else {
            tried.iter_mut().for_each(|batch| batch.shuffle(random));
        }
        list.clear();
        list.extend(tried.iter().flatten());
        let value = weighted_completion(builder, instance, &list, from, &mut sweep);
        if value < least {
            least = value;
            std::mem::swap(&mut best, &mut tried);
        }
    }
    best.concat()
}

/// Exchanges two batches.
fn exchange(batches: &mut [Vec<AllottedTask>], random: &mut ChaCha8Rng) {
    if batches.len() > 1 {
        let first = random.random_range(0..batches.len());
        let second = (first + random.random_range(1..batches.len())) % batches.len();
        batches.swap(first, second);
    }
}

/// Returns the weight of a task divided by its area, scaled to an integer.
fn weight_over_area(instance: &Instance, allotted: AllottedTask) -> u128 {
    let area = allotted.time(instance).area(allotted.processors).unsigned_abs().max(1);
    (u128::from(instance.weight(allotted.task).millionths()) << 64) / area
}

/// Returns the weighted completion of the tasks if the list is scheduled greedily from `from` on. The builder is
/// unchanged on return.
pub fn weighted_completion(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    list: &[AllottedTask],
    from: Time,
    sweep: &mut ListSweep,
) -> WeightedTime {
    let ends = sweep.completions(builder, instance, list, from);
    list.iter().zip(ends).map(|(allotted, &end)| instance.weight(allotted.task).times(end)).sum()
}
