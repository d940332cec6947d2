//! A schedule as a sequence of tasks for each processor. A task can be removed and inserted again at another position.
//! The exact makespan for each such position is computed without inserting the task.
//!
//! The neighbourhood is from M. Mastrolilli and L. M. Gambardella, "Effective neighbourhood functions for the flexible
//! job shop problem", J. Scheduling 3, 2000, DOI `10.1002/(SICI)1099-1425(200001/02)3:1<3::AID-JOS32>3.0.CO;2-Y`.
//! Extensions: transfers between processors may take time, and the tasks may form any acyclic graph.
//!
//! Let T be the removed task. For every other task, compute its earliest end and its *rest*: the longest path from the
//! start of the task to the end of the schedule. At a position, T starts when its data have arrived and the previous
//! task of the processor has ended. T is followed by its successors and by the next task of the processor. Let R be the
//! longest of their rests. The longest path through T is the start of T plus the time of T plus R. The makespan is the
//! maximum of this path and the longest path without T.
//!
//! Some positions need not be tried. Let A be a task on the processor. If A ends by the release of T or by the end of a
//! predecessor of T, the position after A is at least as good as all earlier positions. If the rest of A is at most the
//! rest of a successor of T, the position before A is at least as good as all later positions. No position between
//! these two limits closes a cycle.

mod order;
mod slots;
#[cfg(test)]
mod tests;

use super::{GraphProblem, Neighbour, ProcessorId, TaskPlace};
use order::Marks;

/// The index that represents no task.
const NONE: u32 = u32::MAX;
/// The end of a removed task. This end is before all instants of a schedule, so that the removed task delays no other
/// task.
const GONE: i64 = i64::MIN / 4;

/// The sequence of tasks on each processor, and the earliest end of each task. Processors are always open.
#[derive(Clone, Debug)]
pub struct MachineOrders<'a> {
    problem: &'a GraphProblem,
    /// The tasks of each processor, in order.
    of: Vec<Vec<u32>>,
    processor: Vec<ProcessorId>,
    /// For each task, the previous task on its processor.
    before: Vec<u32>,
    /// For each task, the next task on its processor.
    behind: Vec<u32>,
    /// The time of each task on its processor.
    times: Vec<i64>,
    /// The transfer time of each edge between the processors of its tasks.
    transfers: Vec<i64>,
    /// All tasks. Each task comes after its predecessors and after the previous tasks on its processor.
    order: Vec<u32>,
    position: Vec<u32>,
    ends: Vec<i64>,
    rests: Vec<i64>,
    makespan: i64,
    marks: Marks,
}

/// A position for a removed task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderPosition {
    /// The processor.
    pub processor: ProcessorId,
    /// The number of tasks of the processor that run before the position.
    pub at: u32,
    /// The length of the longest path through the task at this position.
    pub through: i64,
}

impl<'a> MachineOrders<'a> {
    /// Returns whether sequences determine the schedule of a problem. This is so if no processor is ever closed.
    pub fn are_enough(problem: &GraphProblem) -> bool {
        problem.processor_ids().all(|processor| problem.closed(processor).is_empty())
    }

    /// Returns the sequences for a topological order of the tasks and the processor of each task.
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

    /// Replaces the order and the processors.
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

    /// Returns the latest end of all tasks. Call this method only while no task is removed.
    pub fn makespan(&self) -> i64 {
        self.makespan
    }

    /// Returns all tasks. Each task comes after its predecessors and after the previous tasks on its processor.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the processor of each task.
    pub fn processors(&self) -> &[ProcessorId] {
        &self.processor
    }

    /// Returns whether a task is on a longest path.
    pub fn is_critical(&self, task: u32) -> bool {
        let task = task as usize;
        self.ends[task] - self.times[task] + self.rests[task] >= self.makespan
    }

    /// Returns the place of each task.
    pub fn places(&self) -> Vec<TaskPlace> {
        let place =
            |task: usize| TaskPlace { processor: self.processor[task], start: self.ends[task] - self.times[task] };
        (0..self.order.len()).map(place).collect()
    }

    /// Removes a task. Returns the length of the longest path without the task, and the old position of the task. Takes
    /// O(tasks + edges).
    pub fn take(&mut self, task: u32) -> (i64, OrderPosition) {
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
        (self.latest(), OrderPosition { processor, at: at as u32, through })
    }

    /// Inserts a removed task at one of the positions that [`MachineOrders::slots`] found. Takes O(tasks + edges).
    pub fn put(&mut self, task: u32, slot: OrderPosition) {
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

    /// Updates the transfer times to and from a task that was moved.
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

    /// Updates the ends of the tasks from position `first` of the order on.
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

    /// Updates the rests of the tasks up to position `last` of the order.
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
