//! Processes as `/proc` shows them, and signals to groups of them.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

/// One process that is told apart from a later one of the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub pid: i32,
    /// Clock ticks after boot.
    pub start: u64,
}

struct Stat {
    state: char,
    group: i32,
    start: u64,
}

fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold spaces and parentheses itself.
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// When a process started; 0 when it is gone, which no process has.
pub(crate) fn start_of(pid: i32) -> u64 {
    stat(pid).map_or(0, |stat| stat.start)
}

/// The id of the machine's present boot; start times are comparable within one only.
pub(crate) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

impl Identity {
    /// Whether it still runs. A zombie does not: in a container nobody may ever reap it.
    pub fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.start == self.start && !matches!(stat.state, 'Z' | 'X'))
    }
}

/// Signals a group whose leader is known to be ours and not reaped. A group that is gone is no error.
pub(crate) fn signal_group(leader: i32, signal: Signal) {
    let _ = killpg(Pid::from_raw(leader), signal);
}

/// Ends a group that an earlier session left: SIGTERM, SIGKILL after the grace period. Returns when nothing of it lives.
pub(crate) fn end_group(leader: Identity, marks: &[String], grace: Duration) {
    if leader.is_alive() {
        signal_group(leader.pid, Signal::SIGTERM);
        let begun = Instant::now();
        while leader.is_alive() && begun.elapsed() < grace {
            std::thread::sleep(Duration::from_millis(10));
        }
        if leader.is_alive() {
            signal_group(leader.pid, Signal::SIGKILL);
        }
    }
    // Members may outlive their leader, whose id may by now belong to a stranger: they are known by their environment.
    loop {
        let left = members(leader.pid, marks);
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Live processes of a group whose environment holds all of these `NAME=value` entries.
fn members(group: i32, marks: &[String]) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|&pid| {
        stat(pid).is_some_and(|stat| stat.group == group && !matches!(stat.state, 'Z' | 'X'))
            && fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                let entries: Vec<&[u8]> = environment.split(|&byte| byte == 0).collect();
                marks.iter().all(|mark| entries.contains(&mark.as_bytes()))
            })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_id_and_start() {
        let pid = std::process::id() as i32;
        let me = Identity { pid, start: start_of(pid) };
        assert!(me.is_alive());
        assert!(!Identity { start: me.start + 1, ..me }.is_alive());
        assert!(!boot().is_empty());
    }
}
