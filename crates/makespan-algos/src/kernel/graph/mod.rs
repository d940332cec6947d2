//! Compound jobs in flat arrays: tasks and edges of all jobs, times on nodes, transfers between them.

pub mod calendar;
pub mod machine_orders;
mod network;
pub mod placing;
pub mod rank;
pub mod sequence;

use makespan_core::{Edge, Instance, JobId, Placement, Platform, ProcSet, Schedule, Time};

pub use network::Network;

/// No task takes so long; stands for a node that cannot run a task.
pub const NEVER: i64 = i64::MAX;

/// The tasks of all jobs of an instance, each of which runs on one processor.
///
/// Tasks are numbered through the jobs in file order, processors as in the platform. Nodes are those that compute, in
/// the order of the platform. Times are in ticks.
#[derive(Clone, Debug)]
pub struct Problem {
    /// For each task its job and its number there.
    names: Vec<(JobId, u32)>,
    release: Vec<i64>,
    /// Tasks, each after all that it waits for.
    order: Vec<u32>,
    incoming: Rows,
    outgoing: Rows,
    /// For each task its time on each node.
    times: Vec<i64>,
    /// For each processor its node.
    node_of: Vec<u32>,
    /// For each node its processors: the first, and how many.
    nodes: Vec<(u32, u32)>,
    network: Network,
    /// Unavailable periods of each processor.
    closed: Vec<Vec<(i64, i64)>>,
    jobs: usize,
}

/// One end of an edge, seen from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The other task.
    pub task: u32,
    /// The edge, as the network counts them.
    pub edge: u32,
}

/// The neighbours of task `t` are `items[first[t] .. first[t + 1]]`.
#[derive(Clone, Debug, Default)]
struct Rows {
    first: Vec<u32>,
    items: Vec<Neighbour>,
}

impl Rows {
    fn of(&self, task: u32) -> &[Neighbour] {
        let task = task as usize;
        &self.items[self.first[task] as usize..self.first[task + 1] as usize]
    }

    fn close(&mut self) {
        self.first.push(self.items.len() as u32);
    }
}

impl Problem {
    /// Every task of the instance on one processor; a bag counts as one task. O(tasks * nodes + edges).
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
            nodes.push((node_of.len() as u32, count));
            node_of.extend(std::iter::repeat_n(index as u32, count as usize));
        }
        let mut closed = vec![Vec::new(); node_of.len()];
        for period in instance.unavailable() {
            for id in period.processors.iter() {
                closed[id as usize].push((period.start.ticks(), period.end.ticks()));
            }
        }
        let edges: Vec<Edge> = instance
            .jobs()
            .iter()
            .filter_map(|job| job.graph.as_ref())
            .flat_map(|graph| graph.edges().iter().copied())
            .collect();
        let mut problem = Self {
            names: Vec::new(),
            release: Vec::new(),
            order: Vec::new(),
            incoming: Rows { first: vec![0], ..Rows::default() },
            outgoing: Rows { first: vec![0], ..Rows::default() },
            times: Vec::new(),
            node_of,
            network: Network::new(platform, &computing, &edges),
            nodes,
            closed,
            jobs: instance.jobs().len(),
        };
        let firsts: Vec<ProcSet> = problem.nodes.iter().map(|&(first, _)| ProcSet::range(first, first)).collect();
        let mut edge = 0;
        for id in instance.ids() {
            edge = problem.add(instance, id, &firsts, edge);
        }
        problem
    }

    /// Adds the tasks of a job, whose edges are counted from `edge` on; gives the number after its last edge.
    fn add(&mut self, instance: &Instance, id: JobId, firsts: &[ProcSet], edge: u32) -> u32 {
        let job = instance.job(id);
        let first = self.names.len() as u32;
        let tasks = job.graph.as_ref().map_or(1, |graph| graph.len() as u32);
        for task in 0..tasks {
            self.names.push((id, task));
            self.release.push(job.release.ticks());
            let on = |processor| instance.try_time_of(id, task, processor).map_or(NEVER, Time::ticks);
            self.times.extend(firsts.iter().map(on));
            if let Some(graph) = &job.graph {
                let ends = graph.incoming_edges(task).iter().zip(graph.incoming(task));
                let from = |(&number, end): (&u32, &Edge)| Neighbour { task: first + end.from, edge: edge + number };
                self.incoming.items.extend(ends.map(from));
                let ends = graph.outgoing_edges(task).iter().zip(graph.outgoing(task));
                let to = |(&number, end): (&u32, &Edge)| Neighbour { task: first + end.to, edge: edge + number };
                self.outgoing.items.extend(ends.map(to));
            }
            self.incoming.close();
            self.outgoing.close();
        }
        match &job.graph {
            Some(graph) => {
                self.order.extend(graph.order().iter().map(|&task| first + task));
                edge + graph.edges().len() as u32
            }
            None => {
                self.order.push(first);
                edge
            }
        }
    }

    /// How many tasks.
    pub fn tasks(&self) -> usize {
        self.names.len()
    }

    /// How many jobs.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// How many processors.
    pub fn processors(&self) -> usize {
        self.node_of.len()
    }

    /// How many nodes compute.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The job of a task.
    pub fn job_of(&self, task: u32) -> JobId {
        self.names[task as usize].0
    }

    /// When the job of a task is released.
    pub fn release(&self, task: u32) -> i64 {
        self.release[task as usize]
    }

    /// The tasks, each after all that it waits for; one job after the other.
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

    /// The node of a processor.
    pub fn node_of(&self, processor: u32) -> u32 {
        self.node_of[processor as usize]
    }

    /// The processors of a node.
    pub fn processors_of(&self, node: u32) -> std::ops::Range<u32> {
        let (first, count) = self.nodes[node as usize];
        first..first + count
    }

    /// The time of a task on a node; [`NEVER`] where it cannot run.
    pub fn time(&self, task: u32, node: u32) -> i64 {
        self.times[task as usize * self.nodes.len() + node as usize]
    }

    /// The times of a task on all nodes.
    pub fn times(&self, task: u32) -> &[i64] {
        &self.times[task as usize * self.nodes.len()..][..self.nodes.len()]
    }

    /// How data travel.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The unavailable periods of a processor, in any order.
    pub fn closed(&self, processor: u32) -> &[(i64, i64)] {
        &self.closed[processor as usize]
    }

    /// Whether nothing depends on which processor runs a task: all are alike and always open, and data take no time.
    pub fn is_plain(&self) -> bool {
        let alike = |times: &[i64]| times.iter().all(|&time| time == times[0]);
        self.network.is_instant()
            && self.closed.iter().all(Vec::is_empty)
            && self.times.chunks(self.nodes.len()).all(alike)
    }

    /// The schedule of these starts and processors, one a task.
    pub fn schedule(&self, places: &[Place]) -> Schedule {
        let placement = |(task, place): (usize, &Place)| {
            let (job, number) = self.names[task];
            let time = self.time(task as u32, self.node_of(place.processor));
            Placement {
                job,
                task: number,
                start: Time::from_ticks(place.start),
                end: Time::from_ticks(place.start + time),
                processors: ProcSet::range(place.processor, place.processor),
            }
        };
        Schedule::new(places.iter().enumerate().map(placement).collect())
    }
}

/// Where a task runs, and from when on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its processor.
    pub processor: u32,
    /// First instant.
    pub start: i64,
}
