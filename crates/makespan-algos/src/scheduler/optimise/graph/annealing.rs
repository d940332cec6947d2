//! Simulated annealing of an order of tasks and of their processors.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{hottest, scale};
use crate::kernel::graph::sequence::{ANY, Sequence};
use crate::kernel::graph::{GraphProblem, NEVER, ProcessorId, TaskPlace};
use crate::search::{Cooling, Neighbourhood, heat};

/// The final temperature, as a fraction of the initial temperature.
const COLDEST: f64 = 0.003;
/// If the objective is a sum over jobs, the initial temperature is divided by the number of jobs to this power, because
/// a change affects only a few jobs.
const JOBS: f64 = 0.75;
/// The factor that reduces the initial temperature of every second search.
const COOL: f64 = 0.3;
/// The fraction of changes that give a task another processor.
const MOVES: f64 = 0.6;
/// Among the changes that give a task another processor, the fraction in which the task is placed on the processor on
/// which it ends first. In the other changes, a processor is drawn.
const LEAVES: f64 = 0.8;

/// A search, with its current solution and the best solution.
pub(super) struct Annealing<'a> {
    problem: &'a GraphProblem,
    sequence: Sequence<'a>,
    best: (f64, Vec<TaskPlace>),
    random: ChaCha8Rng,
    floor: f64,
    /// Whether the choice of processors never matters. If so, each task is placed on the processor on which it ends
    /// first.
    plain: bool,
    cooling: Cooling,
}

impl<'a> Annealing<'a> {
    /// Creates the search that begins with `sequence`. If `index` is odd, the initial temperature is lower.
    pub(super) fn new(
        problem: &'a GraphProblem,
        sequence: Sequence<'a>,
        random: ChaCha8Rng,
        index: u32,
        floor: f64,
    ) -> Self {
        let best = (sequence.value(), sequence.places());
        let latest = sequence.places().iter().map(|place| place.start).max().unwrap_or(0).max(1) as f64;
        let jobs = if sequence.adds_up_jobs() { (problem.jobs() as f64).powf(JOBS) } else { 1.0 };
        let scale = scale(problem) * (sequence.value() / latest / jobs).max(f64::MIN_POSITIVE);
        let plain = problem.is_plain() && sequence.wanted().iter().all(|&wanted| wanted == ANY);
        let warmth = if index.is_multiple_of(2) { 1.0 } else { COOL };
        let cooling = Cooling { hottest: hottest(problem.tasks()) * warmth * scale, coldest: COLDEST, cycles: 1.0 };
        Self { problem, sequence, best, random, floor, plain, cooling }
    }

    /// Returns the best value, and the places of the tasks in the best solution.
    pub(super) fn into_best(self) -> (f64, Vec<TaskPlace>) {
        self.best
    }

    /// Tries one change at a temperature.
    fn change(&mut self, temperature: f64) {
        let task = self.random.random_range(0..self.problem.tasks() as u32);
        let (first, last) = self.sequence.range(task);
        let wanted = self.wanted(task);
        let to = self.random.random_range(first..=last);
        let threshold = self.sequence.value() + heat(temperature, &mut self.random);
        let shift = self.sequence.shift(task, to, wanted);
        let from = Sequence::changed(shift);
        if self.sequence.evaluate(from, threshold).is_none() {
            self.sequence.undo(shift);
            return;
        }
        self.sequence.accept(from);
        if self.sequence.value() < self.best.0 {
            self.best = (self.sequence.value(), self.sequence.places());
        }
        if self.random.random_range(0..self.problem.tasks().max(64)) == 0 {
            self.sequence.sort();
        }
    }

    /// Returns the processor that a change gives to a task. `ANY` means the processor on which the task ends first.
    fn wanted(&mut self, task: u32) -> ProcessorId {
        let present = self.sequence.wanted()[task as usize];
        if self.plain || self.random.random::<f64>() >= MOVES {
            return present;
        }
        if self.random.random::<f64>() < LEAVES {
            return ANY;
        }
        let near = self.problem.incoming(task).len() + self.problem.outgoing(task).len();
        // In half of these changes, choose the processor of a predecessor or successor, because transfers within a
        // processor take no time.
        if near > 0 && self.random.random::<bool>() {
            let at = self.random.random_range(0..near);
            let incoming = self.problem.incoming(task);
            let other = incoming.get(at).unwrap_or_else(|| &self.problem.outgoing(task)[at - incoming.len()]);
            let processor = self.sequence.processor(other.task);
            if self.problem.time(task, self.problem.node_of(processor)) < NEVER {
                return processor;
            }
        }
        let processor = ProcessorId(self.random.random_range(0..self.problem.processors() as u32));
        if self.problem.time(task, self.problem.node_of(processor)) < NEVER { processor } else { present }
    }
}

impl Neighbourhood for Annealing<'_> {
    fn is_optimal(&self) -> bool {
        self.best.0 <= self.floor
    }

    fn best_value(&self) -> Option<f64> {
        Some(self.best.0)
    }

    fn step(&mut self, done: f64) {
        self.change(self.cooling.at(done));
    }
}
