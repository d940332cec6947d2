//! Complete search for the least penalty: schedules within limits on the ends of jobs, and proofs that there are none.

use makespan_core::{Instance, JobId, Objective, Schedule, Time};
use makespan_verify::proof::{EndLimits, LimitConflict};
use makespan_verify::{Bound, Proof};

use super::{CompleteWork, Completed, Unproved, search};

/// Maximum number of jobs. With more jobs, the search seldom succeeds.
pub(super) const MAX_JOBS: usize = 16;
/// Maximum number of conflicts between limits. More conflicts would make the check slow.
const MAX_CONFLICTS: usize = 200;
/// The fraction of the remaining time that the search within limits may use.
const PART: f64 = 0.3;
/// The fraction of the remaining time for each attempt to remove a limit from a conflict.
const SHORT: f64 = 0.02;
/// Maximum number of conflicts of the inner search for each attempt to remove a limit.
const FEW: u64 = 200;
/// An instant that no schedule reaches.
const NEVER: i64 = 1 << 61;

/// A conflict with a checked proof, and the bound on the largest tardiness in ticks.
struct Found {
    conflict: LimitConflict,
    late: i128,
}

/// Searches for a schedule with a smaller penalty than `known`, or for a proof that there is none.
///
/// The conflicts that are known imply a least penalty, and the largest penalty of each job in a cheapest choice
/// ([`EndLimits`]). These penalties are limits on ends. A complete search for the maximum tardiness with regard to the
/// limits either finds a schedule that keeps them, which is optimal, or proves another conflict.
pub(super) fn minimise(instance: &Instance, objective: Objective, known: &Schedule, work: CompleteWork) -> Completed {
    let mut completed = Completed::default();
    let mut best = known.clone();
    let mut proof = EndLimits { conflicts: Vec::new() };
    let mut lates: Vec<i128> = Vec::new();
    completed.unproved = loop {
        let Ok((value, penalties)) = proof.cheapest(objective, instance, &lates) else { break Some(Unproved::TooLong) };
        if value >= objective.value(instance, &best) {
            break None;
        }
        if proof.conflicts.len() >= MAX_CONFLICTS {
            break Some(Unproved::TooLong);
        }
        let of_all = (objective == Objective::MaxPenalty).then_some(value);
        let limit = |(job, own): (JobId, i128)| Some((job, last_end(instance, objective, job, of_all.unwrap_or(own))?));
        let limits: Vec<(JobId, Time)> = instance.ids().zip(penalties).filter_map(limit).collect();
        let left = work.conflicts.saturating_sub(completed.conflicts);
        let clock = work.clock.part(PART);
        let inner = CompleteWork { clock: &clock, conflicts: left };
        let (schedule, found) = match within(instance, limits, &best, inner, &mut completed.conflicts) {
            Ok(result) => result,
            Err(reason) => break Some(reason),
        };
        if objective.value(instance, &schedule) < objective.value(instance, &best) {
            best = schedule.clone();
            completed.schedule = Some(schedule);
        }
        if let Some(found) = found {
            let Found { conflict, late } = smaller(instance, found, &best, &work, &mut completed.conflicts);
            proof.conflicts.push(conflict);
            lates.push(late);
        }
    };
    completed.bound = Bound::proved_by(objective, Proof::EndLimits(proof), instance).ok();
    completed
}

/// Returns a schedule that keeps the limits, or the best schedule found and a proof that no schedule keeps them.
///
/// # Errors
/// Returns the reason if the search found neither.
fn within(
    instance: &Instance,
    limits: Vec<(JobId, Time)>,
    known: &Schedule,
    work: CompleteWork,
    conflicts: &mut u64,
) -> Result<(Schedule, Option<Found>), Unproved> {
    let changed = LimitConflict::limited(instance, &limits);
    let found = search(&changed, Objective::MaxTardiness, known, None, work);
    *conflicts += found.conflicts;
    let schedule = found.schedule.unwrap_or_else(|| known.clone());
    if Objective::MaxTardiness.value(&changed, &schedule) <= 0 {
        return Ok((schedule, None));
    }
    let quick = || crate::best_by(&changed, Objective::MaxTardiness, &work.clock.part(SHORT)).ok();
    match found.bound.into_iter().chain(quick()).find(|bound| bound.value.integer() > 0) {
        Some(bound) => {
            let late = bound.value.integer();
            let conflict = LimitConflict { limits, proof: Box::new(bound.proof) };
            Ok((schedule, Some(Found { conflict, late })))
        }
        None => Err(found.unproved.unwrap_or(Unproved::TimeLimit)),
    }
}

/// Removes limits from a conflict while a short search still proves it. A conflict with fewer limits implies a larger
/// penalty.
fn smaller(instance: &Instance, mut found: Found, known: &Schedule, work: &CompleteWork, conflicts: &mut u64) -> Found {
    for (job, _) in found.conflict.limits.clone() {
        if found.conflict.limits.len() < 2 || work.clock.is_over() || *conflicts >= work.conflicts {
            break;
        }
        let limits = found.conflict.limits.iter().copied().filter(|(other, _)| *other != job).collect();
        let clock = work.clock.part(SHORT);
        let few = CompleteWork { clock: &clock, conflicts: FEW.min(work.conflicts - *conflicts) };
        if let Ok((_, Some(fewer))) = within(instance, limits, known, few, conflicts) {
            found = fewer;
        }
    }
    found
}

/// Returns the latest end of a job with at most this penalty. Returns `None` if every end has such a penalty.
fn last_end(instance: &Instance, objective: Objective, job: JobId, most: i128) -> Option<Time> {
    let cost = objective.shape()?.cost(instance.job(job));
    let keeps = |end: i64| cost.exact(end.into()).is_some_and(|cost| cost <= most);
    if keeps(NEVER) {
        return None;
    }
    let (mut kept, mut missed) = (0_i64, NEVER);
    while kept + 1 < missed {
        let middle = kept + (missed - kept) / 2;
        if keeps(middle) { kept = middle } else { missed = middle }
    }
    Some(Time::from_ticks(kept))
}
