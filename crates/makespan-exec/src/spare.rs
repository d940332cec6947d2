//! Shims, started before there is a task for them: what a task waits for at its start is then its own program alone.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use makespan_core::TaskId;

use crate::folder::Folder;
use crate::group::Group;
use crate::launch::launch;
use crate::shim;
use crate::traces::Traces;

/// A shim that has no task yet.
#[derive(Debug)]
pub(crate) struct Spare {
    pub child: Child,
    /// While it is open, the shim knows that we are there.
    pub input: Option<ChildStdin>,
    /// Tells it from others of the session.
    pub number: u64,
    /// The control group of its task, where there may be one.
    pub group: Option<Group>,
    phase: Arc<Mutex<Phase>>,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signalled {
    /// Nothing is left of a task, whose shim had this number.
    Ended(TaskId, u64),
    /// Somebody wants it to end.
    Woken,
}

/// What a shim is for.
#[derive(Debug)]
enum Phase {
    Free,
    Taken(Duty),
    Gone,
}

/// The task of a shim, and by what its processes are known should the shim be killed.
#[derive(Debug)]
pub(crate) struct Duty {
    pub task: TaskId,
    pub marks: Vec<(&'static str, String)>,
}

impl Spare {
    /// Starts one for the run of this folder. When it has a task, the end of that is told when nothing of it is left.
    pub fn start(
        program: &Path,
        cores: &[usize],
        (folder, (name, value)): (&Folder, (&str, String)),
        (number, group): (u64, Option<Group>),
        ends: Sender<Signalled>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg0("makespan-job").arg(shim::ARGUMENT).arg(folder.path_for_others()).arg(folder.name());
        command.env(name, value);
        command.arg(group.as_ref().map_or("".as_ref(), |group| group.path().as_os_str()));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let phase = Arc::new(Mutex::new(Phase::Free));
        let (own, its_group) = (phase.clone(), group.clone());
        let on_exit = move |killed: Option<i32>| {
            let phase = std::mem::replace(&mut *own.lock().unwrap_or_else(PoisonError::into_inner), Phase::Gone);
            let Phase::Taken(Duty { task, marks }) = phase else { return };
            if killed.is_some() {
                // It could not see to the end of all that descends from it.
                let marks = marks.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
                Traces { session: killed, marks, group: its_group, spared: Vec::new() }.end(Duration::ZERO);
            }
            // A session that is gone has no use for it.
            let _ = ends.send(Signalled::Ended(task, number));
        };
        let mut child = launch(command, cores.to_vec(), true, on_exit)?;
        let input = child.stdin.take();
        Ok(Self { child, input, number, group, phase })
    }

    /// Gives it a task. Whether it is still there to take one.
    pub fn take(&self, duty: Duty) -> bool {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let free = matches!(*phase, Phase::Free);
        if free {
            *phase = Phase::Taken(duty);
        }
        free
    }

    /// Lets it go.
    pub fn dismiss(mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
        self.group.as_ref().map(Group::remove);
    }
}
