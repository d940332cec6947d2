//! The instant of outputs that were saved: they seldom say it in so many words.

use crate::text::{Limit, duration, moment};
use crate::{Job, JobState};

/// The latest instant of which the jobs speak as of the past. A running job says for how long it has run, which tells the instant
/// itself; otherwise it was at least as late as anything that had happened.
pub(super) fn instant(jobs: &[Job], json: Option<&str>) -> Option<i64> {
    let of = |job: &Job| {
        let time = |key: &str| job.record.get(key).and_then(moment);
        let ran = job.record.get("RunTime").and_then(duration).and_then(Limit::value);
        let runs = job.state == JobState::Running;
        let present = job.start.zip(ran).filter(|_| runs).and_then(|(start, ran)| start.checked_add_unsigned(ran));
        let looked = time("LastSchedEval").or_else(|| time("last_sched_evaluation"));
        let started = job.start.filter(|_| !job.state.is_waiting());
        let ended = job.end.filter(|_| job.state.has_ended());
        [present, looked, started, ended, job.submitted].into_iter().flatten().max()
    };
    jobs.iter().filter_map(of).chain(json.and_then(last_update)).max()
}

/// What newer versions say beside the jobs.
fn last_update(text: &str) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Document {
        last_update: Option<serde_json::Value>,
    }
    let document: Document = serde_json::from_str(text).ok()?;
    let value = document.last_update?;
    value.get("number").unwrap_or(&value).as_i64().filter(|&seconds| seconds > 0)
}
