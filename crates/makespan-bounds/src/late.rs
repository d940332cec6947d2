//! Bounds on tardiness.

use makespan_core::{Instance, Objective, Time};
use makespan_verify::proof::DueBy;
use makespan_verify::{Bound, Proof};

use crate::Clock;

/// Maximum number of deadlines that are examined, in addition to the last deadline. For each deadline d, the jobs with
/// deadlines up to d form a separate instance.
const DUES: usize = 6;
/// If the instance has more jobs than this number, only one deadline is examined.
const MANY: usize = 20_000;

/// Returns bounds on the tardiness. For some deadlines d, the jobs with deadlines up to d form a separate instance. A
/// bound on the makespan or on the weighted completion of the separate instance yields a bound on the tardiness. All
/// separate instances together use at most `work` elementary steps and the time of `clock`.
pub(crate) fn early(instance: &Instance, objective: Objective, work: u64, clock: &Clock) -> Vec<Bound> {
    let most = if instance.jobs().len() > MANY { 1 } else { DUES };
    let dues = promising(instance, most);
    // The bound from weighted completion does not support instances with graphs.
    let weighted = objective.is_weighted() && !instance.has_compound_jobs();
    let of = Objective::OF_DEADLINES.into_iter().take(if weighted { 2 } else { 1 });
    let parts: Vec<(Objective, Time)> = of.flat_map(|of| dues.iter().map(move |&due| (of, due))).collect();
    let bound = |(at, &(of, due)): (usize, &(Objective, Time))| {
        // The first instance is the most promising one. Examine this instance even if no time is left.
        if at > 0 && clock.is_over() {
            return None;
        }
        let left = parts.len() - at;
        let part = DueBy::part(instance, due, of);
        let share = clock.part(1.0 / left as f64);
        let proof = crate::within(&part, DueBy::objective(of), work / parts.len() as u64, &share).ok()?.proof;
        Bound::proved_by(objective, Proof::DueBy(DueBy { due, proof: Box::new(proof) }), instance).ok()
    };
    parts.iter().enumerate().filter_map(bound).collect()
}

/// Returns up to `most` deadlines d. For each deadline d, let l be the work of the jobs due by d, divided by the number
/// of processors. The deadlines with the largest difference l - d come first. If `most` is more than one, also returns
/// the last deadline.
fn promising(instance: &Instance, most: usize) -> Vec<Time> {
    let least = |task| instance.profile(task).least_work(Time::MAX).unwrap_or(0);
    let work = |id| {
        let job = instance.job(id);
        let each = job.different_task_ids().map(least);
        each.sum::<i128>().saturating_mul(job.equal_tasks().into())
    };
    let due = |id| Some((instance.job(id).deadline?, work(id)));
    let mut jobs: Vec<(Time, i128)> = instance.ids().filter_map(due).collect();
    jobs.sort_unstable();
    let (processors, mut load) = (i128::from(instance.processors().max(1)), 0);
    let mut scored: Vec<(i128, Time)> = Vec::new();
    for (due, work) in jobs {
        load += work;
        let score = load / processors - i128::from(due.ticks());
        match scored.last_mut() {
            Some(last) if last.1 == due => last.0 = score,
            _ => scored.push((score, due)),
        }
    }
    let last = scored.last().map(|&(_, due)| due);
    scored.sort_unstable_by(|a, b| b.cmp(a));
    let mut dues: Vec<Time> = scored.into_iter().take(most).map(|(_, due)| due).collect();
    dues.extend(last.filter(|last| most > 1 && !dues.contains(last)));
    dues
}
