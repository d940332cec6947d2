//! Tries failed tasks again, with more memory if they lacked memory.

use std::collections::{BTreeMap, VecDeque};

use makespan_core::{Accounting, Demand, Instance, Outcome, ProcSet, Resource, ResourceId, ResourceKind, Run, TaskId};

use super::Session;
use super::delayed::DelayedStart;
use crate::{ExecuteError, ExecuteOptions};

/// Maximum number of times that a task waits again after it was lost with its node.
const MAX_LOSSES: u32 = 3;

/// Number of failures of each task, and increased memory of tasks that lacked memory.
#[derive(Debug)]
pub(crate) struct Retries {
    /// The resource `memory`, if the platform has it and it is not a consumable.
    memory: Option<ResourceId>,
    /// True if a kill for lack of memory is not counted as a failure while the task can get more memory.
    raises: bool,
    failures: Vec<u32>,
    /// Number of times that each task was lost with its node.
    losses: BTreeMap<TaskId, u32>,
    /// Memory in bytes of a task in its next attempt, if it exceeds the stated need.
    raised: BTreeMap<TaskId, u64>,
    /// Tasks that the policy has started, but that wait for memory, in order of arrival.
    crowded: VecDeque<DelayedStart>,
}

impl Retries {
    /// Counts the failures in these runs.
    pub fn new(instance: &Instance, runs: &[Run], options: &ExecuteOptions) -> Self {
        let platform = instance.platform();
        let memory = platform.resource(Resource::MEMORY);
        let memory = memory.filter(|&id| platform.resource_of(id).kind != ResourceKind::Consumable);
        let mut retries = Self {
            memory,
            raises: options.raise_memory,
            failures: vec![0; instance.tasks() as usize],
            losses: BTreeMap::new(),
            raised: BTreeMap::new(),
            crowded: VecDeque::new(),
        };
        for run in runs {
            retries.count(instance, run);
        }
        retries
    }

    /// Returns the number of failures of a task that are included in the maximum number of retries.
    pub fn failures(&self, task: TaskId) -> u32 {
        self.failures[task.index()]
    }

    /// Forgets the failures of these tasks.
    pub fn forgive(&mut self, tasks: &[TaskId]) {
        tasks.iter().for_each(|task| self.failures[task.index()] = 0);
    }

    /// Counts the end of a run. If the run failed, returns the number of failures of the task so far.
    fn count(&mut self, instance: &Instance, run: &Run) -> Option<u32> {
        if !is_failure(run.outcome) {
            return None;
        }
        let killed = run.accounting.filter(|used| used.memory_kill.is_some());
        let mut gets_more = false;
        if let Some(used) = killed {
            // The next attempt gets twice the memory of this attempt, or twice the measured peak if this is more. The
            // journal states the memory of the attempt, because a learned amount may have changed since then.
            let held = used.reserved_memory.unwrap_or_else(|| self.bytes(instance, run.task, &run.processors));
            self.raised.insert(run.task, held.max(used.peak_memory).saturating_mul(2));
            gets_more = self.raises && self.bytes(instance, run.task, &run.processors) > held;
        }
        let failures = &mut self.failures[run.task.index()];
        *failures += u32::from(!gets_more);
        Some(*failures)
    }

    /// Counts a loss of a task with its node. Returns true if the number of losses suggests that the task is the
    /// cause.
    pub fn has_lost_too_often(&mut self, task: TaskId) -> bool {
        let losses = self.losses.entry(task).or_default();
        *losses += 1;
        *losses > MAX_LOSSES
    }

