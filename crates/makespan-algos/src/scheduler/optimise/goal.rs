//! What the search minimises.

use makespan_core::{Instance, Objective, SimpleJob, Time};

use super::wholes::Wholes;
use crate::kernel::serial::Request;

/// An objective as a sum over tasks, in floats, and how schedules are ranked by it.
///
/// Weighted completion and mean flow are such sums. The makespan is the same for most schedules near a good one, which
/// gives a search no direction; so what is minimised there is the makespan plus the area, over the number of
/// processors, that lies after a target below it. With a limit on the makespan, area after the limit has a price that
/// rises while the limit is passed and falls while it is kept, so that the search stays near it; a schedule that
/// passes the limit ranks behind all others.
///
/// The weighted lateness is a sum, too, in which what ends by its deadline costs nothing. The largest lateness is like the makespan the same
/// for most schedules: what is minimised is the area of each task after its deadline and a target below the best.
#[derive(Clone, Debug)]
pub(crate) struct Goal<'a> {
    objective: Objective,
    /// Where jobs are parts, of which the last one counts.
    wholes: Option<&'a Wholes>,
    /// What a tick of completion costs, task by task.
    weights: Vec<f64>,
    /// What all tasks cost while they run as short as they can.
    runs: f64,
    /// When each task could end at the earliest, in ticks: only what comes after costs anything, so that heavy or late
    /// tasks do not swallow the digits that tell schedules apart; its deadline, where only lateness costs.
    earliest: Vec<i64>,
    /// Where the largest lateness counts, what comes so long after a deadline costs `price` a processor and tick.
    late_from: i64,
    /// Area after this instant costs `price` a processor and tick.
    after: i64,
    price: f64,
    first_price: f64,
    lateness_price: f64,
    /// What a processor costs for a tick, whenever that is: those that are yet to come wait for it.
    area_price: f64,
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

/// What a goal knows of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// What a tick of completion costs, where weights count.
    pub(crate) weight: f64,
    /// When it could end at the earliest, in ticks.
    pub(crate) alone: i64,
    /// How long it takes at least.
    pub(crate) shortest: i64,
    /// In ticks.
    pub(crate) deadline: Option<i64>,
}

impl Wish {
    fn of(job: SimpleJob<'_>) -> Self {
        let shortest = job.profile().shortest();
        let (alone, deadline) = ((job.release + shortest).ticks(), job.deadline.map(Time::ticks));
        Self { weight: job.weight.as_f64(), alone, shortest: shortest.ticks(), deadline }
    }
}

impl<'a> Goal<'a> {
    /// For the tasks of the instance, under a limit on the makespan in ticks with [`LOW`] or [`HIGH`] for its price.
    pub(super) fn new(
        instance: &Instance,
        objective: Objective,
        wholes: Option<&'a Wholes>,
        limit: Option<(i64, f64)>,
    ) -> Self {
        Self::of(instance.processors(), instance.simple_jobs().map(Wish::of), objective, wholes, limit)
    }

    /// The same for tasks on so many processors.
    pub(super) fn of(
        processors: u32,
        wishes: impl Iterator<Item = Wish>,
        objective: Objective,
        wholes: Option<&'a Wholes>,
        limit: Option<(i64, f64)>,
    ) -> Self {
        let (makespan_at_most, multiple) = limit.unzip();
        let sum = objective.shape().filter(|shape| shape.is_sum);
        let weight = |wish: &Wish| match sum {
            Some(shape) if !shape.is_lateness() || wish.deadline.is_some() => {
                if shape.is_weighted() {
                    wish.weight
                } else {
                    1.0
                }
            }
            _ => 0.0,
        };
        let earliest = |wish: &Wish| match (sum, wish.deadline) {
            (None, due) if objective.is_lateness() => due.unwrap_or(i64::MAX / 4),
            (Some(shape), Some(due)) if shape.is_lateness() => wish.alone.max(due),
            _ => wish.alone,
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
            // Where no task has a weight, the area after the limit is all there is to minimise.
            _ if weights.iter().all(|&weight| weight == 0.0) => 1.0 / processors,
            _ => multiple.unwrap_or(LOW) * weights.iter().sum::<f64>() / processors,
        };
        Self {
            objective,
            // If the objective ignores weights, its value does not change if each part counts as a job.
            wholes: wholes.filter(|_| objective.is_weighted()),
            weights,
            runs,
            earliest: earliest_ends,
            late_from: 0,
            after: makespan_at_most.unwrap_or(i64::MAX),
            price,
            first_price: price,
            lateness_price: 1.0 / processors,
            area_price: 0.0,
            makespan_at_most,
        }
    }

    /// The same; a processor costs this for a tick whenever it is held.
    pub(super) fn with_area_price(self, area_price: f64) -> Self {
        Self { area_price, ..self }
    }

