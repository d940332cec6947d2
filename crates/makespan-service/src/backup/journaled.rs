//! Adds the ends of tasks in a journal to a copy of the database.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use makespan_core::{Outcome, Run, TaskId};
use makespan_exec::journal::{JournalError, Progression, RecordedRun};

use super::{BackupError, in_database};
use crate::keeper::Owners;
use crate::store::{DATABASE, Reader, Store, TaskEnd, for_service, is_served, journal_fault, round_folder};
use crate::words::{JobNumber, State};

/// Maximum wait for a running service to write an end of a task to the journal.
const PATIENCE: Duration = Duration::from_secs(10);

/// Adds the ends of tasks in the journal of the current round to `copy`, a copy of the database of the store in
/// `folder`. If a task has ended and its end is not in the journal yet, waits until the running service has written
/// the end.
///
/// # Errors
/// [`BackupError`], for example if ends are missing and no service runs.
pub(super) fn add_ends(folder: &Path, copy: &mut Store) -> Result<(), BackupError> {
    // The copy has a hidden name, and disappears after an error. The message names the store.
    let database = in_database(&folder.join(DATABASE));
    let round = copy.readers().read(Reader::round).map_err(&database)?;
    let Some(round) = round else { return Ok(()) };
    let fault = copy.readers().read(|reader| Ok(journal_fault(folder, &round, reader))).map_err(&database)?;
    if let Some(fault) = fault.map_err(BackupError::Journal)? {
        return Err(BackupError::Journal(fault.text()));
    }
    let path = round_folder(folder, round.number);
    if !path.join(makespan_exec::journal::FILE).exists() {
        return Ok(());
    }
    let mut owners = Owners::default();
    copy.readers().read(|reader| reader.handed(&round, 0)).map_err(&database)?.iter().for_each(|job| owners.push(job));
    let unreadable = |error: JournalError| BackupError::Journal(for_service(&error.to_string()));
    let mut recorded = RecordedRun::checked(&path).map_err(unreadable)?;
    let begun = Instant::now();
    loop {
        let missing = unrecorded(&path, &recorded, &owners);
        if missing.is_empty() {
            break;
        }
        if !is_served(folder) {
            return Err(BackupError::Unrecorded(missing));
        }
        if begun.elapsed() > PATIENCE {
            return Err(BackupError::NotRecording(missing));
        }
        thread::sleep(Duration::from_millis(20));
        recorded = RecordedRun::read(&path).map_err(unreadable)?;
    }
    let added = copy.change(|change| {
        let ends = recorded.history.runs.iter().filter_map(|run| end_of(run, &recorded, &owners));
        ends.into_iter().try_for_each(|end| change.note(&end))
    });
    added.map(drop).map_err(&database)
}

/// Returns the jobs of ended tasks if the ends of these tasks are not in the journal.
fn unrecorded(round: &Path, recorded: &RecordedRun, owners: &Owners) -> Vec<JobNumber> {
    let has_ended = |(index, state): (usize, &Progression)| {
        let Progression::Running(attempt) = state else { return None };
        let status = round.join("status").join(format!("{}.{}", recorded.stems.get(index)?, attempt.attempt));
        let (owned, _) = owners.of(TaskId::at(index))?;
        fs::metadata(status).is_ok_and(|file| file.len() > 0).then_some(owned.job)
    };
    recorded.history.tasks.iter().enumerate().filter_map(has_ended).collect()
}

/// Returns the change of the store for the end of a task, or `None` if the task waits again or its job is unknown.
fn end_of(run: &Run, recorded: &RecordedRun, owners: &Owners) -> Option<TaskEnd> {
    let (state, exit) = TaskEnd::after(run.outcome);
    let (owned, task) = owners.of(run.task).filter(|_| state != State::Waiting)?;
    let instant = |ticks: i64| Some((recorded.history.origin as f64 + ticks as f64) / 1e9);
    let has_started = run.outcome != Outcome::NotStarted;
    Some(TaskEnd {
        job: owned.job,
        position: owned.position,
        task,
        state,
        started: instant(run.start.ticks()).filter(|_| has_started),
        ended: instant(run.end.ticks()),
        processors: has_started.then(|| run.processors.to_string()),
        width: if has_started { run.processors.len() } else { 0 },
        nodes: None,
        output: recorded.stems.get(run.task.index()).filter(|_| has_started).cloned(),
        exit,
        memory: run.accounting.map(|accounting| accounting.peak_memory),
        reason: None,
    })
}
