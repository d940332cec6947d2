//! Explains why a job does not run now, and predicts its start.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::outlook::{JobPlan, Outlook, Runs};
use crate::store::JobRow;
use crate::words::{Explanation, JobNumber, Reason, State, Who};

/// Number of simulated futures.
const FUTURES: usize = 50;
/// Spread of the remaining time of a task that has run longer than expected: the standard deviation of the logarithm
/// of this time.
const UNKNOWN: f64 = 1.0;
/// Maximum number of jobs that a reason names.
const NAMED: usize = 10;

/// Explains to the user `who` why a job does not run.
pub(super) fn explain(
    who: &Who,
    row: &JobRow,
    before: &[(JobNumber, State)],
    outlook: Option<&Outlook>,
    now: f64,
) -> Explanation {
    let job = row.summary.number;
    let expected = outlook.and_then(|outlook| outlook.of_waiting(job, now)).unwrap_or_default();
    let planned = expected.start;
    let waits = row.summary.state == State::Waiting;
    let (early, late) = match outlook.filter(|_| waits && planned.is_some()) {
        Some(outlook) => range(outlook, job, now),
        None => (None, None),
    };
    let reason = |text: String| Reason { text, jobs: Vec::new(), resource: None };
    let mut why_not = Vec::new();
    match row.summary.state {
        State::Held => why_not.push(reason("it is held; release it".into())),
        State::Waiting => {
            let open: Vec<JobNumber> =
                before.iter().filter(|(_, state)| !state.is_final()).map(|(job, _)| *job).take(NAMED).collect();
            if !open.is_empty() {
                let names: Vec<String> = open.iter().map(ToString::to_string).collect();
                let what = if names.len() == 1 { "job" } else { "jobs" };
                why_not.push(Reason {
                    jobs: open,
                    ..reason(format!("it waits for the end of {what} {}", names.join(", ")))
                });
            }
            if let Some(begin) = row.begin.filter(|&begin| begin > now) {
                why_not.push(reason(format!("it is not to start before {:.0} s from now", begin - now)));
            }
            match outlook {
                Some(outlook) => {
                    why_not.extend(limited(row, outlook));
                    // The reasons about processors are stated only if the job does not wait for other jobs, its
                    // earliest start or its user's limit.
                    let is_open = why_not.is_empty();
                    why_not.extend(busy(row, outlook, now).into_iter().filter(|_| is_open));
                    why_not.extend(misses_deadline(row, outlook, now));
                    if let Some(runs) = expected.behind.filter(|_| planned.is_none()) {
                        why_not.insert(0, behind_unknown(who, runs));
                    }
                }
                None => why_not.push(reason("there is no plan yet".into())),
            }
        }
        State::Running => why_not.push(reason("it runs".into())),
        state => why_not.push(reason(format!("it has ended: {}", state.name().replace('_', " ")))),
    }
    Explanation { job, state: row.summary.state, expected_start: planned.filter(|_| waits), early, late, why_not }
}

/// Returns the reason why a start is unknown: it depends on a running task whose end is unknown.
fn behind_unknown(who: &Who, runs: &Runs) -> Reason {
    let text = format!("its start is unknown: it is behind {}", longer(who, runs));
    Reason { text, jobs: vec![runs.job], resource: None }
}

/// Returns a description of a running task with an unknown end.
fn longer(who: &Who, runs: &Runs) -> String {
    let job = match runs.number_for(who) {
        JobNumber(0) => "a job of another user".to_owned(),
        job => format!("job {job}"),
    };
    format!("{job}, which runs longer than expected")
}

/// Returns a reason if the job would exceed its user's maximum number of processors in use.
fn limited(row: &JobRow, outlook: &Outlook) -> Option<Reason> {
    let (user, needs) = (&row.summary.user, row.summary.processors);
    let limit = *outlook.limits.get(user)?;
    let own = || outlook.running.iter().filter(|runs| runs.user == *user);
    let used: u32 = own().map(|runs| runs.processors).sum();
    (used + needs > limit).then(|| {
        let text = format!("{user} may use {limit} processors at once, and uses {used}; it needs {needs}");
        let jobs = own().map(|runs| runs.job).take(NAMED).collect();
        Reason { text, jobs, resource: Some("processors".into()) }
    })
}

/// Returns a reason if the job is expected to miss its deadline.
fn misses_deadline(row: &JobRow, outlook: &Outlook, now: f64) -> Option<Reason> {
    let (end, deadline) = (outlook.of_waiting(row.summary.number, now)?.end?, row.summary.deadline?);
    (end > deadline + 0.5).then(|| {
        let text = format!("it is expected to end {:.0} s after its deadline", end - deadline);
        Reason { text, jobs: Vec::new(), resource: None }
    })
}

