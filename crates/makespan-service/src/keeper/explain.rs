//! Why a job does not run now, when it is expected to, and what a submission would change.

use std::collections::BTreeMap;

use makespan_core::{Instance, Job, Platform};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::planner::{Expected, Outlook, pictured, planned};
use crate::prepare::{Prepared, job_of, refusal};
use crate::store::JobRow;
use crate::words::{BoundPicture, Delay, Explanation, JobNumber, Reason, Refusal, RefusalKind, State, WhatIf};

/// So many futures are played.
const FUTURES: usize = 50;
/// Most jobs that are named as a reason.
const NAMED: usize = 10;
/// Most delays that are told.
const DELAYS: usize = 100;

/// Why a job does not run.
pub(super) fn explain(row: &JobRow, before: &[(JobNumber, State)], outlook: Option<&Outlook>, now: f64) -> Explanation {
    let job = row.summary.number;
    let planned = outlook.and_then(|outlook| outlook.jobs.get(&job)).map(|(start, _)| *start);
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
                Some(outlook) => why_not.extend(busy(row, outlook, now)),
                None => why_not.push(reason("there is no plan yet".into())),
            }
        }
        State::Running => why_not.push(reason("it runs".into())),
        state => why_not.push(reason(format!("it has ended: {}", state.name().replace('_', " ")))),
    }
    Explanation { job, state: row.summary.state, expected_start: planned.filter(|_| waits), early, late, why_not }
}

/// What keeps the processors from a job.
fn busy(row: &JobRow, outlook: &Outlook, now: f64) -> Vec<Reason> {
    let job = row.summary.number;
    let platform = outlook.instance.platform().processors();
    let used: u32 = outlook.running.iter().map(|(_, width, ..)| width).sum();
    let (needs, free) = (row.summary.processors, platform.saturating_sub(used));
    let mut reasons = Vec::new();
    let Some(&(start, _)) = outlook.jobs.get(&job) else {
        let text = "it is not among the tasks that are planned one by one: many others come first, or it was submitted a moment ago";
        return vec![Reason { text: text.into(), jobs: Vec::new(), resource: None }];
    };
    if needs > free {
        let mut ends: Vec<(f64, JobNumber)> = outlook.running.iter().map(|(job, _, end, _)| (*end, *job)).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let jobs: Vec<JobNumber> = ends.iter().map(|(_, job)| *job).take(NAMED).collect();
        let next = ends.first().map_or(0.0, |(end, _)| (end - now).max(0.0));
        let what = if needs == 1 { "processor" } else { "processors" };
        let text =
            format!("it needs {needs} {what} and {free} of {platform} are free; the next are expected in {next:.0} s");
        reasons.push(Reason { text, jobs, resource: Some("processors".into()) });
    }
    let ahead: Vec<JobNumber> =
        outlook.expected.iter().take_while(|one| one.start < start).map(|one| one.job).collect();
    if !ahead.is_empty() {
        let count = ahead.len();
        let what = if count == 1 { "task is" } else { "tasks are" };
        let text = format!("{count} {what} planned to start before it: so the sum of all weighted ends is less");
        reasons.push(Reason { text, jobs: ahead.into_iter().take(NAMED).collect(), resource: None });
    }
    if reasons.is_empty() {
        let text = "what it needs is not free together on one place, or is kept for a job that has waited longer";
        reasons.push(Reason { text: text.into(), jobs: Vec::new(), resource: None });
    }
    reasons
}

/// Between which instants a job starts in eight of ten futures, in which what runs and what is planned before takes as much longer or
/// shorter as is known of it, and all start in the order of the plan as processors become free.
fn range(outlook: &Outlook, job: JobNumber, now: f64) -> (Option<f64>, Option<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(job.0);
    let mut starts: Vec<f64> = (0..FUTURES).filter_map(|_| future(outlook, job, now, &mut random)).collect();
    starts.sort_by(f64::total_cmp);
    let at = |part: f64| starts.get((part * starts.len() as f64) as usize).copied();
    (at(0.1), at(0.9))
}

/// A factor with a median of 1.
fn factor(spread: f64, random: &mut ChaCha8Rng) -> f64 {
    // The sum of twelve uniform numbers is nearly normal.
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    (normal * spread).exp()
}

