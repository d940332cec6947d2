//! Simulated annealing of an order of tasks and of their processors. The search adapts the price of tardiness.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::start::sequence;
use super::task::{CostRank, CostTask};
use crate::kernel::graph::sequence::{Sequence, SequenceChange};
use crate::kernel::graph::{NEVER, ProcessorId, TaskPlace};
use crate::search::{Cooling, Neighbourhood, heat};

/// The initial temperature, as a fraction of the mean cost range of the tasks. The cost range of a task is its cost on
/// its most expensive node minus its cost on its cheapest node.
const HOT: f64 = 0.3;
/// The final temperature, as a fraction of the initial temperature.
const COLDEST: f64 = 0.01;
/// The fraction of changes that give a task another processor. The changes outside the fractions `MOVES`, `SWAPS` and
/// `GROUPS` only move a task in the order.
const MOVES: f64 = 0.45;
/// The fraction of changes that swap the processors of two tasks.
const SWAPS: f64 = 0.25;
/// The fraction of changes that move connected tasks from one processor to another together. If transfers between
/// connected tasks take long, a move of only one of the tasks is never accepted.
const GROUPS: f64 = 0.1;
/// Fraction of the moves to another processor in which the task keeps its position in the order.
const STAYS: f64 = 0.5;
/// Fraction of the moves to another processor in which the task gets the processor of a neighbour.
const NEAR: f64 = 0.3;
/// Probability with which a neighbour of a moved task moves together with the task.
const TOGETHER: f64 = 0.7;
/// Number of steps after which the price of tardiness changes.
const PERIOD: u64 = 64;
/// The factor by which the price rises or falls.
const FACTOR: f64 = 1.1;
/// Minimum price, as a multiple of the first price.
const CHEAPEST: f64 = 0.01;
/// Maximum price, as a multiple of the first price.
const DEAREST: f64 = 100.0;

/// A search, with its current solution and the best solution.
pub(super) struct Annealing<'a> {
    task: &'a CostTask<'a>,
    sequence: Sequence<'a>,
    random: ChaCha8Rng,
    /// The cost of the current solution.
    cost: i64,
    /// The price of a tick of tardiness.
    price: f64,
    /// Three prices of tardiness: the minimum, the maximum, and the price that is used until a schedule that meets the
    /// deadlines is found.
    prices: (f64, f64, f64),
    cooling: Cooling,
    best: (CostRank, Vec<TaskPlace>),
    /// A proven bound on the cost of all schedules that meet the deadlines.
    floor: i128,
    steps: u64,
    group: Vec<u32>,
}

impl<'a> Annealing<'a> {
    pub(super) fn new(task: &'a CostTask<'a>, start: &[TaskPlace], random: ChaCha8Rng, floor: i128) -> Self {
        let problem = task.problem;
        let sequence = sequence(task, start);
        let places = sequence.places();
        let (mut spread, mut mean, mut time) = (0.0, 0.0, 0.0);
        for number in 0..problem.tasks() as u32 {
            let able = problem.node_ids().filter(|&node| problem.time(number, node) < NEVER);
            let costs = || able.clone().map(|node| task.cost(number, node));
            let (least, most) = (costs().min().unwrap_or(0), costs().max().unwrap_or(0));
            spread += (most - least) as f64;
            mean += least as f64;
            time += problem.times(number).iter().copied().min().unwrap_or(0) as f64;
        }
        let count = problem.tasks() as f64;
        let (spread, time) = ((spread / count).max(1.0), (time / count).max(1.0));
        let price = mean / count / time;
        let merit = task.merit(&places);
        Self {
            task,
            sequence,
            random,
            cost: i64::try_from(merit.cost).unwrap_or(i64::MAX),
            price,
            prices: (price * CHEAPEST, price * DEAREST, spread / time),
            cooling: Cooling { hottest: HOT * spread, coldest: COLDEST, cycles: 1.0 },
            best: (merit, places),
            floor,
            steps: 0,
            group: Vec::new(),
        }
    }

    /// Returns the best solution.
    pub(super) fn into_best(self) -> (CostRank, Vec<TaskPlace>) {
        self.best
    }

    /// Tries one change at a temperature.
    fn change(&mut self, temperature: f64) {
        let kind = self.random.random::<f64>();
        let tasks = 0..self.task.problem.tasks() as u32;
        let task = self.random.random_range(tasks.clone());
        let threshold = heat(temperature, &mut self.random);
        if kind < MOVES {
            let Some(processor) = self.other(task) else { return };
            let stays = self.random.random::<f64>() < STAYS;
            let to = if stays { self.sequence.position(task) } else { self.place(task) };
            let more = self.cost_on(task, processor) - self.cost_on(task, self.processor(task));
            if let Some(most) = self.most_late(threshold, more) {
                let shift = self.sequence.shift(task, to, processor);
                self.settle(&[shift], most, more);
            }
        } else if kind < MOVES + SWAPS {
            let other = self.random.random_range(tasks);
            let (own, its) = (self.processor(task), self.processor(other));
            if own == its || self.task.time(task, its) == NEVER || self.task.time(other, own) == NEVER {
                return;
            }
            let more =
                self.cost_on(task, its) + self.cost_on(other, own) - self.cost_on(task, own) - self.cost_on(other, its);
            if let Some(most) = self.most_late(threshold, more) {
                let (first, second) = (self.sequence.position(task), self.sequence.position(other));
                let shifts = [self.sequence.shift(task, first, its), self.sequence.shift(other, second, own)];
                self.settle(&shifts, most, more);
            }
        } else if kind < MOVES + SWAPS + GROUPS {
            let Some(processor) = self.other(task) else { return };
            self.gather(task, processor);
            let group = std::mem::take(&mut self.group);
            let gain = |&task: &u32| self.cost_on(task, processor) - self.cost_on(task, self.processor(task));
            let more = group.iter().map(gain).sum();
            if let Some(most) = self.most_late(threshold, more) {
                let shift = |&task: &u32| self.sequence.shift(task, self.sequence.position(task), processor);
                let shifts: Vec<SequenceChange> = group.iter().map(shift).collect();
                self.settle(&shifts, most, more);
            }
            self.group = group;
        } else {
            let to = self.place(task);
            if to == self.sequence.position(task) {
                return;
            }
            if let Some(most) = self.most_late(threshold, 0) {
                let shift = self.sequence.shift(task, to, self.processor(task));
                self.settle(&[shift], most, 0);
            }
        }
    }

