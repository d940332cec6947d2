//! Continues a run after its instance was edited.

use makespan_core::{Instance, Outcome, Run, TaskId};

use super::content::put_in_place;
use super::{EqualTimes, FILE, History, Journal, JournalError, JournalRecord, KeptTasks, Progression, VERSION};
use crate::files::Files;
use crate::identity::identity;
use crate::storage::Storage;
use crate::tasks::{Mapping, TaskList};

/// The tasks of the instance before it was edited, and their state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TasksBeforeEdit<'a> {
    pub list: &'a TaskList,
    pub history: &'a History,
}

impl Journal {
    /// Replaces this journal by a journal of the current instance. The old journal is kept under another name. No task
    /// of the old instance may be running. The new journal keeps successful tasks with an unchanged command and
    /// unchanged inputs, and failed tasks that did not change at all. With [`KeptTasks::Nothing`], the new journal
    /// keeps no task. Returns the journal and a message for the user.
    ///
    /// # Errors
    /// [`JournalError::Io`]. After an error, the old journal is still in use.
    pub(crate) fn carried_over(
        self,
        storage: &dyn Storage,
        files: &Files,
        TasksBeforeEdit { list, history }: TasksBeforeEdit<'_>,
        instance: &Instance,
        keep: KeptTasks,
    ) -> Result<(Self, History, String), JournalError> {
        let mut new = TaskList::of(instance);
        let succeeded = |task: TaskId| history.tasks[task.index()] == Progression::Ended(Outcome::Succeeded);
        let mapping = list.mapped(&new, keep == KeptTasks::SameDeeds, succeeded);
        if keep != KeptTasks::Nothing {
            new.keep_files(list, &mapping, &files.begun());
        }
        files.adopt(new.stems());
        let records = records(history, &mapping, instance, new.clone(), keep);
        let path = files.folder().join(FILE);
        let fail = |source| JournalError::Io { path: path.clone(), source };
        let (kept, sound) = put_in_place(storage, files, &records, "journal-before").map_err(fail)?;
        let ended = |task: &TaskId| matches!(history.tasks[task.index()], Progression::Ended(_));
        let again = mapping.same.keys().filter(|task| ended(task)).count();
        let history = History::of(&path, instance, &records)?;
        let done = history.tasks.iter().filter(|task| matches!(task, Progression::Ended(_))).count();
        let described = match keep {
            KeptTasks::Nothing => format!("tasks to run: {}, of which {again} have ended before", instance.tasks()),
            KeptTasks::SameNames | KeptTasks::SameDeeds => mapping.describe(done, &list.names(), &new.names()),
        };
        let told = format!("{described}; the previous journal is kept as {}", kept.display());
        let file = storage.open(&path).map_err(fail)?;
        let number = records.len() as u64;
        Ok((
            Self {
                file,
                sound,
                written: sound,
                whole: sound,
                torn: false,
                number,
                waiting: Vec::new(),
                in_file: 0,
                ..self
            },
            history,
            told,
        ))
    }
}

/// Returns the records to keep, with the task numbers of the current instance.
fn records(
    history: &History,
    mapping: &Mapping,
    instance: &Instance,
    list: TaskList,
    keep: KeptTasks,
) -> Vec<JournalRecord> {
    // The origin increases by one nanosecond, so that an old status file is not mistaken for the status of a later
    // attempt.
    let (origin, grows) = (history.origin + 1, history.grows);
    let fingerprint = identity(instance, grows);
    let header = JournalRecord::Header { version: VERSION, fingerprint, origin, grows };
    let tasks = if grows { JournalRecord::Grown { list } } else { JournalRecord::Tasks { list } };
    let mut records = vec![header, tasks];
    let mut attempts = vec![0; instance.tasks() as usize];
    for run in &history.runs {
        let kept = mapping.same.get(&run.task).filter(|(_, unchanged)| match history.tasks[run.task.index()] {
            _ if keep == KeptTasks::Nothing => false,
            Progression::Ended(Outcome::Succeeded) => true,
            Progression::Ended(Outcome::Failed { .. } | Outcome::TimedOut) => *unchanged,
            _ => false,
        });
        let kept = kept.map(|(task, _)| *task);
        let Some(task) = kept.filter(|_| run.outcome != Outcome::NotStarted) else { continue };
        let Run { start, end, processors, outcome, accounting, .. } = run.clone();
        attempts[task.index()] += 1;
        let (attempt, at) = (attempts[task.index()], start);
        // The attempt is not running, so its process does not matter.
        records.push(JournalRecord::Started {
            task,
            attempt,
            at,
            processors: processors.clone(),
            pid: 0,
            pid_start: 0,
            gpus: None,
        });
        records.push(JournalRecord::Ended { task, start, at: end, processors, outcome, accounting });
    }
    let told = history.told.iter().filter_map(|entry| {
        let &(task, _) = mapping.same.get(&entry.task)?;
        Some(JournalRecord::Told { entry: makespan_core::LogEntry { task, ..*entry } })
    });
    records.extend(told);
    // Learned times are kept only for tasks that did not change at all.
    let estimates = history.estimates.iter().filter_map(|(task, estimated)| match mapping.same.get(task)? {
        &(task, true) => Some(EqualTimes { jobs: vec![(task, task)], ..EqualTimes::clone(estimated) }),
        _ => None,
    });
    let times: Vec<EqualTimes> = estimates.collect();
    records.extend((!times.is_empty()).then_some(JournalRecord::Estimated { at: history.latest, times }));
    records
}
