//! Reads the folder of a run: the records of its journal and the status files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use makespan_core::{Instance, Outcome, TaskId};

use super::history::{History, Progression};
use super::salvage::LegibleRecords;
use super::seal::{seal, unseal};
use super::{FILE, JournalError, JournalRecord, Opening, VERSION, salvage};
use crate::files::{Files, STATUS};
use crate::status::{AttemptStatus, is_blank};
use crate::storage::{Disk, Storage};
use crate::tasks::TaskList;

/// Maximum number of edits of an instance. After more edits, status files from before the first edit are not
/// recognised as files of the run.
const MAX_EDITS: i64 = 1_000_000;

/// The beginning of every journal.
const BEGINNING: &str = "{\"header\":{\"version\":";

/// A journal that was read from disk.
pub(super) struct JournalContent {
    pub records: Vec<JournalRecord>,
    /// Length of all complete lines, in bytes.
    pub sound: usize,
    /// A note about the recovery of a damaged journal. If there is a note, `records` must be written to a new journal.
    pub recovered: Option<String>,
    /// The task list to which the records refer, if the instance was edited after the records were written.
    pub earlier: Option<TaskList>,
}

/// An invalid line.
struct Fault {
    line: usize,
    reason: String,
}

impl JournalContent {
    /// Reads the folder, and decides whether a run may begin or continue.
    pub fn inspect(
        storage: &dyn Storage,
        files: &Files,
        instance: &Instance,
        how: Opening,
    ) -> Result<Self, JournalError> {
        let path = files.folder().join(FILE);
        let fail = |source| JournalError::Io { path: path.clone(), source };
        let bytes = storage.read(&path).map_err(fail)?.unwrap_or_default();
        let statuses = Statuses::read(storage, files)?;
        let intact = Self::intact(&path, &bytes, instance, files, &statuses, how);
        match intact {
            Ok(found) if found.records.is_empty() || how.resume => Ok(found),
            Ok(_) => Err(JournalError::Exists { folder: files.folder().to_owned() }),
            Err(error) if how.resume && how.recover && error.is_damage() => {
                // Records of a journal that belongs to another run are ignored.
                let is_own = !matches!(error, JournalError::OtherRun { .. });
                let own = lines(&bytes).filter(|_| is_own);
                let records = own.filter_map(|(_, line)| line.and_then(parse).ok()).collect();
                let legible = LegibleRecords { records, faults: faults(&bytes).len(), grows: how.grows };
                let salvaged = salvage::salvage(&path, instance, legible, statuses.of_tasks())?;
                adopt(files, instance, &salvaged.records);
                Ok(Self { sound: 0, records: salvaged.records, recovered: Some(salvaged.note), earlier: None })
            }
            Err(error) => Err(error),
        }
    }

    fn intact(
        path: &Path,
        bytes: &[u8],
        instance: &Instance,
        files: &Files,
        statuses: &Statuses,
        how: Opening,
    ) -> Result<Self, JournalError> {
        refuse_others(path, bytes)?;
        if let Some(Fault { line, reason }) = faults(bytes).into_iter().next() {
            return Err(JournalError::Damaged { path: path.to_owned(), line, reason });
        }
        let records: Vec<JournalRecord> =
            lines(bytes).filter_map(|(_, line)| Some(parse(line.ok()?).ok()?.1)).collect();
        let sound = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if records.is_empty() {
            if let Some(status) = statuses.of_tasks().next() {
                let folder = files.folder().join(STATUS);
                let task = Some(status.claim.task).filter(|&task| instance.has_task(task));
                let name = task.map_or_else(|| "?".into(), |task| instance.name(task)).into_owned();
                return Err(JournalError::Lost { path: path.to_owned(), folder, job: name });
            }
        } else {
            match History::of(path, instance, &records) {
                Err(JournalError::OtherInstance { .. }) if how.resume => {
                    let (list, history) = History::of_edited(path, &records)?;
                    if !how.of_now && !history.runs.is_empty() && !list.has_any_of(&TaskList::of(instance)) {
                        let (folder, jobs) = (files.folder().to_owned(), list.count());
                        return Err(JournalError::OtherJobs { folder, jobs });
                    }
                    statuses.agree(path, &history, &files.of_earlier(&list))?;
                    return Ok(Self { records, sound, recovered: None, earlier: Some(list) });
                }
                history => {
                    let history = history?;
                    adopt(files, instance, &records);
                    statuses.agree(path, &history, files)?;
                }
            }
        }
        Ok(Self { records, sound, recovered: None, earlier: None })
    }

