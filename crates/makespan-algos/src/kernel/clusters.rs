//! Clusters of equal processors, each processor with the instant from which it is free: tasks are placed behind what is there,
//! never in gaps.

use makespan_core::{Instance, Placement, ProcSet, TaskId, Time};

use super::graph::NodeId;
use super::packing::{Packing, Row};
use crate::kernel::index_type;

index_type! {
    /// One of the clusters of a platform.
    ClusterId
}

/// Processors of one speed between which data take no time.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its first node by falling speed; the only one where data take time.
    node: NodeId,
    /// How fast its processors are.
    pub speed: f64,
    /// Its class of speed among all of the platform.
    class: usize,
    /// From when on each processor is free, and its id, ascending.
    free: Vec<(i64, u32)>,
}

impl Cluster {
    /// How many processors it has.
    pub fn processors(&self) -> u32 {
        self.free.len() as u32
    }

    /// The first instant from which so many processors are free for good.
    pub fn free_from(&self, processors: u32) -> i64 {
        self.free[processors as usize - 1].0
    }
}

/// A schedule in the making on clusters: without unavailable periods, needs and places on machines.
#[derive(Debug)]
pub struct Clusters<'p, 'a> {
    packing: &'p Packing<'a>,
    all: Vec<Cluster>,
    /// For each task that is placed where and until when.
    placed: Vec<(ClusterId, i64)>,
    placements: Vec<Placement>,
    /// For each cluster when the data of the present task are there.
    arrivals: Vec<i64>,
}

impl<'p, 'a> Clusters<'p, 'a> {
    /// All clusters, free from the start: nodes of one speed, and each node by itself where data take time on their way.
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

    /// The clusters, by falling speed.
    pub fn all(&self) -> &[Cluster] {
        &self.all
    }

    /// The time of a choice on a cluster; `None` beyond its processors or the walltime of the task.
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

    /// Sees to when the data of a task are on each cluster, all of whose predecessors are placed.
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

    /// When the task whose arrivals were seen would end on a cluster with a choice; `None` where it cannot run.
    pub fn end(&self, row: Row, choice: u32, cluster: ClusterId) -> Option<i64> {
        let time = self.time(row, choice, cluster)?;
        let free = self.all[cluster.index()].free_from(self.packing.choice(choice).processors);
        Some(free.max(self.arrivals[cluster.index()]) + time)
    }

    /// Places the task whose arrivals were seen on the processors of a cluster that are free first.
    ///
    /// # Panics
    /// When it cannot run there.
    pub fn place(&mut self, task: TaskId, choice: u32, cluster: ClusterId) {
        let row = self.packing.row_of(task);
        let end = self.end(row, choice, cluster).expect("the cluster was chosen since the task can run there");
        let time = self.time(row, choice, cluster).unwrap_or_default();
        let processors = self.packing.choice(choice).processors as usize;
        let free = &mut self.all[cluster.index()].free;
        let mut ids: Vec<u32> = free[..processors].iter().map(|&(_, id)| id).collect();
        ids.sort_unstable();
        // The others move to the front as far as they are free before the end.
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

    /// The placements of all tasks that were placed.
    pub fn into_placements(self) -> Vec<Placement> {
        self.placements
    }
}
