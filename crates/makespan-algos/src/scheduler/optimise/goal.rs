//! The objective of the search.

use makespan_core::{Instance, Objective, SimpleJob, Time};

use super::wholes::NumberedWholes;
use crate::kernel::serial::SerialRequest;

/// An objective, expressed as a sum of floating-point costs of tasks. The goal also ranks schedules.
///
/// Weighted completion and mean flow are such sums. For the makespan, a second term is needed, because a good schedule
/// and most schedules near it have the same makespan, which gives a search no direction. The second term uses a target,
/// an instant before the makespan. The term is the area of tasks after the target, divided by the number of processors.
///
/// If there is a limit on the makespan, area after the limit has a price. The price rises while schedules exceed the
/// limit, and falls while they keep the limit, so that the search stays near the limit. Schedules that exceed the limit
/// rank after all schedules that keep it.
///
/// The weighted tardiness is also a sum. Tasks that end by their deadlines cost nothing.
///
/// For the maximum tardiness and the makespan, most neighbours of a good schedule have the value of that schedule. So
/// every deadline is shifted by a target that is below the best maximum tardiness. The search minimises the area of the
/// tasks after their shifted deadlines.
#[derive(Clone, Debug)]
pub(crate) struct Goal<'a> {
    objective: Objective,
    /// The larger jobs (wholes), if the jobs are parts of larger jobs, such as tasks of a bag. The last part of a whole
    /// determines its end.
    wholes: Option<&'a NumberedWholes>,
    /// For each task, the amount by which the cost rises if the task ends one tick later.
    weights: Vec<f64>,
    /// The sum, over all tasks, of the weight of the task times its shortest run time.
    runs: f64,
    /// The earliest possible end of each task, in ticks, or its deadline if tardiness is minimised. Only the time after
    /// this instant has a cost. If earlier time also had a cost, the large costs of heavy or late tasks would hide
    /// small differences between schedules.
    earliest: Vec<i64>,
    /// The target of the maximum tardiness, in ticks. If a task ends later than its deadline plus this time, each of its
    /// processors costs `tardiness_price` for each later tick.
    late_from: i64,
    /// The instant from which each busy processor costs `price` for each tick.
    after: i64,
    price: f64,
    first_price: f64,
    tardiness_price: f64,
    /// The cost of one processor for one tick at any instant. This cost represents the delay of tasks that have not
    /// arrived yet.
    area_price: f64,
    /// The limit on the makespan, in ticks.
    makespan_at_most: Option<i64>,
}

/// Position of the target between the proven bound (0) and the best makespan (1).
const TARGET: f64 = 0.625;
/// The low first price of a busy processor after the limit, as a multiple of the total weight of all tasks divided by
/// the number of processors. The search uses this price if a schedule that slightly exceeds the limit may be a better
/// start than a schedule within the limit.
pub(super) const LOW: f64 = 1.0;
/// The high first price, in the unit of `LOW`. With this price, a search keeps the limit.
pub(super) const HIGH: f64 = 20.0;
/// The factor by which the price rises.
const RISE: f64 = 1.25;
/// The factor by which the price falls.
const FALL: f64 = 0.9;
/// Minimum price, as a multiple of the first price.
const CHEAPEST: f64 = 0.2;
/// Maximum price, as a multiple of the first price.
const DEAREST: f64 = 100.0;

/// The data of a task that a goal needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoalTask {
    /// The cost of each tick by which the task ends later, for objectives with weights.
    pub(crate) weight: f64,
    /// The earliest possible end of the task, in ticks.
    pub(crate) alone: i64,
    /// The shortest time, in ticks.
    pub(crate) shortest: i64,
    /// The deadline, in ticks.
    pub(crate) deadline: Option<i64>,
}

impl GoalTask {
    fn of(job: SimpleJob<'_>) -> Self {
        let shortest = job.profile().shortest();
        let (alone, deadline) = ((job.release + shortest).ticks(), job.deadline.map(Time::ticks));
        Self { weight: job.weight.as_f64(), alone, shortest: shortest.ticks(), deadline }
    }
}

