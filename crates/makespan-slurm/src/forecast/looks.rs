//! The frequency and the depth of scheduling cycles.

use makespan_core::CycleRules;

use super::times::limit;
use crate::queue::Queue;

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

/// Returns the parameters of the cycles. In the forecast of a large queue, cycles are less frequent.
pub(super) fn cycle_rules(queue: &Queue, sites: usize) -> CycleRules {
    let own = queue.cycle_rules();
    let (jobs, sites) = (queue.jobs.len(), sites.max(1));
    let is_much = is_large(queue);
    let affordable = if is_much { MAX_PLACES / 16 } else { MAX_PLACES } / sites;
    let affordable = affordable.min(MAX_PLACES_OF_JOBS / jobs.max(1));
    let rarely = if is_much { typical_limit(queue) / 25 } else { 1 };
    CycleRules {
        bf_interval: own.bf_interval.max(rarely),
        pause: if is_much { 60 } else { 0 },
        sched_interval: own.sched_interval.filter(|_| !is_much),
        reservations: affordable.max(4),
        ..own
    }
}

/// Returns true if the forecast of a queue has fewer cycles and reservations than Slurm.
pub(super) fn is_large(queue: &Queue) -> bool {
    let jobs = queue.jobs.len();
    jobs.saturating_mul(queue.nodes.len().max(1)) > MUCH || jobs > MANY_JOBS
}

/// Returns the median time limit of the jobs, in seconds.
pub(super) fn typical_limit(queue: &Queue) -> i64 {
    let mut limits: Vec<i64> = queue.jobs.iter().map(limit).collect();
    limits.sort_unstable();
    limits.get(limits.len() / 2).copied().unwrap_or(3600)
}
