//! Compound jobs in flat arrays: times of all tasks on nodes, transfers between them, and which waits for which.

pub mod machine_orders;
pub mod placing;
pub mod rank;
pub mod sequence;
mod transfer_times;

use std::ops::Range;

use makespan_core::{Dependence, Instance, JobId, Placement, Platform, ProcSet, Schedule, TaskId, Time};

use crate::kernel::index_type;
pub use transfer_times::TransferTimes;

/// No task takes so long; stands for a node that cannot run a task.
pub const NEVER: i64 = i64::MAX;

index_type! {
    /// A node, by its position among those that compute, in the order of the platform.
    NodeId
}

index_type! {
    /// A processor of the platform.
    ProcessorId
}

/// What searches ask again and again of an instance without bags, each of whose tasks runs on one processor.
///
/// Tasks and edges have the numbers that they have in the instance. Times are in ticks.
#[derive(Clone, Debug)]
pub struct GraphProblem {
    /// For each task its job.
    job_of: Vec<JobId>,
    release: Vec<i64>,
    /// For each job its deadline.
    dues: Vec<Option<i64>>,
    /// Tasks, each after all that it waits for.
    order: Vec<u32>,
    incoming: Neighbours,
    outgoing: Neighbours,
    /// For each job its edges.
    edges: Vec<Range<u32>>,
    /// For each task its time on each node.
    times: Vec<i64>,
    /// For each processor its node.
    node_of: Vec<NodeId>,
    /// For each node its processors.
    nodes: Vec<Range<u32>>,
    transfers: TransferTimes,
    /// Unavailable periods of each processor.
    closed: Vec<Vec<(i64, i64)>>,
}

/// One end of an edge, seen from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The other task.
    pub task: u32,
    /// The edge, by its position among all of the instance.
    pub edge: u32,
}

/// The neighbours of task `t` are `items[first[t] .. first[t + 1]]`.
#[derive(Clone, Debug)]
struct Neighbours {
    first: Vec<u32>,
    items: Vec<Neighbour>,
}

impl Neighbours {
    /// On one side of each task: `edges` are those there, and `other` is at their other end.
    fn new<'a>(
        instance: &'a Instance,
        edges: impl Fn(TaskId) -> &'a [u32],
        other: impl Fn(&Dependence) -> TaskId,
    ) -> Self {
        let mut first = Vec::with_capacity(instance.tasks() as usize + 1);
        let mut items = Vec::with_capacity(instance.edges().len());
        first.push(0);
        let neighbour = |&edge: &u32| Neighbour { task: other(&instance.edges()[edge as usize]).0 as u32, edge };
        for task in instance.task_ids() {
            items.extend(edges(task).iter().map(neighbour));
            first.push(items.len() as u32);
        }
        Self { first, items }
    }

    fn of(&self, task: u32) -> &[Neighbour] {
        let task = task as usize;
        &self.items[self.first[task] as usize..self.first[task + 1] as usize]
    }
}

impl GraphProblem {
    /// Every task of the instance, which has no bags, on one processor. O(tasks * nodes + edges).
    ///
    /// # Panics
    /// When a task does not accept one processor.
    pub fn new(instance: &Instance) -> Self {
        Self::on(instance, instance.platform())
    }

    /// The same with transfers between tasks on one node that take the time of its link and of the interconnect.
    ///
    /// # Panics
    /// When a task does not accept one processor.
    pub fn with_paid_transfers(instance: &Instance) -> Self {
        Self::on(instance, &instance.platform().clone().with_local_transfers())
    }

    fn on(instance: &Instance, platform: &Platform) -> Self {
        let computing: Vec<usize> =
            (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0).collect();
        let (mut nodes, mut node_of) = (Vec::with_capacity(computing.len()), Vec::new());
        for (index, &node) in computing.iter().enumerate() {
            let count = platform.nodes()[node].processors;
            let first = node_of.len() as u32;
            nodes.push(first..first + count);
            node_of.extend(std::iter::repeat_n(NodeId::at(index), count as usize));
        }
        let mut closed = vec![Vec::new(); node_of.len()];
        for period in instance.unavailable() {
            for id in period.processors.iter() {
                closed[id as usize].push((period.start.ticks(), period.end.ticks()));
            }
        }
        let firsts: Vec<ProcSet> = nodes.iter().map(|own| ProcSet::range(own.start, own.start)).collect();
        let time = |task| firsts.iter().map(move |on| instance.try_time(task, on).map_or(NEVER, Time::ticks));
        Self {
            job_of: instance.task_ids().map(|task| instance.job_id(task)).collect(),
            release: instance.task_ids().map(|task| instance.release(task).ticks()).collect(),
            dues: instance.jobs().iter().map(|job| job.deadline.map(Time::ticks)).collect(),
            order: instance.in_order().map(|task| task.0 as u32).collect(),
            incoming: Neighbours::new(instance, |task| instance.incoming_edges(task), |edge| edge.from),
            outgoing: Neighbours::new(instance, |task| instance.outgoing_edges(task), |edge| edge.to),
            edges: instance.ids().map(|id| instance.edge_numbers(id)).collect(),
            times: instance.task_ids().flat_map(time).collect(),
            node_of,
            transfers: TransferTimes::new(platform, &computing, instance.edges()),
            nodes,
            closed,
        }
    }

