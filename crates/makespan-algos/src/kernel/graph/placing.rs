//! Places tasks one by one. On a processor, a task gets the earliest gap that is long enough.

use makespan_core::FreeTime;

use super::{GraphProblem, NEVER, NodeId, ProcessorId, TaskPlace};
use crate::free_time::Calendar;

/// Returns the place where a task has the least `cost`, and the end of the task at this place. `cost` is a function of
/// the node and of the end. Among places of equal cost, the first one is chosen. Returns `None` if no node can run the
/// task.
///
/// This is the insertion-based policy of HEFT. On each processor, the task begins in the earliest gap that is long
/// enough after the arrival of its data. `arrival` returns the instant at which the data have arrived on a node. Takes
/// O(processors log tasks), plus one step for each gap that is too short.
pub fn earliest<C: PartialOrd>(
    problem: &GraphProblem,
    task: u32,
    calendars: &[Calendar],
    arrival: impl Fn(NodeId) -> i64,
    cost: impl Fn(NodeId, i64) -> C,
) -> Option<(TaskPlace, i64)> {
    let mut best: Option<(C, TaskPlace, i64)> = None;
    for node in problem.node_ids() {
        let time = problem.time(task, node);
        if time == NEVER {
            continue;
        }
        let arrival = arrival(node);
        for processor in problem.processors_of(node) {
            let start = calendars[processor.index()].earliest_fit(1, time, arrival);
            let cost = cost(node, start + time);
            if best.as_ref().is_none_or(|best| cost < best.0) {
                best = Some((cost, TaskPlace { processor, start }, start + time));
            }
        }
    }
    best.map(|(_, place, end)| (place, end))
}

/// Returns the unavailable periods of each processor.
pub fn calendars(problem: &GraphProblem) -> Vec<Calendar> {
    problem.processor_ids().map(|processor| Calendar::new(problem.closed(processor))).collect()
}

/// A partial schedule. Each task is placed by [`earliest`].
#[derive(Clone, Debug)]
pub struct PartialSchedule<'a> {
    problem: &'a GraphProblem,
    calendars: Vec<Calendar>,
    /// The place of each placed task. Other tasks have the default place.
    places: Vec<TaskPlace>,
    /// The end of each placed task.
    ends: Vec<i64>,
    /// The instant at which the data of the current task arrive on each node.
    arrivals: Vec<i64>,
}

impl<'a> PartialSchedule<'a> {
    /// Returns a schedule without placed tasks.
    pub fn new(problem: &'a GraphProblem) -> Self {
        Self {
            problem,
            calendars: calendars(problem),
            places: vec![TaskPlace::default(); problem.tasks()],
            ends: vec![0; problem.tasks()],
            arrivals: vec![0; problem.nodes()],
        }
    }

    /// Places a task where `cost` is least. `cost` is a function of the node and of the end of the task. Among equal
    /// costs, the first processor is chosen. All predecessors of the task must be placed. Takes O(predecessors * nodes
    /// + processors log tasks), plus one step for each gap that is too short.
    ///
    /// # Panics
    /// Panics if no node can run the task.
    pub fn place<C: PartialOrd>(&mut self, task: u32, cost: impl Fn(NodeId, i64) -> C) {
        self.arrive(task);
        let arrival = |node: NodeId| self.arrivals[node.index()];
        let (place, end) = earliest(self.problem, task, &self.calendars, arrival, cost)
            .expect("every task of an instance runs on some node");
        self.put(task, place, end);
    }

    /// Places a task on `processor`, which must be able to run it. All predecessors of the task must be placed.
    pub fn place_on(&mut self, task: u32, processor: ProcessorId) {
        self.arrive(task);
        let node = self.problem.node_of(processor);
        let time = self.problem.time(task, node);
        let start = self.calendars[processor.index()].earliest_fit(1, time, self.arrivals[node.index()]);
        self.put(task, TaskPlace { processor, start }, start + time);
    }

    /// Returns the places of all tasks.
    pub fn into_places(self) -> Vec<TaskPlace> {
        self.places
    }

    fn put(&mut self, task: u32, place: TaskPlace, end: i64) {
        self.calendars[place.processor.index()].hold(1, place.start, end);
        self.places[task as usize] = place;
        self.ends[task as usize] = end;
    }

    /// Computes the instant at which the data of a task arrive on each node.
    fn arrive(&mut self, task: u32) {
        let problem = self.problem;
        self.arrivals.fill(problem.release(task));
        for from in problem.incoming(task) {
            let node = problem.node_of(self.places[from.task as usize].processor);
            let end = self.ends[from.task as usize];
            for (to, arrival) in problem.node_ids().zip(&mut self.arrivals) {
                *arrival = (*arrival).max(end + problem.transfers().time(from.edge, node, to));
            }
        }
    }
}
