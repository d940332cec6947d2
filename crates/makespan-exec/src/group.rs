//! Control groups (cgroup v2). A process is born in the group of its parent, and neither a new session nor the death of its
//! parent nor a cleared environment takes it out of it.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, statfs};
use nix::unistd::Pid;

use crate::process::{content, start_of};

mod limits;

/// How the groups of runs are called. No other group is ever ended.
const PREFIX: &str = "makespan-";

/// The group of the session, in that of the run, where memory is limited.
const SESSION: &str = "session";

/// Why nothing can be limited if no control group can be made.
pub(crate) const NO_GROUP: &str = "no control group (cgroup v2) can be made here";

/// How often it is looked whether a group is frozen, a millisecond apart.
const LOOKS: usize = 100;

/// A control group of ours, by its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group(PathBuf);

impl Group {
    /// Makes the group of a run, in the group of this process; `None` where that may not be done.
    pub fn of_run() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let pid = std::process::id() as i32;
        // Several file systems may show the hierarchy, and not all of them where we are.
        let home = homes(&mounts, &own).into_iter().find(|home| Self(home.clone()).own_members().contains(&pid))?;
        sweep(&home);
        let path = home.join(format!("{PREFIX}{pid}-{}", start_of(pid).ok()?));
        fs::create_dir(&path).ok()?;
        let group = Self(path);
        // Processes move from a group to another where both, and the one above, may be written.
        let writable = |folder: &Path| OpenOptions::new().write(true).open(folder.join("cgroup.procs")).is_ok();
        let plain = fs::read_to_string(group.0.join("cgroup.type")).is_ok_and(|text| text.trim() == "domain");
        if plain && writable(&home) && writable(&group.0) {
            return Some(group);
        }
        group.remove();
        None
    }

    /// The group of a run that an earlier session made; `None` where there is none any more.
    pub fn of_earlier(path: &str) -> Option<Self> {
        let path = PathBuf::from(path);
        let named = path.file_name()?.to_str()?.starts_with(PREFIX);
        let straight = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        let genuine = statfs(&path).is_ok_and(|found| found.filesystem_type() == CGROUP2_SUPER_MAGIC);
        (named && straight && path.is_absolute() && genuine).then_some(Self(path))
    }

    /// The group of one attempt in that of a run, by the number of its shim; it may not be there.
    pub fn of_attempt(&self, number: u64) -> Self {
        Self(self.0.join(number.to_string()))
    }

    /// Makes the group of an attempt, of this path; `None` where that is not possible.
    pub fn make(path: &Path) -> Option<Self> {
        fs::create_dir(path).ok()?;
        Some(Self(path.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Moves this process into the group of an attempt.
    pub fn enter(&self) -> io::Result<()> {
        write(&self.0.join("cgroup.procs"), "0")
    }

    /// Moves this process from the group of an attempt to that of the session.
    pub fn leave(&self) -> io::Result<()> {
        // Where memory is limited, the session is in a group beside.
        let beside = self.0.join("..").join(SESSION).join("cgroup.procs");
        write(&beside, "0").or_else(|_| write(&self.0.join("../../cgroup.procs"), "0"))
    }

    /// The processes in it and in the groups below.
    pub fn members(&self) -> BTreeSet<i32> {
        let below = self.below().into_iter().flat_map(|group| group.members());
        self.own_members().into_iter().chain(below).collect()
    }

    fn own_members(&self) -> BTreeSet<i32> {
        let text = String::from_utf8(content(self.0.join("cgroup.procs")).unwrap_or_default()).unwrap_or_default();
        // What another namespace hides is called 0.
        text.lines().filter_map(|line| line.parse().ok()).filter(|&pid| pid > 0).collect()
    }

    fn below(&self) -> Vec<Self> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| Self(entry.path())).collect()
    }

    /// Whether a process lives in it or below.
    pub fn is_populated(&self) -> bool {
        self.says("populated 1")
    }

    fn says(&self, what: &str) -> bool {
        fs::read_to_string(self.0.join("cgroup.events")).is_ok_and(|text| text.lines().any(|line| line == what))
    }

    /// Kills all that is in it and below, at one instant.
    pub fn kill(&self) {
        // Linux before 5.14 has no such file.
        if write(&self.0.join("cgroup.kill"), "1").is_err() {
            self.freeze_and_kill();
        }
    }

    /// The same by hand: frozen, none of them can fork meanwhile.
    fn freeze_and_kill(&self) {
        let _ = write(&self.0.join("cgroup.freeze"), "1");
        for _ in 0..LOOKS {
            if !self.is_populated() || self.says("frozen 1") {
                break;
            }
            sleep(Duration::from_millis(1));
        }
        for pid in self.members() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = write(&self.0.join("cgroup.freeze"), "0");
    }

    /// Removes it, and the groups below, if nothing lives there.
    pub fn remove(&self) {
        self.below().iter().for_each(Self::remove);
        let _ = fs::remove_dir(&self.0);
    }

    /// Removes the group of the run that this attempt belongs to, if this was the last in it.
    pub fn remove_run(&self) {
        if let Some(run) = self.0.parent() {
            let _ = fs::remove_dir(run.join(SESSION));
            let _ = fs::remove_dir(run);
        }
    }
}

