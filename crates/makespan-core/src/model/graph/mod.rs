//! Tasks of a compound job and the data between them.

mod adjacency;
mod order;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use thiserror::Error;

pub(super) use adjacency::Adjacency;

use crate::model::{Profile, Task, Time};

/// The tasks of a compound job and the edges between them, checked: no cycle, no edge to a task that is not there.
///
/// A task is placed once, and not before every task with an edge to it has ended and what the edge carries has
/// arrived. Tasks are numbered from 0 in file order, and so are edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    tasks: Vec<NamedTask>,
    edges: Vec<Edge>,
    /// Tasks, each after all from which an edge leads to it; of those that may come next the first in file order.
    order: Vec<u32>,
}

/// One task of a compound job.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTask {
    /// Unique within the job.
    pub name: Arc<str>,
    /// What is placed.
    pub task: Task,
}

/// One task must end, and its data arrive, before another of its job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of the task that ends first.
    pub from: u32,
    /// The number of the task that waits for it.
    pub to: u32,
    /// What is carried.
    pub payload: Payload,
}

/// What an edge carries from the node of one task to that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// So many bytes, over the network of the platform.
    Bytes(u64),
    /// Something that takes so long between any two nodes.
    Fixed(Time),
}

/// Why tasks and edges do not make a graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// No task at all.
    #[error("there are no tasks; give at least one")]
    Empty,
    /// More tasks or edges than numbers.
    #[error("there are {0} tasks or edges; at most 16777216 are supported")]
    TooLarge(usize),
    /// A task without name.
    #[error("the name of task {0} (counted from 0) is empty; give it a unique name")]
    Nameless(usize),
    /// Two tasks of one name.
    #[error("two tasks are named `{0}`; names must be unique within a job")]
    DuplicateName(String),
    /// An edge of a task that does not exist.
    #[error("edge {edge} names task {task}, and tasks are numbered from 0 to {last}")]
    UnknownTask {
        /// Position of the edge.
        edge: usize,
        /// What it names.
        task: u32,
        /// Largest number of a task.
        last: usize,
    },
    /// Two edges between the same tasks in the same direction.
    #[error("two edges lead from `{from}` to `{to}`; write one with the data of both")]
    DuplicateEdge {
        /// Where they begin.
        from: String,
        /// Where they end.
        to: String,
    },
    /// Tasks that wait for each other.
    #[error("the tasks wait for each other in a cycle: {}; remove one of these edges", cycle(.0))]
    Cycle(Vec<String>),
    /// An edge of negative time.
    #[error("the edge from `{from}` to `{to}` takes {time} s; it must not be negative")]
    Negative {
        /// Where it begins.
        from: String,
        /// Where it ends.
        to: String,
        /// Its time.
        time: Time,
    },
}

/// The first names of a cycle, and its first one again.
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
    /// Most tasks, and most edges, of one graph.
    pub const MAX: usize = 1 << 24;

    /// Checks and joins tasks and edges.
    ///
    /// # Errors
    /// [`GraphError`] names the task or edge that is wrong.
    pub fn new(tasks: Vec<NamedTask>, edges: Vec<Edge>) -> Result<Self, GraphError> {
        check(&tasks, &edges)?;
        let order = order::topological(tasks.len(), &edges).map_err(|cycle| {
            GraphError::Cycle(cycle.into_iter().map(|task| tasks[task as usize].name.to_string()).collect())
        })?;
        Ok(Self { tasks, edges, order })
    }

    /// Of tasks and edges that were checked before, with the order that they had.
    pub(super) fn again(tasks: Vec<NamedTask>, edges: Vec<Edge>, order: Vec<u32>) -> Self {
        Self { tasks, edges, order }
    }

    /// The tasks, the edges and the order.
    pub(super) fn into_parts(self) -> (Vec<NamedTask>, Vec<Edge>, Vec<u32>) {
        (self.tasks, self.edges, self.order)
    }

    /// How many tasks.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task, which never is.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The tasks, in file order.
    pub fn tasks(&self) -> &[NamedTask] {
        &self.tasks
    }

    /// What is placed as this task.
    pub fn task(&self, task: u32) -> &Task {
        &self.tasks[task as usize].task
    }

    /// What is placed as each task, to be changed.
    pub fn tasks_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        self.tasks.iter_mut().map(|task| &mut task.task)
    }

    /// The name of a task.
    pub fn name(&self, task: u32) -> &str {
        &self.tasks[task as usize].name
    }

    /// The number of the task of this name. O(tasks).
    pub fn number(&self, name: &str) -> Option<u32> {
        self.tasks.iter().position(|task| &*task.name == name).map(|task| task as u32)
    }

    /// The edges, in file order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The tasks, each after all that it waits for; of those that may come next the first in file order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The longest path through the graph, where a task counts as long as `time` says and an edge nothing.
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
    /// A task without command.
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
