//! The table of tasks: one row for each distinct task of all jobs, and the edges between tasks.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::graph::Adjacency;
use crate::model::job::Kind;
use crate::model::{
    Demand, Edge, Estimate, Graph, Job, JobId, NamedTask, Needs, Payload, Platform, Profile, Rows, Task, TaskId, Time,
    Work,
};

/// An edge: one task waits for another. The first task of a bag represents all tasks of the bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The task that ends first.
    pub from: TaskId,
    /// The task that waits.
    pub to: TaskId,
    /// The payload of the edge.
    pub payload: Payload,
}

/// One row of the table. It represents a single task or all equal tasks of a bag.
#[derive(Clone, Debug)]
pub(super) struct TaskRow {
    pub task: Task,
    /// The job to which the tasks of the row belong.
    pub job: JobId,
    /// The first task that the row represents.
    pub first: TaskId,
    /// Name of the task, if its job is compound.
    pub name: Option<Arc<str>>,
    /// The position of the row's demands in the list of distinct demands.
    demands: u32,
}

/// The distinct demands of all tasks.
#[derive(Clone, Debug)]
struct Demands {
    /// The lists of demands, without duplicates. The first entry is the empty list.
    distinct: Vec<Box<[Demand]>>,
    known: FxHashMap<Needs, u32>,
}

impl Default for Demands {
    fn default() -> Self {
        Self { distinct: vec![Box::default()], known: FxHashMap::default() }
    }
}

impl Demands {
    /// Returns the index of the demands that correspond to `needs`. If `needs` is new, adds its demands. The caller has
    /// already checked `needs` against the platform.
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
pub(super) struct TaskTable {
    rows: Vec<TaskRow>,
    /// The number of tasks, which is also the identifier of the next task that is added.
    tasks: u64,
    /// Number of rows with guessed times.
    guesses: usize,
    /// Number of rows with a gang.
    in_gangs: usize,
    /// Number of rows with a family.
    in_families: usize,
    /// Number of time lags.
    lags: usize,
    demands: Demands,
    /// All edges. Jobs that were added in one step form a group. Each group lists first the edges within each job, job
    /// by job, then the edges by which its jobs wait for other jobs.
    edges: Vec<Dependence>,
    /// Number of edges between tasks of different jobs.
    between: usize,
    incoming: Adjacency,
    outgoing: Adjacency,
    /// The rows of each compound job, each after the rows that it waits for. At the position of a row of any other
    /// job, this list has the row itself (`order[row] == row`). The list is empty until the first compound job is
    /// added.
    order: Vec<u32>,
}

impl TaskTable {
    /// Returns the number of tasks, including all tasks of bags.
    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    pub fn row(&self, task: TaskId) -> &TaskRow {
        &self.rows[self.at(task)]
    }

    /// Returns a row of a job. `number` counts the distinct tasks of the job from 0.
    pub fn row_of(&self, job: &Job<Rows>, number: u32) -> &TaskRow {
        &self.rows[(job.work.range.start + number) as usize]
    }

    /// Returns the demands of a task.
    pub fn demands(&self, task: TaskId) -> &[Demand] {
        &self.demands.distinct[self.row(task).demands as usize]
    }

    /// Returns the distinct demands. The first entry is the empty demand.
    pub fn distinct_demands(&self) -> &[Box<[Demand]>] {
        &self.demands.distinct
    }

    /// Returns the position of a task's demands in the list of distinct demands.
    pub fn demands_number(&self, task: TaskId) -> u32 {
        self.row(task).demands
    }

    /// Returns the number of distinct tasks, which is the number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the position of the row that represents a task.
    pub fn number(&self, task: TaskId) -> usize {
        self.at(task)
    }

    /// Returns the number of rows with guessed times.
    pub fn guesses(&self) -> usize {
        self.guesses
    }

    /// Returns true if some task belongs to a gang.
    pub fn has_gangs(&self) -> bool {
        self.in_gangs > 0
    }

    /// Returns true if some task belongs to a family.
    pub fn has_families(&self) -> bool {
        self.in_families > 0
    }

