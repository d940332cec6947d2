//! Settles the attempts of earlier sessions when a session begins: takes them over, ends them, or records their ends.

use makespan_core::{Instance, TaskId};

use super::Machine;
use super::check::opening;
use crate::engine::{EarlierAttempt, Engine, LeftProcesses, TakenAttempt};
use crate::files::Files;
use crate::journal::{History, Journal, OpenedJournal, Progression, TaskList, TasksBeforeEdit};
use crate::recover::Recovery;
use crate::{ExecuteError, ExecuteOptions, Observer, resources};

/// The state of a run when a session begins. Each attempt of an earlier session has ended, or was taken over.
pub(super) struct SettledRun {
    pub journal: Journal,
    pub history: History,
    pub goes_on: Vec<TakenAttempt>,
}

/// Opens the journal of a run, takes over the running attempts of earlier sessions, and settles the other attempts.
pub(super) fn settled(
    machine: &mut Machine<'_>,
    instance: &Instance,
    options: &ExecuteOptions,
    observer: &mut dyn Observer,
) -> Result<SettledRun, ExecuteError> {
    let Machine { storage, engine, files, lock } = machine;
    let (storage, files) = (*storage, &**files);
    if Journal::needs_recovery(storage, files, instance, opening(options)) {
        // The records of running attempts may be lost. Without its record, an attempt cannot be taken over, and its task
        // would run twice at the same time. The attempts end first, because their status files are read afterwards.
        let left = LeftProcesses { shims: &[], group: None };
        engine.end_left(&left, options.grace, &mut |text| observer.message(text));
    }
    let mut begun = Journal::begin(storage, files, instance, opening(options), engine.wall(), lock.take())?;
    files.prepare(storage)?;
    begun.notes.iter().for_each(|note| observer.message(note));
    let names = begun
        .earlier
        .as_ref()
        .map_or_else(|| instance.task_ids().map(|task| instance.name(task).into_owned()).collect(), TaskList::names);
    let stems = begun.earlier.as_ref().map_or_else(|| files.stems(), TaskList::stems);
    let begun_before = stems.into_iter().zip(&begun.history.attempts).filter(|(_, attempts)| **attempts > 0);
    files.know_begun(storage, begun_before.map(|(stem, _)| stem))?;
    if begun.history.tasks.iter().any(|task| matches!(task, Progression::Running(_))) {
        engine.follows(&begun.history.boot).map_err(ExecuteError::Elsewhere)?;
    }
    // An edited instance may use the name of a running task for a different task, so running attempts of the earlier
    // instance are ended.
    let is_same = begun.earlier.is_none() && !options.run_all;
    let goes_on = if is_same { take_over(&mut **engine, instance, options, files, &begun.history) } else { Vec::new() };
    let taken: Vec<TaskId> = goes_on.iter().map(|taken| taken.task).collect();
    // If tasks outlive the session, the engine itself reports which tasks have ended and which continue.
    if !engine.outlives_us() {
        tell_outlived(&taken, &names, observer);
    }
    let old_files = begun.earlier.as_ref().map(|list| files.of_earlier(list));
    Recovery {
        names: &names,
        instance: Some(instance).filter(|_| begun.earlier.is_none()),
        options,
        storage,
        files: old_files.as_ref().unwrap_or(files),
        engine: &mut **engine,
        taken: &taken,
        journal: &mut begun.journal,
        observer,
        measured: Vec::new(),
    }
    .settle(&mut begun.history)?;
    let OpenedJournal { mut journal, mut history, mut earlier, .. } = begun;
    if options.run_all && history.tasks.iter().any(|task| *task != Progression::Open) {
        earlier = earlier.or_else(|| Some(TaskList::of(instance)));
    }
    if let Some(list) = earlier {
        let old = TasksBeforeEdit { list: &list, history: &history };
        let (next, kept, told) = journal.carried_over(storage, files, old, instance, options.keep())?;
        observer.message(&told);
        (journal, history) = (next, kept);
    }
    Ok(SettledRun { journal, history, goes_on })
}

/// Takes over the attempts that are still running and have no end in the journal.
fn take_over(
    engine: &mut dyn Engine,
    instance: &Instance,
    options: &ExecuteOptions,
    files: &Files,
    history: &History,
) -> Vec<TakenAttempt> {
    let is_here = history.boot == engine.place();
    let states_gpus = resources::gpus_of(instance.platform()).is_some();
    let unsettled = |(task, progression): (TaskId, &Progression)| match progression {
        Progression::Running(attempt) => {
            let (processors, files) = (attempt.processors.clone(), files.of(task, attempt.attempt));
            let (name, shim) = (instance.name(task).into_owned(), attempt.shim().filter(|_| is_here));
            let gpus = attempt.gpus.clone().or_else(|| (!states_gpus).then(Vec::new));
            let (attempt, is_pinned) = (attempt.attempt, options.pinning.pins(instance, task));
            Some(EarlierAttempt { task, attempt, processors, files, name, shim, gpus, is_pinned })
        }
        _ => None,
    };
    let earlier: Vec<EarlierAttempt> = (0..).map(TaskId).zip(&history.tasks).filter_map(unsettled).collect();
    engine.take_over(&earlier)
}

/// Maximum number of jobs that are reported by name.
const NAMED: usize = 8;

fn tell_outlived(taken: &[TaskId], names: &[String], observer: &mut dyn Observer) {
    for task in taken.iter().take(NAMED) {
        let text = format!(
            "job `{}` is still running after the end of the session that started it, and continues",
            names[task.index()]
        );
        observer.outlived(&text);
    }
    if taken.len() > NAMED {
        observer
            .outlived(&format!("{} more jobs of that session are still running, and continue", taken.len() - NAMED));
    }
}
