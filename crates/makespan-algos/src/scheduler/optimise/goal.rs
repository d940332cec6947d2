//! What the search minimises.

use makespan_core::{Instance, Objective, SimpleJob};

/// An objective as a sum over tasks, in floats, and how schedules are ranked by it.
///
/// Weighted completion and mean flow are such sums. The makespan is the same for most schedules near a good one, which
/// gives a search no direction; so what is minimised there is the makespan plus the area, over the number of
/// processors, that lies after a target below it. With a limit on the makespan, area after the limit has a price that
/// rises while the limit is passed and falls while it is kept, so that the search stays near it; a schedule that
/// passes the limit ranks behind all others.
#[derive(Clone, Debug)]
pub(super) struct Goal {
    objective: Objective,
    /// What a tick of completion costs, task by task.
    weights: Vec<f64>,
    /// When each task could end at the earliest, in ticks: only what comes after costs anything, so that heavy or late
    /// tasks do not swallow the digits that tell schedules apart.
    earliest: Vec<i64>,
    /// Area after this instant costs `price` a processor and tick.
    after: i64,
    price: f64,
    first_price: f64,
    /// In ticks.
    makespan_at_most: Option<i64>,
}

/// The target lies here between the proven bound and the best makespan.
const TARGET: f64 = 0.625;
/// The first price after a limit, in multiples of what all tasks together pay for a processor: low, where what passes
/// the limit a little may still be the better beginning, or so high that the limit is kept.
pub(super) const LOW: f64 = 1.0;
pub(super) const HIGH: f64 = 20.0;
/// By how much it rises and falls, and within which multiples of the first one.
const RISE: f64 = 1.25;
const FALL: f64 = 0.9;
const CHEAPEST: f64 = 0.2;
const DEAREST: f64 = 100.0;

impl Goal {
    /// For the tasks of the instance, under a limit on the makespan in ticks with [`LOW`] or [`HIGH`] for its price.
    pub(super) fn new(instance: &Instance, objective: Objective, limit: Option<(i64, f64)>) -> Self {
        let (makespan_at_most, multiple) = limit.unzip();
        let weight = |job: SimpleJob<'_>| match objective {
            Objective::Makespan | Objective::Cost | Objective::Throughput => 0.0,
            Objective::WeightedCompletion => job.weight.as_f64(),
            Objective::MeanFlow => 1.0,
        };
        let weights: Vec<f64> = instance.simple_jobs().map(weight).collect();
        let earliest = |job: SimpleJob<'_>| (job.release + job.profile().shortest()).ticks();
        let earliest = instance.simple_jobs().map(earliest).collect();
        let processors = f64::from(instance.processors());
        let price = match objective {
            Objective::Makespan => 1.0 / processors,
            // Where no task has a weight, the area after the limit is all there is to minimise.
            _ if weights.iter().all(|&weight| weight == 0.0) => 1.0 / processors,
            _ => multiple.unwrap_or(LOW) * weights.iter().sum::<f64>() / processors,
        };
        Self {
            objective,
            weights,
            earliest,
            after: makespan_at_most.unwrap_or(i64::MAX),
            price,
            first_price: price,
            makespan_at_most,
        }
    }

    /// Aims at a makespan shorter than `makespan`, where `floor` is proved.
    pub(super) fn aim(&mut self, makespan: i64, floor: i64) {
        if self.is_makespan() {
            self.after = floor + ((makespan - floor).max(0) as f64 * TARGET) as i64;
        }
    }

    /// Whether the makespan alone counts.
    pub(super) fn is_makespan(&self) -> bool {
        self.objective == Objective::Makespan
    }

    /// Makes area after the limit dearer or cheaper, by what the makespan of the present schedule is. Returns whether
    /// the values of schedules have changed.
    pub(super) fn adapt(&mut self, makespan: i64) -> bool {
        let Some(most) = self.makespan_at_most else { return false };
        let factor = if makespan > most { RISE } else { FALL };
        self.price = (self.price * factor).clamp(CHEAPEST * self.first_price, DEAREST * self.first_price);
        true
    }

    /// What one task adds.
    #[inline]
    pub(super) fn cost(&self, task: u32, end: i64, processors: u32) -> f64 {
        let late = if end > self.after { (end - self.after) as f64 * f64::from(processors) * self.price } else { 0.0 };
        self.weights[task as usize] * (end - self.earliest[task as usize]) as f64 + late
    }

    /// What a mean task costs in a schedule of this value, waiting and running: the scale of changes.
    pub(super) fn mean_cost(&self, instance: &Instance, value: f64) -> f64 {
        let run = |(job, weight): (SimpleJob<'_>, &f64)| weight * job.profile().shortest().ticks() as f64;
        let runs: f64 = instance.simple_jobs().zip(&self.weights).map(run).sum();
        (value + runs) / instance.tasks().max(1) as f64
    }

    /// What is minimised, from the sum of the costs and the makespan.
    pub(super) fn value(&self, costs: f64, makespan: i64) -> f64 {
        if self.is_makespan() { costs + makespan as f64 } else { costs }
    }

    /// By what schedules are compared in the end, less being better.
    pub(super) fn rank(&self, value: f64, makespan: i64) -> f64 {
        match self.objective {
            _ if self.makespan_at_most.is_some_and(|most| makespan > most) => f64::INFINITY,
            Objective::Makespan => makespan as f64,
            _ => value,
        }
    }
}
