//! Predicts the effect of a submission on the plan.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{Job, Platform, ProcSet, Time, Weight};

use super::behind::{PlannedTask, behind};
use super::outlook::{JobPlan, Outlook, Runs};
use super::plan::{pictured, planned_by};
use super::quota::hold_licences;
use crate::clock::wall;
use crate::prepare::{PreparedJob, job_of, refusal};
use crate::redact::job_of_name;
use crate::words::{BoundPicture, Delay, JobNumber, Refusal, RefusalKind, WhatIf, Who};

/// Maximum number of delays in an answer.
const DELAYS: usize = 100;
/// Prefix of the name of a new job in a plan. The rest of the name is the position of the job in the submission.
const NEW: &str = "new ";

/// A submission for which [`what_if`] predicts the effect.
pub(super) struct WhatIfSubmission<'a> {
    pub prepared: &'a [PreparedJob],
    /// The weights of the jobs in the plan.
    pub weights: &'a [f64],
    pub who: &'a Who,
    /// The earliest start, in seconds since 1970.
    pub begin: Option<f64>,
    /// The unfinished jobs for which the submission waits.
    pub after: &'a [JobNumber],
}

/// Plans the waiting jobs together with a submission, and compares the result with the plan without the submission.
pub(super) fn what_if(outlook: &Outlook, asked: &WhatIfSubmission<'_>, platform: &Platform) -> Result<WhatIf, Refusal> {
    let failed = |error: String| refusal(RefusalKind::BadInput, "content", error, "");
    let mut jobs: Vec<Job> = outlook.instance.all_submitted();
    let name = |at: usize| format!("{NEW}{at}");
    let (earliest, first) = earliest(outlook, asked, &jobs)?;
    // The engine receives a job that waits for nothing at once, and such jobs precede the pending jobs in the plan. The
    // order of the jobs decides ties.
    let mut next = jobs.len() - outlook.pending;
    for ((at, one), &weight) in asked.prepared.iter().enumerate().zip(asked.weights) {
        let mut job = job_of(&one.spec, platform).map_err(failed)?;
        job.name = name(at);
        job.weight =
            Weight::from_millionths((weight * 1e6).round() as u64).map_err(|error| failed(error.to_string()))?;
        let begin = one.begin.map_or(earliest, |begin| earliest.max(wall() + begin));
        job.release = outlook.now.max(Time::from_ticks(((begin - outlook.origin) * 1e9) as i64));
        job.after = one.after.iter().map(|&before| name(before).into()).collect();
        job.after.extend(first.iter().map(|name| name.as_str().into()));
        if !hold_licences(&mut job, &asked.who.user, &outlook.limits).map_err(failed)? {
            let message = "the limit of processors has just changed";
            return Err(refusal(RefusalKind::Closing, "", message, "ask again in some seconds"));
        }
        if asked.begin.is_none() && asked.after.is_empty() && one.begin.is_none() && one.after.is_empty() {
            jobs.insert(next, job);
            next += 1;
        } else {
            jobs.push(job);
        }
    }
    // The new plan uses the same algorithm as the outlook, so that both plans can be compared.
    let after = plan_of(outlook, jobs)?;
    let mut delays: Vec<Delay> = Vec::new();
    for (job, (start, _)) in &after.jobs {
        let Some((number, JobPlan { start: earlier, .. })) =
            job_of_name(job).and_then(|job| outlook.jobs.get_key_value(&job))
        else {
            continue;
        };
        let seconds = outlook.origin + start - earlier;
        if seconds.abs() >= 0.5 {
            delays.push(Delay { job: *number, seconds });
        }
    }
    // A submitter receives the delays of its own jobs, and only numbers about the jobs of others.
    let seen: BTreeSet<JobNumber> =
        outlook.expected.iter().filter(|one| asked.who.may_see(&one.user)).map(|one| one.job).collect();
    let hidden = delays.iter().filter(|delay| delay.seconds > 0.0 && !seen.contains(&delay.job));
    let (others, others_delay) = hidden.fold((0, 0.0_f64), |(count, max), delay| (count + 1, max.max(delay.seconds)));
    delays.retain(|delay| seen.contains(&delay.job));
    delays.sort_by(|one, other| other.seconds.abs().total_cmp(&one.seconds.abs()));
    delays.truncate(DELAYS);
    let now = wall();
    let new = (0..asked.prepared.len()).filter_map(|at| after.jobs.get(&name(at))).map(|(start, end)| {
        // The plan may be some seconds old, so a planned start in the past is moved to `now`.
        let (start, length) = ((outlook.origin + start).max(now), end - start);
        (start, start + length)
    });
    let new: Vec<(f64, f64)> = new.collect();
    let unknown = unknown(outlook, asked, &after, &new, now);
    let behind = unknown.iter().map(|ends| ends.start.or(ends.end).map(|runs| runs.number_for(asked.who))).collect();
    let known = new.iter().zip(&unknown).map(|(&(start, end), unknown)| {
        let is_known = unknown.start.is_none();
        (is_known.then_some(start), (is_known && unknown.end.is_none()).then_some(end))
    });
    let (starts, ends) = known.unzip();
    Ok(WhatIf {
        starts,
        ends,
        behind,
        delays,
        others,
        others_delay,
        before: outlook.bounds.clone(),
        after: after.bounds,
    })
}

