//! What a waiting job asks for, by number.

use std::sync::Arc;

use makespan_core::{Demand, TaskId, Time};

use super::limits::Amounts;
use super::nodes::{Counted, Nodes};

/// What a job asks for; the same from its arrival to its end.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub task: TaskId,
    pub submitted: Time,
    pub processors: u32,
    /// For how long it has to have them: its time limit in whole minutes, or the time that it will do with.
    pub limit: i64,
    /// Its whole time limit: it gets as much of it as there is room for.
    pub whole_limit: i64,
    /// The last instant at which it may start because of its deadline.
    pub latest: i64,
    pub demands: Vec<Demand>,
    /// In which partitions it may start, that of the highest tier first.
    pub places: Vec<Place>,
    pub nodes: (u32, u32),
    /// The most and the least of its processors on a node.
    pub per_node: u32,
    pub least_per_node: u32,
    pub exclusive: bool,
    /// The reservation in which it runs.
    pub reservation: Option<usize>,
    pub user: usize,
    pub amounts: Amounts,
    pub tier: i64,
    pub nice: i64,
    pub fixed: Option<u32>,
    /// In [0, 1], of the whole cluster, of partitions and of classes of service.
    pub size: f64,
    pub partition_factor: f64,
    pub qos_factor: f64,
}

/// A partition in which a job may start.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// By number; of a cluster without partitions 0.
    pub partition: usize,
    /// The nodes of the board that have what it needs.
    pub nodes: Arc<[u32]>,
    /// What so many of them have to have.
    pub counted: Option<Arc<Counted>>,
    /// The limits that it meets there.
    pub limits: Vec<u32>,
}

impl Place {
    /// Its nodes.
    pub fn all(&self) -> Nodes<'_> {
        Nodes { numbers: &self.nodes, counted: self.counted.as_deref() }
    }
}

/// A minute: the unit of time limits.
pub(super) const MINUTE: i64 = 60 * Time::TICKS_PER_SECOND;
