//! Tasks of a compound job and the data between them.

mod order;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashSet;
use thiserror::Error;

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
    incoming: Rows,
    outgoing: Rows,
}

/// One task of a compound job.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTask {
    /// Unique within the job.
    pub name: String,
    /// What is placed.
    pub task: Task,
}

/// One task must end, and its data arrive, before another starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of the task that ends first.
    pub from: u32,
    /// The number of the task that waits for it.
    pub to: u32,
    /// What is carried.
    pub load: Load,
}

/// What an edge carries from the node of one task to that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
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
fn cycle(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    if names.len() > SHOWN {
        shown.push("..");
    }
    shown.extend(names.first().map(String::as_str));
    shown.join(" -> ")
}

/// The edges at each task: those of task `t` are `items[first[t] .. first[t + 1]]`.
#[derive(Clone, Debug, PartialEq)]
struct Rows {
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    fn new(tasks: usize, edges: &[Edge], end: impl Fn(&Edge) -> u32) -> Self {
        let mut first = vec![0_u32; tasks + 1];
        for edge in edges {
            first[end(edge) as usize + 1] += 1;
        }
        for task in 0..tasks {
            first[task + 1] += first[task];
        }
        let mut next = first.clone();
        let mut items = vec![0; edges.len()];
        for (index, edge) in edges.iter().enumerate() {
            let slot = &mut next[end(edge) as usize];
            items[*slot as usize] = index as u32;
            *slot += 1;
        }
        Self { first, items }
    }

    fn of(&self, task: u32) -> &[u32] {
        let task = task as usize;
        &self.items[self.first[task] as usize..self.first[task + 1] as usize]
    }
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
        let incoming = Rows::new(tasks.len(), &edges, |edge| edge.to);
        let outgoing = Rows::new(tasks.len(), &edges, |edge| edge.from);
        let mut graph = Self { tasks, edges, order: Vec::new(), incoming, outgoing };
        graph.order = order::topological(&graph)
            .map_err(|cycle| GraphError::Cycle(cycle.into_iter().map(|task| graph.name(task).to_owned()).collect()))?;
        Ok(graph)
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

    /// The name of a task.
    pub fn name(&self, task: u32) -> &str {
        &self.tasks[task as usize].name
    }

    /// The number of the task of this name. O(tasks).
    pub fn number(&self, name: &str) -> Option<u32> {
        self.tasks.iter().position(|task| task.name == name).map(|task| task as u32)
    }

    /// The edges, in file order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The tasks, each after all that it waits for; of those that may come next the first in file order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The edges that lead to a task, in file order.
    pub fn incoming(&self, task: u32) -> impl DoubleEndedIterator<Item = &Edge> + ExactSizeIterator + '_ {
        self.incoming.of(task).iter().map(|&edge| &self.edges[edge as usize])
    }

    /// The edges that lead from a task, in file order.
    pub fn outgoing(&self, task: u32) -> impl DoubleEndedIterator<Item = &Edge> + ExactSizeIterator + '_ {
        self.outgoing.of(task).iter().map(|&edge| &self.edges[edge as usize])
    }

    /// The numbers of the edges that lead to a task, ascending.
    pub fn incoming_edges(&self, task: u32) -> &[u32] {
        self.incoming.of(task)
    }

    /// The numbers of the edges that lead from a task, ascending.
    pub fn outgoing_edges(&self, task: u32) -> &[u32] {
        self.outgoing.of(task)
    }

    /// The longest path through the graph, where a task counts as long as `time` says and an edge nothing.
    pub fn longest_path(&self, time: impl Fn(u32) -> Time) -> Time {
        let mut ends = vec![Time::ZERO; self.len()];
        for &task in &self.order {
            let start = self.incoming(task).map(|edge| ends[edge.from as usize]).max().unwrap_or(Time::ZERO);
            ends[task as usize] = start + time(task);
        }
        ends.into_iter().max().unwrap_or(Time::ZERO)
    }

    /// All tasks on one processor, one after the other; saturates.
    pub(crate) fn one_after_the_other(&self) -> Profile {
        let total = self.tasks.iter().map(|task| task.task.profile.longest()).sum();
        Profile::rigid(1, total).expect("there are tasks, and each takes its time")
    }

    /// The same graph with other tasks in the same places.
    ///
    /// # Errors
    /// Whatever `change` makes of a task that it refuses.
    pub fn with_tasks<E>(self, change: impl Fn(&str, Task) -> Result<Task, E>) -> Result<Self, E> {
        let tasks = self.tasks.into_iter().map(|NamedTask { name, task }| {
            let task = change(&name, task)?;
            Ok(NamedTask { name, task })
        });
        Ok(Self { tasks: tasks.collect::<Result<_, E>>()?, ..self })
    }
}

impl NamedTask {
    /// A task without command.
    pub fn new(name: impl Into<String>, profile: Profile) -> Self {
        Self { name: name.into(), task: Task { profile, command: Vec::new() } }
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
        if !names.insert(task.name.as_str()) {
            return Err(GraphError::DuplicateName(task.name.clone()));
        }
    }
    let mut pairs = FxHashSet::default();
    for (index, edge) in edges.iter().enumerate() {
        let last = tasks.len() - 1;
        if let Some(task) = [edge.from, edge.to].into_iter().find(|&task| task as usize > last) {
            return Err(GraphError::UnknownTask { edge: index, task, last });
        }
        let name = |task: u32| tasks[task as usize].name.clone();
        let (from, to) = (name(edge.from), name(edge.to));
        if !pairs.insert((edge.from, edge.to)) {
            return Err(GraphError::DuplicateEdge { from, to });
        }
        if let Load::Fixed(time) = edge.load
            && time < Time::ZERO
        {
            return Err(GraphError::Negative { from, to, time });
        }
    }
    Ok(())
}
