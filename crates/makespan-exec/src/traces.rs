//! Finds and ends the descendants of a shim that has ended.

use std::collections::BTreeSet;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::group::ControlGroup;
use crate::process::{GLANCE, Identity, ProcessTable, Stat, content, names};

/// The marks that identify processes of a run after their shim has ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    /// The id of the session that the shim opened. Until the shim is reaped, no other process gets this id.
    pub session: Option<i32>,
    /// Environment variables of the processes, as `NAME=value`.
    pub marks: Vec<String>,
    /// The control group in which the processes were started.
    pub group: Option<ControlGroup>,
    /// Processes with these marks that must continue, together with their descendants.
    pub spared: Vec<Identity>,
}

impl Traces {
    fn fit(&self, pid: i32, stat: Stat) -> bool {
        if self.session == Some(stat.session) {
            return true;
        }
        !self.marks.is_empty()
            && environment(pid, stat).is_some_and(|environment| {
                let entries: BTreeSet<&[u8]> = environment.split(|&byte| byte == 0).collect();
                self.marks.iter().all(|mark| entries.contains(mark.as_bytes()))
            })
    }

    fn members(&self) -> BTreeSet<i32> {
        self.group.as_ref().map(ControlGroup::members).unwrap_or_default()
    }

    /// Returns the processes that must not be ended: this process and its ancestors, and the spared processes with
    /// their descendants.
    fn spared(&self, table: &ProcessTable) -> BTreeSet<i32> {
        let mut spared = table.ancestors(std::process::id() as i32);
        let going: BTreeSet<i32> =
            self.spared.iter().filter(|process| process.is_alive()).map(|process| process.pid).collect();
        spared.extend(table.descendants(&going));
        spared.extend(going);
        spared
    }

    /// Returns the live processes with these marks and all their descendants, without the spared processes.
    fn find(&self, table: &ProcessTable) -> BTreeSet<i32> {
        let members = self.members();
        let spared = self.spared(table);
        let live = table.0.iter().filter(|(pid, stat)| stat.is_alive() && !spared.contains(pid));
        let mut found: BTreeSet<i32> =
            live.filter(|(pid, stat)| members.contains(pid) || self.fit(**pid, **stat)).map(|(&pid, _)| pid).collect();
        found.extend(table.descendants(&found).difference(&spared).copied().collect::<Vec<_>>());
        found
    }

    /// Ends the processes with these marks with SIGTERM, and with SIGKILL after the grace period. Returns when all
    /// these processes have ended.
    pub fn end(&self, grace: Duration) {
        let begun = std::time::Instant::now();
        let mut signal = Some(Signal::SIGTERM).filter(|_| !grace.is_zero());
        loop {
            let table = ProcessTable::read();
            let found = self.find(&table);
            let live = found.iter().any(|pid| table.0.get(pid).is_some_and(|stat| stat.is_alive()));
            if !live {
                self.group.as_ref().map(ControlGroup::remove);
                return;
            }
            if let Some(signal) = signal.take() {
                table.signal(&found, signal);
            } else if begun.elapsed() >= grace {
                // A group with a spared process is not killed as a whole.
                let spared = self.spared(&table);
                let group = self.group.as_ref().filter(|group| group.members().is_disjoint(&spared));
                group.map(ControlGroup::kill);
                table.signal(&found, Signal::SIGKILL);
            }
            std::thread::sleep(GLANCE);
        }
    }
}

/// Returns the initial environment of a process. If the first thread of the process has ended, reads the environment
/// from another thread.
fn environment(pid: i32, stat: Stat) -> Option<Vec<u8>> {
    if !stat.is_zombie() {
        return content(format!("/proc/{pid}/environ"));
    }
    let threads = names(&format!("/proc/{pid}/task")).into_iter();
    threads.filter_map(|thread| content(format!("/proc/{pid}/task/{thread}/environ"))).find(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{start_of, stat};

    #[test]
    fn what_carries_the_marks_is_ended_wherever_it_went() {
        let mark = format!("MAKESPAN_TEST_MARK={}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let spawn = |script: &str| {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", script]).env(name, value).spawn().unwrap()
        };
        let mut polite = spawn("exec sleep 600");
        let mut stubborn = spawn("trap '' TERM; while :; do sleep 0.1; done");
        // This process has left the group, the session and the parent of the shim.
        let mut away = spawn("setsid -f setsid sleep 601");
        away.wait().unwrap();
        let traces = Traces { marks: vec![mark.clone()], ..Traces::default() };
        assert!(traces.find(&ProcessTable::read()).len() >= 3);
        traces.end(Duration::from_millis(100));
        assert!(traces.find(&ProcessTable::read()).is_empty());
        assert!(!polite.wait().unwrap().success() && !stubborn.wait().unwrap().success());
    }

    #[test]
    fn what_descends_from_what_is_spared_goes_on() {
        let (name, value) = ("MAKESPAN_TEST_SPARED", std::process::id().to_string());
        let spawn =
            || std::process::Command::new("sh").args(["-c", "sleep 600 & wait"]).env(name, &value).spawn().unwrap();
        let (mut going, mut ending) = (spawn(), spawn());
        let pid = going.id() as i32;
        let spared = vec![Identity { pid, start: start_of(pid).unwrap() }];
        let traces = Traces { marks: vec![format!("{name}={value}")], spared, ..Traces::default() };
        let all = Traces { spared: Vec::new(), ..traces.clone() };
        let begun = std::time::Instant::now();
        while all.find(&ProcessTable::read()).len() < 4 {
            assert!(begun.elapsed() < Duration::from_mins(1), "both shells and what they start");
        }
        traces.end(Duration::ZERO);
        assert!(!ending.wait().unwrap().success());
        assert_eq!(all.find(&ProcessTable::read()).len(), 2);
        all.end(Duration::ZERO);
        assert!(!going.wait().unwrap().success());
    }

    /// After the first thread of a process has ended, the process looks like a zombie but still runs.
    #[test]
    fn a_process_whose_first_thread_has_ended_lives_and_is_ended() {
        let script = "import ctypes, threading, time\n\
                      threading.Thread(target=time.sleep, args=(600,)).start()\n\
                      ctypes.CDLL(None).pthread_exit(None)";
        let (name, value) = ("MAKESPAN_TEST_THREADS", std::process::id().to_string());
        let started = std::process::Command::new("python3").args(["-c", script]).env(name, &value).spawn();
        let Ok(mut child) = started else {
            eprintln!("SKIPPED: there is no python3 here, which this test needs");
            return;
        };
        let pid = child.id() as i32;
        while !stat(pid).is_some_and(Stat::is_zombie) {
            assert!(child.try_wait().unwrap().is_none(), "it ended as a whole");
            std::thread::sleep(GLANCE);
        }
        assert!(Identity { pid, start: start_of(pid).unwrap() }.is_alive());
        let traces = Traces { marks: vec![format!("{name}={value}")], ..Traces::default() };
        assert!(traces.find(&ProcessTable::read()).contains(&pid));
        traces.end(Duration::from_millis(100));
        assert!(!child.wait().unwrap().success());
        assert!(
            Traces { marks: Vec::new(), ..traces }.find(&ProcessTable::read()).is_empty(),
            "without marks, no process is found"
        );
    }
}