impl<'a> Goal<'a> {
    /// Returns the goal for the tasks of an instance. `limit` contains a limit on the makespan in ticks, and the first
    /// price of time after the limit: [`LOW`] or [`HIGH`].
    pub(super) fn new(
        instance: &Instance,
        objective: Objective,
        wholes: Option<&'a NumberedWholes>,
        limit: Option<(i64, f64)>,
    ) -> Self {
        Self::of(instance.processors(), instance.simple_jobs().map(GoalTask::of), objective, wholes, limit)
    }

    /// Returns the goal for tasks on a number of processors.
    pub(super) fn of(
        processors: u32,
        wishes: impl Iterator<Item = GoalTask>,
        objective: Objective,
        wholes: Option<&'a NumberedWholes>,
        limit: Option<(i64, f64)>,
    ) -> Self {
        let (makespan_at_most, multiple) = limit.unzip();
        let sum = objective.shape().filter(|shape| shape.is_sum);
        let weight = |wish: &GoalTask| match sum {
            Some(shape) if !shape.is_tardiness() || wish.deadline.is_some() => {
                if shape.is_weighted() {
                    wish.weight
                } else {
                    1.0
                }
            }
            _ => 0.0,
        };
        let earliest = |wish: &GoalTask| match wish.deadline {
            _ if !objective.is_tardiness() => wish.alone,
            // A task without a deadline is never late, even if it is a part of a whole with a weight.
            None => i64::MAX / 4,
            Some(due) if sum.is_some() => wish.alone.max(due),
            Some(due) => due,
        };
        let (mut weights, mut earliest_ends, mut runs) = (Vec::new(), Vec::new(), 0.0);
        for wish in wishes {
            weights.push(weight(&wish));
            earliest_ends.push(earliest(&wish));
            runs += weight(&wish) * wish.shortest as f64;
        }
        let processors = f64::from(processors);
        let price = match objective {
            Objective::Makespan => 1.0 / processors,
            // If no task has a weight, minimise only the area after the limit.
            _ if weights.iter().all(|&weight| weight == 0.0) => 1.0 / processors,
            _ => multiple.unwrap_or(LOW) * weights.iter().sum::<f64>() / processors,
        };
        Self {
            objective,
            // Only weighted objectives need wholes. The value of every other objective is the same if each part is a
            // separate job.
            wholes: wholes.filter(|_| objective.is_weighted()),
            weights,
            runs,
            earliest: earliest_ends,
            late_from: 0,
            after: makespan_at_most.unwrap_or(i64::MAX),
            price,
            first_price: price,
            tardiness_price: 1.0 / processors,
            area_price: 0.0,
            makespan_at_most,
        }
    }

    /// Sets the cost of a processor for each tick during which a task holds the processor.
    pub(super) fn with_area_price(self, area_price: f64) -> Self {
        Self { area_price, ..self }
    }

    /// Sets a target between the proven bound `floor` and `makespan`, the best makespan or the best maximum tardiness.
    pub(super) fn aim(&mut self, makespan: i64, floor: i64) {
        if self.is_makespan() {
            self.after = floor + ((makespan - floor).max(0) as f64 * TARGET) as i64;
        }
        if self.is_max_tardiness() {
            self.late_from = floor + ((makespan - floor).max(0) as f64 * TARGET) as i64;
        }
    }

    /// Returns whether the maximum tardiness is the only objective.
    pub(super) fn is_max_tardiness(&self) -> bool {
        self.objective == Objective::MaxTardiness
    }

    /// Returns the tardiness of a task that ends at `end`.
    pub(super) fn tardiness(&self, task: usize, end: i64) -> i64 {
        (end - self.earliest[task]).max(0)
    }

    /// Returns whether a schedule is proved to be optimal. `floor` is a proven bound on the makespan or on the maximum
    /// tardiness.
    pub(super) fn is_best(&self, rank: f64, makespan: i64, floor: i64) -> bool {
        match self.objective {
            Objective::Makespan => makespan <= floor,
            Objective::MaxTardiness => rank <= floor as f64,
            objective => objective.is_tardiness() && rank <= 0.0,
        }
    }

