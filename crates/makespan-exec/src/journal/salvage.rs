//! Recovers the valid part of a damaged journal.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use makespan_core::{Instance, Outcome, TaskId, Time};

use super::history::History;
use super::{Attempt, JournalError, JournalRecord, Progression, VERSION};
use crate::clock::since_origin;
use crate::identity::identity;
use crate::status::AttemptStatus;
use crate::tasks::TaskList;

/// A recovered journal.
pub(super) struct RecoveredJournal {
    pub records: Vec<JournalRecord>,
    pub note: String,
}

/// The legible part of a damaged journal.
pub(super) struct LegibleRecords {
    /// Records with their numbers.
    pub records: Vec<(u64, JournalRecord)>,
    /// The number of lines that could not be read.
    pub faults: usize,
    /// True if jobs may arrive during the run.
    pub grows: bool,
}

/// Recovers a journal from all records with a valid checksum, in the order of the record numbers, and from the ends in
/// the status files of the run. All other records are lost. If the end of a task is neither in these records nor in a
/// status file, the task runs again.
pub(super) fn salvage<'a>(
    path: &Path,
    instance: &Instance,
    legible: LegibleRecords,
    statuses: impl Iterator<Item = &'a AttemptStatus>,
) -> Result<RecoveredJournal, JournalError> {
    let LegibleRecords { records: mut numbered, faults, grows } = legible;
    numbered.sort_by_key(|&(number, _)| number);
    numbered.dedup_by_key(|&mut (number, _)| number);
    let grows = match numbered.first() {
        Some((0, JournalRecord::Header { grows, .. })) => *grows,
        _ => grows,
    };
    let own = identity(instance, grows);
    let mut statuses: Vec<&AttemptStatus> = statuses.collect();
    let header = match numbered.first() {
        Some((0, header @ JournalRecord::Header { .. })) => header.clone(),
        // If several runs left status files in the folder, the latest run is used.
        _ => match statuses.iter().filter(|status| status.claim.instance == own).map(|status| status.claim.run).max() {
            Some(origin) => JournalRecord::Header { version: VERSION, fingerprint: own.clone(), origin, grows },
            None => return Err(JournalError::NothingCertain { path: path.to_owned() }),
        },
    };
    let mut whole =
        Whole { history: History::of(path, instance, std::slice::from_ref(&header))?, records: vec![header] };
    if whole.history.grows {
        // Some records of arriving jobs may be lost, so all tasks of the instance are added at once.
        numbered.retain(|(_, record)| !matches!(record, JournalRecord::Grown { .. }));
        whole.push(JournalRecord::Grown { list: TaskList::of(instance) });
    }
    for (_, record) in numbered {
        whole.take(record);
    }
    let origin = whole.history.origin;
    statuses.retain(|status| status.claim.run == origin && status.claim.instance == own);
    statuses.sort_by_key(|status| (status.claim.task, status.claim.attempt));
    let told = statuses.into_iter().filter(|status| whole.take_status(status)).count();
    let note = format!(
        "the journal was damaged: {faults} of its lines could not be read, and the ends of {told} jobs are known only \
         from status files"
    );
    Ok(RecoveredJournal { records: whole.records, note })
}

/// A journal under construction that accepts only consistent records.
struct Whole {
    history: History,
    records: Vec<JournalRecord>,
}

impl Whole {
    fn push(&mut self, record: JournalRecord) -> bool {
        let fits = self.history.apply(&record).is_ok();
        if fits {
            self.records.push(record);
        }
        fits
    }

    /// Adds a record, after the missing records that must precede it.
    fn take(&mut self, record: JournalRecord) {
        if let JournalRecord::Started { task, at, .. } = record
            && matches!(self.history.tasks.get(task.index()), Some(Progression::Running(_)))
        {
            self.push(JournalRecord::Interrupted { task, at });
        }
        if let JournalRecord::Ended { task, start, ref processors, outcome, .. } = record
            && outcome != Outcome::NotStarted
            && !self.runs_since(task, start)
        {
            let attempt = self.history.attempts.get(task.index()).map_or(1, |attempts| attempts + 1);
            self.take(JournalRecord::Started {
                task,
                attempt,
                at: start,
                processors: processors.clone(),
                pid: 0,
                pid_start: 0,
                gpus: None,
            });
        }
        self.push(record);
    }

    fn runs_since(&self, task: TaskId, start: Time) -> bool {
        matches!(self.history.tasks.get(task.index()), Some(Progression::Running(Attempt { at, .. })) if *at == start)
    }

    /// Adds the end in a status file if the records lack it. Returns whether the end was added.
    fn take_status(&mut self, status: &AttemptStatus) -> bool {
        let claim = &status.claim;
        let Some(&known) = self.history.attempts.get(claim.task.index()) else { return false };
        if claim.attempt <= known {
            return false;
        }
        let (task, at, processors) = (claim.task, claim.at, claim.processors.clone());
        let wall = UNIX_EPOCH + Duration::from_nanos(u64::try_from(status.ended).unwrap_or(0));
        let end = since_origin(wall, self.history.origin).max(at);
        self.take(JournalRecord::Started {
            task,
            attempt: claim.attempt,
            at,
            processors: processors.clone(),
            pid: 0,
            pid_start: 0,
            gpus: None,
        });
        let outcome = match status.exit {
            0 => Outcome::Succeeded,
            // The status does not show whether Makespan or a stop request ended the task, so the task runs again.
            _ if status.asked || status.stopped => return self.push(JournalRecord::Interrupted { task, at: end }),
            status => Outcome::Failed { status },
        };
        let accounting = status.accounting;
        self.push(JournalRecord::Ended { task, start: at, at: end, processors, outcome, accounting })
    }
}
