//! What control groups count and limit.

use std::fs;
use std::io;
use std::path::Path;

use makespan_core::Time;

use crate::kernel_text::number_behind;

use super::{Group, SESSION, write};

/// The file that says which controllers the groups below have.
const CONTROL: &str = "cgroup.subtree_control";

impl Group {
    /// Lets the groups of attempts, in this of a run, have limits of memory. A group that gives limits to those below holds no process
    /// itself, so this process moves to a group of its own.
    ///
    /// # Errors
    /// Why that is not possible; then all is as before.
    pub fn limit_memory(&self) -> Result<(), String> {
        let Some(home) = self.0.parent() else { return Err("the group of the run is gone".into()) };
        let there = fs::read_to_string(home.join("cgroup.controllers")).unwrap_or_default();
        if !there.split_whitespace().any(|controller| controller == "memory") {
            return Err(format!(
                "the control group {} has no memory controller (cgroup v2), which the system may use in version 1 or a service \
                 manager must delegate",
                home.display()
            ));
        }
        let session = self.0.join(SESSION);
        let moved = fs::create_dir(&session).and_then(|()| write(&session.join("cgroup.procs"), "0"));
        let enable = |group: &Path| write(&group.join(CONTROL), "+memory");
        let limited = moved.and_then(|()| enable(home)).and_then(|()| enable(&self.0));
        limited.map_err(|error| {
            self.give_up_limits();
            let advice = "systemd-run --user --scope -p Delegate=yes makespan run ..";
            let home = home.display();
            if error.raw_os_error() == Some(nix::libc::EBUSY) {
                format!("other processes are in the control group {home}; begin the run in one of its own, such as by `{advice}`")
            } else {
                format!("the control group {home} does not let its memory be limited: {error}; `{advice}` may")
            }
        })
    }

    /// Puts this process back, so that the group of the run can be removed.
    pub fn give_up_limits(&self) {
        let session = self.0.join(SESSION);
        if !session.exists() {
            return;
        }
        let _ = write(&self.0.join(CONTROL), "-memory");
        if let Some(home) = self.0.parent() {
            // Another run in the same group may need it still; then we stay where we are.
            let _ = write(&home.join(CONTROL), "-memory");
            let _ = write(&home.join("cgroup.procs"), "0");
        }
        let _ = fs::remove_dir(session);
    }

    /// Limits the memory of what is in this group. If it uses more, all of it is killed.
    pub fn set_limit(&self, bytes: u64) -> io::Result<()> {
        write(&self.0.join("memory.max"), &bytes.to_string())?;
        // Systems without swap lack this file, and old ones the other.
        let _ = write(&self.0.join("memory.swap.max"), "0");
        let _ = write(&self.0.join("memory.oom.group"), "1");
        Ok(())
    }

    /// What its processes used so far, those that have ended included: time on processors, and most resident bytes where the
    /// memory controller is there. `None` for what the system does not say.
    pub fn counted(&self) -> (Option<Time>, Option<u64>) {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let microseconds = self.entry("cpu.stat", "usage_usec");
        let cpu =
            microseconds.map(|count| Time::from_ticks(i64::try_from(count.saturating_mul(1000)).unwrap_or(i64::MAX)));
        let peak = fs::read_to_string(self.0.join("memory.peak")).ok().and_then(|text| number(&text));
        (cpu, peak)
    }

    /// How many of its processes the kernel killed for memory.
    pub fn memory_kills(&self) -> u64 {
        self.entry("memory.events", "oom_kill").unwrap_or(0)
    }

    /// The number behind a word in a file of the group.
    fn entry(&self, file: &str, word: &str) -> Option<u64> {
        number_behind(word, &fs::read_to_string(self.0.join(file)).ok()?)
    }
}
