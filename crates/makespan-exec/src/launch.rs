//! Starts a process on its cores.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::SigSet;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use rustix::process::{getpriority_process, setpriority_process};

use crate::machine::pin_thread;

/// Properties that a process has from its start.
#[derive(Debug, Default)]
pub(crate) struct SpawnProperties {
    /// The cores that the process may use.
    pub cores: Vec<usize>,
    /// True if all signals are blocked.
    pub is_guarded: bool,
    /// The niceness, unless this process has a higher one.
    pub niceness: Option<i32>,
}

impl SpawnProperties {
    /// Gives these properties to the calling thread. Processes that the thread starts inherit the properties.
    fn prepare(&self) -> io::Result<()> {
        pin_thread(&self.cores)?;
        if let Some(niceness) =
            self.niceness.filter(|&niceness| getpriority_process(None).is_ok_and(|own| own < niceness))
        {
            setpriority_process(None, niceness)?;
        }
        if self.is_guarded { Ok(SigSet::all().thread_block()?) } else { Ok(()) }
    }
}

/// Starts the command with these properties. If the standard output of the command is a pipe, calls `on_line` with
/// each line. When the process has ended, calls `on_exit`, with the process id if a signal ended the process. The
/// caller must reap the process. Until then, no other process gets its process id or group id.
pub(crate) fn launch(
    mut command: Command,
    birth: SpawnProperties,
    mut on_line: impl FnMut(&str) + Send + 'static,
    on_exit: impl FnOnce(Option<i32>) + Send + 'static,
) -> io::Result<Child> {
    let (answer, answered) = mpsc::channel();
    // A process inherits the affinity and the blocked signals of the thread that starts it. So each process is started
    // by a separate thread, which then sleeps until the process ends.
    thread::Builder::new().name("launch".into()).stack_size(128 * 1024).spawn(move || {
        let mut started = birth.prepare().and_then(|()| command.spawn());
        drop(command);
        let output = started.as_mut().ok().and_then(|child| child.stdout.take());
        let pid = started.as_ref().map(Child::id).ok();
        if answer.send(started).is_err() {
            return;
        }
        if let Some(pid) = pid {
            let lines = output.map(|output| BufReader::with_capacity(64, output).lines());
            lines.into_iter().flatten().map_while(Result::ok).for_each(|line| on_line(&line));
            let wait = || waitid(Id::Pid(Pid::from_raw(pid as i32)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
            let ended = loop {
                match wait() {
                    Err(Errno::EINTR) => {}
                    ended => break ended,
                }
            };
            // An error means that the process was ended by a signal that `nix` does not know.
            on_exit((!matches!(ended, Ok(WaitStatus::Exited(..)))).then_some(pid as i32));
        }
    })?;
    answered.recv().unwrap_or_else(|_| Err(io::Error::other("the starting thread ended early")))
}
