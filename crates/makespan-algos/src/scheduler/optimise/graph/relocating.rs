//! Simulated annealing that takes one task out at a time and knows what each place for it gives.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{hottest, scale};
use crate::kernel::graph::machine_orders::{MachineOrders, Slot};
use crate::kernel::graph::{GraphProblem, Place, ProcessorId};
use crate::search::{Cooling, Neighbourhood, heat};

/// The temperature falls to this share of where it begins.
const COLDEST: f64 = 0.01;
/// How often a task of a longest path is taken out; otherwise any task is.
const CRITICAL: f64 = 0.5;
/// How often a task takes neighbours along, and how many at most.
const TOGETHER: f64 = 0.1;
const MAX: usize = 3;
/// Steps for each task from one heating to the next. Several descents find more than a long one.
const DESCENT: f64 = 300.0;
/// Steps for each task before the first heating, without any.
const COLD: f64 = 8.0;

/// One search: a present solution, and the best one.
pub(super) struct Relocating<'a> {
    problem: &'a GraphProblem,
    lines: MachineOrders<'a>,
    best: Best,
    random: ChaCha8Rng,
    floor: f64,
    /// Within a descent.
    cooling: Cooling,
    /// The present one; none before the first heating.
    descent: Option<Descent>,
    steps: f64,
    slots: Vec<Slot>,
    /// What the present step has moved, each with the place that it had.
    moved: Vec<(u32, Slot)>,
    critical: Vec<u32>,
}

/// An order and the processors of the tasks.
struct Best {
    makespan: i64,
    order: Vec<u32>,
    processors: Vec<ProcessorId>,
}

/// A part of the course in which the temperature falls once.
struct Descent {
    begin: f64,
    end: f64,
}

impl Descent {
    /// The next one, of about `length` steps, where so many took the course this far; the last one ends with it.
    fn next(done: f64, steps: f64, length: f64) -> Self {
        let left = (1.0 - done) * steps / done.max(f64::MIN_POSITIVE);
        Self { begin: done, end: done + (1.0 - done) / (left / length).round().max(1.0) }
    }

    fn part(&self, done: f64) -> f64 {
        (done - self.begin) / (self.end - self.begin).max(f64::MIN_POSITIVE)
    }
}

impl<'a> Relocating<'a> {
    /// Begins with these places.
    pub(super) fn new(problem: &'a GraphProblem, places: &[Place], random: ChaCha8Rng, floor: f64) -> Self {
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

    /// The best value, and where and when each task runs in it.
    pub(super) fn into_best(mut self) -> (f64, Vec<Place>) {
        self.lines.set(&self.best.order, &self.best.processors);
        (self.best.makespan as f64, self.lines.places())
    }

    /// One task or a few to other places.
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

    /// One task to any of its places at which the makespan is within the threshold, which is random above the present
    /// one: each of two solutions is left for the other as often as the rule of Metropolis has it.
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

    /// One task anywhere, then neighbours of it where they are best, until the makespan is within the threshold. If it
    /// never is, all go back.
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

    /// Any task with which a task exchanges data.
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

/// Descends again and again, each time from the best solution.
impl Neighbourhood for Relocating<'_> {
    fn is_optimal(&self) -> bool {
        self.best.makespan as f64 <= self.floor
    }

    fn step(&mut self, done: f64) {
        let tasks = self.best.order.len() as f64;
        // The first steps also show how long a step takes.
        if self.descent.as_ref().map_or(self.steps >= COLD * tasks, |descent| done >= descent.end) {
            self.descent = Some(Descent::next(done, self.steps, DESCENT * tasks));
            self.lines.set(&self.best.order, &self.best.processors);
        }
        let temperature = self.descent.as_ref().map_or(0.0, |descent| self.cooling.at(descent.part(done)));
        self.change(temperature);
        self.steps += 1.0;
    }
}