    /// Replaces the damaged journal by the recovered journal. Keeps the damaged journal under another name.
    pub fn replace(&self, storage: &dyn Storage, files: &Files) -> io::Result<Option<String>> {
        let Some(note) = &self.recovered else { return Ok(None) };
        let was_there = storage.names(files.folder())?.iter().any(|name| name == FILE);
        let (kept, _) = put_in_place(storage, files, &self.records, "journal-damaged")?;
        let place =
            if was_there { format!("; the damaged journal is kept as {}", kept.display()) } else { String::new() };
        Ok(Some(format!("{note}{place}")))
    }

    /// Returns the length of the recovered journal in bytes.
    pub fn length(&self) -> io::Result<u64> {
        if self.recovered.is_none() {
            return Ok(self.sound as u64);
        }
        let lengths = (0..)
            .zip(&self.records)
            .map(|(number, record)| Ok(seal(&serde_json::to_string(record)?, number).len() as u64));
        lengths.sum()
    }
}

/// Writes a new journal with these records. Keeps the old journal under a name that begins with `prefix`. Returns the
/// path of the old journal and the length of the new journal in bytes.
pub(super) fn put_in_place(
    storage: &dyn Storage,
    files: &Files,
    records: &[JournalRecord],
    prefix: &str,
) -> io::Result<(PathBuf, u64)> {
    let (path, new) = (files.folder().join(FILE), files.folder().join(format!("{FILE}.tmp")));
    let text: String = (0..)
        .zip(records)
        .map(|(number, record)| Ok(seal(&serde_json::to_string(record)?, number)))
        .collect::<io::Result<_>>()?;
    // A killed session may have left a file of this name. The file is removed and not overwritten, because a hard link
    // in another folder may share its content.
    let _ = storage.remove(&new);
    let mut file = storage.open(&new)?;
    file.set_len(0)?;
    file.write_at(0, text.as_bytes())?;
    file.sync()?;
    let names = storage.names(files.folder())?;
    let kept = (1..).map(|number| format!("{prefix}-{number}.jsonl")).find(|name| !names.contains(name));
    let kept = kept.map(|name| files.folder().join(name)).unwrap_or_default();
    if names.iter().any(|name| name == FILE) {
        storage.link(&path, &kept)?;
    }
    storage.rename(&new, &path)?;
    storage.sync_folder(files.folder())?;
    Ok((kept, text.len() as u64))
}

/// Adopts the file stems that the journal lists.
fn adopt(files: &Files, instance: &Instance, records: &[JournalRecord]) {
    if let Some(list) = listed(records).filter(|list| list.count() == instance.tasks()) {
        files.adopt(list.stems());
    }
}

/// Returns the tasks of a journal, if it lists them.
fn listed(records: &[JournalRecord]) -> Option<&TaskList> {
    records.iter().find_map(|record| match record {
        JournalRecord::Tasks { list } => Some(list),
        _ => None,
    })
}

/// A run as recorded in its folder.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// Names of the tasks, by number.
    pub names: Vec<String>,
    /// Stems of the output files, by task.
    pub stems: Vec<String>,
    /// State of the tasks.
    pub history: History,
    /// True if a session is executing the run.
    pub goes_on: bool,
    /// True if all tasks have ended.
    pub has_finished: bool,
    list: TaskList,
}

/// Names of tasks of a run to which no task of an instance corresponds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnnamedTasks {
    /// Tasks that have not succeeded. A failed task is included only if the instance has too few new tasks to replace
    /// all failed tasks.
    pub unsuccessful: Vec<String>,
    /// Tasks that succeeded.
    pub succeeded: Vec<String>,
}

impl UnnamedTasks {
    /// Returns whether the instance names all tasks of the run.
    pub fn is_empty(&self) -> bool {
        self.unsuccessful.is_empty() && self.succeeded.is_empty()
    }

    /// Returns all names, first the names of tasks that have not succeeded.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.unsuccessful.iter().chain(&self.succeeded)
    }
}

impl RecordedRun {
    /// Reads the run in a folder without changing any file.
    ///
    /// # Errors
    /// [`JournalError`] if the folder holds no run, or if its journal is damaged.
    pub fn read(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(FILE);
        let bytes = std::fs::read(&path).map_err(|source| JournalError::Io { path: path.clone(), source })?;
        refuse_others(&path, &bytes)?;
        if let Some(Fault { line, reason }) = faults(&bytes).into_iter().next() {
            return Err(JournalError::Damaged { path, line, reason });
        }
        let records: Vec<JournalRecord> =
            lines(&bytes).filter_map(|(_, line)| Some(parse(line.ok()?).ok()?.1)).collect();
        let (list, history) = History::of_edited(&path, &records)?;
        let has_finished = matches!(records.last(), Some(JournalRecord::Finished { .. }));
        let goes_on = super::is_locked(&folder.join("lock"));
        Ok(Self { names: list.names(), stems: list.stems(), history, goes_on, has_finished, list })
    }