    fn demand<'i>(&self, instance: &'i Instance, task: TaskId) -> Option<&'i Demand> {
        let memory = self.memory?;
        instance.demands(task).iter().find(|demand| demand.resource == memory)
    }

    /// Returns the memory of a task with these processors: on each node, or on the whole platform.
    fn shares(&self, instance: &Instance, task: TaskId, processors: &ProcSet) -> Vec<(Option<usize>, u64)> {
        let Some(memory) = self.memory else { return Vec::new() };
        let (platform, demand) = (instance.platform(), self.demand(instance, task));
        let (allotment, raised) = (processors.len(), self.raised.get(&task).copied().unwrap_or(0));
        if platform.resource_of(memory).kind == ResourceKind::OfNodes {
            let share = |(node, here): (usize, u32)| {
                let stated = demand.map_or(0, |demand| demand.need.share(here, allotment));
                let part = u128::from(raised) * u128::from(here);
                let part = u64::try_from(part.div_ceil(u128::from(allotment))).unwrap_or(u64::MAX);
                (Some(node), stated.max(part.min(platform.amount(node, memory))))
            };
            return platform.parts(processors).into_iter().map(share).collect();
        }
        let most = u64::try_from(platform.total(memory)).unwrap_or(u64::MAX);
        vec![(None, demand.map_or(0, |demand| demand.need.total(allotment)).max(raised.min(most)))]
    }

    /// Returns the memory in bytes of a task on these processors: the stated need, or more after a lack of memory.
    /// Returns 0 if the task states no memory.
    pub fn bytes(&self, instance: &Instance, task: TaskId, processors: &ProcSet) -> u64 {
        self.shares(instance, task, processors).into_iter().fold(0, |sum, (_, share)| sum.saturating_add(share))
    }

    /// Returns the memory limit in bytes of a task on these processors, if it has one. A guessed amount is not a limit.
    pub fn limit(&self, instance: &Instance, task: TaskId, processors: &ProcSet) -> Option<u64> {
        let bytes = self.bytes(instance, task, processors);
        (bytes > 0 && !instance.task(task).memory_estimate.is_guess()).then_some(bytes)
    }

    /// Returns whether there is enough memory for a task in addition to the running tasks. Returns true if no need was
    /// increased, because the cluster has already checked the memory.
    fn has_room<'b>(
        &self,
        instance: &Instance,
        task: TaskId,
        processors: &ProcSet,
        mut running: impl Iterator<Item = (TaskId, &'b ProcSet)>,
    ) -> bool {
        let Some(memory) = self.memory.filter(|_| !self.raised.is_empty()) else { return true };
        let mut free: BTreeMap<Option<usize>, u128> = BTreeMap::new();
        for (at, share) in self.shares(instance, task, processors) {
            let platform = instance.platform();
            let there = at.map_or_else(|| platform.total(memory), |node| platform.amount(node, memory).into());
            free.insert(at, there.saturating_sub(share.into()));
        }
        // The cluster has checked that the platform has enough memory for the task itself.
        running.all(|(other, processors)| {
            self.shares(instance, other, processors).into_iter().all(|(at, share)| match free.get_mut(&at) {
                Some(free) if *free < u128::from(share) => false,
                Some(free) => {
                    *free -= u128::from(share);
                    true
                }
                None => true,
            })
        })
    }
}

/// Returns whether an outcome is a failure after which the task may be tried again.
fn is_failure(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed { .. } | Outcome::TimedOut)
}

