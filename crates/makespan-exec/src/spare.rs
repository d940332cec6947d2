//! Spare shims: shims without a task. A spare shim was started before a task needs it, or its task has ended. A task
//! on a spare shim waits only for the start of its own program.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use makespan_core::TaskId;

use crate::folder::Folder;
use crate::group::ControlGroup;
use crate::launch::{SpawnProperties, launch};
use crate::options::JobSetting;
use crate::process::{Identity, exit_status, start_of};
use crate::shim;
use crate::traces::Traces;

/// A shim without a task.
#[derive(Debug)]
pub(crate) struct SpareShim {
    pub child: Child,
    /// The input of the shim. While the input is open, the shim assumes that the session is alive.
    pub input: Option<ChildStdin>,
    /// Number of the shim within the session.
    pub number: u64,
    /// The control group of its task, if one could be created.
    pub group: Option<ControlGroup>,
    phase: Arc<Mutex<Phase>>,
    identity: Option<Identity>,
}

/// Settings of new shims, and the run to which they belong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShimSettings<'a> {
    pub program: &'a Path,
    /// The working folder and the niceness of its tasks.
    pub setting: &'a JobSetting,
    pub cores: &'a [usize],
    pub folder: &'a Folder,
    /// The environment variable that identifies the processes of the run.
    pub mark: (&'a str, &'a str),
}

/// An event that ends a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitEvent {
    /// All processes of a task have ended. The values are the task, the number of its shim, and the exit status of the
    /// task if the shim can run another task.
    Ended(TaskId, u64, Option<i32>),
    /// Another thread ends the wait.
    Woken,
}

/// The state of a shim.
#[derive(Debug)]
enum Phase {
    Free,
    Taken(ShimDuty),
    Gone,
}

/// The task of a shim, with marks that identify the task's processes if the shim is killed.
#[derive(Debug)]
pub(crate) struct ShimDuty {
    pub task: TaskId,
    pub marks: Vec<(&'static str, String)>,
    /// The folder of the run on this node, if the task runs in a folder within it.
    pub scratch: Option<PathBuf>,
}

impl ShimDuty {
    /// Ends the remaining processes of the task after its shim has ended, and removes their files on this machine.
    pub fn end_rest(&self, session: Option<i32>, group: Option<ControlGroup>) {
        let marks = self.marks.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Traces { session, marks, group, ..Traces::default() }.end(Duration::ZERO);
        if let Some(scratch) = &self.scratch {
            shim::sweep(scratch);
        }
    }
}

impl SpareShim {
    /// Starts a spare shim for the run in this folder. When all processes of its task have ended, `ends` receives the
    /// end of the task.
    pub fn start(
        ShimSettings { program, setting, cores, folder, mark }: ShimSettings<'_>,
        number: u64,
        group: Option<ControlGroup>,
        ends: Sender<WaitEvent>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg0("makespan-job").arg(shim::ARGUMENT).arg(folder.path_for_others()).arg(folder.name());
        command.env(mark.0, mark.1);
        command.arg(group.as_ref().map_or("".as_ref(), |group| group.path().as_os_str()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(folder) = &setting.folder {
            command.current_dir(folder).env("PWD", folder);
        }
        let phase = Arc::new(Mutex::new(Phase::Free));
        let (own, its_group) = (phase.clone(), group.clone());
        let (own_too, ends_too) = (phase.clone(), ends.clone());
        let on_line = move |line: &str| {
            let Ok(status) = line.parse::<i32>() else { return };
            let mut phase = own_too.lock().unwrap_or_else(PoisonError::into_inner);
            if let Phase::Taken(duty) = std::mem::replace(&mut *phase, Phase::Free) {
                let _ = ends_too.send(WaitEvent::Ended(duty.task, number, Some(status)));
            }
        };
        let on_exit = move |killed: Option<i32>| {
            let phase = std::mem::replace(&mut *own.lock().unwrap_or_else(PoisonError::into_inner), Phase::Gone);
            let Phase::Taken(duty) = phase else { return };
            if killed.is_some() {
                // A shim that was killed did not wait for all descendants of its task.
                duty.end_rest(killed, its_group);
            }
            // Sending fails if the session has ended. No receiver then needs this event.
            let _ = ends.send(WaitEvent::Ended(duty.task, number, None));
        };
        let mut child = launch(
            command,
            SpawnProperties { cores: cores.to_vec(), is_guarded: true, niceness: setting.niceness },
            on_line,
            on_exit,
        )?;
        let input = child.stdin.take();
        Ok(Self { child, input, number, group, phase, identity: None })
    }

    /// Returns the id and the start time of the shim.
    ///
    /// # Errors
    /// The system temporarily cannot read the start time.
    pub fn identity(&mut self) -> io::Result<Identity> {
        if let Some(identity) = self.identity {
            return Ok(identity);
        }
        let pid = self.child.id() as i32;
        let identity = Identity { pid, start: start_of(pid)? };
        self.identity = Some(identity);
        Ok(identity)
    }

    /// Gives the shim a task. Returns false if the shim has ended.
    pub fn take(&self, duty: ShimDuty) -> bool {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let free = matches!(*phase, Phase::Free);
        if free {
            *phase = Phase::Taken(duty);
        }
        free
    }

    /// Dismisses the shim, and returns its exit status.
    pub fn dismiss(mut self) -> i32 {
        drop(self.input.take());
        let status = self.child.wait().map_or(-1, exit_status);
        self.group.as_ref().map(ControlGroup::remove);
        status
    }
}
