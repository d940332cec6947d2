//! Graphs: the tasks of a compound job and the edges between them.

mod adjacency;
mod gangs;
mod lags;
mod order;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use thiserror::Error;

pub(super) use adjacency::Adjacency;
pub use lags::Lag;
use order::cycle_of;

use crate::model::{Profile, Task, Time};

/// The tasks of a compound job and the edges between them. The graph has no cycle and no edge to a missing task.
///
/// A task starts when, for each edge to the task, the first task of the edge has ended and the payload has arrived.
/// Tasks and edges are numbered from 0, in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    tasks: Vec<NamedTask>,
    edges: Vec<Edge>,
    /// All tasks, each after the tasks that it waits for. If several tasks may come next, the earliest one in file
    /// order comes next.
    order: Vec<u32>,
}

/// One task of a compound job.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTask {
    /// Name of the task, unique within the job.
    pub name: Arc<str>,
    /// The task itself.
    pub task: Task,
}

/// An edge of a graph: one task must end, and its data must arrive, before another task of the job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of the task that must end before the other one starts.
    pub from: u32,
    /// The number of the task that waits.
    pub to: u32,
    /// The payload of the edge.
    pub payload: Payload,
}

/// The data that an edge carries from the node of one task to the node of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A number of bytes, sent over the network of the platform.
    Bytes(u64),
    /// A fixed time, which the payload takes between any two distinct nodes.
    Fixed(Time),
}

/// The reason why tasks and edges do not form a graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// The graph has no tasks.
    #[error("there are no tasks; give at least one task")]
    Empty,
    /// The graph has more tasks or edges than are supported.
    #[error("there are {0} tasks or edges; at most 16777216 are supported")]
    TooLarge(usize),
    /// A task has no name.
    #[error("the name of task {0} (counted from 0) is empty; give the task a unique name")]
    Nameless(usize),
    /// Two tasks have the same name.
    #[error("two tasks are named `{0}`; names must be unique within a job")]
    DuplicateName(String),
    /// An edge refers to a task that does not exist.
    #[error("edge {edge} refers to task {task}, but tasks are numbered from 0 to {last}")]
    UnknownTask {
        /// Position of the edge.
        edge: usize,
        /// The task number that the edge states.
        task: u32,
        /// Largest task number.
        last: usize,
    },
    /// Two edges lead from one task to another.
    #[error("two edges lead from `{from}` to `{to}`; write one edge with the data of both edges")]
    DuplicateEdge {
        /// Name of the task at which the edges start.
        from: String,
        /// Name of the task at which the edges end.
        to: String,
    },
    /// Some tasks wait for each other. The field contains the names of the tasks of a cycle.
    #[error("the tasks wait for each other in a cycle: {}; remove one of these edges", cycle(.0))]
    Cycle(Vec<String>),
    /// A task of a gang waits for another task of the gang, directly or through other tasks. So these tasks cannot start
    /// together.
    #[error(
        "tasks of the gang `{0}` wait for each other, directly or through other tasks, so they cannot start together; \
         remove these edges, or the key `gang` of one of the tasks"
    )]
    Gang(String),
    /// A time lag refers to no other task of the graph.
    #[error("a time lag of task `{task}` refers to task {from}, which is not another task from 0 to {last}")]
    UnknownLag {
        /// Name of the task that has the lag.
        task: String,
        /// The task number that the lag states.
        from: u32,
        /// Largest task number.
        last: u32,
    },
    /// No starts satisfy the time lags and edges of a cycle. The field contains the names of the tasks of the cycle.
    #[error(
        "no plan satisfies all time lags and edges between the tasks {}: the minimal lags and run times of this cycle exceed \
         its maximal lags; raise a maximal lag",
        cycle(.0)
    )]
    Lags(Vec<String>),
    /// An edge takes a negative time.
    #[error("the edge from `{from}` to `{to}` takes {time} s; give a time of at least 0 s")]
    Negative {
        /// Name of the task at which the edge starts.
        from: String,
        /// Name of the task at which the edge ends.
        to: String,
        /// Time that the payload of the edge takes.
        time: Time,
    },
}

/// Formats the first names of a cycle, followed by the first name again.
pub(super) fn cycle(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    if names.len() > SHOWN {
        shown.push("..");
    }
    shown.extend(names.first().map(String::as_str));
    shown.join(" -> ")
}

impl Graph {
    /// Maximum number of tasks of a graph, and also the maximum number of its edges.
    pub const MAX: usize = 1 << 24;

