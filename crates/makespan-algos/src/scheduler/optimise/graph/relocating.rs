//! Simulated annealing that removes one task at a time, and computes the makespan for each position at which the task
//! can be inserted again.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{hottest, scale};
use crate::kernel::graph::machine_orders::{MachineOrders, OrderPosition};
use crate::kernel::graph::{GraphProblem, ProcessorId, TaskPlace};
use crate::search::{Cooling, Neighbourhood, heat};

/// The final temperature, as a fraction of the initial temperature.
const COLDEST: f64 = 0.01;
/// Fraction of the steps in which a task on a longest path is removed. In the other steps, a task is drawn from all
/// tasks.
const CRITICAL: f64 = 0.5;
/// Fraction of the steps in which neighbours of a task move together with the task.
const TOGETHER: f64 = 0.1;
/// Maximum number of neighbours that move together with a task.
const MAX: usize = 3;
/// The number of steps per task from one heating to the next. Several descents of the temperature find better schedules
/// than one long descent.
const DESCENT: f64 = 300.0;
/// The number of steps per task before the first heating, at temperature zero.
const COLD: f64 = 8.0;

/// A search, with its current solution and the best solution.
pub(super) struct RelocationSearch<'a> {
    problem: &'a GraphProblem,
    lines: MachineOrders<'a>,
    best: Best,
    random: ChaCha8Rng,
    floor: f64,
    /// The temperatures within a descent.
    cooling: Cooling,
    /// The current descent of the temperature. `None` before the first heating.
    descent: Option<Descent>,
    steps: f64,
    slots: Vec<OrderPosition>,
    /// The tasks that the current step has moved, and their previous positions.
    moved: Vec<(u32, OrderPosition)>,
    critical: Vec<u32>,
}

/// An order, and the processors of the tasks.
struct Best {
    makespan: i64,
    order: Vec<u32>,
    processors: Vec<ProcessorId>,
}

/// A descent: a part of the annealing run in which the temperature falls once.
struct Descent {
    begin: f64,
    end: f64,
}

impl Descent {
    /// Returns the next descent, of about `length` steps. `done` is the completed fraction of the annealing run, and
    /// `steps` is the number of steps made so far. The last descent ends with the run.
    fn next(done: f64, steps: f64, length: f64) -> Self {
        let left = (1.0 - done) * steps / done.max(f64::MIN_POSITIVE);
        Self { begin: done, end: done + (1.0 - done) / (left / length).round().max(1.0) }
    }

    fn part(&self, done: f64) -> f64 {
        (done - self.begin) / (self.end - self.begin).max(f64::MIN_POSITIVE)
    }
}

impl<'a> RelocationSearch<'a> {
    /// Returns a search that begins with the places `places`.
    pub(super) fn new(problem: &'a GraphProblem, places: &[TaskPlace], random: ChaCha8Rng, floor: f64) -> Self {
        let mut order = problem.order().to_vec();
        order.sort_by_key(|&task| places[task as usize].start);
        let processors: Vec<ProcessorId> = places.iter().map(|place| place.processor).collect();
        let lines = MachineOrders::new(problem, &order, &processors);
        let hottest = hottest(order.len()) * scale(problem);
        let cooling = Cooling { hottest, coldest: COLDEST, cycles: 1.0 };
        let best = Best { makespan: lines.makespan(), order, processors };
        let (slots, moved, critical) = (Vec::new(), Vec::new(), Vec::new());
        let (descent, steps) = (None, 0.0);
        Self { problem, lines, best, random, floor, cooling, descent, steps, slots, moved, critical }
    }

    /// Returns the best value, and the places of the tasks in the best solution.
    pub(super) fn into_best(mut self) -> (f64, Vec<TaskPlace>) {
        self.lines.set(&self.best.order, &self.best.processors);
        (self.best.makespan as f64, self.lines.places())
    }

