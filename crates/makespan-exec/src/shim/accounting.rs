//! Resource use of a job, as the kernel measured it.

use std::time::{Duration, Instant};

use makespan_core::{Accounting, MemoryKill, Time};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::TimeVal;

use crate::group::ControlGroup;
use crate::resources::memory_kills;

/// CPU time of all jobs of this process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UsedCpu {
    group: Time,
    children: Time,
}

/// Returns the resource use of a job. The kernel measures the command and its descendants, except processes for which
/// the parent did not wait. Orphans are included, because they become children of the shim. If the job has a control
/// group, all its processes are measured, and the total memory of all processes.
///
/// CPU time is counted from `before`, which is then updated. The peak memory is the peak over all jobs of this
/// process.
pub(super) fn of_job(
    group: Option<&ControlGroup>,
    threads: Option<u32>,
    failed: bool,
    before: &mut UsedCpu,
) -> Option<Accounting> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let (cpu, peak) = group.map_or((None, None), ControlGroup::counted);
    let by_group = || group.map_or(0, ControlGroup::memory_kills) > 0;
    let now = UsedCpu { group: cpu.unwrap_or_default(), children: time(usage.user_time()) + time(usage.system_time()) };
    let before = std::mem::replace(before, now);
    Some(Accounting {
        cpu: (now.group - before.group).max(now.children - before.children),
        // The value is in units of 1024 bytes. A child shares the memory of the shim until it executes its program, so
        // the peak is at least the memory of the shim.
        peak_memory: peak.unwrap_or_else(|| u64::try_from(usage.max_rss()).unwrap_or(0) << 10),
        threads,
        reserved_memory: None,
        memory_kill: (failed && by_group()).then_some(MemoryKill::Certain),
    })
}

/// The kernel's number of kills for lack of memory. If no session runs, the shim uses this number to find out why its
/// job was killed.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelKills {
    count: Option<u64>,
    /// Instant at which `count` was read.
    read: Instant,
}

impl KernelKills {
    /// Age from which a count is read again. Short jobs that follow each other do not read it each time.
    const OLD: Duration = Duration::from_secs(1);

    pub fn read() -> Self {
        Self { count: memory_kills(), read: Instant::now() }
    }

    /// Reads the count before a job starts.
    pub fn refresh(&mut self) {
        if self.read.elapsed() >= Self::OLD {
            *self = Self::read();
        }
    }

    /// Returns whether lack of memory is the likely reason for the end of a job: SIGKILL ended it, and since the job
    /// started, the count has risen to `now`.
    pub fn explain(self, status: i32, now: impl FnOnce() -> Option<u64>) -> bool {
        let is_killed = status == 128 + Signal::SIGKILL as i32;
        is_killed && self.count.is_some_and(|before| now().is_some_and(|now| now > before))
    }
}

/// Returns the peak of the memory of this process in bytes.
pub(super) fn own_peak() -> u64 {
    let own = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
    u64::try_from(own).unwrap_or(0) << 10
}

fn time(value: TimeVal) -> Time {
    Time::from_ticks(value.tv_sec() * 1_000_000_000 + value.tv_usec() * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_kill_of_the_kernel_explains_a_killed_job() {
        let kills = |count| KernelKills { count, read: Instant::now() };
        for status in [0, 1, 9, 137, 143] {
            for (before, now) in
                [(Some(3), Some(4)), (Some(3), Some(3)), (Some(4), Some(3)), (None, Some(1)), (Some(0), None)]
            {
                let expected = status == 137 && before == Some(3) && now == Some(4);
                assert_eq!(kills(before).explain(status, || now), expected, "{status} {before:?} {now:?}");
            }
        }
        assert!(!KernelKills::read().explain(137, || Some(0)), "the count never falls");
    }
}
