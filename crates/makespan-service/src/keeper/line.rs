//! The lines of the log about requests of users, and about starts and ends of jobs.

use makespan_core::ProcSet;

use crate::clock::shown_instant;
use crate::log::Priority;
use crate::redact;
use crate::store::JobEvent;
use crate::words::{JobNumber, Receipt, Reservation, State, UserChange};

/// A line with its priority.
type Line = (Priority, String);

/// Returns the line about submitted jobs, if there are any.
pub(super) fn submitted(user: &str, receipts: &[Receipt]) -> Option<Line> {
    let numbers = || receipts.iter().flat_map(|receipt| &receipt.jobs);
    let (first, last) = (numbers().min()?, numbers().max()?);
    let jobs = if first == last { format!("job {first}") } else { format!("jobs {first} to {last}") };
    Some((Priority::Info, format!("{user} submitted {jobs}")))
}

pub(super) fn cancelled(user: &str, job: JobNumber) -> Line {
    (Priority::Info, format!("{user} cancels job {job}"))
}

pub(super) fn held(user: &str, job: JobNumber) -> Line {
    (Priority::Info, format!("{user} held job {job}"))
}

pub(super) fn released(user: &str, job: JobNumber) -> Line {
    (Priority::Info, format!("{user} released job {job}"))
}

/// Returns the line about new settings of the user `of`, which the user `by` set.
pub(super) fn limits_set(by: &str, of: &str, settings: &UserChange) -> Line {
    let text = serde_json::to_string(settings).unwrap_or_default();
    (Priority::Notice, format!("{by} set the limits of {of}: {text}"))
}

pub(super) fn reserved(user: &str, reservation: &Reservation) -> Line {
    let Reservation { number, start, end, ref processors, .. } = *reservation;
    let processors = ProcSet::from_intervals(processors.clone());
    let [start, end] = [start, end].map(shown_instant);
    let line = format!("{user} reserved processors {processors} from {start} to {end}: reservation {number}");
    (Priority::Notice, line)
}

pub(super) fn unreserved(user: &str, number: u64) -> Line {
    (Priority::Notice, format!("{user} cancelled reservation {number}"))
}

/// Returns the line about the start or the end of a job.
pub(super) fn of_job(event: &JobEvent) -> Line {
    let JobEvent { job, user, state, reason, .. } = event;
    let reason = reason.as_deref().and_then(redact::reason);
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let (priority, what) = match state {
        State::Running => (Priority::Info, "started".to_owned()),
        State::Waiting | State::Held => (Priority::Warning, format!("waits again{reason}")),
        State::Succeeded => (Priority::Info, "succeeded".to_owned()),
        State::Cancelled => (Priority::Info, "was cancelled".to_owned()),
        State::Failed => (Priority::Warning, format!("failed{reason}")),
        State::TimedOut => (Priority::Warning, "reached its time limit".to_owned()),
        State::NotStarted => (Priority::Warning, format!("was not started{reason}")),
    };
    (priority, format!("job {job} of {user} {what}"))
}
