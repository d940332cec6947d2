//! Why a job does not run now, when it is expected to, and what a submission would change.

use std::collections::BTreeMap;

use makespan_core::{Job, Platform, ProcSet, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::planner::{Expected, Outlook, keep_limits, number_of, pictured, planned};
use crate::clock::wall;
use crate::prepare::{Prepared, job_of, refusal};
use crate::store::JobRow;
use crate::words::{BoundPicture, Delay, Explanation, JobNumber, Reason, Refusal, RefusalKind, State, WhatIf};

/// So many futures are played.
const FUTURES: usize = 50;
/// Spread of the remaining time of a task that runs longer than expected.
const UNKNOWN: f64 = 1.0;
/// Most jobs that are named as a reason.
const NAMED: usize = 10;
/// Most delays that are told.
const DELAYS: usize = 100;

/// Why a job does not run.
pub(super) fn explain(row: &JobRow, before: &[(JobNumber, State)], outlook: Option<&Outlook>, now: f64) -> Explanation {
    let job = row.summary.number;
    let planned = outlook.and_then(|outlook| outlook.of_waiting(job, now)).map(|(start, _)| start);
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
                    // What is too early waits for nothing else.
                    let is_open = why_not.is_empty();
                    why_not.extend(busy(row, outlook, now).into_iter().filter(|_| is_open));
                    why_not.extend(misses_deadline(row, outlook, now));
                }
                None => why_not.push(reason("there is no plan yet".into())),
            }
        }
        State::Running => why_not.push(reason("it runs".into())),
        state => why_not.push(reason(format!("it has ended: {}", state.name().replace('_', " ")))),
    }
    Explanation { job, state: row.summary.state, expected_start: planned.filter(|_| waits), early, late, why_not }
}

/// What its user may not use yet.
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

/// That it is expected to miss its deadline.
fn misses_deadline(row: &JobRow, outlook: &Outlook, now: f64) -> Option<Reason> {
    let ((_, end), deadline) = (outlook.of_waiting(row.summary.number, now)?, row.summary.deadline?);
    (end > deadline + 0.5).then(|| {
        let text = format!("it is expected to end {:.0} s after its deadline", end - deadline);
        Reason { text, jobs: Vec::new(), resource: None }
    })
}

