//! A job's process while it runs.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use makespan_core::{JobId, Outcome, ProcSet, Time};
use nix::sys::signal::Signal;

use crate::files::Files;
use crate::journal::Cause;
use crate::launch::{SHIM, launch};
use crate::machine::{allotment_environment, cores_of, program, substituted};
use crate::process::{Identity, signal_group, start_of};

/// A started process that we have not reaped, so its id is ours.
#[derive(Debug)]
pub(crate) struct Active {
    child: Child,
    pub identity: Identity,
    /// When it must have ended.
    pub walltime: Option<Time>,
    /// Why it is being ended, and when SIGKILL is due.
    pub ending: Option<(Cause, Time)>,
}

/// What is to be started.
pub(crate) struct Start<'a> {
    pub job: JobId,
    pub name: &'a str,
    pub command: &'a [String],
    pub attempt: u32,
    pub processors: &'a ProcSet,
}

impl Active {
    /// Starts the shim of a job; the job itself waits for [`Active::go`].
    ///
    /// # Errors
    /// A sentence that says why it cannot be started.
    pub fn start(
        start: &Start<'_>,
        files: &Files,
        cores: &[usize],
        on_exit: impl FnOnce() + Send + 'static,
    ) -> Result<Self, String> {
        let allotment = start.processors.len();
        let words = substituted(start.command, allotment);
        let program = program(&words[0])?;
        let explain = |error: std::io::Error| format!("cannot start `{}`: {error}", words[0]);
        let (out, err) = files.outputs(start.job).map_err(explain)?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SHIM, "makespan-job"]).arg(files.status(start.job, start.attempt));
        command.arg(program).args(&words[1..]);
        command.envs(allotment_environment(allotment)).envs(files.marks(start.name));
        command.stdin(Stdio::piped()).stdout(out).stderr(err);
        let child = launch(command, cores_of(start.processors, cores), on_exit).map_err(explain)?;
        let pid = child.id() as i32;
        Ok(Self { child, identity: Identity { pid, start: start_of(pid) }, walltime: None, ending: None })
    }

    /// Lets the job run.
    pub fn go(&mut self) {
        if let Some(mut input) = self.child.stdin.take() {
            // A shim that was killed meanwhile is reported by its end.
            let _ = input.write_all(b"\n");
        }
    }

    pub fn signal(&self, signal: Signal) {
        signal_group(self.identity.pid, signal);
    }

    /// Reaps a process that has ended, with whatever its group left behind.
    pub fn reap(mut self) -> i32 {
        self.signal(Signal::SIGKILL);
        self.child.wait().map_or(-1, exit_status)
    }
}

/// An exit status as shells count it.
pub(crate) fn exit_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// How a job ended; `None` when it was interrupted and waits again. A job that was being stopped and still ended with
/// success has succeeded.
pub(crate) fn outcome(status: i32, ending: Option<Cause>) -> Option<Outcome> {
    match (status, ending) {
        (_, Some(Cause::Walltime)) => Some(Outcome::TimedOut),
        (0, _) => Some(Outcome::Succeeded),
        (_, Some(Cause::Stop)) => None,
        (status, None) => Some(Outcome::Failed { status }),
    }
}
