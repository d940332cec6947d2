//! A bound on the makespan of a flow: what arrives from an instant on has to be computed after it.

use crate::{Instance, JobId, Time};

/// No schedule of a sequential instance without bags ends earlier than this.
///
/// Let `r` be an instant and `k` a number of processors, `w` the works of the tasks released at `r` or later. The `k` largest of
/// them are computed after `r`, and at any instant at most `k` of them run, on processors that are together no faster than the
/// `k` fastest: so the schedule ends not before `r + (sum of the k largest w) / (sum of the k largest speeds)`, and with all
/// tasks and all speeds alike. The value is the largest over all `r` and `k`. The work of a task is its time at speed 1; of one
/// with times of its own, the least of its time on a node times the node's speed, in which no node does it faster than it does
/// work. Unavailable periods only make schedules longer.
///
/// Source: E. Horvath, S. Lam and R. Sethi, J. ACM 24(1), 1977, DOI 10.1145/321992.321995 (all tasks at once). Rounded down by
/// more than the floats err. O(n log n + n m).
pub fn release_area_bound(instance: &Instance) -> Time {
    let mut order: Vec<JobId> = instance.ids().collect();
    order.sort_by_key(|&job| std::cmp::Reverse(instance.job(job).release));
    let speeds = sums_of_speeds(instance);
    let Some(&all_speeds) = speeds.last() else { return Time::ZERO };
    let mut largest: Vec<f64> = Vec::with_capacity(speeds.len() + 1);
    let (mut total, mut bound) = (0.0, 0_i64);
    let mut jobs = order.into_iter().peekable();
    while let Some(job) = jobs.next() {
        let work = work(instance, job);
        total += work;
        largest.insert(largest.partition_point(|&other| other >= work), work);
        largest.truncate(speeds.len());
        let release = instance.job(job).release;
        // Only when all tasks of an instant are in.
        if jobs.peek().is_some_and(|&next| instance.job(next).release == release) {
            continue;
        }
        let mut sum = 0.0;
        let mut span = total / all_speeds;
        for (work, speeds) in largest.iter().zip(&speeds) {
            sum += work;
            span = f64::max(span, sum / speeds);
        }
        bound = bound.max(release.ticks().saturating_add((span * (1.0 - SAFETY)).floor() as i64));
    }
    Time::from_ticks(bound)
}

/// Relative; sums of a million floats err by less than 1e-10.
const SAFETY: f64 = 1e-9;

/// Of the 1, 2, 3 .. fastest processors.
fn sums_of_speeds(instance: &Instance) -> Vec<f64> {
    let nodes = instance.platform().nodes();
    let mut speeds: Vec<f64> =
        nodes.iter().flat_map(|node| std::iter::repeat_n(node.speed, node.processors as usize)).collect();
    speeds.sort_by(|a, b| b.total_cmp(a));
    let add = |sum: &mut f64, speed: f64| {
        *sum += speed;
        Some(*sum)
    };
    speeds.into_iter().scan(0.0, add).collect()
}

/// In ticks at speed 1.
fn work(instance: &Instance, job: JobId) -> f64 {
    let profile = instance.job(job).profile();
    if profile.machine_times().is_none() {
        return profile.time(1).ticks() as f64;
    }
    let nodes = instance.platform().nodes().iter().enumerate();
    let on = nodes.filter_map(|(at, node)| Some(instance.time_on(job, at)?.ticks() as f64 * node.speed));
    on.reduce(f64::min).unwrap_or(0.0)
}