    /// Reads the run in a folder as [`RecordedRun::read`] does, and checks that its status files agree with the journal,
    /// so that a journal that lost its end is detected. Status files are read first, because a running session may start
    /// attempts meanwhile.
    ///
    /// # Errors
    /// [`JournalError`], for example if a status file names an attempt that is not in the journal.
    pub fn checked(folder: &Path) -> Result<Self, JournalError> {
        let files = Files::of_stems(folder.to_owned(), Vec::new());
        let statuses = Statuses::read(&Disk, &files)?;
        let run = Self::read(folder)?;
        files.adopt(run.list.stems());
        statuses.agree(&folder.join(FILE), &run.history, &files)?;
        Ok(run)
    }

    /// Returns the tasks of the run that a list of commands does not name. Tasks correspond if they have the same
    /// command and inputs. A failed task is not returned if a new task can replace it, because the user may have
    /// edited its command.
    pub fn unnamed(&self, instance: &Instance) -> UnnamedTasks {
        let state = |task: TaskId| &self.history.tasks[task.index()];
        let succeeded = |task: TaskId| *state(task) == Progression::Ended(Outcome::Succeeded);
        let mapping = self.list.mapped(&TaskList::of(instance), true, succeeded);
        let (mut unnamed, mut replacements) = (UnnamedTasks::default(), mapping.new.len());
        for &task in &mapping.removed {
            let name = self.names[task.index()].clone();
            match state(task) {
                Progression::Ended(Outcome::Succeeded) => unnamed.succeeded.push(name),
                Progression::Ended(_) if replacements > 0 => replacements -= 1,
                _ => unnamed.unsuccessful.push(name),
            }
        }
        unnamed
    }
}

/// Returns the names of the tasks of the run in a folder, if its journal is legible enough.
pub fn task_names(folder: &Path) -> Vec<String> {
    let bytes = std::fs::read(folder.join(FILE)).unwrap_or_default();
    let lists = lines(&bytes).filter_map(|(_, line)| match parse(line.ok()?).ok()?.1 {
        JournalRecord::Tasks { list } | JournalRecord::Grown { list } => Some(list),
        _ => None,
    });
    lists.flat_map(|list| list.names()).collect()
}

/// Returns the tasks with an end in the folder of a run: in a legible record of its journal, even if the journal is damaged
/// or too short, or in a status file. Recovery repeats none of these tasks. Also returns the fault that
/// [`RecordedRun::checked`] reports.
///
/// # Errors
/// [`JournalError::Io`] if the folder cannot be read.
pub fn ended_tasks(folder: &Path) -> Result<(BTreeSet<TaskId>, Option<JournalError>), JournalError> {
    let statuses = Statuses::read(&Disk, &Files::of_stems(folder.to_owned(), Vec::new()))?;
    let mut ended: BTreeSet<TaskId> = statuses.of_tasks().map(|status| status.claim.task).collect();
    let path = folder.join(FILE);
    let bytes = Disk.read(&path).map_err(|source| JournalError::Io { path, source })?.unwrap_or_default();
    let fault = RecordedRun::checked(folder).err();
    // Recovery ignores the records of another run.
    if !matches!(fault, Some(JournalError::OtherRun { .. })) {
        ended.extend(lines(&bytes).filter_map(|(_, line)| match parse(line.ok()?).ok()?.1 {
            JournalRecord::Ended { task, .. } => Some(task),
            _ => None,
        }));
    }
    Ok((ended, fault))
}

/// Returns whether jobs could arrive during the run in a folder ([`crate::Intake`]). Returns `None` without a legible
/// journal.
pub fn grows(folder: &Path) -> Option<bool> {
    let mut first = Vec::new();
    BufReader::new(File::open(folder.join(FILE)).ok()?).read_until(b'\n', &mut first).ok()?;
    match parse(&first).ok()?.1 {
        JournalRecord::Header { grows, .. } => Some(grows),
        _ => None,
    }
}

/// Returns the complete lines with their indices, counted from 0. Ignores bytes after the last complete line, which an
/// interrupted write leaves.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<&[u8], &'static str>)> {
    bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")).map(Ok).enumerate()
}

fn parse(line: &[u8]) -> Result<(u64, JournalRecord), &'static str> {
    let (number, body) = unseal(line)?;
    Ok((number, serde_json::from_str(&body).map_err(|_| "the line is not a record of this version")?))
}

/// Returns the invalid lines: lines that are not records, or have the wrong number.
fn faults(bytes: &[u8]) -> Vec<Fault> {
    let check = |(index, line): (usize, Result<&[u8], &'static str>)| match line.and_then(parse) {
        Ok((number, _)) if number == index as u64 => None,
        Ok((number, _)) => {
            Some(Fault { line: index + 1, reason: format!("expected record {index}, found record {number}") })
        }
        Err(reason) => Some(Fault { line: index + 1, reason: reason.to_owned() }),
    };
    lines(bytes).filter_map(check).collect()
}

