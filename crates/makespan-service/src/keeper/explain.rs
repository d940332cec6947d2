//! Explains why a job does not run now, and predicts its start.

use makespan_core::{Demand, ResourceKind, counted};
use makespan_history::{Calibration, ENOUGH};

use super::future::range;
use super::outlook::{ClosedPeriod, JobPlan, Outlook, Runs};
use super::quota::{ProcessorLimits, licence};
use crate::redact::job_of_name;
use crate::store::JobRow;
use crate::words::{Explanation, JobNumber, JobSummary, Reason, State, Who};

/// Maximum number of jobs that a reason names.
const NAMED: usize = 10;

/// The data from which starts are predicted.
pub(super) struct Prediction<'a> {
    pub outlook: Option<&'a Outlook>,
    pub calibration: &'a Calibration,
    /// The present, in seconds since 1970.
    pub now: f64,
}

/// Explains to the user `who` why a job does not run.
pub(super) fn explain(
    who: &Who,
    row: &JobRow,
    before: &[(JobNumber, State)],
    prediction: &Prediction<'_>,
) -> Explanation {
    let job = row.summary.number;
    let &Prediction { outlook, calibration, now } = prediction;
    let expected = outlook.and_then(|outlook| outlook.of_waiting(job, now)).unwrap_or_default();
    let planned = expected.start;
    let waits = row.summary.state == State::Waiting;
    let range = outlook.filter(|_| waits).and_then(|outlook| range(outlook, job, planned, now));
    let (early, late) =
        range.map(|range| range.calibrated(calibration, job, now)).map(|one| (one.early, one.late)).unzip();
    let reason = |text: String| Reason { text, jobs: Vec::new(), resource: None };
    let mut why_not = Vec::new();
    match row.summary.state {
        State::Held => why_not.push(reason("the job is held; release it".into())),
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
                why_not.push(reason(format!("it must not start earlier than {:.0} s from now", begin - now)));
            }
            match outlook {
                Some(outlook) => {
                    why_not.extend(limited(row, outlook));
                    // The reasons about processors are stated only if the job does not wait for other jobs, its
                    // earliest start or its user's limit. After these, a closed period may still delay the job.
                    let is_open = why_not.is_empty();
                    why_not.extend(lacking(row, outlook));
                    if is_open {
                        why_not.extend(reserved(row, outlook, now));
                        why_not.extend(busy(row, outlook, now));
                    } else {
                        why_not.extend(after_period(row, outlook, now));
                    }
                    if let Some(runs) = expected.behind.filter(|_| planned.is_none()) {
                        why_not.insert(0, behind_unknown(who, runs));
                    }
                    if why_not.is_empty() {
                        why_not.push(reason(postponed(row, outlook, now)));
                    }
                    why_not.extend(misses_deadline(row, outlook, now));
                }
                None => why_not.push(reason("there is no plan yet".into())),
            }
        }
        State::Running => why_not.push(reason("it runs".into())),
        state => why_not.push(reason(format!("it has ended: {}", state.words()))),
    }
    Explanation {
        job,
        state: row.summary.state,
        expected_start: planned.filter(|_| waits),
        early,
        late,
        calibrated: calibration.known >= ENOUGH,
        known_starts: calibration.known as u64,
        held: calibration.held,
        why_not,
    }
}

/// Returns the reason why a start is unknown: it depends on a running task with an unknown end.
fn behind_unknown(who: &Who, runs: &Runs) -> Reason {
    let text = format!("its start is unknown: it depends on {}", longer(who, runs));
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
        let text =
            format!("{user} may use {} at once, and uses {used}; this job needs {needs}", counted(limit, "processor"));
        let jobs = own().map(|runs| runs.job).take(NAMED).collect();
        Reason { text, jobs, resource: Some("processors".into()) }
    })
}

/// Returns the reason why a job cannot start if its user may use fewer processors at once than the job needs.
pub(super) fn exceeded(summary: &JobSummary, limits: &ProcessorLimits) -> Option<String> {
    let (user, needs) = (&summary.user, summary.processors);
    let limit = *limits.get(user)?;
    (needs > limit)
        .then(|| format!("{user} may use {} at once, but this job needs {needs}", counted(limit, "processor")))
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
            let free = u64::try_from(free).unwrap_or(u64::MAX);
            let text = format!(
                "it needs {} of the resource `{}`{place}, but only {} are free",
                amount(needs),
                resource.name,
                amount(free)
            );
            let holders =
                outlook.running.iter().filter(|runs| runs.resources.iter().any(|name| **name == *resource.name));
            let jobs = holders.map(|runs| runs.job).take(NAMED).collect();
            Reason { text, jobs, resource: Some(resource.name.to_string()) }
        })
    };
    instance.demands(task).iter().filter_map(reason).collect()
}