    /// Returns true if there are time lags.
    pub fn has_lags(&self) -> bool {
        self.lags > 0
    }

    /// Returns the number of edges between tasks of different jobs.
    pub fn between(&self) -> usize {
        self.between
    }

    /// Returns the row that represents a task. If the task does not exist, the result is arbitrary and may not be a
    /// row.
    fn at(&self, task: TaskId) -> usize {
        if self.tasks == self.rows.len() as u64 {
            return task.index();
        }
        self.rows.partition_point(|row| row.first <= task) - 1
    }

    /// Returns all edges, in the order of the field `edges`.
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

    /// Returns the positions, in the list of all edges, of the edges to a task.
    pub fn incoming_edges(&self, task: TaskId) -> &[u32] {
        if self.edges.is_empty() { &[] } else { self.incoming.of_row(self.at(task)) }
    }

    /// Returns the positions, in the list of all edges, of the edges from a task.
    pub fn outgoing_edges(&self, task: TaskId) -> &[u32] {
        if self.edges.is_empty() { &[] } else { self.outgoing.of_row(self.at(task)) }
    }

    /// Returns the distinct tasks of a job, each after the tasks that it waits for. If several tasks may come next, the
    /// earliest one in file order comes next.
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

    /// Makes `job` wait for `before`: adds an edge from each last task of `before` to each first task of `job`. The
    /// edges carry a payload that takes no time, so that no latency of the network is added.
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

    /// Returns two counts of tasks of a job: the tasks without a predecessor in the job, and the tasks without a
    /// successor in the job.
    pub fn ends(&self, job: &Job<Rows>) -> (usize, usize) {
        let without =
            |adjacency| job.work.range.clone().filter(|&row| Self::own(row, job, adjacency).is_empty()).count();
        (without(&self.incoming), without(&self.outgoing))
    }

    /// Returns the edges of a row that are between tasks of its job.
    fn own<'a>(row: u32, job: &Job<Rows>, adjacency: &'a Adjacency) -> &'a [u32] {
        let all = adjacency.of_row(row as usize);
        // Edges within a job were added before edges between jobs, so edges within a job have smaller positions.
        let until = all.partition_point(|&edge| edge < job.work.edges.end);
        &all[..until]
    }

    /// Appends the work of a job. Takes O(tasks + edges) for a compound job.
    pub fn append(&mut self, id: JobId, job: Job, platform: &Platform) -> Job<Rows> {
        let (first, begin, edge) = (TaskId(self.tasks), self.rows.len() as u32, self.edges.len() as u32);
        let Job {
            name,
            weight,
            priority,
            release,
            deadline,
            must_end_by,
            penalty,
            walltime,
            user,
            after,
            submission,
            work,
        } = job;
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
        Job { name, weight, priority, release, deadline, must_end_by, penalty, walltime, user, after, submission, work }
    }

    fn push(&mut self, job: JobId, task: Task, count: u64, name: Option<Arc<str>>, platform: &Platform) {
        let demands = self.demands.number(&task.needs, platform);
        self.guesses += usize::from(task.estimate.is_guess());
        self.in_gangs += usize::from(task.gang.is_some());
        self.in_families += usize::from(task.family.is_some());
        self.lags += task.lags.len();
        self.rows.push(TaskRow { task, job, first: TaskId(self.tasks), name, demands });
        self.tasks += count;
    }

    /// Replaces the times of a row. Returns the previous times and their source.
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

    /// Returns the work of a job in the form in which it was added.
    pub fn work(&self, job: &Job<Rows>) -> Work {
        let rows = &self.rows[job.work.range.start as usize..job.work.range.end as usize];
        match job.work.kind {
            Kind::Task => Work::Task(rows[0].task.clone()),
            Kind::Bag(count) => Work::Bag(rows[0].task.clone(), count),
            Kind::Graph => {
                let named =
                    |row: &TaskRow| NamedTask { name: row.name.clone().unwrap_or_default(), task: row.task.clone() };
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