/// Returns an error if the file is not a journal, or is a journal of another version.
fn refuse_others(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    let path = path.to_owned();
    let first = bytes.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let begins = first.starts_with(BEGINNING.as_bytes()) || (first == bytes && BEGINNING.as_bytes().starts_with(bytes));
    if !begins && lines(bytes).all(|(_, line)| line.and_then(parse).is_err()) {
        return Err(JournalError::NotAJournal { path });
    }
    // Journals of version 1 had no checksums. A line with a wrong checksum is damaged, even if it states another
    // version.
    let plain = String::from_utf8_lossy(first);
    let stated = match unseal(first) {
        Ok((_, body)) => body,
        Err(_) if plain.contains("\"check\"") => return Ok(()),
        Err(_) => plain.trim_end().to_owned(),
    };
    let version =
        serde_json::from_str::<serde_json::Value>(&stated).ok().and_then(|value| value["header"]["version"].as_u64());
    match version {
        Some(version) if version != u64::from(VERSION) => Err(JournalError::Version { path, version }),
        _ => Ok(()),
    }
}

/// The status files in a folder, including unreadable status files.
struct Statuses(Vec<(String, Option<AttemptStatus>)>);

impl Statuses {
    fn read(storage: &dyn Storage, files: &Files) -> Result<Self, JournalError> {
        let folder = files.folder().join(STATUS);
        let fail = |path: PathBuf| move |source| JournalError::Io { path, source };
        let mut found = Vec::new();
        for name in storage.names(&folder).map_err(fail(folder.clone()))? {
            // The name of a complete status file ends with the number of the attempt. The temporary name of an
            // incomplete status file does not end with a number.
            if name.rsplit_once('.').is_none_or(|(_, attempt)| attempt.parse::<u32>().is_err()) {
                continue;
            }
            let path = folder.join(&name);
            let bytes = storage.read(&path).map_err(fail(path.clone()))?.unwrap_or_default();
            // A file that is blank because of a power failure is ignored.
            if !is_blank(&bytes) {
                found.push((name, AttemptStatus::parse(&bytes)));
            }
        }
        Ok(Self(found))
    }

    fn of_tasks(&self) -> impl Iterator<Item = &AttemptStatus> {
        self.0.iter().filter_map(|(_, status)| status.as_ref())
    }

    /// Returns an error if there are status files, but none of them belongs to the run of the journal. Each edit of
    /// the instance increases the origin of the run by one nanosecond.
    fn are_of_run(&self, path: &Path, origin: i64, files: &Files) -> Result<(), JournalError> {
        let own = origin - MAX_EDITS..=origin;
        if self.of_tasks().any(|status| own.contains(&status.claim.run)) {
            return Ok(());
        }
        match self.0.iter().find(|(_, status)| status.is_some()) {
            Some((name, _)) => {
                let status = files.folder().join(STATUS).join(name);
                Err(JournalError::OtherRun { path: path.to_owned(), status })
            }
            None => Ok(()),
        }
    }

    /// Checks that each status file belongs to an attempt in the journal, and that no status file that is needed is
    /// damaged.
    fn agree(&self, path: &Path, history: &History, files: &Files) -> Result<(), JournalError> {
        self.are_of_run(path, history.origin, files)?;
        let damaged = |name: &str, reason: String| {
            Err(JournalError::Contradiction {
                path: path.to_owned(),
                status: files.folder().join(STATUS).join(name),
                reason,
            })
        };
        let due: std::collections::BTreeSet<String> = (0..history.tasks.len())
            .map(TaskId::at)
            .flat_map(|task| {
                let attempts = history.attempts[task.index()];
                let running = matches!(history.tasks[task.index()], Progression::Running(_));
                [running.then(|| files.status_name(task, attempts)), Some(files.status_name(task, attempts + 1))]
            })
            .flatten()
            .collect();
        for (name, status) in &self.0 {
            match status {
                Some(AttemptStatus { claim, .. }) if claim.run == history.origin => {
                    let known = history.attempts.get(claim.task.index());
                    if known.is_none_or(|&known| claim.attempt > known) {
                        let reason = format!(
                            "the file names attempt {} of a job, but the journal contains no such attempt",
                            claim.attempt
                        );
                        return damaged(name, reason);
                    }
                }
                None if due.contains(name) => return damaged(name, "the file cannot be read".into()),
                // The file belongs to an earlier run in the folder, or the status of its attempt is not needed.
                _ => {}
            }
        }
        Ok(())
    }
}
