//! The frequency and the depth of scheduling cycles.

use super::model::Model;
use super::times::limit;

/// Parameters of scheduling cycles, in seconds and jobs.
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleParameters {
    /// Time between two backfill cycles.
    pub interval: i64,
    /// Minimum time between two cycles that start jobs at the head of the queue.
    pub pause: i64,
    /// Unit to which the ends of reservations are rounded up, counted from the instant of the queue.
    pub resolution: i64,
    /// Maximum time from now to the start of a reservation.
    pub window: i64,
    /// Maximum number of jobs in a backfill cycle.
    pub depth: usize,
    /// Maximum number of jobs in a cycle for the head of the queue.
    pub head: usize,
    /// Minimum time between two cycles for the head of the queue that visit all jobs. `None` if all these cycles visit
    /// only the head.
    pub all: Option<i64>,
    /// Maximum number of jobs of a partition in a cycle for the head of the queue. 0 means no limit.
    pub head_of_partition: usize,
    /// Maximum number of jobs of a partition in a backfill cycle. 0 means no limit.
    pub of_partition: usize,
    /// Maximum number of jobs of a user in a backfill cycle. 0 means no limit.
    pub of_user: usize,
    /// Maximum number of jobs that start in a backfill cycle. 0 means no limit.
    pub starts: usize,
    /// Minimum time from the submission of a job to a reservation for the job.
    pub age: i64,
    /// Minimum priority of a job with a reservation.
    pub least_priority: u64,
    /// Maximum number of reservations in a cycle.
    pub places: usize,
    /// Maximum number of reservations for one array in a cycle.
    pub places_of_array: usize,
    /// True if the scheduler backfills: it starts later jobs if they delay no job before them.
    pub fills: bool,
    /// True if the scheduler cancels jobs that cannot end by their deadlines.
    pub heeds_deadlines: bool,
}

/// Maximum product of the number of reservations in a cycle and the number of nodes.
const MAX_PLACES: usize = 400_000;
/// Maximum product of the number of reservations in a cycle and the number of jobs. More jobs cause more cycles, so
/// each cycle must be cheaper.
const MAX_PLACES_OF_JOBS: usize = 500_000;
/// If the product of the number of jobs and the number of nodes exceeds this value, the queue is large. The forecast
/// of a large queue has fewer reservations and less frequent backfill cycles than Slurm. Cycles for the head of the
/// queue are a minute apart.
const MUCH: usize = 2_000_000;
/// If the queue has more jobs than this, the queue is large for any number of nodes, because each job is considered in
/// many cycles.
const MANY_JOBS: usize = 20_000;

impl CycleParameters {
    pub(super) fn of(model: &Model<'_>) -> Self {
        let number = |name, default: i64, least: i64| model.queue.scheduler_number(name).unwrap_or(default).max(least);
        let depth = number("bf_max_job_test", 500, 1) as usize;
        let (jobs, sites) = (&model.queue.jobs, model.sites.len().max(1));
        let is_much = jobs.len().saturating_mul(sites) > MUCH || jobs.len() > MANY_JOBS;
        let affordable = if is_much { MAX_PLACES / 16 } else { MAX_PLACES } / sites;
        let affordable = affordable.min(MAX_PLACES_OF_JOBS / jobs.len().max(1));
        let rarely = if is_much { typical_limit(model) / 25 } else { 1 };
        let scheduler = model.queue.config.get("SchedulerType");
        Self {
            interval: number("bf_interval", 30, 1).max(rarely),
            pause: if is_much { 60 } else { 0 },
            resolution: number("bf_resolution", 60, 1),
            window: number("bf_window", 1440, 1).saturating_mul(60),
            depth,
            head: number("default_queue_depth", 100, 1) as usize,
            all: Some(number("sched_interval", 60, i64::MIN)).filter(|&all| all > 0 && !is_much),
            head_of_partition: number("partition_job_depth", 0, 0) as usize,
            of_partition: number("bf_max_job_part", 0, 0) as usize,
            of_user: number("bf_max_job_user", 0, 0) as usize,
            starts: number("bf_max_job_start", 0, 0) as usize,
            age: number("bf_min_age_reserve", 0, 0),
            least_priority: number("bf_min_prio_reserve", 0, 0) as u64,
            places: depth.min(affordable.max(4)),
            places_of_array: number("bf_max_job_array_resv", 20, 0).min(1000) as usize,
            fills: scheduler.is_none_or(|kind| !kind.contains("builtin")),
            heeds_deadlines: true,
        }
    }

    /// Returns a copy of these parameters in which the scheduler ignores deadlines.
    pub(super) fn without_deadlines(self) -> Self {
        Self { heeds_deadlines: false, ..self }
    }
}

/// Returns the median time limit of the jobs, in seconds.
pub(super) fn typical_limit(model: &Model<'_>) -> i64 {
    let mut limits: Vec<i64> = model.queue.jobs.iter().map(limit).collect();
    limits.sort_unstable();
    limits.get(limits.len() / 2).copied().unwrap_or(3600)
}
