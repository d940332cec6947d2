//! Starts shims, in advance or for a task.

use std::io;
use std::path::{Path, PathBuf};

use super::{Local, Shim};
use crate::engine::{EngineStart, Refusal, TaskFiles};
use crate::gpus::called;
use crate::machine::{allotment_environment, cores_of, os_word, program_within, substituted};
use crate::resources::{self, VISIBLE};
use crate::shim::{self, ShimOrder};
use crate::spare::{ShimDuty, ShimSettings, SpareShim};
use crate::status::StatusSlot;
use crate::storage::{Disk, emptied, is_passing};

/// Maximum number of shims that are started in advance.
pub(super) const SPARES: usize = 2;

impl Local {
    /// Returns a shim for a task. The shim receives the task when the task may run.
    pub(super) fn spawn(&mut self, start: &EngineStart<'_>) -> Result<Shim, Refusal> {
        let gpus = start.gpus.map(|numbers| called(numbers, self.gpus.get_or_init(resources::gpus).as_deref()));
        let words = substituted(start.command, start.allotment, gpus.as_ref().map(Vec::len));
        let program = program_within(&words[0], self.setting.folder.as_deref().unwrap_or(Path::new("")))
            .map_err(|reason| Refusal { reason, passing: false, closing: false })?;
        let refuse = |error: std::io::Error| Refusal {
            reason: format!("cannot start `{}`: {error}", words[0]),
            passing: is_passing(&error),
            closing: false,
        };
        self.empty(start.files)
            .map_err(|(name, error)| Refusal { reason: format!("{name}: {error}"), ..refuse(error) })?;
        // Checks that disk space for the status is available. The shim reserves the space again later. If there were no
        // space at that time, the shim would have to wait and could not report the problem.
        StatusSlot::reserve(&Disk, &self.folder.path().join(&start.files.status)).map_err(refuse)?;
        let marks = marks(start.name, self.folder.name());
        let gpus = gpus.iter().flat_map(|gpus| VISIBLE.map(|name| (name, gpus.join(","))));
        // A job that takes tokens starts further processes with them, so its threads must not use other cores.
        let threads = (start.is_pinned || self.lender.lends()).then_some(start.processors.len());
        let environment = allotment_environment(start.allotment, threads);
        let environment = environment.chain(marks.iter().cloned()).chain(gpus);
        let environment = environment.map(|(name, value)| (name.to_owned(), value));
        let jobserver = self.lender.open(&self.folder.path(), start.task, start.attempt);
        let jobserver = jobserver.map_err(|(path, error)| Refusal {
            reason: format!("{}: cannot create the FIFO of the jobserver: {error}", path.display()),
            ..refuse(error)
        })?;
        let order = ShimOrder {
            status: start.files.status.clone(),
            memory: start.memory.filter(|_| self.limits),
            cores: start.is_pinned.then(|| cores_of(start.processors, &self.cores)),
            outputs: start.files.outputs.clone(),
            command: std::iter::once(program.into()).chain(words[1..].iter().map(|word| os_word(word))).collect(),
            environment: environment.chain(start.environment.iter().cloned()).collect(),
            staging: start.files.staging.clone(),
            is_tied: self.is_tied,
            jobserver,
        };
        let line = serde_json::to_string(&order).map_err(|error| refuse(error.into()))? + "\n";
        let scratch = scratch_of(start.files);
        self.lacking = false;
        let ready = loop {
            let spare = self.spares.pop_front().map_or_else(|| self.spare(), Ok).map_err(refuse)?;
            if spare.take(ShimDuty { task: start.task, marks: marks.clone(), scratch: scratch.clone() }) {
                break spare;
            }
            // The spare shim was killed.
            spare.dismiss();
        };
        let is_disturbed = !start.is_pinned && self.keep_off_pinned(ready.child.id(), start.processors);
        Ok(Shim { process: ready, order: line, is_disturbed, left: None })
    }

    fn spare(&mut self) -> io::Result<SpareShim> {
        self.started += 1;
        let group = self.group.as_ref().map(|group| group.of_attempt(self.started));
        let (name, value) = mark(self.folder.name());
        let (program, setting, cores) = (&self.shim, &self.setting, &self.cores);
        let post = ShimSettings { program, setting, cores, folder: &self.folder, mark: (name, &value) };
        SpareShim::start(post, self.started, group, self.sender.clone())
    }

    /// Creates empty output files in the folder of the run, and deletes the output files of an earlier attempt.
    ///
    /// # Errors
    /// The name of the file that could not be created or deleted, and the cause.
    fn empty<'a>(&self, files: &'a TaskFiles) -> Result<(), (&'a str, io::Error)> {
        let folder = self.folder.path();
        let empty = |name: &'a String| {
            emptied(&folder.join(name), files.is_new).map(drop).map_err(|error| (name.as_str(), error))
        };
        files.outputs.iter().try_for_each(empty)
    }

    pub(super) fn is_short_of_spares(&self) -> bool {
        !self.lacking && self.spares.len() < SPARES.min(self.shims.len())
    }

    /// Starts a spare shim, so that a task can start quickly when another task ends.
    pub(super) fn refill(&mut self) {
        match self.spare() {
            Ok(spare) => self.spares.push_back(spare),
            // No further spare shim is started now, so that scarce resources remain for shims with a task.
            Err(_) => self.lacking = true,
        }
    }
}

/// Returns the scratch folder of the run on this machine, which contains the folder of the attempt.
pub(super) fn scratch_of(files: &TaskFiles) -> Option<PathBuf> {
    files.staging.as_ref().and_then(|staging| shim::folder_of_run(staging).ok())
}

/// Returns the environment variables that identify the processes of a task.
pub(super) fn marks(name: &str, folder: &Path) -> Vec<(&'static str, String)> {
    vec![("MAKESPAN_JOB", name.replace('\0', "?")), mark(folder)]
}

/// Returns the environment variable that identifies the processes of the run in this folder.
pub(super) fn mark(folder: &Path) -> (&'static str, String) {
    ("MAKESPAN_RUN", folder.display().to_string())
}
