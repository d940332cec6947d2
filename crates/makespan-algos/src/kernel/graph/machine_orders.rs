//! A schedule as a line of tasks for each processor: one task is taken out, and what every place for it would give is
//! known exactly before it is put back.
//!
//! The neighbourhood is that of M. Mastrolilli and L. M. Gambardella, "Effective neighbourhood functions for the flexible job
//! shop problem", J. Scheduling 3, 2000, DOI `10.1002/(SICI)1099-1425(200001/02)3:1<3::AID-JOS32>3.0.CO;2-Y`, with transfers and any
//! graph. Without the task let every other have its earliest end and its *rest*, the longest path from its start to the
//! end of all. The path through the task at a place is then known: it begins when its data are there and the task before
//! it has ended, and ends with the longest rest behind it. The makespan is that path or the longest one without the task.
//! No place before a task that ends before all the data are sent is better than the place behind it, and no place behind
//! one whose rest is shorter than those of all that wait; between them no place closes a cycle.

mod order;
mod slots;
#[cfg(test)]
mod tests;

use super::{GraphProblem, Neighbour, Place, ProcessorId};
use order::Marks;

/// No task.
const NONE: u32 = u32::MAX;
/// Before all times, so that a task that is taken out holds up nothing.
const GONE: i64 = i64::MIN / 4;

/// Which task runs where and behind which, with the earliest end of each. Processors are always open.
#[derive(Clone, Debug)]
pub struct MachineOrders<'a> {
    problem: &'a GraphProblem,
    /// For each processor its tasks, in order.
    of: Vec<Vec<u32>>,
    processor: Vec<ProcessorId>,
    /// Each task's neighbours on its processor.
    before: Vec<u32>,
    behind: Vec<u32>,
    /// The time of each task and of each edge, with the tasks where they are.
    times: Vec<i64>,
    transfers: Vec<i64>,
    /// All tasks, each after what it waits for and after those before it on its processor.
    order: Vec<u32>,
    position: Vec<u32>,
    ends: Vec<i64>,
    rests: Vec<i64>,
    makespan: i64,
    marks: Marks,
}

/// A place for a task that is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The processor.
    pub processor: ProcessorId,
    /// How many tasks of the processor run before it.
    pub at: u32,
    /// The longest path through the task there.
    pub through: i64,
}

impl<'a> MachineOrders<'a> {
    /// Whether the lines of a problem say all: no processor is closed at any time.
    pub fn are_enough(problem: &GraphProblem) -> bool {
        problem.processor_ids().all(|processor| problem.closed(processor).is_empty())
    }

    /// The tasks in this order, in which each comes after all that it waits for, each on its processor.
    pub fn new(problem: &'a GraphProblem, order: &[u32], processors: &[ProcessorId]) -> Self {
        let tasks = problem.tasks();
        let edges: usize = (0..tasks as u32).map(|task| problem.incoming(task).len()).sum();
        let mut lines = Self {
            problem,
            of: vec![Vec::new(); problem.processors()],
            processor: vec![ProcessorId::default(); tasks],
            before: vec![NONE; tasks],
            behind: vec![NONE; tasks],
            times: vec![0; tasks],
            transfers: vec![0; edges],
            order: vec![0; tasks],
            position: vec![0; tasks],
            ends: vec![0; tasks],
            rests: vec![0; tasks],
            makespan: 0,
            marks: Marks::new(tasks),
        };
        lines.set(order, processors);
        lines
    }

    /// Starts anew from this order and these processors.
    pub fn set(&mut self, order: &[u32], processors: &[ProcessorId]) {
        self.order.copy_from_slice(order);
        self.processor.copy_from_slice(processors);
        self.before.fill(NONE);
        self.behind.fill(NONE);
        self.of.iter_mut().for_each(Vec::clear);
        for (position, &task) in order.iter().enumerate() {
            self.position[task as usize] = position as u32;
            let processor = processors[task as usize];
            let line = &mut self.of[processor.index()];
            if let Some(&last) = line.last() {
                self.before[task as usize] = last;
                self.behind[last as usize] = task;
            }
            line.push(task);
            self.times[task as usize] = self.problem.time(task, self.problem.node_of(processor));
        }
        for &task in order {
            for from in self.problem.incoming(task) {
                self.transfers[from.edge as usize] =
                    self.transfer(from, processors[from.task as usize], processors[task as usize]);
            }
        }
        self.forward(0);
        self.backward(order.len());
        self.makespan = self.latest();
    }

