//! Compaction of batches, in the three stages of the paper.

use makespan_core::{Instance, Placement, Schedule, ScheduleBuilder, Time, WeightedTime};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::doubling::Batch;
use super::list::{Allotted, ListSweep};

/// First stage: every pile starts with its batch, its jobs one after the other. Returns when the last ends.
pub fn place_raw(builder: &mut ScheduleBuilder<'_>, batches: &[Batch], from: Time) -> Time {
    let mut last = from;
    for batch in batches {
        for pile in &batch.piles {
            let mut after = from + batch.offset;
            for allotted in pile {
                after = builder.place_earliest(allotted.job, allotted.processors, after).1;
            }
            last = last.max(after);
        }
    }
    last
}

/// Second stage: each job of a schedule starts as early as the processors that it has are idle.
pub fn shift_left(instance: &Instance, schedule: &Schedule) -> Schedule {
    let mut idle_from = vec![Time::ZERO; instance.processors() as usize];
    let mut shifted = Vec::with_capacity(schedule.placements().len());
    for placement in schedule.placements() {
        let idle = placement.processors.iter().map(|id| idle_from[id as usize]).max().unwrap_or(Time::ZERO);
        let earliest = idle.max(instance.job(placement.job).release);
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

/// Third stage: the batch order as a list, each batch ordered by decreasing weight over area, then `shuffles` random
/// orders within the batches; returns the list of least weighted completion.
pub fn best_list(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    batches: &[Batch],
    from: Time,
    shuffling: (u32, &mut ChaCha8Rng),
) -> Vec<Allotted> {
    let (shuffles, random) = shuffling;
    let mut order: Vec<Allotted> = Vec::new();
    let mut cuts = Vec::with_capacity(batches.len());
    for batch in batches {
        let start = order.len();
        order.extend(batch.piles.iter().flatten());
        order[start..].sort_by_cached_key(|allotted| std::cmp::Reverse(weight_over_area(instance, *allotted)));
        cuts.push(start..order.len());
    }
    let mut sweep = ListSweep::default();
    let mut best = (weighted_completion(builder, instance, &order, from, &mut sweep), order.clone());
    for _ in 0..shuffles {
        for cut in &cuts {
            order[cut.clone()].shuffle(random);
        }
        let value = weighted_completion(builder, instance, &order, from, &mut sweep);
        if value < best.0 {
            best.0 = value;
            best.1.copy_from_slice(&order);
        }
    }
    best.1
}

/// As an ordered integer.
fn weight_over_area(instance: &Instance, allotted: Allotted) -> u128 {
    let area = allotted.time(instance).area(allotted.processors).unsigned_abs().max(1);
    (u128::from(instance.job(allotted.job).weight.millionths()) << 64) / area
}

/// Weighted completion of a greedy list; the builder is left as it was.
pub fn weighted_completion(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    list: &[Allotted],
    from: Time,
    sweep: &mut ListSweep,
) -> WeightedTime {
    let ends = sweep.completions(builder, instance, list, from);
    list.iter().zip(ends).map(|(allotted, &end)| instance.job(allotted.job).weight.times(end)).sum()
}
