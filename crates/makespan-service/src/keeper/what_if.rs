//! Predicts the effect of a submission on the plan.

use std::collections::BTreeMap;

use super::explain::ExplainedJob;
use super::outlook::Outlook;
use crate::prepare::refusal;
use crate::store::PendingRow;
use crate::words::{Delay, JobNumber, OtherJobs, Refusal, RefusalKind, Who};

/// Maximum number of delays in an answer.
const DELAYS: usize = 100;

/// Returns the plan of the waiting jobs together with the jobs of a submission. `weights` are the weights of the new jobs
/// in the plan.
pub(super) fn with_new_jobs(
    outlook: &Outlook,
    new: &[ExplainedJob],
    weights: &[f64],
    now: f64,
) -> Result<Outlook, Refusal> {
    let closing = |place: &str, message: String, remedy: &str| refusal(RefusalKind::Closing, place, message, remedy);
    let row = |(job, &weight): (&ExplainedJob, &f64)| PendingRow {
        job: job.row.summary.number,
        title: job.row.summary.name.clone(),
        user: job.row.summary.user.clone(),
        spec: job.row.spec.clone(),
        weight,
        begin: job.row.begin.filter(|&begin| begin > now),
        after: job.open().collect(),
    };
    let rows: Vec<PendingRow> = new.iter().zip(weights).map(row).collect();
    let is_planned = |job: &JobNumber| {
        outlook.jobs.contains_key(job)
            || outlook.running.iter().any(|runs| runs.job == *job)
            || rows.iter().any(|row| row.job == *job)
    };
    if let Some(job) = rows.iter().flat_map(|row| &row.after).find(|job| !is_planned(job)) {
        let remedy = "ask again in some seconds; if this job waits for a held job, release the held job first";
        return Err(closing("after", format!("job {job} is not in the current plan"), remedy));
    }
    let failed = |error: String| refusal(RefusalKind::BadInput, "content", error, "");
    let planned = outlook.state.outlook(rows).map_err(failed)?;
    if new.iter().any(|job| !planned.jobs.contains_key(&job.row.summary.number)) {
        let message = "the limit of processors has just changed".to_owned();
        return Err(closing("", message, "ask again in some seconds"));
    }
    Ok(planned)
}

/// Compares the starts of the other jobs without and with the new jobs. A submitter receives the delays of its own jobs,
/// and only numbers about the jobs of others.
pub(super) fn others(without: &Outlook, with: &Outlook, who: &Who) -> OtherJobs {
    let users: BTreeMap<JobNumber, &str> = without.expected.iter().map(|one| (one.job, one.user.as_str())).collect();
    let (mut others, mut sum, mut both) = (OtherJobs::default(), 0.0, 0_u64);
    for (&job, before) in &without.jobs {
        let Some(after) = with.jobs.get(&job) else { continue };
        let seconds = after.start - before.start;
        sum += seconds;
        both += 1;
        if seconds <= -0.5 {
            others.earlier += 1;
        }
        if seconds >= 0.5 {
            others.later += 1;
            others.most_seconds = others.most_seconds.max(seconds);
            if users.get(&job).is_some_and(|user| who.may_see(user)) {
                others.jobs.push(Delay { job, seconds });
            } else {
                others.hidden += 1;
            }
        }
    }
    others.mean_wait.seconds = sum / both.max(1) as f64;
    others.jobs.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    others.jobs.truncate(DELAYS);
    others
}