    /// Returns whether the makespan is the only objective.
    pub(super) fn is_makespan(&self) -> bool {
        self.objective == Objective::Makespan
    }

    /// Returns whether the objective is a sum of costs of single tasks. If so, an evaluation can estimate the total
    /// cost from the costs of the first tasks.
    pub(super) fn is_sum(&self) -> bool {
        !self.is_of_wholes() && self.objective.is_sum_of_ends()
    }

    /// Returns whether there is a limit on the makespan.
    pub(super) fn is_limited(&self) -> bool {
        self.makespan_at_most.is_some()
    }

    /// Changes the price of area after the limit, depending on the makespan of the current schedule. Returns whether
    /// the values of schedules have changed.
    pub(super) fn adapt(&mut self, makespan: i64) -> bool {
        let Some(most) = self.makespan_at_most else { return false };
        let factor = if makespan > most { RISE } else { FALL };
        self.price = (self.price * factor).clamp(CHEAPEST * self.first_price, DEAREST * self.first_price);
        true
    }

    /// Returns the cost that one task adds. For each larger job, `peaks` contains the maximum, over the parts that were
    /// placed so far, of the time from the earliest possible end of the part to its actual end.
    #[inline]
    pub(super) fn cost(&self, task: u32, start: i64, request: &SerialRequest, peaks: &mut [i64]) -> f64 {
        let (end, processors) = (start + request.duration, f64::from(request.processors));
        let late = if end > self.after { (end - self.after) as f64 * processors * self.price } else { 0.0 };
        let held = self.area_price * processors * request.duration as f64;
        let after = (end - self.earliest[task as usize] - self.late_from).max(0);
        if self.is_max_tardiness() {
            return after as f64 * processors * self.tardiness_price + late + held;
        }
        let Some(wholes) = self.wholes else { return self.weights[task as usize] * after as f64 + late + held };
        let whole = wholes.of[task as usize] as usize;
        let more = (after - peaks[whole]).max(0);
        peaks[whole] += more;
        wholes.weight(whole) * more as f64 + late + held
    }

    /// Computes `peaks` for the tasks `placed`, each given with its end.
    pub(super) fn peaks(&self, placed: impl Iterator<Item = (u32, i64)>, peaks: &mut Vec<i64>) {
        let Some(wholes) = self.wholes else { return };
        peaks.clear();
        peaks.resize(wholes.weights.len(), 0);
        for (task, end) in placed {
            let peak = &mut peaks[wholes.of[task as usize] as usize];
            *peak = (end - self.earliest[task as usize]).max(*peak);
        }
    }

    /// Returns whether jobs are parts of larger jobs, and the objective depends on the last part of each larger job.
    pub(super) fn is_of_wholes(&self) -> bool {
        self.wholes.is_some()
    }

    /// Returns the mean cost of a task in a schedule with this value and makespan. The mean includes the cost of the
    /// shortest run times. Temperatures are multiples of this mean.
    pub(super) fn mean_cost(&self, tasks: usize, value: f64, makespan: i64) -> f64 {
        let value = if self.is_max_tardiness() { value + makespan as f64 } else { value };
        (value + self.runs) / tasks.max(1) as f64
    }

    /// Returns the value to be minimised, given the sum of the costs and the makespan.
    pub(super) fn value(&self, costs: f64, makespan: i64) -> f64 {
        if self.is_makespan() { costs + makespan as f64 } else { costs }
    }

    /// Returns the rank of a schedule. A lower rank is better. If the maximum tardiness is minimised, `latest` is the
    /// maximum tardiness of the schedule.
    pub(super) fn rank(&self, value: f64, makespan: i64, latest: i64) -> f64 {
        match self.objective {
            _ if self.makespan_at_most.is_some_and(|most| makespan > most) => f64::INFINITY,
            Objective::Makespan => makespan as f64,
            Objective::MaxTardiness => latest as f64,
            _ => value,
        }
    }
}
