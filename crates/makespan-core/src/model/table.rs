//! The table of tasks: one row for each different task of all jobs, and the edges between them.

use std::sync::Arc;

use crate::model::graph::Adjacency;
use crate::model::job::Kind;
use crate::model::{Edge, Graph, Job, JobId, NamedTask, Payload, Rows, Task, TaskId, Work};

/// One task waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The task that ends first.
    pub from: TaskId,
    /// The task that waits for it.
    pub to: TaskId,
    /// What is carried between them.
    pub payload: Payload,
}

/// One row: a task, or all the equal ones of a bag.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub task: Task,
    /// The job that it is of.
    pub job: JobId,
    /// The first task that it stands for.
    pub first: TaskId,
    /// That of a task of a compound job.
    pub name: Option<Arc<str>>,
}

/// All tasks of all jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// The number of tasks, and the next identifier.
    tasks: u64,
    /// The edges of each job, in the order in which they were given.
    edges: Vec<Dependence>,
    incoming: Adjacency,
    outgoing: Adjacency,
    /// The rows of each compound job, each after all that it waits for; a row of another job has itself. Empty until there
    /// is a compound job.
    order: Vec<u32>,
}

impl Table {
    /// How many tasks there are, all those of bags counted.
    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    pub fn row(&self, task: TaskId) -> &Row {
        &self.rows[self.at(task)]
    }

    /// The row of the different tasks of a job with this number.
    pub fn row_of(&self, job: &Job<Rows>, number: u32) -> &Row {
        &self.rows[(job.work.range.start + number) as usize]
    }

    /// The row that stands for a task; of one that is not there any, or none.
    fn at(&self, task: TaskId) -> usize {
        if self.tasks == self.rows.len() as u64 {
            return task.index();
        }
        self.rows.partition_point(|row| row.first <= task) - 1
    }

    /// All edges, job by job.
    pub fn edges(&self) -> &[Dependence] {
        &self.edges
    }

    pub fn incoming(
        &self,
        task: TaskId,
    ) -> impl DoubleEndedIterator<Item = &Dependence> + ExactSizeIterator + Clone + use<'_> {
        self.incoming_edges(task).iter().map(|&number| &self.edges[number as usize])
    }

    pub fn outgoing(
        &self,
        task: TaskId,
    ) -> impl DoubleEndedIterator<Item = &Dependence> + ExactSizeIterator + Clone + use<'_> {
        self.outgoing_edges(task).iter().map(|&number| &self.edges[number as usize])
    }

    /// The numbers of the edges that lead to a task.
    pub fn incoming_edges(&self, task: TaskId) -> &[u32] {
        if self.edges.is_empty() { &[] } else { self.incoming.of_row(self.at(task)) }
    }

    /// The numbers of the edges that lead from a task.
    pub fn outgoing_edges(&self, task: TaskId) -> &[u32] {
        if self.edges.is_empty() { &[] } else { self.outgoing.of_row(self.at(task)) }
    }

    /// The different tasks of a job, each after all that it waits for; of those that may come next the first in file order.
    pub fn order(
        &self,
        job: &Job<Rows>,
    ) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + use<'_> {
        let compound = job.is_compound();
        job.work.range.clone().map(move |row| {
            let row = if compound { self.order[row as usize] } else { row };
            self.rows[row as usize].first
        })
    }

    /// Adds the work of a job behind all others. O(tasks + edges) of a compound job.
    pub fn append(&mut self, id: JobId, job: Job) -> Job<Rows> {
        let (first, begin, edge) = (TaskId(self.tasks), self.rows.len() as u32, self.edges.len() as u32);
        let Job { name, weight, priority, release, deadline, walltime, user, work } = job;
        let kind = match work {
            Work::Task(task) => self.push(id, task, 1, None, Kind::Task),
            Work::Bag(task, count) => self.push(id, task, count.get(), None, Kind::Bag(count)),
            Work::Graph(graph) => {
                self.append_graph(id, graph);
                Kind::Graph
            }
        };
        let (range, edges) = (begin..self.rows.len() as u32, edge..self.edges.len() as u32);
        let work = Rows { first, range, edges, kind };
        Job { name, weight, priority, release, deadline, walltime, user, work }
    }

    fn push(&mut self, job: JobId, task: Task, count: u64, name: Option<Arc<str>>, kind: Kind) -> Kind {
        self.rows.push(Row { task, job, first: TaskId(self.tasks), name });
        self.tasks += count;
        kind
    }

    fn append_graph(&mut self, id: JobId, graph: Graph) {
        let (tasks, edges, order) = graph.into_parts();
        let (begin, first, rows) = (self.rows.len(), self.tasks, tasks.len());
        for NamedTask { name, task } in tasks {
            self.push(id, task, 1, Some(name), Kind::Graph);
        }
        self.order.extend(self.order.len() as u32..begin as u32);
        self.order.extend(order.iter().map(|&task| begin as u32 + task));
        let number = self.edges.len() as u32;
        self.incoming.append(begin, rows, number, &edges, |edge| edge.to);
        self.outgoing.append(begin, rows, number, &edges, |edge| edge.from);
        let task = |number: u32| TaskId(first + u64::from(number));
        self.edges.extend(edges.iter().map(|edge| Dependence {
            from: task(edge.from),
            to: task(edge.to),
            payload: edge.payload,
        }));
    }

    /// The work of a job, as it was added.
    pub fn work(&self, job: &Job<Rows>) -> Work {
        let rows = &self.rows[job.work.range.start as usize..job.work.range.end as usize];
        match job.work.kind {
            Kind::Task => Work::Task(rows[0].task.clone()),
            Kind::Bag(count) => Work::Bag(rows[0].task.clone(), count),
            Kind::Graph => {
                let named =
                    |row: &Row| NamedTask { name: row.name.clone().unwrap_or_default(), task: row.task.clone() };
                let number = |task: TaskId| (task.0 - job.work.first.0) as u32;
                let edge =
                    |edge: &Dependence| Edge { from: number(edge.from), to: number(edge.to), payload: edge.payload };
                let edges = &self.edges[job.work.edges.start as usize..job.work.edges.end as usize];
                let order = self.order(job).map(number).collect();
                Work::Graph(Graph::again(rows.iter().map(named).collect(), edges.iter().map(edge).collect(), order))
            }
        }
    }
}
