//! The resources that jobs hold or reserve on nodes.

/// The resources that a job holds on one node.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The index of the node.
    pub site: u32,
    /// Number of processors that no other job can use.
    pub cpus: u32,
    /// Number of processors on which the job runs. This number is smaller than `cpus` if the job gets more processors
    /// than it requests, such as whole nodes.
    pub own: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Kinds and amounts of generic resources.
    pub gres: Vec<(u16, u64)>,
    /// If the platform only counts processors, the number of processors of the job in each cell.
    pub cells: Vec<u32>,
}

/// A running job, or other work that holds nodes.
#[derive(Clone, Debug)]
pub struct RunningUsage {
    /// The index of the job. `None` for work that is no job of the model.
    pub job: Option<usize>,
    /// The index of the group of limits of the job.
    pub group: Option<usize>,
    /// The end that the scheduler assumes.
    pub believed: i64,
    /// The position among the jobs with equal assumed ends. Slurm removes such jobs in the order of its list of jobs.
    pub rank: u64,
    /// The held resources.
    pub holds: Vec<Hold>,
}

/// A reservation of a node for a pending job.
#[derive(Clone, Copy, Debug)]
pub struct NodeReservation {
    /// The planned start of the job.
    pub from: i64,
    /// The planned end of the job.
    pub until: i64,
    /// The index of the job.
    pub job: usize,
}

/// The time for which nodes are free.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The time.
    pub time: i64,
    /// The reservation for a pending job that ends this time, if any.
    pub kept: Option<NodeReservation>,
    /// The index of the reservation of nodes that ends this time, if any.
    pub closed: Option<usize>,
}
