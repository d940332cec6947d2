//! The processes of a run, as `/proc` shows them.

use std::fs;
use std::path::Path;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgid};

/// A live process of a run.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    pub pid: i32,
    /// True if the process is the shim of a job.
    pub is_shim: bool,
}

/// Returns the live processes with an environment that names this folder as their run.
pub fn of_run(folder: &Path) -> Vec<Process> {
    let mark = format!("MAKESPAN_RUN={}", folder.display()).into_bytes();
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let marked = environment.split(|&byte| byte == 0).any(|entry| entry == mark);
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let is_shim = command.split(|&byte| byte == 0).nth(1).is_some_and(|word| word == b"internal-shim-of-a-job");
        (marked && is_alive(pid)).then_some(Process { pid, is_shim })
    })
    .collect()
}

fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

/// Sends a signal to a process. It is no error if the process has ended.
pub fn signal(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}

/// Kills the process group of a process.
pub fn kill_group(pid: i32) {
    if let Ok(group) = getpgid(Some(Pid::from_raw(pid))) {
        let _ = killpg(group, Signal::SIGKILL);
    }
}
