//! Hands over a run: all its tasks wait in the queue of another system, which decides when each task starts.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::{Duration, SystemTime};

use makespan_core::{Event, Instance, Outcome, Placement, ProcSet, Run, Schedule, TaskId, Time, counted};

use super::Session;
use super::active::SessionNews;
use super::delayed::DelayedStart;
use crate::ExecuteError;
use crate::clock::since_origin;
use crate::journal::JournalRecord;

/// Function that replans, at an instant of the run, the tasks that the engine has not received yet. Returns `None` to
/// keep the existing plan. A task that is not in the new plan keeps its position in the old plan.
pub type PlanAgain<'a> = &'a mut dyn FnMut(&Instance, Time, &[TaskId]) -> Option<Vec<Placement>>;

/// The first pause after a refused start.
const PAUSE: Time = Time::from_ticks(50_000_000);

/// The tasks that the engine has not received yet, in the order of the plan.
pub(crate) struct HandOver<'a> {
    due: BTreeSet<(u32, TaskId)>,
    /// Rank of each task in the order of the plan. Each task comes after its predecessors.
    ranks: Vec<u32>,
    /// The planned processors of each task; empty if the plan does not contain the task.
    processors: Vec<ProcSet>,
    /// For each task, true if the task has succeeded.
    succeeded: Vec<bool>,
    /// Function that plans the remaining tasks again.
    again: PlanAgain<'a>,
    /// True if the plan was made in an earlier session.
    is_old: bool,
}

/// Returns the rank of each task in the order of these starts, with each task after its predecessors.
fn ranked(instance: &Instance, starts: &[Time]) -> Vec<u32> {
    let mut missing = vec![0_u32; starts.len()];
    for edge in instance.edges() {
        let from = instance.equal_tasks(edge.from).len() as u32;
        instance.equal_tasks(edge.to).for_each(|task| missing[task.index()] += from);
    }
    let free = |task: &TaskId| missing[task.index()] == 0;
    let mut ready: BinaryHeap<Reverse<(Time, TaskId)>> =
        instance.task_ids().filter(free).map(|task| Reverse((starts[task.index()], task))).collect();
    let mut ranks = vec![0; starts.len()];
    for rank in 0.. {
        let Some(Reverse((_, task))) = ready.pop() else { break };
        ranks[task.index()] = rank;
        for next in instance.outgoing(task).flat_map(|edge| instance.equal_tasks(edge.to)) {
            missing[next.index()] -= 1;
            if missing[next.index()] == 0 {
                ready.push(Reverse((starts[next.index()], next)));
            }
        }
    }
    ranks
}

impl<'a> HandOver<'a> {
    /// Creates the state. At first, no task is due.
    pub fn new(instance: &Instance, plan: &Schedule, again: PlanAgain<'a>, is_old: bool, runs: &[Run]) -> Self {
        let count = instance.tasks() as usize;
        let (mut processors, mut starts) = (vec![ProcSet::new(); count], vec![Time::MAX; count]);
        for placement in plan.placements() {
            processors[placement.task.index()].clone_from(&placement.processors);
            starts[placement.task.index()] = placement.start;
        }
        let mut succeeded = vec![false; count];
        for run in runs.iter().filter(|run| run.outcome == Outcome::Succeeded) {
            succeeded[run.task.index()] = true;
        }
        let ranks = ranked(instance, &starts);
        Self { due: BTreeSet::new(), ranks, processors, succeeded, again, is_old }
    }

    /// Plans the due tasks again, which changes their allotments and their order.
    fn plan_again(&mut self, instance: &Instance, now: Time) {
        let due: Vec<TaskId> = self.due.iter().map(|&(_, task)| task).collect();
        let Some(placements) = (self.again)(instance, now, &due) else { return };
        let mut starts = vec![Time::MAX; self.ranks.len()];
        for placement in placements {
            starts[placement.task.index()] = placement.start;
            self.processors[placement.task.index()] = placement.processors;
        }
        self.ranks = ranked(instance, &starts);
        self.due = due.into_iter().map(|task| (self.ranks[task.index()], task)).collect();
    }