    /// Returns the maximum total tardiness for which a change that increases the cost by `more` can be accepted.
    /// Returns `None` if the change can never be accepted.
    fn most_late(&self, threshold: f64, more: i64) -> Option<f64> {
        // Until a schedule that meets the deadlines is found, only tardiness matters. The price of tardiness then
        // converts the threshold, a cost, to a time.
        let (more, price) = if self.best.0.late > 0 { (0, self.prices.2) } else { (more, self.price) };
        let most = self.sequence.value() + (threshold - more as f64) / price;
        (most >= 0.0).then_some(most)
    }

    /// Accepts the changes `shifts` if the total tardiness after them is at most `most`. Otherwise, undoes them.
    fn settle(&mut self, shifts: &[SequenceChange], most: f64, more: i64) {
        let from = shifts.iter().map(|&shift| Sequence::changed(shift)).min().unwrap_or(0);
        if self.sequence.evaluate(from, most).is_none() {
            shifts.iter().rev().for_each(|&shift| self.sequence.undo(shift));
            return;
        }
        self.sequence.accept(from);
        self.cost += more;
        self.keep_best();
        if self.random.random_range(0..self.task.problem.tasks().max(64)) == 0 {
            self.sequence.sort();
        }
    }

    fn keep_best(&mut self) {
        let best = self.best.0;
        let (tardiness, cost) = (self.sequence.value() as i128, i128::from(self.cost));
        if best.late == 0 && (tardiness > 0 || cost >= best.cost) {
            return;
        }
        let late = if tardiness > 0 { self.sequence.late_jobs() } else { 0 };
        let merit = CostRank { late, tardiness, cost };
        if merit < best {
            self.best = (merit, self.sequence.places());
        }
    }

    /// Collects a task and some tasks that are connected to it by edges. The collected tasks are all on the processor
    /// of the task, and can all run on `processor`.
    fn gather(&mut self, task: u32, processor: ProcessorId) {
        let problem = self.task.problem;
        let own = self.processor(task);
        self.group.clear();
        self.group.push(task);
        let mut next = 0;
        while let Some(&from) = self.group.get(next) {
            next += 1;
            for neighbour in problem.incoming(from).iter().chain(problem.outgoing(from)) {
                let other = neighbour.task;
                let fits = self.processor(other) == own && self.task.time(other, processor) < NEVER;
                if fits && !self.group.contains(&other) && self.random.random::<f64>() < TOGETHER {
                    self.group.push(other);
                }
            }
        }
    }

    fn processor(&self, task: u32) -> ProcessorId {
        self.sequence.wanted()[task as usize]
    }

    fn cost_on(&self, task: u32, processor: ProcessorId) -> i64 {
        self.task.cost(task, self.task.problem.node_of(processor))
    }

    /// Returns a random position in the order that is valid for a task.
    fn place(&mut self, task: u32) -> u32 {
        let (first, last) = self.sequence.range(task);
        self.random.random_range(first..=last)
    }

    /// Returns another processor that can run a task. Sometimes returns the processor of a predecessor or successor,
    /// because transfers within a processor take no time.
    fn other(&mut self, task: u32) -> Option<ProcessorId> {
        let problem = self.task.problem;
        let (before, behind) = (problem.incoming(task), problem.outgoing(task));
        let near = before.len() + behind.len();
        let processor = if near > 0 && self.random.random::<f64>() < NEAR {
            let at = self.random.random_range(0..near);
            let other = before.get(at).unwrap_or_else(|| &behind[at - before.len()]);
            self.processor(other.task)
        } else {
            ProcessorId(self.random.random_range(0..problem.processors() as u32))
        };
        let changes = processor != self.processor(task) && self.task.time(task, processor) < NEVER;
        changes.then_some(processor)
    }
}

impl Neighbourhood for Annealing<'_> {
    fn is_optimal(&self) -> bool {
        self.best.0.late == 0 && self.best.0.cost <= self.floor
    }

    fn step(&mut self, done: f64) {
        self.change(self.cooling.at(done));
        self.steps += 1;
        if self.steps.is_multiple_of(PERIOD) && self.best.0.late == 0 {
            let factor = if self.sequence.value() > 0.0 { FACTOR } else { 1.0 / FACTOR };
            self.price = (self.price * factor).clamp(self.prices.0, self.prices.1);
        }
    }
}
