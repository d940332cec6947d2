//! Compound jobs in flat arrays: the times of all tasks on all nodes, the transfers between nodes, and the predecessors
//! and successors of tasks.

pub mod machine_orders;
pub mod placing;
pub mod rank;
pub mod sequence;
pub mod together;
mod transfer_times;

use std::ops::Range;

use makespan_core::{Dependence, EndPenalty, Instance, JobId, Placement, Platform, ProcSet, Schedule, TaskId, Time};

use crate::kernel::index_type;
pub use transfer_times::TransferTimes;

/// Time of a task on a node that cannot run the task. No task takes this long.
pub const NEVER: i64 = i64::MAX;

index_type! {
    /// The index of a node among the nodes with processors, in the order of the platform.
    NodeId
}

index_type! {
    /// The index of a processor of the platform.
    ProcessorId
}

/// An instance in flat arrays that searches can read fast. The instance has no bags, and each task runs on one
/// processor. Tasks and edges have the indices that they have in the instance. Times are in ticks.
#[derive(Clone, Debug)]
pub struct GraphProblem {
    /// The job of each task.
    job_of: Vec<JobId>,
    release: Vec<i64>,
    /// The deadline of each job, if it has one.
    dues: Vec<Option<i64>>,
    penalties: Vec<Option<EndPenalty>>,
    /// The tasks in topological order.
    order: Vec<u32>,
    incoming: Neighbours,
    outgoing: Neighbours,
    /// The edges of each job.
    edges: Vec<Range<u32>>,
    /// The time of each task on each node.
    times: Vec<i64>,
    /// The node of each processor.
    node_of: Vec<NodeId>,
    /// The processors of each node.
    nodes: Vec<Range<u32>>,
    transfers: TransferTimes,
    /// The unavailable periods of each processor.
    closed: Vec<Vec<(i64, i64)>>,
    /// The tasks of each gang, in ascending order.
    gangs: Vec<Vec<u32>>,
    /// For each task, the index of its gang, or [`ALONE`]. Empty if there are no gangs.
    gang_of: Vec<u32>,
}

/// The value in `gang_of` for a task without a gang.
const ALONE: u32 = u32::MAX;

/// Returns the gangs of an instance, and for each task the index of its gang or [`ALONE`].
fn gangs(instance: &Instance) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut gangs: Vec<Vec<u32>> = Vec::new();
    if !instance.has_gangs() {
        return (gangs, Vec::new());
    }
    let mut of = vec![ALONE; instance.tasks() as usize];
    for task in instance.task_ids() {
        if instance.task(task).gang.is_none() || of[task.index()] != ALONE {
            continue;
        }
        let own: Vec<u32> = std::iter::once(task).chain(instance.gang_mates(task)).map(|task| task.0 as u32).collect();
        own.iter().for_each(|&task| of[task as usize] = gangs.len() as u32);
        gangs.push(own);
    }
    (gangs, of)
}

/// A neighbour of a task, and the edge between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The neighbour.
    pub task: u32,
    /// The index of the edge in the instance.
    pub edge: u32,
}

/// The neighbours of task `t` are `items[first[t] .. first[t + 1]]`.
#[derive(Clone, Debug)]
struct Neighbours {
    first: Vec<u32>,
    items: Vec<Neighbour>,
}

impl Neighbours {
    /// Returns the predecessors of each task, or its successors. `edges` contains the edges of each task in this
    /// direction. `other` returns the task at the other end of an edge.
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
    /// Returns the problem of an instance without bags, in which every task runs on one processor. Takes O(tasks *
    /// nodes + edges).
    ///
    /// # Panics
    /// Panics if a task does not accept one processor.
    pub fn new(instance: &Instance) -> Self {
        Self::on(instance, instance.platform())
    }

