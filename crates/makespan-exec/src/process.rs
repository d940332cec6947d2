//! Processes as `/proc` shows them, and what descends from one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::group::Group;
use crate::storage::is_passing;

/// Between two looks at processes that are being ended.
const GLANCE: Duration = Duration::from_millis(5);

/// One process that is told apart from a later one of the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub pid: i32,
    /// Clock ticks after boot.
    pub start: u64,
}

#[derive(Clone, Copy)]
struct Stat {
    state: char,
    parent: i32,
    session: i32,
    threads: u64,
    start: u64,
    /// As `wait` tells it; 0 while it runs.
    code: i32,
}

impl Stat {
    /// A zombie is dead: in a container nobody may ever reap it. One whose first thread alone has ended lives.
    fn is_alive(self) -> bool {
        !self.is_zombie() || self.threads > 1
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        // The name in parentheses may hold spaces and parentheses itself.
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

    fn is_zombie(self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Does it again while the system lacks files or memory: what cannot be read for now must not pass for something that is gone.
fn patiently<T>(mut read: impl FnMut() -> io::Result<T>) -> Option<T> {
    loop {
        match read() {
            Ok(value) => return Some(value),
            Err(error) if is_passing(&error) => std::thread::sleep(GLANCE),
            Err(_) => return None,
        }
    }
}

/// The content of a file of `/proc`, whose processes may end at any moment.
pub(crate) fn content(path: impl AsRef<Path>) -> Option<Vec<u8>> {
    patiently(|| fs::read(path.as_ref()))
}

/// The names in such a folder.
fn names(folder: &str) -> Vec<String> {
    let listed =
        || fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default())).collect();
    patiently(listed).unwrap_or_default()
}

fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(&content(format!("/proc/{pid}/stat"))?)
}

/// When a process started; 0 when it is gone, which no process has.
///
/// # Errors
/// What the system lacks for now.
pub(crate) fn start_of(pid: i32) -> io::Result<u64> {
    match fs::read(format!("/proc/{pid}/stat")) {
        Err(error) if is_passing(&error) => Err(error),
        read => Ok(read.ok().and_then(|text| Stat::parse(&text)).map_or(0, |stat| stat.start)),
    }
}

/// How a process ended that nobody has reaped yet, in the form of `wait`.
pub(crate) fn exit_code(pid: i32) -> Option<i32> {
    stat(pid).filter(|stat| stat.is_zombie() && !stat.is_alive()).map(|stat| stat.code)
}

/// Whether it is a child of this process that is not reaped.
pub(crate) fn is_child(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.parent == std::process::id() as i32)
}

/// The id of the machine's present boot; start times are comparable within one only.
pub(crate) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

impl Identity {
    /// Whether it still runs. A zombie does not.
    pub fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.start == self.start && stat.is_alive())
    }

    /// Signals it if it still runs.
    pub fn signal(self, signal: Signal) {
        if self.is_alive() {
            let _ = kill(Pid::from_raw(self.pid), signal);
        }
    }
}

/// All processes at an instant.
struct Table(BTreeMap<i32, Stat>);

impl Table {
    fn read() -> Self {
        let pids = names("/proc").into_iter().filter_map(|name| name.parse::<i32>().ok());
        Self(pids.filter_map(|pid| Some((pid, stat(pid)?))).collect())
    }