/// Removes what sessions have left that were killed a day ago or earlier, and of which nothing lives. Where they ran in another namespace
/// their process is not seen here, so that a group that was used today may be somebody's.
fn sweep(home: &Path) {
    const DAY: Duration = Duration::from_hours(24);
    for group in Group(home.to_owned()).below() {
        let name = group.0.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX)?.split_once('-'));
        let Some((pid, start)) = name.and_then(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?))) else {
            continue;
        };
        let changed = group.0.metadata().and_then(|metadata| metadata.modified());
        let is_old = changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > DAY));
        if is_old && start_of(pid).ok() != Some(start) && !group.is_populated() {
            group.remove();
        }
    }
}

/// Writes to a file that is there.
fn write(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

/// Where the group of this process may be found, by `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn homes(mounts: &str, own: &str) -> Vec<PathBuf> {
    // A path that goes up is outside of what a namespace shows.
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).filter(|own| !own.starts_with("/.."));
    let Some(own) = own else { return Vec::new() };
    let home = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let fields: Vec<&str> = before.split(' ').collect();
        let (root, point) = (unescaped(fields.get(3)?), unescaped(fields.get(4)?));
        let below = Path::new(own).strip_prefix(root).ok()?;
        (after.split(' ').next() == Some("cgroup2")).then(|| Path::new(&point).join(below))
    };
    mounts.lines().filter_map(home).collect()
}

/// A path of `mountinfo`, where blanks and backslashes are octal.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_below_each_mount_that_shows_it() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n\
                      31 23 0:26 /user.slice /mnt/my\\040groups rw shared:4 - cgroup2 none rw\n\
                      32 23 0:26 /system.slice /other rw - cgroup2 none rw\n\
                      33 23 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      nonsense\n";
        let own = "4:pids:/elsewhere\n0::/user.slice/a.scope\n";
        let expected = ["/sys/fs/cgroup/unified/user.slice/a.scope", "/mnt/my groups/a.scope"].map(PathBuf::from);
        assert_eq!(homes(mounts, own), expected);
        assert!(homes(mounts, "4:pids:/\n").is_empty() && homes(mounts, "0::/../up\n").is_empty());
    }

    #[test]
    fn only_groups_of_runs_are_taken_for_such() {
        let folder = tempfile::tempdir().unwrap();
        let like = folder.path().join("makespan-1-1");
        fs::create_dir(&like).unwrap();
        for path in ["", "/", "makespan-1-1", "/sys/fs/cgroup", "/sys/fs/cgroup/unified", like.to_str().unwrap()] {
            assert_eq!(Group::of_earlier(path), None, "{path}");
        }
    }

    /// Where this process may make no group there is nothing to test, which is said.
    #[test]
    fn a_group_knows_who_was_born_in_it_and_ends_them_all() {
        let Some(run) = Group::of_run() else {
            eprintln!("SKIPPED: no control group may be made here (cgroup v2)");
            return;
        };
        assert_eq!(Group::of_earlier(run.path().to_str().unwrap()), Some(run.clone()));
        for by_hand in [false, true] {
            let attempt = run.of_attempt(if by_hand { 2 } else { 1 });
            assert!(Group::make(attempt.path()).is_some() && Group::make(attempt.path()).is_none());
            // It takes itself there, since other tests run in this process, and forgets all that it is known by.
            let script = format!(
                "echo 0 >{0}/cgroup.procs || exit 3; mkdir {0}/below; setsid -f env -i sleep 603; \
                 setsid -f sh -c 'echo 0 >{0}/below/cgroup.procs; trap : TERM; while :; do sleep 604; done'",
                attempt.path().display()
            );
            assert!(std::process::Command::new("sh").args(["-c", &script]).status().unwrap().success());
            let begun = std::time::Instant::now();
            while attempt.members().len() < 3 {
                assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", attempt.members());
                sleep(Duration::from_millis(2));
            }
            assert!(attempt.is_populated() && run.is_populated());
            attempt.remove();
            assert!(attempt.path().exists(), "what lives there is not forgotten");
            if by_hand {
                attempt.freeze_and_kill()
            } else {
                attempt.kill()
            }
            while attempt.is_populated() {
                assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", attempt.members());
                sleep(Duration::from_millis(2));
            }
            attempt.remove();
            assert!(!attempt.path().exists());
            if by_hand { attempt.remove_run() } else { assert!(run.path().exists()) }
        }
        assert!(!run.path().exists());
    }
}
