//! Counts and limits resources of control groups.

use std::fs;
use std::io;
use std::path::Path;

use makespan_core::Time;

use crate::kernel_text::number_behind;

use super::{ControlGroup, SESSION, write};

/// File that lists the controllers that are enabled for the subgroups of a group.
const CONTROL: &str = "cgroup.subtree_control";

impl ControlGroup {
    /// Enables memory limits for the groups of attempts within this group of a run. If the subgroups of a group have
    /// limits, the group must not contain processes. So this process moves to a separate subgroup.
    ///
    /// # Errors
    /// The reason why this is not possible. After an error, nothing has changed.
    pub fn limit_memory(&self) -> Result<(), String> {
        let Some(home) = self.0.parent() else { return Err("the control group of the run has been removed".into()) };
        let there = fs::read_to_string(home.join("cgroup.controllers")).unwrap_or_default();
        if !there.split_whitespace().any(|controller| controller == "memory") {
            return Err(format!(
                "the control group {} has no memory controller (cgroup v2); either the system uses cgroup v1, or a \
                 service manager must delegate the controller",
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
                format!(
                    "other processes are in the control group {home}; start the run in its own control group, for \
                     example with `{advice}`"
                )
            } else {
                format!("the control group {home} does not allow memory limits: {error}; try `{advice}`")
            }
        })
    }

    /// Moves this process back to its original group, so that the group of the run can be removed.
    pub fn give_up_limits(&self) {
        let session = self.0.join(SESSION);
        if !session.exists() {
            return;
        }
        let _ = write(&self.0.join(CONTROL), "-memory");
        if let Some(home) = self.0.parent() {
            // If another run in the same group still needs the controller, both writes fail, and the process stays in
            // its group.
            let _ = write(&home.join(CONTROL), "-memory");
            let _ = write(&home.join("cgroup.procs"), "0");
        }
        let _ = fs::remove_dir(session);
    }

    /// Limits the memory of this group. If the processes of the group exceed the limit, the kernel kills all of them.
    pub fn set_limit(&self, bytes: u64) -> io::Result<()> {
        write(&self.0.join("memory.max"), &bytes.to_string())?;
        // Systems without swap have no file for the swap limit, and old systems have no `memory.oom.group`.
        let _ = write(&self.0.join("memory.swap.max"), "0");
        let _ = write(&self.0.join("memory.oom.group"), "1");
        Ok(())
    }

    /// Returns the CPU time and the peak memory so far of all processes of this group, including processes that have
    /// ended. The peak memory in bytes needs the memory controller. An unavailable value is `None`.
    pub fn counted(&self) -> (Option<Time>, Option<u64>) {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let microseconds = self.entry("cpu.stat", "usage_usec");
        let cpu =
            microseconds.map(|count| Time::from_ticks(i64::try_from(count.saturating_mul(1000)).unwrap_or(i64::MAX)));
        let peak = fs::read_to_string(self.0.join("memory.peak")).ok().and_then(|text| number(&text));
        (cpu, peak)
    }

    /// Returns the number of processes of this group that the kernel killed for lack of memory.
    pub fn memory_kills(&self) -> u64 {
        self.entry("memory.events", "oom_kill").unwrap_or(0)
    }

    /// Returns the number after a word in a file of the group.
    fn entry(&self, file: &str, word: &str) -> Option<u64> {
        number_behind(word, &fs::read_to_string(self.0.join(file)).ok()?)
    }
}
