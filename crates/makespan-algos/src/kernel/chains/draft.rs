//! A partial plan of a job.

use makespan_core::FreeTime;

use super::criterion::{Criterion, Figures, TieBreak};
use super::frame::Frame;
use crate::free_time::Calendar;
use crate::kernel::graph::placing::earliest;
use crate::kernel::graph::together::earliest_together;
use crate::kernel::graph::{NEVER, NodeId, ProcessorId, TaskPlace};

/// A partial plan of a job: the places of some of its tasks. The calendars also contain busy periods from other jobs.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    frame: &'a Frame<'a>,
    calendars: Vec<Calendar>,
    places: Vec<Option<TaskPlace>>,
}

impl<'a> Draft<'a> {
    /// Returns a draft without placed tasks. `calendars` contains the busy periods of each processor.
    pub fn new(frame: &'a Frame<'a>, calendars: Vec<Calendar>) -> Self {
        Self { frame, calendars, places: vec![None; frame.tasks()] }
    }

    /// Returns the job.
    pub fn frame(&self) -> &'a Frame<'a> {
        self.frame
    }

    /// Returns the release of the job, in ticks.
    pub fn release(&self) -> i64 {
        self.frame.release()
    }

    /// Returns the number of machines for tasks: processors, or types of processors.
    pub fn processors(&self) -> usize {
        self.frame.machines().len()
    }

    /// Returns whether a task is placed.
    pub fn is_placed(&self, task: u32) -> bool {
        self.places[task as usize].is_some()
    }

    /// Returns the place of a task, or `None` if the task is not placed.
    pub fn place(&self, task: u32) -> Option<TaskPlace> {
        self.places[task as usize]
    }

    /// Returns whether both drafts place the same tasks in the same places.
    pub fn has_same_places(&self, other: &Self) -> bool {
        self.places == other.places
    }

    /// Returns the places of all tasks, or `None` if a task has no place.
    pub fn places(&self) -> Option<Vec<TaskPlace>> {
        self.places.iter().copied().collect()
    }

    /// Returns the busy periods of each processor.
    pub fn calendars(&self) -> &[Calendar] {
        &self.calendars
    }

    /// Returns the time of a task on one of the [`Frame::machines`].
    pub fn time(&self, task: u32, machine: u32) -> i64 {
        self.frame.time_on(task, self.frame.machines()[machine as usize])
    }

    /// Returns the value of a task on one of the [`Frame::machines`] by `criterion`. Smaller values are better.
    pub fn weight(&self, task: u32, machine: u32, criterion: Criterion) -> i64 {
        let processor = self.frame.machines()[machine as usize];
        match criterion {
            _ if self.frame.time_on(task, processor) == NEVER => 0,
            Criterion::Cost => self.frame.cost_on(task, processor),
            Criterion::Utilisation => -self.frame.time_on(task, processor),
        }
    }

    /// Returns the sums of cost and processor time over the placed tasks.
    pub fn figures(&self) -> Figures {
        let each = self.places.iter().zip(0..).filter_map(|(place, task)| Some((task, (*place)?.processor)));
        self.sum(each)
    }

    fn sum(&self, each: impl Iterator<Item = (u32, ProcessorId)>) -> Figures {
        each.fold(Figures::default(), |Figures { cost, busy }, (task, processor)| Figures {
            cost: cost + self.frame.cost_on(task, processor),
            busy: busy + self.frame.time_on(task, processor),
        })
    }

    /// Returns the sums of cost and processor time over the placed tasks among `tasks`.
    pub fn figures_of(&self, tasks: &[u32]) -> Figures {
        self.sum(tasks.iter().filter_map(|&task| Some((task, self.place(task)?.processor))))
    }

    /// Returns the latest end of the placed tasks, or the release if there are none.
    pub fn finish(&self) -> i64 {
        (0..self.frame.tasks() as u32).filter_map(|task| self.end(task)).max().unwrap_or_else(|| self.release())
    }