    fn is_planned(&self, task: TaskId) -> bool {
        !self.processors[task.index()].is_empty()
    }

    fn insert(&mut self, task: TaskId) {
        if self.is_planned(task) {
            self.due.insert((self.ranks[task.index()], task));
        }
    }

    fn remove(&mut self, task: TaskId) {
        self.due.remove(&(self.ranks[task.index()], task));
    }
}

impl Session<'_> {
    /// Gives all open tasks to the engine, and waits until the tasks have ended or a stop is requested.
    pub fn hand_over(&mut self, closed: &[TaskId]) -> Result<(), ExecuteError> {
        let outcome = self.close(closed).and_then(|()| self.hear()).and_then(|()| self.submit_all());
        if outcome.is_ok() && self.is_idle() && !self.halted && !self.options.stop.is_requested() {
            return self.finish();
        }
        let ended = self.end_all();
        outcome.and(ended)
    }

    fn submit_all(&mut self) -> Result<(), ExecuteError> {
        // Successors of tasks that failed in earlier sessions are already recorded as not started.
        let of = |event: &Event| if let Event::Failed(task) = *event { Some(task) } else { None };
        let closed: BTreeSet<TaskId> = self.policy.events.iter().filter_map(of).collect();
        for task in std::mem::take(&mut self.state.unreleased) {
            if !closed.contains(&task) {
                self.insert(task);
            }
        }
        while !self.options.stop.is_requested() {
            if self.halted {
                return self.drain();
            }
            self.heed();
            self.submit_due()?;
            self.start_delayed()?;
            self.commit();
            self.refuse_deletion()?;
            self.enforce_limits();
            self.settle_doubts()?;
            if self.is_idle() && self.machine.handed.as_ref().is_none_or(|handed| handed.due.is_empty()) {
                return Ok(());
            }
            self.wait()?;
        }
        Ok(())
    }

    fn insert(&mut self, task: TaskId) {
        if let Some(handed) = &mut self.machine.handed {
            handed.insert(task);
        }
    }

    /// Makes lost and failed tasks and their successors due again. Takes the successors back, because they would never
    /// start in the queue.
    fn heed(&mut self) {
        for event in std::mem::take(&mut self.policy.events) {
            match event {
                Event::Finished(task) | Event::Failed(task) => self.state.end(task),
                Event::Interrupted(task) => {
                    self.state.end(task);
                    self.insert(task);
                    self.recall_behind(task);
                }
                _ => {}
            }
        }
    }

    fn recall_behind(&mut self, task: TaskId) {
        let (mut open, mut seen) = (vec![task], BTreeSet::new());
        while let Some(task) = open.pop() {
            let instance = self.state.instance();
            let behind = instance.outgoing(task).flat_map(|edge| instance.equal_tasks(edge.to));
            for next in behind.collect::<Vec<TaskId>>() {
                if seen.insert(next) && self.machine.active.contains_key(&next) {
                    open.push(next);
                    if self.take_back(next) {
                        self.insert(next);
                    }
                }
            }
        }
    }

    /// Takes a task back from the engine, if the task has not begun. Returns true if the task was taken back and is
    /// open again.
    fn take_back(&mut self, task: TaskId) -> bool {
        let going = self.machine.active.get(&task).is_some_and(|active| active.going);
        if !going || !self.machine.engine.recall(task) {
            return false;
        }
        self.machine.active.remove(&task);
        self.ledger.journal.note(JournalRecord::Interrupted { task, at: self.now() });
        true
    }

    /// If tasks were handed over, takes back all tasks that have not begun.
    pub(super) fn recall_all(&mut self) {
        let Some(handed) = &mut self.machine.handed else { return };
        handed.due.clear();
        let all: Vec<TaskId> = self.machine.active.keys().copied().collect();
        let left = all.into_iter().filter(|&task| self.take_back(task)).count();
        if left > 0 {
            let (leaves, whom) = if left == 1 { ("leaves", "the job") } else { ("leave", "the jobs") };
            self.observer.message(&format!(
                "{} that had not started {leaves} the queue; resuming the run submits {whom} again",
                counted(left, "job")
            ));
        }
    }

    /// Removes a task that will never start. If the engine has already received the task, takes the task back.
    pub(super) fn withdraw(&mut self, task: TaskId) {
        let Some(handed) = &mut self.machine.handed else { return };
        handed.remove(task);
        self.machine.starting.remove(task);
        if self.machine.active.get(&task).is_some_and(|active| active.going) {
            self.machine.engine.recall(task);
            self.machine.active.remove(&task);
        }
    }

    /// Gives the engine as many tasks as it accepts.
    fn submit_due(&mut self) -> Result<(), ExecuteError> {
        let now = self.now();
        if let Some(handed) = &mut self.machine.handed
            && !handed.due.is_empty()
            && self.machine.engine.takes_more()
            && (std::mem::take(&mut handed.is_old) || self.machine.engine.wants_new_plan())
        {
            handed.plan_again(self.state.instance(), now);
        }
        while self.machine.starting.is_empty() && self.machine.engine.takes_more() {
            let Some(handed) = &mut self.machine.handed else { return Ok(()) };
            let Some((_, task)) = handed.due.pop_first() else { return Ok(()) };
            let processors = handed.processors[task.index()].clone();
            self.launch(DelayedStart { task, processors, due: self.now(), pause: PAUSE })?;
        }
        Ok(())
    }

    /// Records that a task has begun.
    pub(super) fn begun(&mut self, task: TaskId, at: SystemTime, processors: ProcSet) {
        let now = self.now();
        let Some(active) = self.machine.active.get_mut(&task) else { return };
        // The start is clamped, because the clocks of several machines differ.
        active.start = since_origin(at, self.ledger.origin).clamp(active.start, now.max(active.start));
        active.processors = processors;
        let running = active.running(task);
        let (at, processors) = (running.start, running.processors.clone());
        self.ledger.journal.note(JournalRecord::Begun { task, at, processors });
        // Here, `cluster` is only used for display. If it does not allow the start that the other system made, the
        // task is not shown.
        let _ = self.state.cluster.take_over(running.clone());
        self.news.push(SessionNews::Started(running));
    }

    /// Returns the time limit that this session enforces for a task. Returns `None` if the engine decides when tasks
    /// start, because the engine then enforces the limit.
    pub(super) fn own_walltime(&self, task: TaskId) -> Option<Time> {
        self.limit(task).filter(|_| self.machine.handed.is_none())
    }

    /// Returns the time limit of a task: the minimum of the policy's limit and the task's own limit. A task without
    /// its own limit has the timeout of the run.
    pub(super) fn limit(&self, task: TaskId) -> Option<Time> {
        let walltime = self.state.instance().walltime(task).or(self.options.timeout);
        walltime.into_iter().chain(self.policy.granted.get(&task).copied()).min()
    }

    /// Returns the predecessors of a task that have not succeeded. The list is empty if the policy decides when tasks
    /// start.
    pub(super) fn open_before(&self, task: TaskId) -> Vec<TaskId> {
        let instance = self.state.instance();
        if self.machine.handed.is_none() || instance.edges().is_empty() {
            return Vec::new();
        }
        let before = instance.incoming(task).flat_map(|edge| instance.equal_tasks(edge.from));
        let succeeded =
            |other: &TaskId| self.machine.handed.as_ref().is_some_and(|handed| handed.succeeded[other.index()]);
        let mut before: Vec<TaskId> = before.filter(|other| !succeeded(other)).collect();
        before.sort_unstable();
        before.dedup();
        before
    }

    /// Records that a task has succeeded, so that its successors need not wait for this task.
    pub(super) fn note_success(&mut self, task: TaskId) {
        if let Some(handed) = &mut self.machine.handed {
            handed.succeeded[task.index()] = true;
            self.machine.engine.hear_success(task);
        }
    }

    /// Returns the time until the release date of a task. Returns zero if the policy decides when tasks start.
    pub(super) fn until_release(&self, task: TaskId) -> Duration {
        let left = self.state.instance().release(task).saturating_since(self.now());
        if self.machine.handed.is_some() {
            Duration::from_nanos(u64::try_from(left.ticks()).unwrap_or(0))
        } else {
            Duration::ZERO
        }
    }
}
