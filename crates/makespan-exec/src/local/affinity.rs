//! The cores on which tasks may run.
//!
//! A pinned task runs only on the cores of its processors. When an unpinned task starts, it may use all cores of the
//! session except the cores of the running pinned tasks. When a pinned task starts, its cores are also taken from the
//! running unpinned tasks, which do not get them back. An unpinned task never loses the cores of its own processors,
//! because no other task holds these processors.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{ProcSet, TaskId};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::Local;
use crate::machine::cores_of;
use crate::process::{ProcessTable, names};

/// Maximum number of searches for processes that are created while cores are taken from their parents.
const SEARCHES: usize = 20;

impl Local {
    /// Pins a task to the cores of its processors, and takes these cores from the running unpinned tasks.
    pub(super) fn pin(&mut self, task: TaskId, processors: &ProcSet) {
        let cores = cores_of(processors, &self.cores);
        self.pinned.insert(task, cores.clone());
        let shims = self.unpinned_shims();
        if !shims.is_empty() {
            take_cores(&shims, &cores);
        }
        // A shim that lost cores gets no further task, because it does not get these cores back.
        let unpinned = self.shims.iter_mut().filter(|(task, _)| !self.pinned.contains_key(task));
        unpinned.for_each(|(_, shim)| shim.is_disturbed = true);
    }

    /// Removes the cores of pinned tasks from the cores of a shim that has no job yet. If no core remains, which is
    /// possible with more processors than cores, the shim keeps the cores of its own processors. Returns whether the
    /// cores of the shim changed.
    pub(super) fn keep_off_pinned(&self, shim: u32, processors: &ProcSet) -> bool {
        if self.pinned.is_empty() {
            return false;
        }
        // If the shim was killed in the meantime, the engine reports its end.
        let _ =
            sched_setaffinity(Pid::from_raw(shim as i32), &set_of(&free_cores(&self.cores, &self.pinned, processors)));
        true
    }

    /// Returns the shims of the tasks that are not pinned.
    fn unpinned_shims(&self) -> BTreeSet<i32> {
        let is_unpinned = |task: &TaskId| !self.pinned.contains_key(task);
        let own =
            self.shims.iter().filter(|(task, _)| is_unpinned(task)).map(|(_, shim)| shim.process.child.id() as i32);
        let taken = self.taken.tasks().into_iter().filter(is_unpinned);
        own.chain(taken.filter_map(|task| self.taken.shim(task)).map(|shim| shim.pid)).collect()
    }
}

/// Returns the cores that no pinned task holds, or the cores of `processors` if pinned tasks hold all cores.
fn free_cores(cores: &[usize], pinned: &BTreeMap<TaskId, Vec<usize>>, processors: &ProcSet) -> Vec<usize> {
    let held: BTreeSet<usize> = pinned.values().flatten().copied().collect();
    let free: Vec<usize> = cores.iter().copied().filter(|core| !held.contains(core)).collect();
    if free.is_empty() { cores_of(processors, cores) } else { free }
}

fn set_of(cores: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for &core in cores {
        // The set is large enough, because the system itself returned these cores.
        let _ = set.set(core);
    }
    set
}

/// Removes these cores from all threads of the processes and their descendants. A thread that would have no core keeps
/// its cores. The search is repeated until no thread changes, because a process that is created meanwhile inherits the
/// cores of its parent.
fn take_cores(roots: &BTreeSet<i32>, cores: &[usize]) {
    for _ in 0..SEARCHES {
        let found = ProcessTable::read().descendants(roots);
        let threads = roots.iter().chain(&found).flat_map(|pid| names(&format!("/proc/{pid}/task")));
        let threads: Vec<i32> = threads.filter_map(|thread| thread.parse().ok()).collect();
        if threads.into_iter().filter(|&thread| take_from(thread, cores)).count() == 0 {
            return;
        }
    }
}

/// Removes cores from a thread. Returns whether the cores of the thread changed.
fn take_from(thread: i32, cores: &[usize]) -> bool {
    let thread = Pid::from_raw(thread);
    let Ok(before) = sched_getaffinity(thread) else { return false };
    let has = |core: usize| before.is_set(core).unwrap_or(false);
    let left: Vec<usize> = (0..CpuSet::count()).filter(|core| has(*core) && !cores.contains(core)).collect();
    let is_changed = !left.is_empty() && cores.iter().any(|&core| has(core));
    is_changed && sched_setaffinity(thread, &set_of(&left)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unpinned_task_gets_the_cores_that_no_pinned_task_holds() {
        let pinned = |held: &[usize]| BTreeMap::from([(TaskId(0), held.to_vec())]);
        let cores = [2, 3, 5];
        for (held, own, expected) in [
            (&[][..], 0, &[2, 3, 5][..]),
            (&[3], 0, &[2, 5]),
            (&[2, 5], 1, &[3]),
            // The platform has more processors than the machine has cores.
            (&[2, 3, 5], 4, &[3]),
        ] {
            assert_eq!(free_cores(&cores, &pinned(held), &ProcSet::range(own, own)), expected, "{held:?}");
        }
    }
}
