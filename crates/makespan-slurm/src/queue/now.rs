//! Derives the instant of saved outputs, because most outputs do not state it.

use crate::text::{OptionalLimit, duration, moment};
use crate::{Job, JobState, Node};

/// Maximum difference between the instants of two outputs, in seconds. It includes the time between two commands and
/// the difference of two clocks.
pub(super) const TOLERANCE: i64 = 60;

/// The knowledge about the instant of an output, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputInstant {
    /// The exact instant of the output.
    Exactly(i64),
    /// A lower bound on the instant of the output: an event that happened before.
    AtLeast(i64),
}

impl OutputInstant {
    pub fn instant(self) -> i64 {
        match self {
            Self::Exactly(at) | Self::AtLeast(at) => at,
        }
    }

    /// Returns true if two outputs cannot be from one instant.
    pub fn contradicts(self, other: Self) -> bool {
        let is_later = |early: i64, late: i64| late.saturating_sub(early) > TOLERANCE;
        match (self, other) {
            (Self::Exactly(own), Self::Exactly(other)) => is_later(own, other) || is_later(other, own),
            (Self::Exactly(exact), Self::AtLeast(least)) | (Self::AtLeast(least), Self::Exactly(exact)) => {
                is_later(exact, least)
            }
            (Self::AtLeast(_), Self::AtLeast(_)) => false,
        }
    }
}

/// Derives the instant from jobs. A running job gives the exact instant: its start plus its run time. Otherwise, the
/// latest past event is a lower bound.
pub(super) fn of_jobs<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Option<OutputInstant> {
    let exact = jobs.clone().filter_map(present).max().map(OutputInstant::Exactly);
    let happened = |job: &Job| {
        let time = |key: &str| job.record.get(key).and_then(moment);
        let looked = time("LastSchedEval").or_else(|| time("last_sched_evaluation"));
        let started = job.start.filter(|_| !job.state.is_waiting());
        let ended = job.end.filter(|_| job.state.has_ended());
        [looked, started, ended, job.submitted].into_iter().flatten().max()
    };
    exact.or_else(|| jobs.filter_map(happened).max().map(OutputInstant::AtLeast))
}

/// Returns the start plus the run time of a job, or `None` if the job was suspended.
fn present(job: &Job) -> Option<i64> {
    let stood = job.record.get("SecsPreSuspend").is_some_and(|seconds| seconds != "0");
    let ran = job.record.get("RunTime").and_then(duration).and_then(OptionalLimit::value);
    let (start, ran) = job.start.zip(ran).filter(|_| job.state == JobState::Running && !stood)?;
    start.checked_add_unsigned(ran)
}

/// Returns the instant in the JSON output of newer versions.
pub(super) fn of_json(text: &str) -> Option<OutputInstant> {
    last_update(text).map(OutputInstant::Exactly)
}

/// Returns the latest instant at which a node had booted or was busy.
pub(super) fn of_nodes(nodes: &[Node], json: Option<&str>) -> Option<OutputInstant> {
    let times = |node: &Node| {
        let time = |key: &str| node.record.get(key).and_then(moment);
        [node.booted, time("SlurmdStartTime"), time("LastBusyTime")].into_iter().flatten().max()
    };
    nodes.iter().filter_map(times).chain(json.and_then(last_update)).max().map(OutputInstant::AtLeast)
}

fn last_update(text: &str) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Document {
        last_update: Option<serde_json::Value>,
    }
    let document: Document = serde_json::from_str(text).ok()?;
    let value = document.last_update?;
    value.get("number").unwrap_or(&value).as_i64().filter(|&seconds| seconds > 0)
}
