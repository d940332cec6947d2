//! Limited quantities, and the amounts that jobs hold of them.

/// A limited quantity: jobs of a user, processors of an account, or licences.
#[derive(Clone, Debug)]
pub struct LimitCounter {
    /// The maximum amount.
    pub total: u64,
    /// The amount that no job of the model holds when the simulation begins.
    pub used: u64,
    /// True if the counter limits the remaining minutes of running jobs. The amount in this counter decreases while
    /// jobs run.
    pub falls: bool,
    /// True if the counter limits the number of nodes. A job that runs on more nodes than it requests counts with all
    /// its nodes.
    pub is_of_nodes: bool,
    /// The amounts that are reserved for periods, such as licences.
    pub reserved: Vec<ReservedAmount>,
}

/// An amount of a counter that only jobs of a reservation can use during a period.
#[derive(Clone, Copy, Debug)]
pub struct ReservedAmount {
    /// The first instant of the period.
    pub start: i64,
    /// The first instant after the period.
    pub end: i64,
    /// The amount.
    pub amount: u64,
    /// The index of the reservation in [`ClusterModel::reservations`](super::ClusterModel::reservations).
    pub reservation: usize,
}

impl LimitCounter {
    /// Returns a counter with a maximum amount, of which nothing is used.
    pub fn new(total: u64) -> Self {
        Self { total, used: 0, falls: false, is_of_nodes: false, reserved: Vec::new() }
    }
}

/// An amount that a job adds to a counter while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LimitUse {
    /// The index of the counter.
    pub counter: usize,
    /// The amount that the job holds.
    pub amount: u64,
    /// The amount that must be left when the job starts. For a counter of remaining minutes, this is the amount times
    /// the time limit of the job in minutes. For all other counters, it is equal to `amount`.
    pub needed: u64,
    /// The time limit and the reservation of the job, if parts of the counter are reserved. Otherwise the default value.
    pub runs: (i64, Option<usize>),
}