impl Session<'_> {
    /// Adds to the accounting of a run the memory that was reserved for the run.
    pub(super) fn with_reservation(&self, task: TaskId, processors: &ProcSet, used: Accounting) -> Accounting {
        let bytes = self.retries.bytes(self.state.instance(), task, processors);
        Accounting { reserved_memory: Some(bytes).filter(|&bytes| bytes > 0), ..used }
    }

    /// Counts the end of a run. Returns whether the task will be tried again.
    pub(super) fn is_tried_again(&mut self, run: &Run) -> bool {
        let failures = self.retries.count(self.state.cluster.instance(), run);
        failures.is_some_and(|failures| failures <= self.options.retries) && !self.cancelled.contains(&run.task)
    }

    /// Starts a task if there is enough memory and no other task waits for memory. Otherwise the task waits for
    /// memory.
    pub(super) fn launch_in_turn(&mut self, delayed: DelayedStart) -> Result<(), ExecuteError> {
        let DelayedStart { task, processors, .. } = &delayed;
        let needs = self.is_crowded() && self.retries.bytes(self.state.instance(), *task, processors) > 0;
        if needs || !self.has_room(&delayed) {
            self.retries.crowded.push_back(delayed);
            return Ok(());
        }
        self.launch(delayed)
    }

    /// Starts tasks that wait for memory, while there is enough memory for the first of them.
    pub(super) fn launch_crowded(&mut self) -> Result<(), ExecuteError> {
        while let Some(next) = self.retries.crowded.front() {
            if !self.has_room(next) {
                return Ok(());
            }
            let next = self.retries.crowded.pop_front();
            next.map_or(Ok(()), |next| self.launch(next))?;
        }
        Ok(())
    }

    fn has_room(&self, delayed: &DelayedStart) -> bool {
        let running = self.machine.active.iter().map(|(&task, active)| (task, &active.processors));
        let starting = self.machine.starting.iter().map(|delayed| (delayed.task, &delayed.processors));
        let (instance, others) = (self.state.instance(), running.chain(starting));
        self.retries.has_room(instance, delayed.task, &delayed.processors, others)
    }

    pub(super) fn is_crowded(&self) -> bool {
        !self.retries.crowded.is_empty()
    }

    /// Extends the counts to this number of tasks.
    pub(super) fn count_failures_of(&mut self, tasks: u64) {
        self.retries.failures.resize(tasks as usize, 0);
    }

    /// Returns whether a task waits for memory.
    pub(super) fn is_in_crowd(&self, task: TaskId) -> bool {
        self.retries.crowded.iter().any(|delayed| delayed.task == task)
    }

    /// Removes a task from the tasks that wait for memory. Returns whether the task was waiting for memory.
    pub(super) fn leave_crowd(&mut self, task: TaskId) -> bool {
        let before = self.retries.crowded.len();
        self.retries.crowded.retain(|delayed| delayed.task != task);
        self.retries.crowded.len() < before
    }

    /// Forgets the tasks that wait for memory, so that they are not started.
    pub(super) fn forget_crowded(&mut self) {
        self.retries.crowded.clear();
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, MemoryKill, Need, Needs, Platform, Profile, Resources, Time};

    use super::*;

    const GIB: u64 = 1 << 30;

    fn instance(need: u64) -> Instance {
        let resources = Resources::new([(Resource::MEMORY, 8 * GIB)]).unwrap();
        let platform = Platform::flat(2).unwrap().with_node_resources(&resources).unwrap();
        let needs = Needs::new([(Resource::MEMORY, Need::whole(need))]).unwrap();
        let job = Job::new("a", Profile::rigid(1, Time::from_seconds(1)).unwrap()).with_needs(needs);
        Instance::new(platform, vec![job], vec![]).unwrap()
    }

    fn killed(reserved: Option<u64>, peak: u64) -> Run {
        let memory_kill = Some(MemoryKill::Certain);
        let used = Accounting { peak_memory: peak, reserved_memory: reserved, memory_kill, ..Accounting::default() };
        let (outcome, accounting) = (Outcome::Failed { status: 137 }, Some(used));
        Run {
            task: TaskId(0),
            start: Time::ZERO,
            end: Time::ZERO,
            processors: ProcSet::range(0, 0),
            outcome,
            accounting,
        }
    }

    fn options(raise_memory: bool) -> ExecuteOptions {
        ExecuteOptions { raise_memory, ..ExecuteOptions::new("") }
    }

    /// Checks that memory is doubled up to the memory of the node, and that only a kill with all memory is a failure.
    #[test]
    fn a_task_is_tried_with_more_memory_until_it_holds_all_of_it() {
        let instance = instance(GIB);
        let (task, processors) = (TaskId(0), ProcSet::range(0, 0));
        let mut retries = Retries::new(&instance, &[], &options(true));
        for (held, next, failures) in [(1, 2, 0), (2, 4, 0), (4, 8, 0), (8, 8, 1)] {
            assert_eq!(retries.bytes(&instance, task, &processors), held * GIB);
            assert_eq!(retries.count(&instance, &killed(Some(held * GIB), 0)), Some(failures));
            assert_eq!(retries.bytes(&instance, task, &processors), next * GIB);
        }
        let mut counted = Retries::new(&instance, &[], &options(false));
        assert_eq!(counted.count(&instance, &killed(None, 3 * GIB)), Some(1));
        assert_eq!(counted.bytes(&instance, task, &processors), 6 * GIB, "twice the peak");
    }

    /// Checks that a later session continues with the memory in the journal, even if the prediction has fallen.
    #[test]
    fn a_resumed_run_keeps_the_raised_memory() {
        let runs = [killed(Some(GIB), GIB), killed(Some(2 * GIB), 2 * GIB)];
        let (task, processors) = (TaskId(0), ProcSet::range(0, 0));
        for need in [GIB, GIB / 2] {
            let instance = instance(need);
            let retries = Retries::new(&instance, &runs, &options(true));
            assert_eq!((retries.bytes(&instance, task, &processors), retries.failures(task)), (4 * GIB, 0));
        }
    }
}