    /// Those that descend from these, which are left out.
    fn descendants(&self, roots: &BTreeSet<i32>) -> BTreeSet<i32> {
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

    /// A process and all above it.
    fn ancestors(&self, pid: i32) -> BTreeSet<i32> {
        let mut found = BTreeSet::new();
        let mut next = Some(pid);
        while let Some(pid) = next.filter(|&pid| pid > 0 && found.insert(pid)) {
            next = self.0.get(&pid).map(|stat| stat.parent);
        }
        found
    }

    fn signal(&self, pids: &BTreeSet<i32>, signal: Signal) -> bool {
        let live = pids.iter().filter(|pid| self.0.get(pid).is_some_and(|stat| stat.is_alive()));
        let mut any = false;
        for &pid in live {
            any = true;
            let _ = kill(Pid::from_raw(pid), signal);
            if signal == Signal::SIGTERM {
                // One that was halted takes the signal when it goes on.
                let _ = kill(Pid::from_raw(pid), Signal::SIGCONT);
            }
        }
        any
    }
}

/// Signals all that descends from this process.
pub(crate) fn signal_descendants(signal: Signal) {
    let table = Table::read();
    let own = BTreeSet::from([std::process::id() as i32]);
    table.signal(&table.descendants(&own), signal);
}

/// How processes whose shim is gone are known as those of a run.
#[derive(Clone, Debug)]
pub(crate) struct Traces {
    /// The session that the shim opened, while the shim is not reaped and its id therefore belongs to nobody else.
    pub session: Option<i32>,
    /// `NAME=value` entries of their environment.
    pub marks: Vec<String>,
    /// The control group that they were born in.
    pub group: Option<Group>,
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
        self.group.as_ref().map(Group::members).unwrap_or_default()
    }

    /// Live processes with these traces and all that descends from them; never this one and those above it.
    fn find(&self, table: &Table) -> BTreeSet<i32> {
        let members = self.members();
        let spared = table.ancestors(std::process::id() as i32);
        let live = table.0.iter().filter(|(pid, stat)| stat.is_alive() && !spared.contains(pid));
        let mut found: BTreeSet<i32> =
            live.filter(|(pid, stat)| members.contains(pid) || self.fit(**pid, **stat)).map(|(&pid, _)| pid).collect();
        found.extend(table.descendants(&found).difference(&spared).copied().collect::<Vec<_>>());
        found
    }

    /// Ends what has these traces: SIGTERM, SIGKILL after the grace period. Returns when nothing of it lives.
    pub fn end(&self, grace: Duration) {
        let begun = std::time::Instant::now();
        let mut signal = Some(Signal::SIGTERM).filter(|_| !grace.is_zero());
        loop {
            let table = Table::read();
            let found = self.find(&table);
            let live = found.iter().any(|pid| table.0.get(pid).is_some_and(|stat| stat.is_alive()));
            if !live {
                self.group.as_ref().map(Group::remove);
                return;
            }
            if let Some(signal) = signal.take() {
                table.signal(&found, signal);
            } else if begun.elapsed() >= grace {
                // Never with ourselves in it.
                let spared = table.ancestors(std::process::id() as i32);
                let group = self.group.as_ref().filter(|group| group.members().is_disjoint(&spared));
                group.map(Group::kill);
                table.signal(&found, Signal::SIGKILL);
            }
            std::thread::sleep(GLANCE);
        }
    }
}

/// The environment that a process began with. Where its first thread has ended, the others know it.
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

    #[test]
    fn a_process_is_known_by_id_and_start() {
        let pid = std::process::id() as i32;
        let me = Identity { pid, start: start_of(pid).unwrap() };
        assert!(me.is_alive());
        assert!(!Identity { start: me.start + 1, ..me }.is_alive());
        assert!(!boot().is_empty());
    }

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
        // It has left its group, its session and its parent.
        let mut away = spawn("setsid -f setsid sleep 601");
        away.wait().unwrap();
        let traces = Traces { session: None, marks: vec![mark.clone()], group: None };
        assert!(traces.find(&Table::read()).len() >= 3);
        traces.end(Duration::from_millis(100));
        assert!(traces.find(&Table::read()).is_empty());
        assert!(!polite.wait().unwrap().success() && !stubborn.wait().unwrap().success());
    }

    /// Such a process looks like a zombie, and works.
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
        let traces = Traces { session: None, marks: vec![format!("{name}={value}")], group: None };
        assert!(traces.find(&Table::read()).contains(&pid));
        traces.end(Duration::from_millis(100));
        assert!(!child.wait().unwrap().success());
        assert!(Traces { marks: Vec::new(), ..traces }.find(&Table::read()).is_empty(), "nobody is found by nothing");
    }
}
