//! Clusters of equal processors. For each processor, a cluster stores the instant from which the processor is free. A
//! task starts after all earlier tasks of its processors, never in a gap between them.

use makespan_core::{Instance, Placement, ProcSet, TaskId, Time};

use super::graph::NodeId;
use super::packing::{Packing, Row};
use crate::kernel::index_type;

index_type! {
    /// The index of a cluster of a platform.
    ClusterId
}

/// Processors of one speed. Transfers between these processors take no time.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The first node of the cluster, in the order of decreasing speed. If transfers take time, the cluster has no
    /// other node.
    node: NodeId,
    /// The speed of the processors.
    pub speed: f64,
    /// The index of the speed among all speeds of the platform.
    class: usize,
    /// For each processor, the instant from which the processor is free, and its id. The list is in ascending order.
    free: Vec<(i64, u32)>,
}

impl Cluster {
    /// Returns the number of processors.
    pub fn processors(&self) -> u32 {
        self.free.len() as u32
    }

    /// Returns the first instant from which `processors` processors of the cluster are free.
    pub fn free_from(&self, processors: u32) -> i64 {
        self.free[processors as usize - 1].0
    }
}

/// A partial schedule on clusters. Unavailable periods, needs of resources, and restrictions of tasks to machines are
/// ignored.
#[derive(Debug)]
pub struct Clusters<'p, 'a> {
    packing: &'p Packing<'a>,
    all: Vec<Cluster>,
    /// The cluster and the end of each placed task.
    placed: Vec<(ClusterId, i64)>,
    placements: Vec<Placement>,
    /// For each cluster, the instant at which the data of the current task have all arrived.
    arrivals: Vec<i64>,
}

impl<'p, 'a> Clusters<'p, 'a> {
    /// Returns an empty schedule on all clusters. If transfers take time, each node is a cluster. Otherwise, all nodes
    /// of one speed form a cluster.
    pub fn new(packing: &'p Packing<'a>) -> Self {
        let (instance, machines) = (packing.instance(), packing.machines());
        let mut clusters: Vec<Cluster> = Vec::new();
        for (at, node) in machines.nodes.iter().enumerate() {
            let class = machines.classes.iter().position(|class| at < class.1).unwrap_or_default();
            if instance.has_transfers() || clusters.last().is_none_or(|last| last.class != class) {
                let speed = machines.classes[class].0;
                clusters.push(Cluster { node: NodeId::at(at), speed, class, free: Vec::new() });
            }
            let own = instance.platform().processors_of(node.platform);
            clusters.last_mut().expect("one was pushed").free.extend(own.iter().map(|id| (i64::MIN, id)));
        }
        let tasks = instance.tasks() as usize;
        let arrivals = vec![0; clusters.len()];
        let placed = vec![(ClusterId(0), 0); tasks];
        Self { packing, all: clusters, placed, placements: Vec::with_capacity(tasks), arrivals }
    }

    /// Returns the clusters by decreasing speed.
    pub fn all(&self) -> &[Cluster] {
        &self.all
    }

    /// Returns the time of an allotment on a cluster. Returns `None` if the cluster has too few processors, or if the
    /// time exceeds the walltime of the task.
    pub fn time(&self, row: Row, choice: u32, cluster: ClusterId) -> Option<i64> {
        let on = &self.all[cluster.index()];
        let choice = self.packing.choice(choice);
        let time = self.packing.machines().slowed(choice.time, on.class);
        let walltime = self.instance().walltime(self.packing.first_of(row)).map_or(i64::MAX, Time::ticks);
        (choice.processors <= on.processors() && time <= walltime).then_some(time)
    }

    fn instance(&self) -> &'a Instance {
        self.packing.instance()
    }

    /// Makes `task` the current task, and computes when its data arrive on each cluster. All predecessors of `task`
    /// must be placed.
    pub fn see_arrivals(&mut self, task: TaskId) {
        let Self { packing, all, placed, arrivals, .. } = self;
        let instance = packing.instance();
        arrivals.fill(instance.release(task).ticks());
        for &number in instance.incoming_edges(task) {
            for from in instance.equal_tasks(instance.edges()[number as usize].from) {
                let (source, end) = placed[from.index()];
                let source = all[source.index()].node;
                for (arrival, to) in arrivals.iter_mut().zip(&*all) {
                    let transfer = packing.transfers().map_or(0, |times| times.time(number, source, to.node));
                    *arrival = (*arrival).max(end + transfer);
                }
            }
        }
    }

    /// Returns the end of the current task with the allotment `choice` on a cluster. Returns `None` if the task cannot
    /// run on the cluster. The current task is the argument of the last call of [`Clusters::see_arrivals`].
    pub fn end(&self, row: Row, choice: u32, cluster: ClusterId) -> Option<i64> {
        let time = self.time(row, choice, cluster)?;
        let free = self.all[cluster.index()].free_from(self.packing.choice(choice).processors);
        Some(free.max(self.arrivals[cluster.index()]) + time)
    }

    /// Places the current task on those processors of a cluster that become free first.
    ///
    /// # Panics
    /// Panics if the task cannot run on the cluster.
    pub fn place(&mut self, task: TaskId, choice: u32, cluster: ClusterId) {
        let row = self.packing.row_of(task);
        let end = self.end(row, choice, cluster).expect("the cluster was chosen since the task can run there");
        let time = self.time(row, choice, cluster).unwrap_or_default();
        let processors = self.packing.choice(choice).processors as usize;
        let free = &mut self.all[cluster.index()].free;
        let mut ids: Vec<u32> = free[..processors].iter().map(|&(_, id)| id).collect();
        ids.sort_unstable();
        // Keep the list sorted: processors that are free before the end of the task move to the front.
        let before = free[processors..].partition_point(|&other| other.0 < end);
        free.copy_within(processors..processors + before, 0);
        for (place, &id) in free[before..before + processors].iter_mut().zip(&ids) {
            *place = (end, id);
        }
        self.placed[task.index()] = (cluster, end);
        self.placements.push(Placement {
            task,
            start: Time::from_ticks(end - time),
            end: Time::from_ticks(end),
            processors: ProcSet::from_intervals(ids.into_iter().map(|id| (id, id)).collect()),
        });
    }

    /// Returns the placements of all tasks that were placed.
    pub fn into_placements(self) -> Vec<Placement> {
        self.placements
    }
}
