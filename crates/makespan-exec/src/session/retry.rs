//! Tries failed tasks again, with more memory if they lacked memory.

use std::collections::{BTreeMap, VecDeque};

use makespan_core::{Demand, Instance, Outcome, ProcSet, Resource, ResourceId, ResourceKind, Run, TaskId};

use super::Session;
use super::delayed::DelayedStart;
use crate::ExecuteError;

/// Maximum number of times that a task waits again after it was lost with its node.
const MAX_LOSSES: u32 = 3;

/// Number of failures of each task, and increased memory of tasks that lacked memory.
#[derive(Debug)]
pub(crate) struct Retries {
    /// The resource `memory`, if the platform has it and it is not a consumable.
    memory: Option<ResourceId>,
    failures: Vec<u32>,
    /// Number of times that each task was lost with its node.
    losses: BTreeMap<TaskId, u32>,
    /// Memory in bytes of a task in its next attempt, if it exceeds the stated need.
    raised: BTreeMap<TaskId, u64>,
    /// Tasks that the policy has started, but that wait for memory, in order of arrival.
    crowded: VecDeque<DelayedStart>,
}

impl Retries {
    /// Counts the failures in these runs. If `anew` is true, failures of `open` tasks are not counted.
    pub fn new(instance: &Instance, runs: &[Run], open: &[TaskId], anew: bool) -> Self {
        let platform = instance.platform();
        let memory = platform.resource(Resource::MEMORY);
        let memory = memory.filter(|&id| platform.resource_of(id).kind != ResourceKind::Consumable);
        let mut retries = Self {
            memory,
            failures: vec![0; instance.tasks() as usize],
            losses: BTreeMap::new(),
            raised: BTreeMap::new(),
            crowded: VecDeque::new(),
        };
        for run in runs {
            retries.count(instance, run);
        }
        for task in open.iter().filter(|_| anew) {
            retries.failures[task.index()] = 0;
        }
        retries
    }

    /// Counts the end of a run. If the run failed, returns the number of failures of the task so far.
    fn count(&mut self, instance: &Instance, run: &Run) -> Option<u32> {
        if !is_failure(run.outcome) {
            return None;
        }
        let failures = &mut self.failures[run.task.index()];
        *failures += 1;
        let failures = *failures;
        if let Some(used) = run.accounting.filter(|used| used.memory_kill.is_some()) {
            // The next attempt gets twice the memory of this attempt, or twice the measured peak if this is more.
            let least = self.bytes(instance, run.task, &run.processors).max(used.peak_memory);
            self.raised.insert(run.task, least.saturating_mul(2));
        }
        Some(failures)
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
pub(crate) fn is_failure(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed { .. } | Outcome::TimedOut)
}

impl Session<'_> {
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