/// Returns a reason if the job is expected to miss its deadline.
fn misses_deadline(row: &JobRow, outlook: &Outlook, now: f64) -> Option<Reason> {
    let (end, deadline) = (outlook.of_waiting(row.summary.number, now)?.end?, row.summary.deadline?);
    (end > deadline + 0.5).then(|| {
        let text = format!("it is expected to end {:.0} s after its deadline", end - deadline);
        Reason { text, jobs: Vec::new(), resource: None }
    })
}

/// Returns a reason if the job waits for the end of a reservation, or until processors that are down are up again.
fn reserved(row: &JobRow, outlook: &Outlook, now: f64) -> Option<Reason> {
    let JobPlan { start, end, .. } = outlook.jobs.get(&row.summary.number)?;
    let needs = row.summary.processors;
    let free = outlook.free();
    // The job would run into these periods if it started now.
    let near: Vec<&ClosedPeriod> =
        outlook.closed.iter().filter(|period| period.overlaps(now, now + (end - start).max(0.0))).collect();
    let open = near.iter().fold(free.clone(), |open, period| open.difference(&period.processors));
    if open.len() >= needs || needs > free.len() {
        return after_period(row, outlook, now);
    }
    let named = near.iter().filter(|one| !one.processors.is_disjoint(&free));
    let named: Vec<String> = named.map(|one| described(one, now)).collect();
    let text = format!("it needs {needs} of the {} free processors, but {}", free.len(), named.join(", and "));
    Some(Reason { text, jobs: Vec::new(), resource: Some("processors".into()) })
}

/// Returns a reason if the plan starts the job when a closed period ends.
fn after_period(row: &JobRow, outlook: &Outlook, now: f64) -> Option<Reason> {
    let start = outlook.jobs.get(&row.summary.number)?.start;
    let follows = |one: &&ClosedPeriod| one.end > now && (0.0..1.0).contains(&(start - one.end));
    let period = described(outlook.closed.iter().find(follows)?, now);
    let text = format!("its planned start follows a closed period: {period}");
    Some(Reason { text, jobs: Vec::new(), resource: Some("processors".into()) })
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
    let mut reasons = Vec::new();
    let Some(&JobPlan { start, .. }) = outlook.jobs.get(&job) else {
        let text = "the job is not in the plan yet: many other jobs come first, or the job was submitted a moment ago";
        return vec![Reason { text: text.into(), jobs: Vec::new(), resource: None }];
    };
    if needs > free {
        let mut ends: Vec<(f64, JobNumber)> = outlook.running.iter().map(|runs| (runs.end, runs.job)).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let jobs: Vec<JobNumber> = ends.iter().map(|(_, job)| *job).take(NAMED).collect();
        let known =
            outlook.running.iter().filter(|runs| runs.longer_than.is_none()).map(|runs| (runs.end - now).max(0.0));
        let next = known.reduce(f64::min).map(|next| format!("the next processors are expected in {next:.0} s"));
        let what = if needs == 1 { "processor" } else { "processors" };
        let next = next.map_or_else(String::new, |next| format!("; {next}"));
        let text = format!("it needs {needs} {what}, but only {free} of {platform} are free{next}");
        reasons.push(Reason { text, jobs, resource: Some("processors".into()) });
    }
    let ahead: Vec<JobNumber> =
        outlook.expected.iter().take_while(|one| one.start < start).map(|one| one.job).collect();
    if !ahead.is_empty() {
        let count = ahead.len();
        let what = if count == 1 { "task is" } else { "tasks are" };
        let text =
            format!("{count} {what} planned to start before it, because of the weights and the run times of all jobs");
        reasons.push(Reason { text, jobs: ahead.into_iter().take(NAMED).collect(), resource: None });
    }
    reasons
}

/// Returns the reason why a job without any other reason does not run: enough processors are free, and no job is planned
/// to start before the job.
fn postponed(row: &JobRow, outlook: &Outlook, now: f64) -> String {
    let (job, needs) = (row.summary.number, row.summary.processors);
    let platform = outlook.instance.platform();
    let start = outlook.jobs.get(&job).map_or(now, |plan| plan.start);
    let largest = platform.parts(&outlook.free()).into_iter().map(|(_, count)| count).max().unwrap_or(0);
    let oldest = outlook.promise.map(|promise| promise.job).filter(|&oldest| oldest < job);
    if start <= now + 1.0 {
        "it is planned to start now".into()
    } else if platform.node_count() > 1 && largest < needs {
        format!("it needs {}, and no node has more than {largest} free processors", counted(needs, "processor"))
    } else if oldest.is_some_and(|oldest| outlook.jobs.contains_key(&oldest)) {
        "processors are free but kept for a job that has waited longer".into()
    } else {
        format!("it is planned to start in {:.0} s", start - now)
    }
}