/// Two running tasks with unknown ends. The start of a new job depends on `start`, and the end of the new job depends
/// on `end`.
#[derive(Clone, Copy, Default)]
struct Unknown<'a> {
    start: Option<&'a Runs>,
    end: Option<&'a Runs>,
}

/// Finds, for each new job, the running tasks with unknown ends that decide its start and its end.
fn unknown<'a>(
    outlook: &'a Outlook,
    asked: &WhatIfSubmission<'_>,
    plan: &Plan,
    new: &[(f64, f64)],
    now: f64,
) -> Vec<Unknown<'a>> {
    let number = |at: usize| JobNumber(u64::MAX - at as u64);
    let position = |job: JobNumber| usize::try_from(u64::MAX - job.0).ok().filter(|&at| at < new.len());
    let after = |at: usize| {
        let own = asked.prepared[at].after.iter().map(|&before| number(before));
        asked.after.iter().copied().chain(own).collect()
    };
    let after: Vec<Vec<JobNumber>> = (0..new.len()).map(after).collect();
    let mut tasks: Vec<PlannedTask<'_>> = Vec::with_capacity(plan.tasks.len());
    for (name, start, end, processors) in &plan.tasks {
        let at: Option<usize> = name.strip_prefix(NEW).and_then(|at| at.parse().ok());
        let Some(job) = at.map(number).or_else(|| job_of_name(name)) else { continue };
        let after = at.and_then(|at| after.get(at)).map_or(&[][..], Vec::as_slice);
        let [start, end] = [start, end].map(|instant| outlook.origin + instant);
        tasks.push(PlannedTask { job, start, end, processors, after });
    }
    tasks.sort_by(|one, other| one.start.total_cmp(&other.start));
    let jobs: Vec<JobNumber> = tasks.iter().map(|task| task.job).collect();
    let causes = behind(tasks, &outlook.running, outlook.instance.platform().processors());
    let mut found = vec![None::<Unknown<'_>>; new.len()];
    for (at, cause) in jobs.into_iter().zip(causes).filter_map(|(job, cause)| Some((position(job)?, cause))) {
        let runs = outlook.unknown(cause, now);
        let of_job = found[at].get_or_insert(Unknown { start: runs, end: runs });
        // If the start of any task of a job is known, the start of the job is known. If the start of any task of a job
        // is unknown, the end of the job is unknown.
        (of_job.start, of_job.end) = (of_job.start.and(runs), of_job.end.or(runs));
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns the earliest start of a submission, and the names of the planned jobs for which the submission waits. The
/// earliest start is the later of two instants: the requested earliest start, and the last end of the running jobs for
/// which the submission waits.
fn earliest(outlook: &Outlook, asked: &WhatIfSubmission<'_>, jobs: &[Job]) -> Result<(f64, Vec<String>), Refusal> {
    let (mut earliest, mut first) = (asked.begin.unwrap_or(0.0), Vec::new());
    for &job in asked.after {
        let names = jobs.iter().filter(|one| job_of_name(&one.name) == Some(job)).map(|one| one.name.clone());
        let before = first.len();
        first.extend(names);
        let ends = outlook.running.iter().filter(|runs| runs.job == job).map(|runs| runs.end);
        match ends.max_by(f64::total_cmp) {
            Some(end) => earliest = earliest.max(end),
            None if first.len() == before => {
                let message = format!("job {job} is not in the current plan");
                let remedy = "ask again in some seconds; if this job waits for a held job, release the held job first";
                return Err(refusal(RefusalKind::Closing, "after", message, remedy));
            }
            None => {}
        }
    }
    Ok((earliest, first))
}

/// A plan of the existing and the new jobs. Instants are in seconds after the origin of the outlook.
struct Plan {
    /// The first start and the last end of the tasks of each job, by the name of the job.
    jobs: BTreeMap<String, (f64, f64)>,
    /// For each task, the name of its job, its start, its end and its processors.
    tasks: Vec<(String, f64, f64, ProcSet)>,
    bounds: Vec<BoundPicture>,
}

fn plan_of(outlook: &Outlook, jobs: Vec<Job>) -> Result<Plan, Refusal> {
    let failed = |error: String| refusal(RefusalKind::BadInput, "content", error, "");
    // The platform of the outlook already excludes the resources of running tasks.
    let instance = outlook.instance.with_jobs(jobs);
    let (schedule, bounds) = planned_by(&instance, outlook.promise).map_err(failed)?;
    let mut jobs = BTreeMap::<String, (f64, f64)>::new();
    let mut tasks = Vec::with_capacity(schedule.placements().len());
    for at in schedule.placements() {
        let (start, end) = (at.start.seconds(), at.end.seconds());
        let name = &instance.job_of(at.task).name;
        let times = jobs.entry(name.clone()).or_insert((start, end));
        *times = (times.0.min(start), times.1.max(end));
        tasks.push((name.clone(), start, end, at.processors.clone()));
    }
    Ok(Plan { jobs, tasks, bounds: pictured(&instance, &schedule, &bounds, outlook.now) })
}