    /// How many tasks.
    pub fn tasks(&self) -> usize {
        self.job_of.len()
    }

    /// How many jobs.
    pub fn jobs(&self) -> usize {
        self.edges.len()
    }

    /// How many processors.
    pub fn processors(&self) -> usize {
        self.node_of.len()
    }

    /// How many nodes compute.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes that compute.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        NodeId::first(self.nodes.len())
    }

    /// The job of a task.
    pub fn job_of(&self, task: u32) -> JobId {
        self.job_of[task as usize]
    }

    /// When the job of a task is released.
    pub fn release(&self, task: u32) -> i64 {
        self.release[task as usize]
    }

    /// By when the job of a task should have ended.
    pub fn due(&self, task: u32) -> Option<i64> {
        self.dues[self.job_of[task as usize].index()]
    }

    /// By when each job should have ended.
    pub fn dues(&self) -> &[Option<i64>] {
        &self.dues
    }

    /// The tasks, each after all that it waits for; one job after another.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// What a task waits for.
    pub fn incoming(&self, task: u32) -> &[Neighbour] {
        self.incoming.of(task)
    }

    /// What waits for a task.
    pub fn outgoing(&self, task: u32) -> &[Neighbour] {
        self.outgoing.of(task)
    }

    /// The edges between the tasks of a job.
    pub fn edges_of(&self, job: JobId) -> Range<u32> {
        self.edges[job.index()].clone()
    }

    /// All processors.
    pub fn processor_ids(&self) -> impl DoubleEndedIterator<Item = ProcessorId> + ExactSizeIterator + Clone + use<> {
        ProcessorId::first(self.node_of.len())
    }

    /// The node of a processor.
    pub fn node_of(&self, processor: ProcessorId) -> NodeId {
        self.node_of[processor.index()]
    }

    /// The processors of a node.
    pub fn processors_of(
        &self,
        node: NodeId,
    ) -> impl DoubleEndedIterator<Item = ProcessorId> + ExactSizeIterator + Clone + use<> {
        self.nodes[node.index()].clone().map(ProcessorId)
    }

    /// The first processor of a node.
    pub fn first_of(&self, node: NodeId) -> ProcessorId {
        ProcessorId(self.nodes[node.index()].start)
    }

    /// The time of a task on a node; [`NEVER`] where it cannot run.
    pub fn time(&self, task: u32, node: NodeId) -> i64 {
        self.times[task as usize * self.nodes.len() + node.index()]
    }

    /// The times of a task on all nodes.
    pub fn times(&self, task: u32) -> &[i64] {
        &self.times[task as usize * self.nodes.len()..][..self.nodes.len()]
    }

    /// How data travel.
    pub fn transfers(&self) -> &TransferTimes {
        &self.transfers
    }

    /// The unavailable periods of a processor, in any order.
    pub fn closed(&self, processor: ProcessorId) -> &[(i64, i64)] {
        &self.closed[processor.index()]
    }

    /// Whether nothing depends on which processor runs a task: all are alike and always open, and data take no time.
    pub fn is_plain(&self) -> bool {
        let alike = |times: &[i64]| times.iter().all(|&time| time == times[0]);
        self.transfers.is_instant()
            && self.closed.iter().all(Vec::is_empty)
            && self.times.chunks(self.nodes.len()).all(alike)
    }

    /// The schedule of these starts and processors, one a task.
    pub fn schedule(&self, places: &[Place]) -> Schedule {
        let placement = |(task, place): (usize, &Place)| {
            let time = self.time(task as u32, self.node_of(place.processor));
            Placement {
                task: TaskId::at(task),
                start: Time::from_ticks(place.start),
                end: Time::from_ticks(place.start + time),
                processors: place.processor.alone(),
            }
        };
        Schedule::new(places.iter().enumerate().map(placement).collect())
    }
}

impl ProcessorId {
    /// The set of this processor.
    pub fn alone(self) -> ProcSet {
        ProcSet::range(self.0, self.0)
    }
}

/// Where a task runs, and from when on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its processor.
    pub processor: ProcessorId,
    /// First instant.
    pub start: i64,
}
