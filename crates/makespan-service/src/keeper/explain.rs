//! Explains why a job does not run now, and predicts its start.

use std::collections::BTreeMap;

use makespan_core::{Demand, ProcSet, ResourceKind, WaitKind, WaitReason, counted};
use makespan_history::Calibration;

use super::future::ranges;
use super::outlook::{ClosedPeriod, Expectation, JobPlan, Outlook, Runs};
use super::quota::{ProcessorLimits, licence};
use crate::redact::job_of_name;
use crate::store::JobRow;
use crate::words::{JobNumber, JobOutlook, JobSummary, Reason, State, Who};

/// Maximum number of jobs that a reason names.
const NAMED: usize = 10;

/// A job for which the start is predicted and explained.
pub(super) struct ExplainedJob {
    pub row: JobRow,
    /// The states of the jobs for which the job waits.
    pub before: Vec<(JobNumber, State)>,
}

impl ExplainedJob {
    /// Returns the unfinished jobs for which the job waits.
    pub fn open(&self) -> impl Iterator<Item = JobNumber> {
        self.before.iter().filter(|(_, state)| !state.is_final()).map(|(job, _)| *job)
    }
}

/// The data from which starts are predicted.
pub(super) struct Prediction<'a> {
    pub outlook: Option<&'a Outlook>,
    pub calibration: &'a Calibration,
    /// The present, in seconds since 1970.
    pub now: f64,
}

/// Predicts the starts of jobs, and explains to the user `who` why the jobs do not start now.
pub(super) fn outlooks(who: &Who, jobs: &[ExplainedJob], prediction: &Prediction<'_>) -> Vec<JobOutlook> {
    let &Prediction { outlook, calibration, now } = prediction;
    let expected = |row: &JobRow| {
        let waiting = outlook.filter(|_| row.summary.state == State::Waiting);
        waiting.and_then(|outlook| outlook.of_waiting(row.summary.number, now))
    };
    let starts = jobs.iter().filter_map(|job| Some((job.row.summary.number, expected(&job.row)?.start)));
    let starts: BTreeMap<JobNumber, Option<f64>> = starts.collect();
    let ranges = outlook.map(|outlook| ranges(outlook, &starts, now)).unwrap_or_default();
    let one = |job: &ExplainedJob| {
        let number = job.row.summary.number;
        let expected = expected(&job.row).unwrap_or_default();
        let range = ranges.get(&number).map(|range| range.calibrated(calibration, number, now));
        JobOutlook {
            job: number,
            start: expected.start,
            early: range.map(|range| range.early),
            late: range.map(|range| range.late),
            reasons: reasons(who, job, prediction, &expected),
            end: expected.end,
            behind: expected.behind.map(|runs| runs.number_for(who)),
        }
    };
    jobs.iter().map(one).collect()
}

/// Returns the reasons why a job does not start now.
fn reasons(
    who: &Who,
    job: &ExplainedJob,
    &Prediction { outlook, now, .. }: &Prediction<'_>,
    expected: &Expectation<'_>,
) -> Vec<Reason> {
    let row = &job.row;
    let number = row.summary.number;
    match row.summary.state {
        State::Held => {
            let why = WaitReason::new(WaitKind::Held, "held", "it is held");
            return vec![why.with(format!("makespan release {number}")).into()];
        }
        State::Waiting => {}
        _ => return Vec::new(),
    }
    let mut reasons: Vec<Reason> = depends(job).into_iter().collect();
    if let Some(begin) = row.begin.filter(|&begin| begin > now) {
        let text = format!("it must not start earlier than {:.0} s from now", begin - now);
        reasons.push(WaitReason::new(WaitKind::BeginTime, "not before its earliest start", text).into());
    }
    let Some(outlook) = outlook else {
        reasons.push(WaitReason::new(WaitKind::Next, "no plan yet", "there is no plan yet").into());
        return reasons;
    };
    reasons.extend(limited(row, outlook));
    // The reasons about processors are stated only if the job does not wait for other jobs, its earliest start or its
    // user's limit. After these, a closed period may still delay the job.
    let is_open = reasons.is_empty();
    reasons.extend(lacking(row, outlook));
    if is_open {
        // With fewer processors, the job would still lack other resources.
        let is_only = reasons.is_empty();
        let own = reserved(row, outlook, now).into_iter().chain(busy(row, outlook, now));
        reasons.extend(own.map(|reason| Reason { remedy: reason.remedy.filter(|_| is_only), ..reason }));
    } else {
        reasons.extend(after_period(row, outlook, now));
    }
    if let Some(runs) = expected.behind.filter(|_| expected.start.is_none()) {
        reasons.insert(0, behind_unknown(who, job, runs));
    }
    if reasons.is_empty() {
        reasons.push(postponed(row, outlook, now).into());
    }
    reasons.extend(misses_deadline(row, expected));
    reasons
}

