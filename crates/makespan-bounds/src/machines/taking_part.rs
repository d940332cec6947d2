//! The instants from which machines are available, and the machines that are available early enough to run jobs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Instance, JobId, Profile, Time};

use super::NodeColumns;

/// Maximum number of run times that [`some_end`] examines.
const MAX_LOOKS: u64 = 50_000_000;

/// Returns, for each node, the ready times of its processors in the order of the processor ids. Times are in ticks
/// from the first release. If a processor is unavailable at the first release, it is ready when this unavailable
/// period ends.
pub(super) fn ready_of_each(instance: &Instance) -> Vec<Vec<i64>> {
    let platform = instance.platform();
    let first = instance.first_release();
    let ready = instance.availability().ready(first);
    let after = |id: u32| ready[id as usize].ticks() - first.ticks();
    (0..platform.nodes().len()).map(|node| platform.processors_of(node).iter().map(after).collect()).collect()
}

/// Returns, for each node, the ready times of its processors in ascending order.
pub(super) fn ready(instance: &Instance) -> Vec<Vec<i64>> {
    let mut ready = ready_of_each(instance);
    ready.iter_mut().for_each(|own| own.sort_unstable());
    ready
}

/// Returns the columns of a programme that contains only the processors that are ready at `by` or earlier.
pub(super) fn columns(ready: &[Vec<i64>], by: i64) -> NodeColumns {
    let part = |own: &Vec<i64>| own.partition_point(|&ready| ready <= by);
    let mean = |own: &Vec<i64>| {
        let count = part(own);
        own[..count].iter().map(|&ready| ready as f64).sum::<f64>() / count.max(1) as f64
    };
    NodeColumns {
        machines: ready.iter().map(|own| part(own) as f64).collect(),
        ready: ready.iter().map(mean).collect(),
    }
}

/// Returns an upper bound on the optimal makespan, in ticks from the first release. The bound is the makespan of a
/// schedule in which each task in turn runs on the node where it ends first. Returns `None` if the instance is too
/// large. Also returns `None` if jobs have release dates, because the schedule might start jobs before their releases.
pub(super) fn some_end(
    ready: &[Vec<i64>],
    jobs: &[JobId],
    instance: &Instance,
    time: impl Fn(usize, usize) -> Time,
) -> Option<i64> {
    let tasks = jobs.iter().try_fold(0_u64, |sum, &id| sum.checked_add(instance.job(id).tasks()))?;
    if instance.has_release_dates() || tasks.checked_mul(ready.len() as u64)? > MAX_LOOKS {
        return None;
    }
    let heap = |own: &Vec<i64>| own.iter().map(|&ready| Reverse(ready)).collect::<BinaryHeap<_>>();
    let mut free: Vec<BinaryHeap<Reverse<i64>>> = ready.iter().map(heap).collect();
    let mut last = 0;
    for (job, &id) in jobs.iter().enumerate() {
        for _ in 0..instance.job(id).tasks() {
            let able = (0..free.len()).filter(|&node| time(job, node) < Profile::CANNOT_RUN);
            let end = |node: usize| Some(free[node].peek()?.0.saturating_add(time(job, node).ticks()));
            let (end, node) = able.filter_map(|node| Some((end(node)?, node))).min()?;
            free[node].pop();
            free[node].push(Reverse(end));
            last = last.max(end);
        }
    }
    Some(last)
}