    /// Aims at a makespan shorter than `makespan`, where `floor` is proved; or at less of the largest lateness.
    pub(super) fn aim(&mut self, makespan: i64, floor: i64) {
        if self.is_makespan() {
            self.after = floor + ((makespan - floor).max(0) as f64 * TARGET) as i64;
        }
        if self.is_max_lateness() {
            self.late_from = floor + ((makespan - floor).max(0) as f64 * TARGET) as i64;
        }
    }

    /// Whether the largest lateness alone counts.
    pub(super) fn is_max_lateness(&self) -> bool {
        self.objective == Objective::MaxLateness
    }

    /// By how much a task is late that ends then.
    pub(super) fn lateness(&self, task: usize, end: i64) -> i64 {
        (end - self.earliest[task]).max(0)
    }

    /// Whether no schedule ranks before one of this rank and makespan; `floor` is proved of the makespan or the largest lateness.
    pub(super) fn is_best(&self, rank: f64, makespan: i64, floor: i64) -> bool {
        match self.objective {
            Objective::Makespan => makespan <= floor,
            Objective::MaxLateness => rank <= floor as f64,
            objective => objective.is_lateness() && rank <= 0.0,
        }
    }

    /// Whether the makespan alone counts.
    pub(super) fn is_makespan(&self) -> bool {
        self.objective == Objective::Makespan
    }

    /// Whether each task costs something wherever it is, so that what the first of them cost tells of all.
    pub(super) fn is_sum(&self) -> bool {
        !self.is_of_wholes() && self.objective.is_sum_of_ends()
    }

    /// Whether schedules must not be longer than some makespan.
    pub(super) fn is_limited(&self) -> bool {
        self.makespan_at_most.is_some()
    }

    /// Makes area after the limit dearer or cheaper, by what the makespan of the present schedule is. Returns whether
    /// the values of schedules have changed.
    pub(super) fn adapt(&mut self, makespan: i64) -> bool {
        let Some(most) = self.makespan_at_most else { return false };
        let factor = if makespan > most { RISE } else { FALL };
        self.price = (self.price * factor).clamp(CHEAPEST * self.first_price, DEAREST * self.first_price);
        true
    }

    /// What one task adds. `peaks` has for each whole the most that any of its parts before was after the earliest end.
    #[inline]
    pub(super) fn cost(&self, task: u32, start: i64, request: &Request, peaks: &mut [i64]) -> f64 {
        let (end, processors) = (start + request.duration, f64::from(request.processors));
        let late = if end > self.after { (end - self.after) as f64 * processors * self.price } else { 0.0 };
        let held = self.area_price * processors * request.duration as f64;
        let after = (end - self.earliest[task as usize] - self.late_from).max(0);
        if self.is_max_lateness() {
            return after as f64 * processors * self.lateness_price + late + held;
        }
        let Some(wholes) = self.wholes else { return self.weights[task as usize] * after as f64 + late + held };
        let whole = wholes.of[task as usize] as usize;
        let more = (after - peaks[whole]).max(0);
        peaks[whole] += more;
        wholes.weight(whole) * more as f64 + late + held
    }

    /// Sets `peaks` to what they are after these tasks with their ends.
    pub(super) fn peaks(&self, placed: impl Iterator<Item = (u32, i64)>, peaks: &mut Vec<i64>) {
        let Some(wholes) = self.wholes else { return };
        peaks.clear();
        peaks.resize(wholes.weights.len(), 0);
        for (task, end) in placed {
            let peak = &mut peaks[wholes.of[task as usize] as usize];
            *peak = (end - self.earliest[task as usize]).max(*peak);
        }
    }

    /// Whether it counts the last parts of wholes.
    pub(super) fn is_of_wholes(&self) -> bool {
        self.wholes.is_some()
    }

    /// What a mean task costs in a schedule of this value and makespan, waiting and running: the scale of changes.
    pub(super) fn mean_cost(&self, tasks: usize, value: f64, makespan: i64) -> f64 {
        let value = if self.is_max_lateness() { value + makespan as f64 } else { value };
        (value + self.runs) / tasks.max(1) as f64
    }

    /// What is minimised, from the sum of the costs and the makespan.
    pub(super) fn value(&self, costs: f64, makespan: i64) -> f64 {
        if self.is_makespan() { costs + makespan as f64 } else { costs }
    }

    /// By what schedules are compared in the end, less being better; `latest` is the largest lateness where that counts.
    pub(super) fn rank(&self, value: f64, makespan: i64, latest: i64) -> f64 {
        match self.objective {
            _ if self.makespan_at_most.is_some_and(|most| makespan > most) => f64::INFINITY,
            Objective::Makespan => makespan as f64,
            Objective::MaxLateness => latest as f64,
            _ => value,
        }
    }
}