/// Returns a reason if the job waits for the ends of other jobs.
fn depends(job: &ExplainedJob) -> Option<Reason> {
    let jobs: Vec<JobNumber> = job.open().take(NAMED).collect();
    let text = format!("waits for the end of {}", named(&jobs)?);
    let held = job.before.iter().filter(|one| one.1 == State::Held).map(|one| one.0.to_string());
    let held: Vec<String> = held.take(NAMED).collect();
    let remedy = (!held.is_empty()).then(|| format!("makespan release {}", held.join(" ")));
    let why = WaitReason { remedy, ..WaitReason::new(WaitKind::Dependency, text.clone(), format!("it {text}")) };
    Some(Reason { jobs, ..why.into() })
}

/// Formats job numbers, such as `job 12` or `jobs 12, 13`.
fn named(jobs: &[JobNumber]) -> Option<String> {
    let names: Vec<String> = jobs.iter().map(ToString::to_string).collect();
    let what = if names.len() == 1 { "job" } else { "jobs" };
    (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
}

/// Returns the reason why a start is unknown: it depends on a running task with an unknown end.
fn behind_unknown(who: &Who, job: &ExplainedJob, runs: &Runs) -> Reason {
    let name = match runs.number_for(who) {
        JobNumber(0) => "a job of another user".to_owned(),
        job => format!("job {job}"),
    };
    let kind = if job.open().any(|open| open == runs.job) { WaitKind::Dependency } else { WaitKind::Resources };
    let text = format!("its start is unknown: it depends on {name}, which runs longer than expected");
    let why = WaitReason::new(kind, format!("{name} runs longer than expected"), text);
    Reason { jobs: vec![runs.job], ..why.into() }
}

/// Returns a reason if the job would exceed its user's maximum number of processors in use.
fn limited(row: &JobRow, outlook: &Outlook) -> Option<Reason> {
    let (user, needs) = (&row.summary.user, row.summary.processors);
    let limit = *outlook.limits.get(user)?;
    let own = || outlook.running.iter().filter(|runs| runs.user == *user);
    let used: u32 = own().map(|runs| runs.processors).sum();
    (used + needs > limit).then(|| {
        let allowed = counted(limit, "processor");
        let text = format!("{user} may use {allowed} at once, and uses {used}; this job needs {needs}");
        let fewer = if needs > limit { format!("at most {allowed}, or ") } else { String::new() };
        let remedy = format!("{fewer}makespan service user set {user} --most-processors {}, by an admin", used + needs);
        let why = WaitReason::new(WaitKind::Limit, format!("limit on the processors of {user}"), text).with(remedy);
        let jobs = own().map(|runs| runs.job).take(NAMED).collect();
        of_processors(Reason { jobs, ..why.into() })
    })
}

/// Returns the reason why a job cannot start if its user may use fewer processors at once than the job needs.
pub(super) fn exceeded(summary: &JobSummary, limits: &ProcessorLimits) -> Option<String> {
    let (user, needs) = (&summary.user, summary.processors);
    let limit = *limits.get(user)?;
    (needs > limit)
        .then(|| format!("{user} may use {} at once, but this job needs {needs}", counted(limit, "processor")))
}

/// Returns the reason with processors as the resource that the job lacks.
fn of_processors(reason: impl Into<Reason>) -> Reason {
    Reason { resource: Some("processors".into()), ..reason.into() }
}

/// Returns a reason for each resource besides processors of which too little is free for the job.
fn lacking(row: &JobRow, outlook: &Outlook) -> Vec<Reason> {
    let instance = &outlook.instance;
    let platform = instance.platform();
    let own = instance.jobs().iter().find(|job| job_of_name(&job.name) == Some(row.summary.number));
    let Some(task) = own.map(makespan_core::Job::first) else { return Vec::new() };
    let quota = licence(&row.summary.user);
    let width = instance.profile(task).min_processors();
    let reason = |demand: &Demand| {
        let resource = platform.resource_of(demand.resource);
        let held = |node: Option<usize>| -> u128 {
            let own = instance.held().iter().filter(|one| one.resource == demand.resource && one.node == node);
            own.filter(|one| one.until > outlook.now).map(|one| u128::from(one.amount)).sum()
        };
        let (needs, free) = if demand.kind == ResourceKind::OfNodes {
            let left =
                |node: usize| u128::from(platform.amount(node, demand.resource)).saturating_sub(held(Some(node)));
            (demand.need.share(1, width), (0..platform.node_count()).map(left).max().unwrap_or(0))
        } else {
            (demand.need.total(width), platform.total(demand.resource).saturating_sub(held(None)))
        };
        let is_short = u128::from(needs) > free && *resource.name != *quota;
        is_short.then(|| {
            let amount = |amount: u64| resource.amount(amount);
            let place =
                if demand.kind == ResourceKind::OfNodes && platform.node_count() > 1 { " on one node" } else { "" };
            let (needs, free) = (amount(needs), amount(u64::try_from(free).unwrap_or(u64::MAX)));
            let name = &resource.name;
            let brief = format!("needs {needs} of `{name}`, {free} free");
            let text = format!("it needs {needs} of the resource `{name}`{place}, but only {free} are free");
            let holders =
                outlook.running.iter().filter(|runs| runs.resources.iter().any(|name| **name == *resource.name));
            let jobs = holders.map(|runs| runs.job).take(NAMED).collect();
            let why = WaitReason::new(WaitKind::Resources, brief, text);
            Reason { jobs, resource: Some(name.to_string()), ..why.into() }
        })
    };
    instance.demands(task).iter().filter_map(reason).collect()
}

/// Returns a reason if the job is expected to miss its deadline.
fn misses_deadline(row: &JobRow, expected: &Expectation<'_>) -> Option<Reason> {
    let (end, deadline) = (expected.end?, row.summary.deadline?);
    (end > deadline + 0.5).then(|| {
        let text = format!("it is expected to end {:.0} s after its deadline", end - deadline);
        WaitReason::new(WaitKind::Deadline, "ends after its deadline", text).into()
    })
}

/// Returns the processors that are free from now until the job would end if it started now. Reserved processors and
/// processors that are down are not free.
fn open(plan: &JobPlan, outlook: &Outlook, now: f64) -> ProcSet {
    let near = outlook.closed.iter().filter(|period| period.overlaps(now, now + (plan.end - plan.start).max(0.0)));
    near.fold(outlook.free(), |open, period| open.difference(&period.processors))
}

/// Returns the number of processors with which the job could start now, as a remedy. If other tasks wait or if there are
/// several nodes, this number is unknown.
fn fewer(row: &JobRow, plan: &JobPlan, outlook: &Outlook, now: f64) -> Option<String> {
    let count = open(plan, outlook, now).len();
    let is_alone = outlook.expected.iter().all(|one| one.job == row.summary.number);
    let is_known = is_alone && outlook.instance.platform().node_count() == 1 && count > 0;
    is_known.then(|| format!("with at most {} it could start now", counted(count, "processor")))
}

/// Returns a reason if the job waits for the end of a reservation, or until processors that are down are up again.
fn reserved(row: &JobRow, outlook: &Outlook, now: f64) -> Option<Reason> {
    let plan = outlook.jobs.get(&row.summary.number)?;
    let needs = row.summary.processors;
    let free = outlook.free();
    if open(plan, outlook, now).len() >= needs || needs > free.len() {
        return after_period(row, outlook, now);
    }
    // The job would run into these periods if it started now.
    let near = outlook.closed.iter().filter(|period| period.overlaps(now, now + (plan.end - plan.start).max(0.0)));
    let near: Vec<&ClosedPeriod> = near.filter(|one| !one.processors.is_disjoint(&free)).collect();
    let described: Vec<String> = near.iter().map(|one| described(one, now)).collect();
    let text = format!("it needs {needs} of the {} free processors, but {}", free.len(), described.join(", and "));
    let why = WaitReason { remedy: fewer(row, plan, outlook, now), ..closed(near.first()?, text) };
    Some(of_processors(why))
}

/// Returns a reason if the plan starts the job when a closed period ends.
fn after_period(row: &JobRow, outlook: &Outlook, now: f64) -> Option<Reason> {
    let start = outlook.jobs.get(&row.summary.number)?.start;
    let follows = |one: &&ClosedPeriod| one.end > now && (0.0..1.0).contains(&(start - one.end));
    let period = outlook.closed.iter().find(follows)?;
    let text = format!("its planned start follows a closed period: {}", described(period, now));
    Some(of_processors(closed(period, text)))
}

/// Returns the reason of a job that waits for the end of a closed period.
fn closed(period: &ClosedPeriod, text: String) -> WaitReason {
    match &period.reservation {
        Some(name) => WaitReason::new(WaitKind::Reservation, format!("reserved ({name})"), text),
        None => WaitReason::new(WaitKind::Nodes, "processors are down", text),
    }
}

/// Returns a clause about a closed period, such as `processors 0-1 are reserved for demo in the next 30 s`.
fn described(period: &ClosedPeriod, now: f64) -> String {
    let set = &period.processors;
    let what = if set.len() == 1 { format!("processor {set} is") } else { format!("processors {set} are") };
    let why = period.reservation.as_ref().map_or_else(|| "down".to_owned(), |name| format!("reserved for `{name}`"));
    let length = period.end - now.max(period.start);
    if period.start > now {
        format!("{what} {why} for {length:.0} s, beginning in {:.0} s", period.start - now)
    } else {
        format!("{what} {why} for another {length:.0} s")
    }
}

/// Returns the reasons why the job does not get processors now.
fn busy(row: &JobRow, outlook: &Outlook, now: f64) -> Vec<Reason> {
    let job = row.summary.number;
    let platform = outlook.instance.platform().processors();
    let used: u32 = outlook.running.iter().map(|runs| runs.processors).sum();
    let (needs, free) = (row.summary.processors, platform.saturating_sub(used));
    let Some(plan) = outlook.jobs.get(&job) else {
        let text = "the job is not in the plan yet: many other jobs come first, or the job was submitted a moment ago";
        return vec![WaitReason::new(WaitKind::Next, "not in the plan yet", text).into()];
    };
    let mut reasons = Vec::new();
    if needs > free {
        let mut ends: Vec<(f64, JobNumber)> = outlook.running.iter().map(|runs| (runs.end, runs.job)).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let jobs: Vec<JobNumber> = ends.iter().map(|(_, job)| *job).take(NAMED).collect();
        let known =
            outlook.running.iter().filter(|runs| runs.longer_than.is_none()).map(|runs| (runs.end - now).max(0.0));
        let next = known.reduce(f64::min).map(|next| format!("; the next processors are expected in {next:.0} s"));
        let (what, next) = (counted(needs, "processor"), next.unwrap_or_default());
        let brief = format!("needs {what}, {free} free");
        let text = format!("it needs {what}, but only {free} of {platform} are free{next}");
        let why = WaitReason::new(WaitKind::Resources, brief, text);
        let remedy = fewer(row, plan, outlook, now);
        reasons.push(of_processors(Reason { remedy, jobs, ..why.into() }));
    }
    let ahead: Vec<JobNumber> =
        outlook.expected.iter().take_while(|one| one.start < plan.start).map(|one| one.job).collect();
    if !ahead.is_empty() {
        let (tasks, verb) = (counted(ahead.len(), "task"), if ahead.len() == 1 { "is" } else { "are" });
        let text =
            format!("{tasks} {verb} planned to start before it, because of the weights and the run times of all jobs");
        let why = WaitReason::new(WaitKind::Priority, format!("{tasks} before it"), text);
        reasons.push(Reason { jobs: ahead.into_iter().take(NAMED).collect(), ..why.into() });
    }
    reasons
}

/// Returns the reason why a job without any other reason does not run: enough processors are free, and no job is planned
/// to start before the job.
fn postponed(row: &JobRow, outlook: &Outlook, now: f64) -> WaitReason {
    let (job, needs) = (row.summary.number, row.summary.processors);
    let platform = outlook.instance.platform();
    let start = outlook.jobs.get(&job).map_or(now, |plan| plan.start);
    let largest = platform.parts(&outlook.free()).into_iter().map(|(_, count)| count).max().unwrap_or(0);
    let oldest = outlook.promise.map(|promise| promise.job).filter(|&oldest| oldest < job);
    if start <= now + 1.0 {
        WaitReason::new(WaitKind::Next, "starts now", "it is planned to start now")
    } else if platform.node_count() > 1 && largest < needs {
        let needs = counted(needs, "processor");
        let text = format!("it needs {needs}, and no node has more than {largest} free processors");
        WaitReason::new(WaitKind::Resources, format!("needs {needs} on one node, {largest} free"), text)
    } else if oldest.is_some_and(|oldest| outlook.jobs.contains_key(&oldest)) {
        let text = "processors are free but kept for a job that has waited longer";
        WaitReason::new(WaitKind::Priority, "reserved for a job that has waited longer", text)
    } else {
        let text = format!("it is planned to start in {:.0} s", start - now);
        WaitReason::new(WaitKind::Priority, "planned later", text)
    }
}
