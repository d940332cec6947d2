//! Simulated annealing of an order and of allotments.

use makespan_core::Instance;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::change::{Change, Solution};
use super::goal::Goal;
use crate::free_time::Skyline;
use crate::kernel::choices::Choices;
use crate::kernel::serial::{EvaluationLimit, SerialInsertion, SerialRequest};
use crate::search::{Cooling, Neighbourhood, SearchCourse, anneal, heat};

/// A search, with its current solution and the best solution.
pub(super) struct Annealing<'a> {
    choices: &'a Choices,
    goal: Goal<'a>,
    serial: SerialInsertion,
    present: Solution,
    value: f64,
    /// Starts of the tasks in the last evaluation, in ticks.
    starts: Vec<i64>,
    /// The tardiness of each task in the current solution, if the maximum tardiness is minimised.
    tardiness: Vec<i64>,
    /// The ends of the tasks in the current solution. The ends are used if jobs are parts of larger jobs, such as tasks
    /// of a bag.
    ends: Vec<i64>,
    /// For each larger job, the maximum, over its parts, of the time from the earliest possible end of the part to its
    /// actual end.
    peaks: Vec<i64>,
    best: RankedSolution,
    random: ChaCha8Rng,
    /// A proven bound in ticks. If the maximum tardiness is minimised, the bound is on the maximum tardiness, otherwise
    /// on the makespan.
    floor: i64,
    /// The mean cost of a task in the first solution.
    mean_cost: f64,
    cooling: Cooling,
    /// Whether the search begins with a solution that exceeds its limit.
    comes_back: bool,
}

/// A solution and its rank. The solution with the lowest rank is best.
#[derive(Clone, Debug)]
pub(crate) struct RankedSolution {
    pub(crate) rank: f64,
    pub(crate) makespan: i64,
    pub(crate) solution: Solution,
}

/// The initial temperature for `FEW` tasks, as a fraction of the mean cost of a task. With more tasks, the temperature
/// is lower, because there are more changes to try. With fewer tasks, the temperature is higher, because all changes
/// are soon tried.
const HOT: f64 = 0.2;
/// Number of tasks for which `HOT` is the initial temperature.
const FEW: f64 = 25.0;
/// Maximum initial temperature, as a fraction of the mean cost of a task.
const HOTTEST: f64 = 1.0;
/// The final temperature, as a fraction of the initial temperature.
const COLDEST: f64 = 0.01;
/// The coefficient of the initial temperature if the objective is a sum over all tasks. For n tasks, the initial
/// temperature is the maximum of `HOT_SUM * FEW / n` and `HOT * (FEW / n)^3`. For more than `MANY` tasks, the first
/// number is also divided by the square root of `n / MANY`. Reason: with 25 tasks, a search that begins at a low
/// temperature sometimes stays 10 % above the bound. With 50 tasks, a search that begins at a high temperature gives
/// values that are 1.5 % worse.
const HOT_SUM: f64 = 0.05;
const MANY: f64 = 400.0;
/// The initial temperature if a sum is minimised under a limit on the makespan. Time after the limit is expensive, so
/// the values of schedules differ more.
const HOT_WITHIN: f64 = 0.6;
/// The factor that reduces the initial temperature of some searches. A search at a high temperature makes a good start
/// worse, and a search at a low temperature cannot leave a poor start. So both kinds of searches are made.
const COOL: f64 = 0.15;
/// The factor that replaces `COOL` if the objective is a sum.
const COOL_SUM: f64 = 0.5;
/// If a sum is minimised without a limit on the makespan, the number of times that the temperature falls from its
/// initial to its final value. A single fall often ends in a local optimum.
const CYCLES: f64 = 4.0;
/// Number of times that the temperature falls if best placement is required, for at most `FEW` tasks. This number is
/// larger than `CYCLES`, because only few sets of wide allotments fill the nodes.
const CYCLES_IN_NODES: f64 = 8.0;
/// Limit on the excess of the cost over the acceptable cost, as a multiple of the temperature. An evaluation inserts
/// one task after another. If the excess is above this limit after the last changed position of the order, the
/// evaluation stops, because the remaining tasks rarely reduce the excess enough.
const GIVEN_UP: f64 = 10.0;
/// With n tasks, the order is sorted by the starts about once in n changes. If n is less than `OFTEN`, the order is
/// sorted about once in `OFTEN` changes. A search that began with a schedule beyond its limit sorts once in `OFTEN`
/// changes, because each sort also adapts the price of exceeding the limit.
const OFTEN: usize = 64;
/// The fraction of the time after which a search without a solution within its limit ends. The other searches get the
/// remaining time.
const PATIENCE: f64 = 0.6;

