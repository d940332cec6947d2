//! How often the scheduler looks, and how far.

use super::model::Model;
use super::times::limit;

/// How the scheduler looks, in seconds and jobs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// Between two looks for gaps.
    pub interval: i64,
    /// Between two looks at the head of the queue.
    pub pause: i64,
    /// How far ahead places are kept.
    pub window: i64,
    /// Jobs that are looked at, in gaps and otherwise.
    pub depth: usize,
    pub head: usize,
    /// Jobs for which places are kept, and tasks of one array.
    pub places: usize,
    pub places_of_array: usize,
    /// Whether gaps are filled.
    pub fills: bool,
    /// Whether jobs are given up that cannot end by their deadlines.
    pub heeds_deadlines: bool,
}

/// Most work of one look: jobs with a kept place times nodes.
const MAX_PLACES: usize = 400_000;
/// Most jobs with a kept place times all jobs: the more jobs there are, the more looks.
const MAX_PLACES_OF_JOBS: usize = 500_000;
/// So many jobs times nodes are much: then fewer places are kept, and looks are rarer than Slurm's, those at the head of the queue a
/// minute apart.
const MUCH: usize = 2_000_000;
/// So many jobs are much on any number of nodes: each of them is looked at in many looks.
const MANY_JOBS: usize = 20_000;

impl Looks {
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
            window: number("bf_window", 1440, 1).saturating_mul(60),
            depth,
            head: number("default_queue_depth", 100, 1) as usize,
            places: depth.min(affordable.max(4)),
            places_of_array: number("bf_max_job_array_resv", 20, 0).min(1000) as usize,
            fills: scheduler.is_none_or(|kind| !kind.contains("builtin")),
            heeds_deadlines: true,
        }
    }

    /// The same where nobody has a deadline.
    pub(super) fn without_deadlines(self) -> Self {
        Self { heeds_deadlines: false, ..self }
    }
}

/// The limit that half of the jobs stay within.
pub(super) fn typical_limit(model: &Model<'_>) -> i64 {
    let mut limits: Vec<i64> = model.queue.jobs.iter().map(limit).collect();
    limits.sort_unstable();
    limits.get(limits.len() / 2).copied().unwrap_or(3600)
}
