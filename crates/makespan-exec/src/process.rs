//! Processes in `/proc`: identities, descendants and signals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::storage::is_passing;

/// Time between two checks of processes that are being ended.
pub(crate) const GLANCE: Duration = Duration::from_millis(5);

/// Identifies a process, and distinguishes it from a later process with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Identity {
    /// The process id.
    pub pid: i32,
    /// Start time, in clock ticks since boot.
    pub start: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Stat {
    state: char,
    parent: i32,
    pub session: i32,
    threads: u64,
    start: u64,
    /// Exit code in the form of `wait`; 0 while the process runs.
    code: i32,
}

impl Stat {
    /// Returns whether the process lives. A zombie counts as dead, because in a container it may never be reaped. If
    /// only the first thread of a process has ended, the process still lives.
    pub fn is_alive(self) -> bool {
        !self.is_zombie() || self.threads > 1
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        // The process name is in parentheses and may itself contain spaces and parentheses.
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
            code: fields.get(49).and_then(|field| field.parse().ok()).unwrap_or(0),
        })
    }

    pub fn is_zombie(self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Retries a read while the system lacks files or memory, so that a process is not considered dead because of a
/// temporary error.
fn patiently<T>(mut read: impl FnMut() -> io::Result<T>) -> Option<T> {
    loop {
        match read() {
            Ok(value) => return Some(value),
            Err(error) if is_passing(&error) => std::thread::sleep(GLANCE),
            Err(_) => return None,
        }
    }
}

/// Returns the content of a file in `/proc`. Returns `None` if the file does not exist, because the process has ended.
pub(crate) fn content(path: impl AsRef<Path>) -> Option<Vec<u8>> {
    patiently(|| fs::read(path.as_ref()))
}

/// Returns the names in a folder of `/proc`.
pub(crate) fn names(folder: &str) -> Vec<String> {
    let listed =
        || fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default())).collect();
    patiently(listed).unwrap_or_default()
}

pub(crate) fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(&content(format!("/proc/{pid}/stat"))?)
}

/// Returns the start time of a process, or 0 if the process does not exist. No process has the start time 0.
///
/// # Errors
/// The system temporarily lacks a resource.
pub(crate) fn start_of(pid: i32) -> io::Result<u64> {
    match fs::read(format!("/proc/{pid}/stat")) {
        Err(error) if is_passing(&error) => Err(error),
        read => Ok(read.ok().and_then(|text| Stat::parse(&text)).map_or(0, |stat| stat.start)),
    }
}

/// Returns the exit code, in the form of `wait`, of a process that has ended and has not been reaped.
pub(crate) fn exit_code(pid: i32) -> Option<i32> {
    stat(pid).filter(|stat| stat.is_zombie() && !stat.is_alive()).map(|stat| stat.code)
}

/// Returns the exit status as shells report it.
pub(crate) fn exit_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// Returns whether a process is a child of this process that has not been reaped.
pub(crate) fn is_child(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.parent == std::process::id() as i32)
}

/// Returns the id of the current boot of the machine. Start times are comparable only within one boot.
pub(crate) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

impl Identity {
    /// Returns the identity of this process.
    pub fn of_this() -> Self {
        let pid = std::process::id() as i32;
        Self { pid, start: start_of(pid).unwrap_or(0) }
    }

    /// Returns whether the process still lives. A zombie counts as dead.
    pub fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.start == self.start && stat.is_alive())
    }

    /// Sends a signal to the process if it still lives.
    pub(crate) fn signal(self, signal: Signal) {
        if self.is_alive() {
            let _ = kill(Pid::from_raw(self.pid), signal);
        }
    }
}

/// All processes at one instant.
pub(crate) struct ProcessTable(pub BTreeMap<i32, Stat>);

impl ProcessTable {
    pub fn read() -> Self {
        let pids = names("/proc").into_iter().filter_map(|name| name.parse::<i32>().ok());
        Self(pids.filter_map(|pid| Some((pid, stat(pid)?))).collect())
    }