impl<'a> Annealing<'a> {
    /// Returns a search that starts from a solution.
    pub(super) fn new(
        instance: &Instance,
        choices: &'a Choices,
        floor: i64,
        goal: Goal<'a>,
        solution: Solution,
        random: ChaCha8Rng,
    ) -> Self {
        Self::on(&Skyline::new(instance), choices, floor, goal, solution, random)
    }

    /// Returns a search that starts from a solution, on the free processors of `skyline`.
    pub(super) fn on(
        skyline: &Skyline,
        choices: &'a Choices,
        floor: i64,
        goal: Goal<'a>,
        solution: Solution,
        random: ChaCha8Rng,
    ) -> Self {
        let best = RankedSolution { rank: f64::INFINITY, makespan: i64::MAX, solution: solution.clone() };
        let mut annealing = Self {
            choices,
            goal,
            serial: SerialInsertion::on(skyline, solution.order.len()),
            present: solution,
            value: f64::INFINITY,
            starts: vec![0; choices.tasks()],
            tardiness: vec![0; choices.tasks()],
            ends: vec![0; choices.tasks()],
            peaks: Vec::new(),
            best,
            random,
            floor,
            mean_cost: 0.0,
            cooling: Cooling { hottest: 0.0, coldest: COLDEST, cycles: 1.0 },
            comes_back: false,
        };
        annealing.sort();
        let tasks = annealing.present.order.len();
        annealing.mean_cost = annealing.goal.mean_cost(tasks, annealing.value, annealing.serial.latest());
        annealing
    }

    /// Returns the value of the current solution.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Marks a search that begins with a solution beyond its limit. In such a search, the price of exceeding the limit
    /// soon rises. If no solution within the limit is found, the search ends early.
    pub(super) fn coming_back(self) -> Self {
        Self { comes_back: true, ..self }
    }

    /// Returns the current solution.
    pub(super) fn present(&self) -> &Solution {
        &self.present
    }

    /// Returns whether a solution within the limit was found. If there is no limit, returns true.
    pub(super) fn keeps_limit(&self) -> bool {
        self.best.rank.is_finite()
    }

    /// Returns the best solution.
    pub(super) fn into_best(self) -> RankedSolution {
        self.best
    }

    /// Anneals until `course` is over. If `is_cool` is set, the initial temperature is lower.
    pub(super) fn run(&mut self, course: &mut SearchCourse, is_cool: bool) {
        let tasks = self.present.order.len() as f64;
        if tasks == 0.0 {
            return;
        }
        let (share, cycles) = self.heating(tasks);
        let cool = if self.is_plain_sum() { COOL_SUM } else { COOL };
        let warmth = if is_cool { cool } else { 1.0 };
        self.cooling = Cooling { hottest: warmth * share.min(HOTTEST) * self.mean_cost, coldest: COLDEST, cycles };
        anneal(self, course);
    }

    /// Anneals once from a solution that is already good. The usual initial temperature is multiplied by `warmth`.
    pub(super) fn run_warm(&mut self, course: &mut SearchCourse, warmth: f64) {
        let tasks = self.present.order.len() as f64;
        if tasks > 0.0 {
            let (share, _) = self.heating(tasks);
            let hottest = warmth * share.min(HOTTEST) * self.mean_cost;
            self.cooling = Cooling { hottest, coldest: COLDEST, cycles: 1.0 };
            anneal(self, course);
        }
    }

    /// Returns whether a sum over all tasks is minimised and best placement is not required.
    fn is_plain_sum(&self) -> bool {
        self.goal.is_sum() && self.choices.node().is_none()
    }

    /// Returns the initial temperature as a fraction of the mean cost, and the number of times that the temperature
    /// falls.
    fn heating(&self, tasks: f64) -> (f64, f64) {
        let few = FEW / tasks;
        if !self.is_plain_sum() {
            let in_nodes = self.choices.node().is_some() && tasks <= FEW;
            return (HOT * few.powf(1.5), if in_nodes { CYCLES_IN_NODES } else { 1.0 });
        }
        let falling = few * (MANY / tasks).min(1.0).sqrt();
        if self.goal.is_limited() {
            (HOT_WITHIN * falling, 1.0)
        } else {
            ((HOT_SUM * falling).max(HOT * few.powi(3)), CYCLES)
        }
    }