    /// Checks the tasks and edges and combines them into a graph.
    ///
    /// # Errors
    /// [`GraphError`] names the invalid task or edge.
    pub fn new(tasks: Vec<NamedTask>, edges: Vec<Edge>) -> Result<Self, GraphError> {
        check(&tasks, &edges)?;
        let order = order::topological(tasks.len(), &edges).map_err(|cycle| {
            GraphError::Cycle(cycle.into_iter().map(|task| tasks[task as usize].name.to_string()).collect())
        })?;
        gangs::check(&tasks, &edges)?;
        lags::check(&tasks, &edges)?;
        Ok(Self { tasks, edges, order })
    }

    /// Creates a graph of tasks and edges that were already checked. `order` is the topological order that the check
    /// found.
    pub(super) fn again(tasks: Vec<NamedTask>, edges: Vec<Edge>, order: Vec<u32>) -> Self {
        Self { tasks, edges, order }
    }

    /// Returns the tasks, the edges and the order.
    pub(super) fn into_parts(self) -> (Vec<NamedTask>, Vec<Edge>, Vec<u32>) {
        (self.tasks, self.edges, self.order)
    }

    /// Returns the number of tasks.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns false, because a graph has at least one task.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns the tasks, in file order.
    pub fn tasks(&self) -> &[NamedTask] {
        &self.tasks
    }

    /// Returns a task by its number.
    pub fn task(&self, task: u32) -> &Task {
        &self.tasks[task as usize].task
    }

    /// Returns all tasks, mutably.
    pub fn tasks_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        self.tasks.iter_mut().map(|task| &mut task.task)
    }

    /// Returns the name of a task.
    pub fn name(&self, task: u32) -> &str {
        &self.tasks[task as usize].name
    }

    /// Returns the number of the task with this name. Takes O(tasks).
    pub fn number(&self, name: &str) -> Option<u32> {
        self.tasks.iter().position(|task| &*task.name == name).map(|task| task as u32)
    }

    /// Returns the edges, in file order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the tasks, each after the tasks that it waits for. If several tasks may come next, the earliest one in
    /// file order comes next.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the length of the longest path through the graph, counting `time` for each task and nothing for edges.
    pub fn longest_path(&self, time: impl Fn(u32) -> Time) -> Time {
        let incoming = Adjacency::of(self.len(), &self.edges, |edge| edge.to);
        let mut ends = vec![Time::ZERO; self.len()];
        for &task in &self.order {
            let before = incoming.of_row(task as usize).iter().map(|&edge| self.edges[edge as usize].from);
            let start = before.map(|from| ends[from as usize]).max().unwrap_or(Time::ZERO);
            ends[task as usize] = start + time(task);
        }
        ends.into_iter().max().unwrap_or(Time::ZERO)
    }
}

impl NamedTask {
    /// Creates a task without a command.
    pub fn new(name: impl Into<Arc<str>>, profile: Profile) -> Self {
        Self { name: name.into(), task: Task::new(profile) }
    }
}

fn check(tasks: &[NamedTask], edges: &[Edge]) -> Result<(), GraphError> {
    let most = tasks.len().max(edges.len());
    if tasks.is_empty() {
        return Err(GraphError::Empty);
    }
    if most > Graph::MAX {
        return Err(GraphError::TooLarge(most));
    }
    let mut names = FxHashSet::default();
    for (index, task) in tasks.iter().enumerate() {
        if task.name.is_empty() {
            return Err(GraphError::Nameless(index));
        }
        if !names.insert(&*task.name) {
            return Err(GraphError::DuplicateName(task.name.to_string()));
        }
    }
    let mut pairs = FxHashSet::default();
    for (index, edge) in edges.iter().enumerate() {
        let last = tasks.len() - 1;
        if let Some(task) = [edge.from, edge.to].into_iter().find(|&task| task as usize > last) {
            return Err(GraphError::UnknownTask { edge: index, task, last });
        }
        let name = |task: u32| tasks[task as usize].name.to_string();
        let (from, to) = (name(edge.from), name(edge.to));
        if !pairs.insert((edge.from, edge.to)) {
            return Err(GraphError::DuplicateEdge { from, to });
        }
        if let Payload::Fixed(time) = edge.payload
            && time < Time::ZERO
        {
            return Err(GraphError::Negative { from, to, time });
        }
    }
    Ok(())
}