    /// Returns the descendants of these processes, without the processes themselves.
    pub fn descendants(&self, roots: &BTreeSet<i32>) -> BTreeSet<i32> {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for (&pid, stat) in &self.0 {
            children.entry(stat.parent).or_default().push(pid);
        }
        let mut found = BTreeSet::new();
        let mut open: Vec<i32> = roots.iter().copied().collect();
        while let Some(pid) = open.pop() {
            let new = children.get(&pid).into_iter().flatten().filter(|child| !roots.contains(child));
            open.extend(new.filter(|&&child| found.insert(child)));
        }
        found
    }

    /// Returns a process and all its ancestors.
    pub fn ancestors(&self, pid: i32) -> BTreeSet<i32> {
        let mut found = BTreeSet::new();
        let mut next = Some(pid);
        while let Some(pid) = next.filter(|&pid| pid > 0 && found.insert(pid)) {
            next = self.0.get(&pid).map(|stat| stat.parent);
        }
        found
    }

    fn identities(&self, pids: &BTreeSet<i32>) -> Vec<Identity> {
        let identity = |pid: &i32| Some(Identity { pid: *pid, start: self.0.get(pid)?.start });
        pids.iter().filter_map(identity).collect()
    }

    pub fn signal(&self, pids: &BTreeSet<i32>, signal: Signal) -> bool {
        let live = pids.iter().filter(|pid| self.0.get(pid).is_some_and(|stat| stat.is_alive()));
        let mut any = false;
        for &pid in live {
            any = true;
            let _ = kill(Pid::from_raw(pid), signal);
            if signal == Signal::SIGTERM {
                // SIGCONT is necessary because a stopped process does not handle signals.
                let _ = kill(Pid::from_raw(pid), Signal::SIGCONT);
            }
        }
        any
    }
}

/// Returns the children of a process. The list is empty if the system does not list children.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let threads = names(&format!("/proc/{pid}/task")).into_iter();
    let text = threads.filter_map(|thread| content(format!("/proc/{pid}/task/{thread}/children")));
    let of = |text: Vec<u8>| {
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>()
    };
    text.flat_map(of).collect()
}

/// Returns the number of threads of a process that run or are ready to run.
pub(crate) fn running_threads(pid: i32) -> u32 {
    let threads = names(&format!("/proc/{pid}/task")).into_iter();
    let stats = threads.filter_map(|thread| Stat::parse(&content(format!("/proc/{pid}/task/{thread}/stat"))?));
    stats.filter(|stat| stat.state == 'R').count() as u32
}

/// Sends a signal to all descendants of this process, and returns their identities.
pub(crate) fn signal_descendants(signal: Signal) -> Vec<Identity> {
    let table = ProcessTable::read();
    let found = table.descendants(&BTreeSet::from([std::process::id() as i32]));
    table.signal(&found, signal);
    table.identities(&found)
}

/// Asks children of this process that are not in `asked` to end, with their descendants. If this process is a
/// subreaper, these children are orphans that were started while their parent was being ended, so they did not receive
/// the signal. Processes with a living parent, which may be cleaning up, are not signalled.
pub(crate) fn end_orphans(asked: &mut Vec<Identity>) {
    let table = ProcessTable::read();
    let own = std::process::id() as i32;
    let children: BTreeSet<i32> =
        table.0.iter().filter(|(_, stat)| stat.parent == own && stat.is_alive()).map(|(&pid, _)| pid).collect();
    let new = table.identities(&children).into_iter().filter(|child| !asked.contains(child));
    let new: BTreeSet<i32> = new.map(|child| child.pid).collect();
    let found = table.descendants(&new).union(&new).copied().collect();
    table.signal(&found, Signal::SIGTERM);
    asked.extend(table.identities(&found));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_id_and_start() {
        let pid = std::process::id() as i32;
        let me = Identity { pid, start: start_of(pid).unwrap() };
        assert!(me.is_alive());
        assert!(!Identity { start: me.start + 1, ..me }.is_alive());
        assert!(!boot().is_empty());
    }
}