    /// The latest end, with no task taken out.
    pub fn makespan(&self) -> i64 {
        self.makespan
    }

    /// The tasks, each after what it waits for and after those before it on its processor.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The processor of each task.
    pub fn processors(&self) -> &[ProcessorId] {
        &self.processor
    }

    /// Whether a longest path leads through a task.
    pub fn is_critical(&self, task: u32) -> bool {
        let task = task as usize;
        self.ends[task] - self.times[task] + self.rests[task] >= self.makespan
    }

    /// Where and when each task runs.
    pub fn places(&self) -> Vec<Place> {
        let place = |task: usize| Place { processor: self.processor[task], start: self.ends[task] - self.times[task] };
        (0..self.order.len()).map(place).collect()
    }

    /// Takes a task out: gives the longest path without it, and its place as [`Slot`] counts it. O(tasks + edges).
    pub fn take(&mut self, task: u32) -> (i64, Slot) {
        let index = task as usize;
        let (before, behind) = (self.before[index], self.behind[index]);
        let processor = self.processor[index];
        let line = &mut self.of[processor.index()];
        let at = line.iter().position(|&other| other == task).unwrap_or_default();
        line.remove(at);
        if before != NONE {
            self.behind[before as usize] = behind;
        }
        if behind != NONE {
            self.before[behind as usize] = before;
        }
        let through = self.ends[index] - self.times[index] + self.rests[index];
        (self.ends[index], self.rests[index]) = (GONE, GONE);
        let position = self.position[index] as usize;
        self.forward(position + 1);
        self.backward(position);
        (self.latest(), Slot { processor, at: at as u32, through })
    }

    /// Puts a task that is taken out to one of its slots. O(tasks + edges).
    pub fn put(&mut self, task: u32, slot: Slot) {
        let index = task as usize;
        let line = &mut self.of[slot.processor.index()];
        let at = slot.at as usize;
        let before = if at == 0 { NONE } else { line[at - 1] };
        let behind = line.get(at).copied().unwrap_or(NONE);
        line.insert(at, task);
        (self.before[index], self.behind[index]) = (before, behind);
        if before != NONE {
            self.behind[before as usize] = task;
        }
        if behind != NONE {
            self.before[behind as usize] = task;
        }
        if self.processor[index] != slot.processor {
            self.processor[index] = slot.processor;
            self.times[index] = self.problem.time(task, self.problem.node_of(slot.processor));
            self.send(task);
        }
        self.reorder(task, before, behind);
        let position = self.position[index] as usize;
        self.forward(position);
        self.backward(position + 1);
        self.makespan = self.latest();
    }

    /// The transfers to and from a task that has moved.
    fn send(&mut self, task: u32) {
        let own = self.processor[task as usize];
        for from in self.problem.incoming(task) {
            self.transfers[from.edge as usize] = self.transfer(from, self.processor[from.task as usize], own);
        }
        for to in self.problem.outgoing(task) {
            self.transfers[to.edge as usize] = self.transfer(to, own, self.processor[to.task as usize]);
        }
    }

    fn transfer(&self, edge: &Neighbour, from: ProcessorId, to: ProcessorId) -> i64 {
        self.problem.transfers().time(edge.edge, self.problem.node_of(from), self.problem.node_of(to))
    }

    /// The ends of the tasks from this place of the order on.
    fn forward(&mut self, first: usize) {
        for &task in &self.order[first..] {
            let index = task as usize;
            let mut start = self.problem.release[index];
            let before = self.before[index];
            if before != NONE {
                start = start.max(self.ends[before as usize]);
            }
            for from in self.problem.incoming(task) {
                start = start.max(self.ends[from.task as usize] + self.transfers[from.edge as usize]);
            }
            self.ends[index] = start + self.times[index];
        }
    }

    /// The rests of the tasks before this place of the order.
    fn backward(&mut self, last: usize) {
        for &task in self.order[..last].iter().rev() {
            let index = task as usize;
            let mut rest = 0;
            let behind = self.behind[index];
            if behind != NONE {
                rest = rest.max(self.rests[behind as usize]);
            }
            for to in self.problem.outgoing(task) {
                rest = rest.max(self.rests[to.task as usize] + self.transfers[to.edge as usize]);
            }
            self.rests[index] = rest + self.times[index];
        }
    }

    fn latest(&self) -> i64 {
        self.ends.iter().copied().max().unwrap_or(0)
    }
}