    /// Returns the problem in which transfers within a node also take time. Such a transfer takes as long as a
    /// transfer over the link of the node and the interconnect.
    ///
    /// # Panics
    /// Panics if a task does not accept one processor.
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
        let (gangs, gang_of) = gangs(instance);
        let time = |task| firsts.iter().map(move |on| instance.try_time(task, on).map_or(NEVER, Time::ticks));
        Self {
            job_of: instance.task_ids().map(|task| instance.job_id(task)).collect(),
            release: instance.task_ids().map(|task| instance.release(task).ticks()).collect(),
            dues: instance.jobs().iter().map(|job| job.deadline.map(Time::ticks)).collect(),
            penalties: instance.jobs().iter().map(|job| job.penalty.clone()).collect(),
            order: instance.in_order().map(|task| task.0 as u32).collect(),
            incoming: Neighbours::new(instance, |task| instance.incoming_edges(task), |edge| edge.from),
            outgoing: Neighbours::new(instance, |task| instance.outgoing_edges(task), |edge| edge.to),
            edges: instance.ids().map(|id| instance.edge_numbers(id)).collect(),
            times: instance.task_ids().flat_map(time).collect(),
            node_of,
            transfers: TransferTimes::new(platform, &computing, instance.edges()),
            nodes,
            closed,
            gangs,
            gang_of,
        }
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.job_of.len()
    }

    /// Returns the number of jobs.
    pub fn jobs(&self) -> usize {
        self.edges.len()
    }

    /// Returns the number of processors.
    pub fn processors(&self) -> usize {
        self.node_of.len()
    }

    /// Returns the number of nodes that have processors.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the nodes that have processors.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        NodeId::first(self.nodes.len())
    }

    /// Returns the job of a task.
    pub fn job_of(&self, task: u32) -> JobId {
        self.job_of[task as usize]
    }

    /// Returns the release of the job of a task.
    pub fn release(&self, task: u32) -> i64 {
        self.release[task as usize]
    }

    /// Returns the deadline of the job of a task.
    pub fn due(&self, task: u32) -> Option<i64> {
        self.dues[self.job_of[task as usize].index()]
    }

    /// Returns the penalty of each job.
    pub fn penalties(&self) -> &[Option<EndPenalty>] {
        &self.penalties
    }

    /// Returns the deadline of each job.
    pub fn dues(&self) -> &[Option<i64>] {
        &self.dues
    }

    /// Returns the tasks in topological order, one job after another.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the predecessors of a task.
    pub fn incoming(&self, task: u32) -> &[Neighbour] {
        self.incoming.of(task)
    }

    /// Returns the successors of a task.
    pub fn outgoing(&self, task: u32) -> &[Neighbour] {
        self.outgoing.of(task)
    }

    /// Returns true if some task belongs to a gang.
    pub fn has_gangs(&self) -> bool {
        !self.gangs.is_empty()
    }

    /// Returns the gangs, each with its tasks in ascending order.
    pub fn gangs(&self) -> &[Vec<u32>] {
        &self.gangs
    }

    /// Returns the tasks of the gang of a task, in ascending order. A task without a gang is a gang of one task, for which
    /// `None` is returned.
    pub fn gang_of(&self, task: u32) -> Option<&[u32]> {
        let &gang = self.gang_of.get(task as usize).filter(|&&gang| gang != ALONE)?;
        Some(&self.gangs[gang as usize])
    }

    /// Returns the edges between the tasks of a job.
    pub fn edges_of(&self, job: JobId) -> Range<u32> {
        self.edges[job.index()].clone()
    }

    /// Returns all processors.
    pub fn processor_ids(&self) -> impl DoubleEndedIterator<Item = ProcessorId> + ExactSizeIterator + Clone + use<> {
        ProcessorId::first(self.node_of.len())
    }

    /// Returns the node of a processor.
    pub fn node_of(&self, processor: ProcessorId) -> NodeId {
        self.node_of[processor.index()]
    }

    /// Returns the processors of a node.
    pub fn processors_of(
        &self,
        node: NodeId,
    ) -> impl DoubleEndedIterator<Item = ProcessorId> + ExactSizeIterator + Clone + use<> {
        self.nodes[node.index()].clone().map(ProcessorId)
    }

    /// Returns the first processor of a node.
    pub fn first_of(&self, node: NodeId) -> ProcessorId {
        ProcessorId(self.nodes[node.index()].start)
    }

    /// Returns the time of a task on a node, or [`NEVER`] if the task cannot run there.
    pub fn time(&self, task: u32, node: NodeId) -> i64 {
        self.times[task as usize * self.nodes.len() + node.index()]
    }

    /// Returns the times of a task on all nodes.
    pub fn times(&self, task: u32) -> &[i64] {
        &self.times[task as usize * self.nodes.len()..][..self.nodes.len()]
    }

    /// Returns the transfer times.
    pub fn transfers(&self) -> &TransferTimes {
        &self.transfers
    }

    /// Returns the unavailable periods of a processor, in any order.
    pub fn closed(&self, processor: ProcessorId) -> &[(i64, i64)] {
        &self.closed[processor.index()]
    }

    /// Returns whether all processors are equal and always open, and transfers take no time. If so, the choice of a
    /// processor never matters.
    pub fn is_plain(&self) -> bool {
        let alike = |times: &[i64]| times.iter().all(|&time| time == times[0]);
        self.transfers.is_instant()
            && self.closed.iter().all(Vec::is_empty)
            && self.times.chunks(self.nodes.len()).all(alike)
    }

    /// Returns the schedule with these places, one for each task.
    pub fn schedule(&self, places: &[TaskPlace]) -> Schedule {
        let placement = |(task, place): (usize, &TaskPlace)| {
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
    /// Returns the set that contains only this processor.
    pub fn alone(self) -> ProcSet {
        ProcSet::range(self.0, self.0)
    }
}

/// The processor and the start of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskPlace {
    /// The processor.
    pub processor: ProcessorId,
    /// The start, in ticks.
    pub start: i64,
}
