//! The table of tasks: one row for each different task of all jobs, and the edges between them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::graph::Adjacency;
use crate::model::job::Kind;
use crate::model::{
    Demand, Edge, Estimate, Graph, Job, JobId, NamedTask, Needs, Payload, Platform, Profile, Rows, Task, TaskId, Time,
    Work,
};

/// One task waits for another. The first task of a bag stands for all of its tasks, at either end.
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
    /// What it needs, by its position among the distinct needs.
    demands: u32,
}

/// What tasks need, each distinct once.
#[derive(Clone, Debug)]
struct Demands {
    /// The first is nothing.
    distinct: Vec<Box<[Demand]>>,
    known: FxHashMap<Needs, u32>,
}

impl Default for Demands {
    fn default() -> Self {
        Self { distinct: vec![Box::default()], known: FxHashMap::default() }
    }
}

impl Demands {
    /// The position of these needs, which were found on the platform before.
    fn number(&mut self, needs: &Needs, platform: &Platform) -> u32 {
        if needs.is_empty() {
            return 0;
        }
        if let Some(&number) = self.known.get(needs) {
            return number;
        }
        let demands = platform.demands(needs).expect("needs were checked when the job was fitted");
        let number = if demands.is_empty() { 0 } else { self.distinct.len() as u32 };
        if number > 0 {
            self.distinct.push(demands);
        }
        self.known.insert(needs.clone(), number);
        number
    }
}

/// All tasks of all jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// The number of tasks, and the next identifier.
    tasks: u64,
    /// How many rows have times that are guesses.
    guesses: usize,
    demands: Demands,
    /// The edges of each job, in the order in which they were given, and those between jobs behind those of the jobs that were
    /// added together.
    edges: Vec<Dependence>,
    /// How many are between jobs.
    between: usize,
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

    /// What a task needs.
    pub fn demands(&self, task: TaskId) -> &[Demand] {
        &self.demands.distinct[self.row(task).demands as usize]
    }

    /// The distinct needs; the first is nothing.
    pub fn distinct_demands(&self) -> &[Box<[Demand]>] {
        &self.demands.distinct
    }

    /// The position of what a task needs among the distinct needs.
    pub fn demands_number(&self, task: TaskId) -> u32 {
        self.row(task).demands
    }

    /// How many different tasks there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of the row that stands for a task.
    pub fn number(&self, task: TaskId) -> usize {
        self.at(task)
    }

    /// How many rows have times that are guesses.
    pub fn guesses(&self) -> usize {
        self.guesses
    }

    /// How many edges are between jobs.
    pub fn between(&self) -> usize {
        self.between
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

    /// One job waits for another: its tasks that wait for none of its own wait for those of the other that none of its own
    /// waits for. Nothing is carried, so that no latency counts.
    pub fn wait(&mut self, job: &Job<Rows>, before: &Job<Rows>) {
        let rows = |job: &Job<Rows>| job.work.range.clone();
        let last: Vec<u32> = rows(before).filter(|&row| Self::own(row, before, &self.outgoing).is_empty()).collect();
        let first: Vec<u32> = rows(job).filter(|&row| Self::own(row, job, &self.incoming).is_empty()).collect();
        for &from in &last {
            for &to in &first {
                let number = self.edges.len() as u32;
                let task = |row: u32| self.rows[row as usize].first;
                self.edges.push(Dependence { from: task(from), to: task(to), payload: Payload::Fixed(Time::ZERO) });
                self.outgoing.insert(from as usize, number);
                self.incoming.insert(to as usize, number);
            }
        }
        self.between += last.len() * first.len();
    }

    /// How many tasks of a job wait for none of its own, and for how many none of its own waits.
    pub fn ends(&self, job: &Job<Rows>) -> (usize, usize) {
        let without =
            |adjacency| job.work.range.clone().filter(|&row| Self::own(row, job, adjacency).is_empty()).count();
        (without(&self.incoming), without(&self.outgoing))
    }

    /// The edges at a row that are between the tasks of its job.
    fn own<'a>(row: u32, job: &Job<Rows>, adjacency: &'a Adjacency) -> &'a [u32] {
        let all = adjacency.of_row(row as usize);
        // They were added first, and those between jobs have larger numbers.
        let until = all.partition_point(|&edge| edge < job.work.edges.end);
        &all[..until]
    }

    /// Adds the work of a job behind all others. O(tasks + edges) of a compound job.
    pub fn append(&mut self, id: JobId, job: Job, platform: &Platform) -> Job<Rows> {
        let (first, begin, edge) = (TaskId(self.tasks), self.rows.len() as u32, self.edges.len() as u32);
        let Job { name, weight, priority, release, deadline, walltime, user, after, submission, work } = job;
        let kind = match work {
            Work::Task(task) => {
                self.push(id, task, 1, None, platform);
                Kind::Task
            }
            Work::Bag(task, count) => {
                self.push(id, task, count.get(), None, platform);
                Kind::Bag(count)
            }
            Work::Graph(graph) => {
                self.append_graph(id, graph, platform);
                Kind::Graph
            }
        };
        let (range, edges) = (begin..self.rows.len() as u32, edge..self.edges.len() as u32);
        let work = Rows { first, range, edges, after: Box::default(), kind };
        Job { name, weight, priority, release, deadline, walltime, user, after, submission, work }
    }

    fn push(&mut self, job: JobId, task: Task, count: u64, name: Option<Arc<str>>, platform: &Platform) {
        let demands = self.demands.number(&task.needs, platform);
        self.guesses += usize::from(task.estimate.is_guess());
        self.rows.push(Row { task, job, first: TaskId(self.tasks), name, demands });
        self.tasks += count;
    }

    /// Replaces the times of a row; those that it had.
    pub fn restate(&mut self, task: TaskId, profile: Profile, estimate: Estimate) -> (Profile, Estimate) {
        let at = self.at(task);
        let own = &mut self.rows[at].task;
        self.guesses = self.guesses + usize::from(estimate.is_guess()) - usize::from(own.estimate.is_guess());
        (std::mem::replace(&mut own.profile, profile), std::mem::replace(&mut own.estimate, estimate))
    }

    fn append_graph(&mut self, id: JobId, graph: Graph, platform: &Platform) {
        let (tasks, edges, order) = graph.into_parts();
        let (begin, first, rows) = (self.rows.len(), self.tasks, tasks.len());
        for NamedTask { name, task } in tasks {
            self.push(id, task, 1, Some(name), platform);
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