    /// Tries one change at a temperature.
    fn change(&mut self, temperature: f64) {
        let change = Change::draw(&self.present, self.choices, &mut self.random);
        let (first, last) = change.apply(&mut self.present);
        let worse = heat(temperature, &mut self.random);
        let threshold = self.value + worse;
        let lead = if self.goal.is_sum() { worse + GIVEN_UP * temperature } else { f64::INFINITY };
        let value = self.evaluate(first, EvaluationLimit { most: threshold, lead, after: last });
        if value > threshold {
            change.undo(&mut self.present);
            return;
        }
        self.accept(first);
        self.value = value;
        let improved = self.keep(first);
        if improved && self.goal.is_max_tardiness() {
            self.aim();
        }
        // From time to time, sort the order by the starts. An exchange of neighbours in the order then exchanges
        // neighbours in the schedule.
        let every = if self.comes_back { OFTEN } else { self.present.order.len().max(OFTEN) };
        if improved && self.goal.is_makespan() || self.random.random_range(0..every) == 0 {
            self.sort();
        }
    }

    fn evaluate(&mut self, from: usize, limit: EvaluationLimit) -> f64 {
        let Self { choices, goal, serial, present, starts, ends, peaks, .. } = self;
        let before = &present.order[..serial.begin(from)];
        goal.peaks(before.iter().map(|&task| (task, ends[task as usize])), peaks);
        let request = |place: usize| {
            let task = present.order[place];
            let choice = choices.of(task)[present.chosen[task as usize] as usize];
            SerialRequest { processors: choice.processors, duration: choice.time, release: choices.release(task) }
        };
        let fold = |costs: f64, place: usize, start: i64, request: &SerialRequest| {
            let task = present.order[place];
            starts[task as usize] = start;
            costs + goal.cost(task, start, request, peaks)
        };
        let costs = serial.evaluate(from..present.order.len(), limit, request, fold);
        goal.value(costs, serial.latest())
    }

    /// Makes the last evaluated solution the current one. The solution was changed from position `from` on.
    fn accept(&mut self, from: usize) {
        self.serial.accept(from);
        if self.goal.is_of_wholes() {
            for &task in &self.present.order[from..] {
                let choice = self.choices.of(task)[self.present.chosen[task as usize] as usize];
                self.ends[task as usize] = self.starts[task as usize] + choice.time;
            }
        }
    }

    /// Sorts the tasks by their starts. No start becomes later.
    fn sort(&mut self) {
        self.evaluate(0, EvaluationLimit::NONE);
        let starts = &self.starts;
        self.present.order.sort_unstable_by_key(|&task| (starts[task as usize], task));
        self.value = self.evaluate(0, EvaluationLimit::NONE);
        self.accept(0);
        let improved = self.keep(0);
        if improved {
            self.aim();
        }
        if self.goal.adapt(self.serial.latest()) || improved {
            self.value = self.evaluate(0, EvaluationLimit::NONE);
            self.accept(0);
        }
    }

    /// Sets the target of the search to a value below the best solution.
    fn aim(&mut self) {
        let best = if self.goal.is_max_tardiness() && self.best.rank.is_finite() {
            self.best.rank as i64
        } else {
            self.best.makespan
        };
        self.goal.aim(best, self.floor);
    }

    /// Returns the maximum tardiness of the current solution, or 0 if another objective is minimised. The last
    /// evaluation began at position `from`.
    fn latest(&mut self, from: usize) -> i64 {
        if !self.goal.is_max_tardiness() {
            return 0;
        }
        for &task in &self.present.order[from..] {
            let choice = self.choices.of(task)[self.present.chosen[task as usize] as usize];
            self.tardiness[task as usize] =
                self.goal.tardiness(task as usize, self.starts[task as usize] + choice.time);
        }
        self.tardiness.iter().copied().max().unwrap_or(0)
    }

    /// If the current solution is the best so far, stores it and returns true. The last evaluation began at position
    /// `from`.
    fn keep(&mut self, from: usize) -> bool {
        let makespan = self.serial.latest();
        let latest = self.latest(from);
        let rank = self.goal.rank(self.value, makespan, latest);
        if rank >= self.best.rank {
            return false;
        }
        (self.best.rank, self.best.makespan) = (rank, makespan);
        self.best.solution.clone_from(&self.present);
        true
    }
}

impl Neighbourhood for Annealing<'_> {
    fn is_optimal(&self) -> bool {
        self.goal.is_best(self.best.rank, self.best.makespan, self.floor)
    }

    /// Only the makespan is a value of the objective. The ranks of other objectives are relative.
    fn best_value(&self) -> Option<f64> {
        (self.best.makespan < i64::MAX).then_some(self.best.makespan as f64)
    }

    fn is_over(&self, done: f64) -> bool {
        self.comes_back && done >= PATIENCE && !self.keeps_limit()
    }

    fn step(&mut self, done: f64) {
        self.change(self.cooling.at(done));
    }
}
