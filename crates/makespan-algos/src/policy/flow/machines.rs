//! The machines, their queues and their remaining work.

use std::collections::VecDeque;

use makespan_core::{Decision, ProcSet, Running, TaskId, TaskSet, Time, View};
use rustc_hash::FxHashMap;

/// All machines, indexed by the ids of their processors.
#[derive(Debug)]
pub(super) struct FlowMachines {
    all: Vec<Machine>,
    /// The machine of each running task.
    place_of: FxHashMap<TaskId, u32>,
}

/// A processor with its queue.
#[derive(Debug)]
pub(super) struct Machine {
    /// The node of the processor.
    pub node: usize,
    pub is_up: bool,
    queue: VecDeque<SentTask>,
    /// The sum of the times of the tasks in the queue.
    queued: Time,
    running: Option<ExpectedRun>,
    /// The instant at which all tasks of the machine are expected to have ended.
    done: Time,
}

/// A task that travels to a machine or waits in its queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentTask {
    pub task: TaskId,
    pub time: Time,
    pub arrives: Time,
}

#[derive(Clone, Copy, Debug)]
struct ExpectedRun {
    start: Time,
    end: Time,
}

impl FlowMachines {
    /// Returns the machines of a view, with the running tasks.
    pub(super) fn of(view: &View<'_>) -> Self {
        let platform = view.instance.platform();
        let machine = |id| Machine {
            node: platform.node_of(id),
            is_up: true,
            queue: VecDeque::new(),
            queued: Time::ZERO,
            running: None,
            done: view.now,
        };
        let all = (0..platform.processors()).map(machine).collect();
        let mut machines = Self { all, place_of: FxHashMap::default() };
        for running in view.running {
            machines.adopt(running, view);
        }
        machines.look(view);
        machines
    }

    fn adopt(&mut self, running: &Running, view: &View<'_>) {
        let Some(id) = running.processors.last() else { return };
        let end = running.expected_end(view.instance, view.now);
        self.place_of.insert(running.task, id);
        let machine = &mut self.all[id as usize];
        machine.running = Some(ExpectedRun { start: running.start, end });
        machine.done = end;
    }

    /// Updates the run times of tasks that run or wait in queues.
    pub(super) fn restate(&mut self, restated: &TaskSet, view: &View<'_>) {
        if restated.is_empty() {
            return;
        }
        for machine in &mut self.all {
            let node = machine.node;
            for sent in machine.queue.iter_mut().filter(|sent| restated.contains(sent.task)) {
                sent.time = view.instance.time_on(sent.task, node).unwrap_or(sent.time);
            }
            machine.queued = machine.queue.iter().map(|sent| sent.time).sum();
        }
        for run in view.running.iter().filter(|run| restated.contains(run.task)) {
            let place = self.place_of.get(&run.task).map(|&place| place as usize);
            if let Some(believed) = place.and_then(|place| self.all[place].running.as_mut()) {
                believed.end = run.start + view.instance.time(run.task, &run.processors);
            }
        }
        for machine in &mut self.all {
            let begin = machine.running.map_or(view.now, |believed| believed.end);
            let begin = machine.queue.front().map_or(begin, |sent| begin.max(sent.arrives));
            machine.done = begin + machine.queued;
        }
    }

    /// Returns all machines.
    pub(super) fn all(&self) -> &[Machine] {
        &self.all
    }

    /// Removes a task that has ended or was interrupted.
    pub(super) fn end(&mut self, task: TaskId, now: Time) {
        let Some(place) = self.place_of.remove(&task) else { return };
        let machine = &mut self.all[place as usize];
        let believed = machine.running.take();
        if believed.is_none_or(|believed| believed.end != now) {
            let begin = machine.queue.front().map_or(now, |sent| sent.arrives.max(now));
            machine.done = begin + machine.queued;
        }
    }

    /// Updates which machines are up. Removes the tasks from the queues of machines that are down, and returns these
    /// tasks.
    pub(super) fn look(&mut self, view: &View<'_>) -> Vec<TaskId> {
        let mut lost = Vec::new();
        for (id, machine) in (0..).zip(&mut self.all) {
            let is_up = !view.down.iter().any(|down| down.processors.contains(id));
            if is_up && !machine.is_up && machine.running.is_none() {
                machine.done = view.now;
            }
            machine.is_up = is_up;
            if !is_up {
                lost.extend(machine.queue.drain(..).map(|sent| sent.task));
                machine.queued = Time::ZERO;
            }
        }
        lost
    }

    /// Sends a task to a machine.
    pub(super) fn send(&mut self, id: usize, sent: SentTask) {
        let machine = &mut self.all[id];
        machine.done = machine.done.max(sent.arrives) + sent.time;
        machine.queued += sent.time;
        machine.queue.push_back(sent);
    }

    /// Returns the time until one of the machines that are up completes its tasks. Returns `None` if all machines are
    /// down.
    pub(super) fn least_left(&self, now: Time) -> Option<Time> {
        self.all.iter().filter(|machine| machine.is_up).map(|machine| machine.ready(now) - now).min()
    }

    /// Starts the next task of each idle machine, if this task has reached the machine.
    pub(super) fn start(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) {
        for (id, machine) in (0..).zip(&mut self.all) {
            if machine.running.is_some() || !machine.is_up {
                continue;
            }
            let Some(&sent) = machine.queue.front().filter(|sent| sent.arrives <= view.now) else { continue };
            machine.queue.pop_front();
            machine.queued = machine.queued - sent.time;
            machine.running = Some(ExpectedRun { start: view.now, end: view.now + sent.time });
            self.place_of.insert(sent.task, id);
            decisions.push(Decision::Start { task: sent.task, processors: ProcSet::range(id, id) });
        }
    }

    /// Returns the next instant at which a task arrives on an idle machine.
    pub(super) fn next_arrival(&self, now: Time) -> Option<Time> {
        let idle = self.all.iter().filter(|machine| machine.running.is_none() && machine.is_up);
        idle.filter_map(|machine| machine.queue.front()).map(|sent| sent.arrives).filter(|&at| at > now).min()
    }
}

impl Machine {
    /// Returns the instant at which the machine is expected to have completed all its tasks. If a running task exceeds
    /// its estimate, its expected run time is 5/4 of the time that it has already run.
    pub(super) fn ready(&self, now: Time) -> Time {
        match self.running {
            Some(ExpectedRun { start, end }) if end <= now => {
                let more = Time::from_ticks(((now - start).ticks() / 4).max(1));
                now + more + self.queued
            }
            _ => self.done.max(now),
        }
    }
}
