//! Control groups (cgroup v2). A new process is in the group of its parent. A process remains in its group in a new
//! session, after the death of its parent, and with an empty environment.

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

/// Prefix of the names of groups of runs. Only groups with this prefix are ever ended.
const PREFIX: &str = "makespan-";

/// Name of the session's group within the group of the run. The session has a group of its own only if memory is
/// limited.
const SESSION: &str = "session";

/// Reason why no resource can be limited if no control group can be created.
pub(crate) const NO_GROUP: &str = "no control group (cgroup v2) can be created on this machine";

/// Maximum number of times that a group is asked whether it is frozen, once per millisecond.
const LOOKS: usize = 100;

/// A control group that this program created, identified by the path of its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControlGroup(PathBuf);

impl ControlGroup {
    /// Creates the group of a run within the group of this process. Returns `None` if this process has no permission
    /// for this.
    pub fn of_run() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let pid = std::process::id() as i32;
        // Several file systems may show the hierarchy, but some may not contain the group of this process.
        let home = homes(&mounts, &own).into_iter().find(|home| Self(home.clone()).own_members().contains(&pid))?;
        sweep(&home);
        let path = home.join(format!("{PREFIX}{pid}-{}", start_of(pid).ok()?));
        fs::create_dir(&path).ok()?;
        let group = Self(path);
        // A process can move to another group only if both groups and their common parent are writable.
        let writable = |folder: &Path| OpenOptions::new().write(true).open(folder.join("cgroup.procs")).is_ok();
        let plain = fs::read_to_string(group.0.join("cgroup.type")).is_ok_and(|text| text.trim() == "domain");
        if plain && writable(&home) && writable(&group.0) {
            return Some(group);
        }
        group.remove();
        None
    }

    /// Returns the group of a run that an earlier session created, or `None` if the group no longer exists.
    pub fn of_earlier(path: &str) -> Option<Self> {
        let path = PathBuf::from(path);
        let named = path.file_name()?.to_str()?.starts_with(PREFIX);
        let straight = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        let genuine = statfs(&path).is_ok_and(|found| found.filesystem_type() == CGROUP2_SUPER_MAGIC);
        (named && straight && path.is_absolute() && genuine).then_some(Self(path))
    }

    /// Returns the group of one attempt within the group of its run. `number` is the number of its shim. The group may
    /// not exist.
    pub fn of_attempt(&self, number: u64) -> Self {
        Self(self.0.join(number.to_string()))
    }

    /// Creates the group of an attempt at this path. Returns `None` if this is not possible.
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

    /// Moves this process from the group of an attempt to the group of the session.
    pub fn leave(&self) -> io::Result<()> {
        // If memory is limited, the session has a separate group within the group of the run.
        let beside = self.0.join("..").join(SESSION).join("cgroup.procs");
        write(&beside, "0").or_else(|_| write(&self.0.join("../../cgroup.procs"), "0"))
    }

    /// Returns the processes in this group and its subgroups.
    pub fn members(&self) -> BTreeSet<i32> {
        let below = self.below().into_iter().flat_map(|group| group.members());
        self.own_members().into_iter().chain(below).collect()
    }

    fn own_members(&self) -> BTreeSet<i32> {
        let text = String::from_utf8(content(self.0.join("cgroup.procs")).unwrap_or_default()).unwrap_or_default();
        // The kernel shows a process of another namespace as 0.
        text.lines().filter_map(|line| line.parse().ok()).filter(|&pid| pid > 0).collect()
    }

    fn below(&self) -> Vec<Self> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| Self(entry.path())).collect()
    }

    /// Returns whether this group or one of its subgroups contains a process.
    pub fn is_populated(&self) -> bool {
        self.says("populated 1")
    }

    fn says(&self, what: &str) -> bool {
        fs::read_to_string(self.0.join("cgroup.events")).is_ok_and(|text| text.lines().any(|line| line == what))
    }

    /// Kills all processes in this group and its subgroups at once.
    pub fn kill(&self) {
        // Linux before 5.14 has no file `cgroup.kill`.
        if write(&self.0.join("cgroup.kill"), "1").is_err() {
            self.freeze_and_kill();
        }
    }

    /// Kills all processes one by one. Freezes the processes first, so that none of them can fork.
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

    /// Removes this group and its subgroups, if they contain no process.
    pub fn remove(&self) {
        self.below().iter().for_each(Self::remove);
        let _ = fs::remove_dir(&self.0);
    }

    /// Removes the group of the run to which this attempt belongs, unless it contains the group of another attempt.
    pub fn remove_run(&self) {
        if let Some(run) = self.0.parent() {
            let _ = fs::remove_dir(run.join(SESSION));
            let _ = fs::remove_dir(run);
        }
    }
}

/// Removes the empty groups of sessions that were killed at least a day ago. Groups that were used within the last day
/// are kept, because a session that this process cannot see, in another namespace, may use them.
fn sweep(home: &Path) {
    const DAY: Duration = Duration::from_hours(24);
    for group in ControlGroup(home.to_owned()).below() {
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

/// Writes to an existing file.
fn write(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

/// Returns the possible paths of the group of this process according to `/proc/self/mountinfo` and
/// `/proc/self/cgroup`.
fn homes(mounts: &str, own: &str) -> Vec<PathBuf> {
    // A path that begins with `/..` is outside the part of the hierarchy that this namespace can see.
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

/// Decodes a path of `mountinfo`, in which blanks and backslashes are octal codes.
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
            assert_eq!(ControlGroup::of_earlier(path), None, "{path}");
        }
    }

    /// If this process may not create a group, the test prints a message and is skipped.
    #[test]
    fn a_group_knows_who_was_born_in_it_and_ends_them_all() {
        let Some(run) = ControlGroup::of_run() else {
            eprintln!("SKIPPED: no control group may be made here (cgroup v2)");
            return;
        };
        assert_eq!(ControlGroup::of_earlier(run.path().to_str().unwrap()), Some(run.clone()));
        for by_hand in [false, true] {
            let attempt = run.of_attempt(if by_hand { 2 } else { 1 });
            assert!(ControlGroup::make(attempt.path()).is_some() && ControlGroup::make(attempt.path()).is_none());
            // The script enters the group itself, because this process also runs other tests. The children of the
            // script then leave their session and environment.
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