/// When a job starts in one future.
fn future(outlook: &Outlook, job: JobNumber, now: f64, random: &mut ChaCha8Rng) -> Option<f64> {
    let processors = outlook.instance.platform().processors();
    let used: u32 = outlook.running.iter().map(|(_, width, ..)| width).sum();
    let mut free = processors.saturating_sub(used);
    let mut ends: Vec<(f64, u32)> = outlook
        .running
        .iter()
        .map(|(_, width, end, spread)| (now + (end - now).max(0.0) * factor(*spread, random), *width))
        .collect();
    let mut at = now;
    for Expected { job: other, start, end, processors: place, spread, .. } in &outlook.expected {
        let width = place.len();
        while free < width {
            let next = (0..ends.len()).min_by(|&one, &other| ends[one].0.total_cmp(&ends[other].0))?;
            let (end, width) = ends.swap_remove(next);
            at = at.max(end);
            free += width;
        }
        if *other == job {
            return Some(at);
        }
        free -= width;
        ends.push((at + (end - start) * factor(*spread, random), width));
    }
    None
}

/// What would become of a submission beside what waits now.
pub(super) fn what_if(outlook: &Outlook, prepared: &[Prepared], platform: &Platform) -> Result<WhatIf, Refusal> {
    let failed = |error: String| refusal(RefusalKind::BadInput, "content", error, "");
    let mut jobs: Vec<Job> = outlook.instance.all_submitted();
    let name = |at: usize| format!("new {at}");
    for (at, one) in prepared.iter().enumerate() {
        let mut job = job_of(&one.spec, platform).map_err(failed)?;
        job.name = name(at);
        job.release = outlook.now;
        job.after = one.after.iter().map(|&before| name(before).into()).collect();
        jobs.push(job);
    }
    // By the rule by which the outlook was planned, so that they can be compared.
    let after = plan_of(outlook, jobs)?;
    let mut delays: Vec<Delay> = Vec::new();
    for (job, start) in &after.starts {
        let Some((number, (earlier, _))) = number_of(job).and_then(|job| outlook.jobs.get_key_value(&job)) else {
            continue;
        };
        let seconds = outlook.origin + start - earlier;
        if seconds.abs() >= 0.5 {
            delays.push(Delay { job: *number, seconds });
        }
    }
    delays.sort_by(|one, other| other.seconds.abs().total_cmp(&one.seconds.abs()));
    delays.truncate(DELAYS);
    let of_new = |times: &BTreeMap<String, f64>| {
        (0..prepared.len()).filter_map(|at| times.get(&name(at))).map(|at| outlook.origin + at).collect::<Vec<f64>>()
    };
    let (starts, ends) = (of_new(&after.starts), of_new(&after.ends));
    Ok(WhatIf { starts, ends, delays, before: outlook.bounds.clone(), after: after.bounds })
}

/// Starts and ends of jobs by name, in seconds of the run.
struct Plan {
    starts: BTreeMap<String, f64>,
    ends: BTreeMap<String, f64>,
    bounds: Vec<BoundPicture>,
}

fn plan_of(outlook: &Outlook, jobs: Vec<Job>) -> Result<Plan, Refusal> {
    let failed = |error: String| refusal(RefusalKind::BadInput, "content", error, "");
    let (machines, closed) = (outlook.instance.platform().clone(), outlook.instance.unavailable().to_vec());
    let instance = Instance::new(machines, jobs, closed).map_err(|error| failed(error.to_string()))?;
    let (schedule, bounds) = planned(&instance).map_err(failed)?;
    let (mut starts, mut ends) = (BTreeMap::<String, f64>::new(), BTreeMap::<String, f64>::new());
    for at in schedule.placements() {
        let job = instance.job_of(at.task).name.clone();
        let (start, end) = (at.start.seconds(), at.end.seconds());
        starts.entry(job.clone()).and_modify(|first| *first = first.min(start)).or_insert(start);
        ends.entry(job).and_modify(|last| *last = last.max(end)).or_insert(end);
    }
    Ok(Plan { starts, ends, bounds: pictured(&instance, &schedule, &bounds, outlook.now) })
}

/// The number of a job of the engine: its name begins with it.
fn number_of(name: &str) -> Option<JobNumber> {
    name.split(['-', '/']).next()?.parse().ok().map(JobNumber)
}
