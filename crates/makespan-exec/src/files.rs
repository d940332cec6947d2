//! Files in the folder of a run.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use makespan_core::{Instance, TaskId};
use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use crate::ExecuteError;
use crate::engine::{Staging, TaskFiles};
use crate::options::Scratch;
use crate::stem::stem;
use crate::storage::Storage;
use crate::tasks::TaskList;

/// File name of the journal in the folder of a run.
pub const JOURNAL: &str = "journal.jsonl";

/// Name of the folder with the status files.
pub(crate) const STATUS: &str = "status";
/// Endings of a task's output files: standard output, standard error.
const ENDINGS: [&str; 2] = ["out", "err"];

/// Absolute paths of the files of a run.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    names: RefCell<Vec<String>>,
    /// The folders on the nodes in which tasks run, and the files to copy to these folders. `None` if tasks run in the
    /// working folder.
    scratch: Option<Scratch>,
    /// File stems of the tasks that earlier sessions started. Output files with these stems are files of the run.
    begun: RefCell<BTreeSet<String>>,
}

impl Files {
    /// Creates the folder.
    pub fn new(folder: &Path, instance: &Instance) -> Result<Self, ExecuteError> {
        let fail = |source| ExecuteError::Folder { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(fail)?;
        Ok(Self::at(folder.canonicalize().map_err(fail)?, instance))
    }

    /// Uses an existing folder.
    pub fn at(folder: PathBuf, instance: &Instance) -> Self {
        Self::of_stems(folder, instance.task_ids().map(|task| stem(instance, task)).collect())
    }

    /// Uses an existing folder, for tasks with the given file stems.
    pub fn of_stems(folder: PathBuf, stems: Vec<String>) -> Self {
        Self { folder, names: RefCell::new(stems), scratch: None, begun: RefCell::default() }
    }

    /// Returns these files, with folders on the nodes if `scratch` is given.
    pub fn with_scratch(self, scratch: Option<Scratch>) -> Self {
        Self { scratch, ..self }
    }

    /// Returns the files in this folder for `tasks`, the tasks of an earlier version of the instance.
    pub fn of_earlier(&self, tasks: &TaskList) -> Self {
        Self::of_stems(self.folder.clone(), tasks.stems())
    }

    /// Records which tasks earlier sessions started: tasks with a status file or a start in the journal.
    pub fn know_begun(
        &self,
        storage: &dyn Storage,
        in_journal: impl Iterator<Item = String>,
    ) -> Result<(), ExecuteError> {
        let folder = self.folder.join(STATUS);
        let names = storage.names(&folder).map_err(|source| ExecuteError::Folder { path: folder, source })?;
        let stems = names.iter().filter_map(|name| name.rsplit_once('.')).map(|(stem, _)| stem.to_owned());
        *self.begun.borrow_mut() = stems.chain(in_journal).collect();
        Ok(())
    }

    /// Replaces the file stems of the tasks.
    pub fn adopt(&self, stems: Vec<String>) {
        *self.names.borrow_mut() = stems;
    }

    /// Returns the file stems of the tasks that earlier sessions started.
    pub fn begun(&self) -> BTreeSet<String> {
        self.begun.borrow().clone()
    }

    /// Adds the file stems of tasks that were added to the instance.
    pub fn grow(&self, instance: &Instance) {
        let mut names = self.names.borrow_mut();
        let new = (names.len() as u64..instance.tasks()).map(TaskId);
        names.extend(new.map(|task| stem(instance, task)));
    }

    /// Creates the folder of the status files, and syncs the entries of this folder and of the run's folder to disk.
    pub fn prepare(&self, storage: &dyn Storage) -> Result<(), ExecuteError> {
        let folder = self.folder.join(STATUS);
        let made = storage.make_folder(&folder).and_then(|()| storage.sync_folder(&self.folder));
        made.map_err(|source| ExecuteError::Folder { path: folder, source })?;
        // Errors are ignored, because the parent folder may not be readable.
        let _ = self.folder.parent().map(|above| storage.sync_folder(above));
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the file stems of all tasks.
    pub fn stems(&self) -> Vec<String> {
        self.names.borrow().clone()
    }

    /// Returns the names of the output files of all tasks.
    pub fn outputs(&self) -> impl Iterator<Item = String> {
        self.stems().into_iter().flat_map(|stem| output_names(&stem))
    }

    /// Returns the files of one attempt at a task.
    pub fn of(&self, task: TaskId, attempt: u32) -> TaskFiles {
        let stem = &self.names.borrow()[task.index()];
        let outputs = output_names(stem);
        let is_new = attempt == 1 && !self.begun.borrow().contains(stem);
        let staging = self.scratch.as_ref().map(|scratch| self.staging(scratch, task, attempt));
        TaskFiles { outputs, status: format!("{STATUS}/{}", self.status_name(task, attempt)), staging, is_new }
    }

    fn staging(&self, scratch: &Scratch, task: TaskId, attempt: u32) -> Staging {
        let (reads, writes) = scratch.files.get(&task).cloned().unwrap_or_default();
        Staging {
            scratch: scratch.folder.clone(),
            home: scratch.home.clone(),
            run: format!("{:016x}", Staging::hash(self.folder.as_os_str().as_encoded_bytes())),
            name: self.names.borrow()[task.index()].clone(),
            attempt,
            reads,
            writes,
        }
    }

    /// Returns the path of the status file of one attempt.
    pub fn status(&self, task: TaskId, attempt: u32) -> PathBuf {
        self.folder.join(STATUS).join(self.status_name(task, attempt))
    }

    /// Returns the name of the status file of one attempt.
    pub fn status_name(&self, task: TaskId, attempt: u32) -> String {
        format!("{}.{attempt}", self.names.borrow()[task.index()])
    }
}

/// Returns the paths of the files for the standard output and the standard error of a task.
pub fn output_files(folder: &Path, instance: &Instance, task: TaskId) -> [PathBuf; 2] {
    let stem = stem(instance, task);
    output_names(&stem).map(|name| folder.join(name))
}

/// Output files of the tasks of a run.
#[derive(Clone, Debug)]
pub struct OutputFiles {
    folder: PathBuf,
    /// Stems of the output files, by task.
    stems: Vec<String>,
}

impl OutputFiles {
    /// Creates the output files with these stems. The stem of a task without an entry is made from its name in the
    /// instance.
    pub fn new(folder: &Path, stems: Vec<String>) -> Self {
        Self { folder: folder.to_owned(), stems }
    }

    /// Returns the output files in a different folder.
    #[must_use]
    pub fn within(&self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), stems: self.stems.clone() }
    }

    /// Returns the folder of the run.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the stem of a task's file names.
    pub fn stem(&self, instance: &Instance, task: TaskId) -> String {
        self.stems.get(task.index()).cloned().unwrap_or_else(|| stem(instance, task))
    }

    /// Returns the files for the standard output and the standard error of a task.
    pub fn of(&self, instance: &Instance, task: TaskId) -> [PathBuf; 2] {
        output_names(&self.stem(instance, task)).map(|name| self.folder.join(name))
    }
}

fn output_names(stem: &str) -> [String; 2] {
    ENDINGS.map(|ending| format!("{stem}.{ending}"))
}

/// Returns true if a file name ends as the name of an output file.
pub(crate) fn is_output(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Returns the last non-empty line of a file, up to 300 characters.
pub(crate) fn last_line(path: &Path) -> Option<String> {
    const BYTES: u64 = 4096;
    let mut file = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path).ok()?;
    let length = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect())
}