/// What keeps the processors from a job.
fn busy(row: &JobRow, outlook: &Outlook, now: f64) -> Vec<Reason> {
    let job = row.summary.number;
    let platform = outlook.instance.platform().processors();
    let used: u32 = outlook.running.iter().map(|runs| runs.processors).sum();
    let (needs, free) = (row.summary.processors, platform.saturating_sub(used));
    let mut reasons = Vec::new();
    let Some(&(start, _)) = outlook.jobs.get(&job) else {
        let text = "it is not among the tasks that are planned one by one: many others come first, or it was submitted a moment ago";
        return vec![Reason { text: text.into(), jobs: Vec::new(), resource: None }];
    };
    if needs > free {
        let mut ends: Vec<(f64, JobNumber)> = outlook.running.iter().map(|runs| (runs.end, runs.job)).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let jobs: Vec<JobNumber> = ends.iter().map(|(_, job)| *job).take(NAMED).collect();
        let known =
            outlook.running.iter().filter(|runs| runs.longer_than.is_none()).map(|runs| (runs.end - now).max(0.0));
        let next = known.reduce(f64::min).map(|next| format!("the next processors become free in about {next:.0} s"));
        let unknown = outlook.running.iter().find(|runs| runs.longer_than.is_some());
        let unknown = unknown.map(|runs| format!("job {} runs longer than expected, and its end is unknown", runs.job));
        let what = if needs == 1 { "processor" } else { "processors" };
        let parts: Vec<String> = next.into_iter().chain(unknown).collect();
        let text = format!("it needs {needs} {what}, but {free} of {platform} are free; {}", parts.join("; "));
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
    let used: u32 = outlook.running.iter().map(|runs| runs.processors).sum();
    let mut free = processors.saturating_sub(used);
    let later = |end: f64, spread: f64, random: &mut ChaCha8Rng| now + (end - now).max(0.0) * factor(spread, random);
    let mut over: BTreeMap<JobNumber, f64> = BTreeMap::new();
    let mut ends: Vec<(f64, u32)> = Vec::with_capacity(outlook.running.len());
    for runs in &outlook.running {
        let end = match runs.longer_than {
            None => later(runs.end, runs.spread, random),
            // The only known fact about this task is the time that it has run so far.
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

/// A submission about which somebody asks.
pub(super) struct Asked<'a> {
    pub prepared: &'a [Prepared],
    pub user: &'a str,
    /// It does not start before.
    pub begin: Option<f64>,
    /// The jobs that it waits for and that have not ended.
    pub after: &'a [JobNumber],
}

/// What would become of a submission beside what waits now.
pub(super) fn what_if(outlook: &Outlook, asked: &Asked<'_>, platform: &Platform) -> Result<WhatIf, Refusal> {
    let failed = |error: String| refusal(RefusalKind::BadInput, "content", error, "");
    let mut jobs: Vec<Job> = outlook.instance.all_submitted();
    let name = |at: usize| format!("new {at}");
    let (earliest, first) = behind(outlook, asked, &jobs)?;
    for (at, one) in asked.prepared.iter().enumerate() {
        let mut job = job_of(&one.spec, platform).map_err(failed)?;
        job.name = name(at);
        let begin = one.begin.map_or(earliest, |begin| earliest.max(wall() + begin));
        job.release = outlook.now.max(Time::from_ticks(((begin - outlook.origin) * 1e9) as i64));
        job.after = one.after.iter().map(|&before| name(before).into()).collect();
        job.after.extend(first.iter().map(|name| name.as_str().into()));
        jobs.push(job);
    }
    // By the rule by which the outlook was planned, so that they can be compared.
    let after = plan_of(outlook, jobs)?;
    let mut delays: Vec<Delay> = Vec::new();
    for (job, (start, _)) in &after.jobs {
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
    let now = wall();
    let new = (0..asked.prepared.len()).filter_map(|at| after.jobs.get(&name(at))).map(|(start, end)| {
        // The plan is some seconds old.
        let (start, length) = ((outlook.origin + start).max(now), end - start);
        (start, start + length)
    });
    let new = limited_too(outlook, asked, new.collect());
    let (starts, ends) = new.into_iter().unzip();
    Ok(WhatIf { starts, ends, delays, before: outlook.bounds.clone(), after: after.bounds })
}

/// From when on a submission may start by what runs and by its own time, and what the plan calls the jobs that it waits for.
fn behind(outlook: &Outlook, asked: &Asked<'_>, jobs: &[Job]) -> Result<(f64, Vec<String>), Refusal> {
    let (mut earliest, mut first) = (asked.begin.unwrap_or(0.0), Vec::new());
    for &job in asked.after {
        let names = jobs.iter().filter(|one| number_of(&one.name) == Some(job)).map(|one| one.name.clone());
        let before = first.len();
        first.extend(names);
        let ends = outlook.running.iter().filter(|runs| runs.job == job).map(|runs| runs.end);
        match ends.max_by(f64::total_cmp) {
            Some(end) => earliest = earliest.max(end),
            None if first.len() == before => {
                let message = format!("job {job} is not in the plan of this moment");
                return Err(refusal(RefusalKind::Closing, "after", message, "ask again in some seconds"));
            }
            None => {}
        }
    }
    Ok((earliest, first))
}

/// Starts and ends of what is asked about, behind what its user may run at once.
fn limited_too(outlook: &Outlook, asked: &Asked<'_>, new: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let Some(&limit) = outlook.limits.get(asked.user) else { return new };
    let one = |(at, &(start, end)): (usize, &(f64, f64))| Expected {
        job: JobNumber(u64::MAX),
        task: at as u64,
        title: String::new(),
        user: asked.user.to_owned(),
        start,
        end,
        processors: ProcSet::from_intervals(vec![(0, asked.prepared[at].widest.saturating_sub(1))]),
        spread: 0.0,
        begin: None,
        after: Vec::new(),
    };
    let mut all = outlook.expected.clone();
    all.extend(new.iter().enumerate().map(one));
    all.sort_by(|one, other| one.start.total_cmp(&other.start));
    keep_limits(&mut all, &outlook.running, &[(asked.user.to_owned(), limit)].into());
    let mut own: Vec<&Expected> = all.iter().filter(|one| one.job == JobNumber(u64::MAX)).collect();
    own.sort_by_key(|one| one.task);
    own.into_iter().map(|one| (one.start, one.end)).collect()
}

/// The first start and the last end of jobs by name, in seconds of the run.
struct Plan {
    jobs: BTreeMap<String, (f64, f64)>,
    bounds: Vec<BoundPicture>,
}

fn plan_of(outlook: &Outlook, jobs: Vec<Job>) -> Result<Plan, Refusal> {
    let failed = |error: String| refusal(RefusalKind::BadInput, "content", error, "");
    // What runs holds what it holds.
    let instance = outlook.instance.with_jobs(jobs);
    let (schedule, bounds) = planned(&instance).map_err(failed)?;
    let mut jobs = BTreeMap::<String, (f64, f64)>::new();
    for at in schedule.placements() {
        let (start, end) = (at.start.seconds(), at.end.seconds());
        let times = jobs.entry(instance.job_of(at.task).name.clone()).or_insert((start, end));
        *times = (times.0.min(start), times.1.max(end));
    }
    Ok(Plan { jobs, bounds: pictured(&instance, &schedule, &bounds, outlook.now) })
}