/// Returns the reasons why the job does not get processors now.
fn busy(row: &JobRow, outlook: &Outlook, now: f64) -> Vec<Reason> {
    let job = row.summary.number;
    let platform = outlook.instance.platform().processors();
    let used: u32 = outlook.running.iter().map(|runs| runs.processors).sum();
    let (needs, free) = (row.summary.processors, platform.saturating_sub(used));
    let mut reasons = Vec::new();
    let Some(&JobPlan { start, .. }) = outlook.jobs.get(&job) else {
        let text = "it is not in the plan yet: many other jobs come first, or it was submitted a moment ago";
        return vec![Reason { text: text.into(), jobs: Vec::new(), resource: None }];
    };
    if needs > free {
        let mut ends: Vec<(f64, JobNumber)> = outlook.running.iter().map(|runs| (runs.end, runs.job)).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let jobs: Vec<JobNumber> = ends.iter().map(|(_, job)| *job).take(NAMED).collect();
        let known =
            outlook.running.iter().filter(|runs| runs.longer_than.is_none()).map(|runs| (runs.end - now).max(0.0));
        let next = known.reduce(f64::min).map(|next| format!("the next are expected in {next:.0} s"));
        let what = if needs == 1 { "processor" } else { "processors" };
        let next = next.map_or_else(String::new, |next| format!("; {next}"));
        let text = format!("it needs {needs} {what} and {free} of {platform} are free{next}");
        reasons.push(Reason { text, jobs, resource: Some("processors".into()) });
    }
    let ahead: Vec<JobNumber> =
        outlook.expected.iter().take_while(|one| one.start < start).map(|one| one.job).collect();
    if !ahead.is_empty() {
        let count = ahead.len();
        let what = if count == 1 { "task is" } else { "tasks are" };
        let text = format!(
            "{count} {what} planned to start before it, which makes the weighted completion of all jobs smaller"
        );
        reasons.push(Reason { text, jobs: ahead.into_iter().take(NAMED).collect(), resource: None });
    }
    if reasons.is_empty() {
        let text = "its resources are not free on the same nodes, or they are kept for a job that has waited longer";
        reasons.push(Reason { text: text.into(), jobs: Vec::new(), resource: None });
    }
    reasons
}

/// Returns the 10th and the 90th percentile of the start of a job in [`FUTURES`] simulated futures. Each future has
/// random run times around the expected values. Tasks start in the order of the plan as processors become free.
fn range(outlook: &Outlook, job: JobNumber, now: f64) -> (Option<f64>, Option<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(job.0);
    let mut starts: Vec<f64> = (0..FUTURES).filter_map(|_| future(outlook, job, now, &mut random)).collect();
    starts.sort_by(f64::total_cmp);
    let at = |part: f64| starts.get((part * starts.len() as f64) as usize).copied();
    (at(0.1), at(0.9))
}

/// Draws a random factor with a median of 1.
fn factor(spread: f64, random: &mut ChaCha8Rng) -> f64 {
    // The sum of twelve uniform numbers is nearly normal.
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    (normal * spread).exp()
}

/// Simulates one future, and returns the start of a job.
fn future(outlook: &Outlook, job: JobNumber, now: f64, random: &mut ChaCha8Rng) -> Option<f64> {
    let processors = outlook.instance.platform().processors();
    let used: u32 = outlook.running.iter().map(|runs| runs.processors).sum();
    let mut free = processors.saturating_sub(used);
    let later = |end: f64, spread: f64, random: &mut ChaCha8Rng| now + (end - now).max(0.0) * factor(spread, random);
    let mut over: BTreeMap<JobNumber, f64> = BTreeMap::new();
    let mut ends: Vec<(f64, u32)> = Vec::with_capacity(outlook.running.len());
    for runs in &outlook.running {
        let end = match runs.longer_than {
            None => later(runs.end, runs.spread, random),
            // The remaining time is unknown, so it is drawn from a distribution whose median is half of the time that
            // the task has already run.
            Some(_) => later(now + (now - runs.start) / 2.0, UNKNOWN, random),
        };
        over.entry(runs.job).and_modify(|last| *last = last.max(end)).or_insert(end);
        ends.push((end, runs.processors));
    }
    let mut at = now;
    for one in &outlook.expected {
        let width = one.processors.len();
        while free < width {
            let next = (0..ends.len()).min_by(|&one, &other| ends[one].0.total_cmp(&ends[other].0))?;
            let (end, width) = ends.swap_remove(next);
            at = at.max(end);
            free += width;
        }
        let first = one.after.iter().filter_map(|job| over.get(job)).copied();
        let start = first.chain(one.begin).fold(at, f64::max);
        if one.job == job {
            return Some(start);
        }
        let end = start + (one.end - one.start) * factor(one.spread, random);
        over.entry(one.job).and_modify(|last| *last = last.max(end)).or_insert(end);
        free -= width;
        ends.push((end, width));
    }
    None
}
