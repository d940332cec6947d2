//! Starts one process, pinned, in a group of its own.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;

use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use crate::machine::pin_thread;

/// The shim around every job. It waits for one line on its input, so that no job runs that the journal does not know:
/// if we die before, the input closes and the shim leaves. It outlives a SIGTERM to the group (a caught signal is
/// reset in the command), waits for the command, and leaves its exit status in a file by a rename, so that a status
/// is never lost with us. Arguments: the status file, then the command.
pub(crate) const SHIM: &str = r#"trap : TERM INT HUP
read -r makespan_go || exit 125
makespan_file=$1
shift
"$@" </dev/null
makespan_status=$?
printf %s "$makespan_status" >"$makespan_file.tmp" && mv -f "$makespan_file.tmp" "$makespan_file"
exit "$makespan_status""#;

/// Starts the command on these cores and calls `on_exit` when it has ended. The child is left for the caller to reap:
/// until then its id, and its group's, belong to nobody else.
pub(crate) fn launch(
    mut command: Command,
    cores: Vec<usize>,
    on_exit: impl FnOnce() + Send + 'static,
) -> io::Result<Child> {
    let (answer, answered) = mpsc::channel();
    command.process_group(0);
    // A process inherits the affinity of the thread that starts it, so every start has a thread of its own, which
    // then sleeps until the process ends.
    thread::Builder::new().name("launch".into()).stack_size(128 * 1024).spawn(move || {
        let started = pin_thread(&cores).and_then(|()| command.spawn());
        drop(command);
        let pid = started.as_ref().map(Child::id).ok();
        if answer.send(started).is_err() {
            return;
        }
        if let Some(pid) = pid {
            let wait = || waitid(Id::Pid(Pid::from_raw(pid as i32)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
            while matches!(wait(), Err(Errno::EINTR)) {}
            on_exit();
        }
    })?;
    answered.recv().unwrap_or_else(|_| Err(io::Error::other("the starting thread ended early")))
}