    /// Moves one or a few tasks to other positions.
    fn change(&mut self, temperature: f64) {
        let task = self.task();
        let heat = heat(temperature, &mut self.random);
        let threshold = self.lines.makespan().saturating_add(heat as i64);
        if self.random.random::<f64>() < TOGETHER {
            self.move_together(task, threshold);
        } else {
            self.move_one(task, threshold);
        }
        if self.lines.makespan() < self.best.makespan {
            self.best.makespan = self.lines.makespan();
            self.best.order.copy_from_slice(self.lines.order());
            self.best.processors.copy_from_slice(self.lines.processors());
        }
    }

    /// Moves one task to a position that is drawn from the positions with a makespan of at most `threshold`. The
    /// threshold is the current makespan plus a random amount, so that the probabilities of a change and of its inverse
    /// are balanced as in the rule of Metropolis.
    fn move_one(&mut self, task: u32, threshold: i64) {
        let (without, own) = self.lines.take(task);
        let mut to = own;
        if without <= threshold {
            self.lines.slots(task, &mut self.slots);
            self.slots.retain(|slot| slot.through <= threshold);
            if !self.slots.is_empty() {
                to = self.slots[self.random.random_range(0..self.slots.len())];
            }
        }
        self.lines.put(task, to);
    }

    /// Moves one task to a random position. Then moves its neighbours to their best positions, until the makespan is
    /// at most the threshold. If this fails, all tasks move back.
    fn move_together(&mut self, task: u32, threshold: i64) {
        self.moved.clear();
        let (_, own) = self.lines.take(task);
        self.lines.slots(task, &mut self.slots);
        let to = self.slots[self.random.random_range(0..self.slots.len())];
        self.lines.put(task, to);
        self.moved.push((task, own));
        while self.lines.makespan() > threshold && self.moved.len() <= MAX {
            let Some(next) = self.neighbour(task) else { break };
            let (_, own) = self.lines.take(next);
            self.lines.slots(next, &mut self.slots);
            let to = self.slots.iter().min_by_key(|slot| slot.through).copied().unwrap_or(own);
            self.lines.put(next, to);
            self.moved.push((next, own));
        }
        if self.lines.makespan() > threshold {
            while let Some((task, own)) = self.moved.pop() {
                self.lines.take(task);
                self.lines.put(task, own);
            }
        }
    }

    /// Returns a random predecessor or successor of a task.
    fn neighbour(&mut self, task: u32) -> Option<u32> {
        let (incoming, outgoing) = (self.problem.incoming(task), self.problem.outgoing(task));
        let count = incoming.len() + outgoing.len();
        if count == 0 {
            return None;
        }
        let at = self.random.random_range(0..count);
        Some(incoming.get(at).unwrap_or_else(|| &outgoing[at - incoming.len()]).task)
    }

    fn task(&mut self) -> u32 {
        let tasks = self.best.order.len() as u32;
        if self.random.random::<f64>() >= CRITICAL {
            return self.random.random_range(0..tasks);
        }
        let lines = &self.lines;
        self.critical.clear();
        self.critical.extend((0..tasks).filter(|&task| lines.is_critical(task)));
        self.critical[self.random.random_range(0..self.critical.len())]
    }
}

/// Lets the temperature fall repeatedly. Each fall begins with the best solution.
impl Neighbourhood for RelocationSearch<'_> {
    fn is_optimal(&self) -> bool {
        self.best.makespan as f64 <= self.floor
    }

    fn best_value(&self) -> Option<f64> {
        Some(self.best.makespan as f64)
    }

    fn step(&mut self, done: f64) {
        let tasks = self.best.order.len() as f64;
        // The steps before the first heating also measure how long a step takes.
        if self.descent.as_ref().map_or(self.steps >= COLD * tasks, |descent| done >= descent.end) {
            self.descent = Some(Descent::next(done, self.steps, DESCENT * tasks));
            self.lines.set(&self.best.order, &self.best.processors);
        }
        let temperature = self.descent.as_ref().map_or(0.0, |descent| self.cooling.at(descent.part(done)));
        self.change(temperature);
        self.steps += 1.0;
    }
}