    /// Returns the end of a task, or `None` if the task is not placed.
    pub fn end(&self, task: u32) -> Option<i64> {
        let place = self.places[task as usize]?;
        Some(place.start + self.frame.time_on(task, place.processor))
    }

    /// Returns the time of a transfer between two of the [`Frame::machines`]. If both are the same machine, the time
    /// is zero. A machine may represent all processors of a type.
    pub fn way_between(&self, edge: u32, from: u32, to: u32) -> i64 {
        let machines = self.frame.machines();
        self.frame.transfer(edge, machines[from as usize], machines[to as usize])
    }

    /// Returns whether both tasks are placed and the edge between them is satisfied: the data arrive before the second
    /// task starts.
    pub fn keeps(&self, from: u32, to: u32, edge: u32) -> bool {
        let (Some(end), Some(first), Some(next)) =
            (self.end(from), self.places[from as usize], self.places[to as usize])
        else {
            return false;
        };
        end + self.frame.transfer(edge, first.processor, next.processor) <= next.start
    }

    /// Places a task on one of the [`Frame::machines`].
    pub fn put(&mut self, task: u32, machine: u32, start: i64) {
        self.put_on(task, TaskPlace { processor: self.frame.machines()[machine as usize], start });
    }

    /// Places a task on a processor.
    pub fn put_on(&mut self, task: u32, place: TaskPlace) {
        self.places[task as usize] = Some(place);
        if !self.frame.is_of_types() {
            let end = place.start + self.frame.time_on(task, place.processor);
            self.calendars[place.processor.index()].hold(1, place.start, end);
        }
    }

    /// Holds a processor for some time.
    pub fn hold(&mut self, processor: ProcessorId, start: i64, end: i64) {
        if start < end {
            self.calendars[processor.index()].hold(1, start, end);
        }
    }

    /// Releases a processor that [`Draft::hold`] held.
    pub fn release_hold(&mut self, processor: ProcessorId, start: i64, end: i64) {
        self.calendars[processor.index()].release(&(start, end));
    }

    /// Removes a task from its place.
    pub fn lift(&mut self, task: u32) {
        if let (Some(place), Some(end)) = (self.places[task as usize], self.end(task)) {
            self.places[task as usize] = None;
            if !self.frame.is_of_types() {
                self.calendars[place.processor.index()].release(&(place.start, end));
            }
        }
    }

    /// Places a task on the processor on which it ends first, as HEFT does. All its predecessors must be placed.
    pub fn put_first(&mut self, task: u32) {
        let problem = self.frame.problem();
        let arrival = |node: NodeId| self.arrival(task, problem.first_of(node));
        if let Some((place, _)) = earliest(problem, self.frame.number(task), &self.calendars, arrival, |_, end| end) {
            self.put_on(task, place);
        }
    }

    /// Places the tasks of a gang at the earliest instant at which they can start together. All their predecessors must be
    /// placed.
    pub fn put_together(&mut self, tasks: &[u32]) {
        let problem = self.frame.problem();
        let numbers: Vec<u32> = tasks.iter().map(|&task| self.frame.number(task)).collect();
        let arrival = |at: usize, node: NodeId| self.arrival(tasks[at], problem.first_of(node));
        let places = earliest_together(problem, &numbers, &self.calendars, arrival);
        tasks.iter().zip(places.into_iter().flatten()).for_each(|(&task, place)| self.put_on(task, place));
    }

    /// Returns the instant at which all data of a task have arrived on a processor. Predecessors that are not placed
    /// are ignored.
    pub fn arrival(&self, task: u32, processor: ProcessorId) -> i64 {
        let each = self.frame.incoming(task).filter_map(|from| {
            let place = self.places[from.task as usize]?;
            Some(self.end(from.task)? + self.frame.transfer(from.edge, place.processor, processor))
        });
        each.fold(self.release(), i64::max)
    }

    /// Returns the tie-breaking rule for a round of planning. Even rounds prefer early places, and odd rounds prefer
    /// late places.
    pub fn tie_break(round: usize) -> TieBreak {
        if round.is_multiple_of(2) { TieBreak::Earliest } else { TieBreak::Latest }
    }
}
