//! The waiting tasks of a flow, and the instants at which they are mapped and sent.

use std::time::Instant;

use makespan_core::{Event, Instance, TaskId, Time, View};
use rand_chacha::ChaCha8Rng;

use super::machines::{FlowMachines, SentTask};
use super::{Communication, MappingInstants, Rules, SchedulingTime};
use crate::kernel::mapping::{Mapper, MappingProblem, MinimumCompletion, Times, task_time};

/// The state of the dispatcher.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub machines: FlowMachines,
    /// The tasks that can run on at least one machine that is up, in the order of arrival.
    pool: Vec<TaskId>,
    /// Tasks that can run only on machines that are down. The tasks are checked again when a machine comes up.
    stuck: Vec<TaskId>,
    /// The mapping in progress.
    planned: Option<Planned>,
    /// The instant from which polls and intervals are computed. Polls are at whole seconds after this instant. No
    /// mapping begins at a multiple of the interval that is before this instant.
    since: Time,
    /// The duration of the last mapping.
    last: Time,
}

/// A mapping: tasks with their machines. The tasks are sent at the instant `at`.
#[derive(Debug)]
struct Planned {
    at: Time,
    tasks: Vec<(TaskId, usize)>,
}

/// The period of the polled cycle.
const POLL: Time = Time::from_seconds(1);

impl Dispatch {
    /// Returns the state that the view shows.
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut waiting: Vec<TaskId> = view.waiting.iter().collect();
        waiting.sort_by_key(|&task| view.instance.release(task));
        let (pool, stuck) = (Vec::with_capacity(waiting.len()), Vec::new());
        let mut dispatch =
            Self { machines: FlowMachines::of(view), pool, stuck, planned: None, since: view.now, last: Time::ZERO };
        waiting.into_iter().for_each(|task| dispatch.wait(view.instance, task));
        dispatch
    }

    /// Adds a task to be mapped.
    fn wait(&mut self, instance: &Instance, task: TaskId) {
        let mut machines = self.machines.all().iter().filter(|machine| machine.is_up);
        let can_run = machines.any(|machine| instance.time_on(task, machine.node).is_some());
        if can_run { &mut self.pool } else { &mut self.stuck }.push(task);
    }

    /// Processes events.
    pub(super) fn hear(&mut self, events: &[Event], view: &View<'_>) {
        if events.iter().any(|event| matches!(event, Event::NodeUp(_) | Event::NodeDown(_))) {
            let lost = self.machines.look(view);
            let (pool, stuck) = (std::mem::take(&mut self.pool), std::mem::take(&mut self.stuck));
            pool.into_iter().chain(stuck).chain(lost).for_each(|task| self.wait(view.instance, task));
        }
        for event in events {
            match *event {
                Event::Submitted(task) => self.wait(view.instance, task),
                Event::Finished(task) | Event::Failed(task) => self.machines.end(task, view.now),
                Event::Interrupted(task) => {
                    self.machines.end(task, view.now);
                    if view.waiting.contains(task) {
                        self.wait(view.instance, task);
                    }
                }
                Event::NodeUp(_) | Event::NodeDown(_) | Event::Estimated(_) | Event::Wake => {}
            }
        }
        self.machines.restate(&Event::estimated(events, view.instance), view);
    }

    /// Maps and sends the tasks that are due. Returns the next instant at which this function must be called.
    pub(super) fn send(
        &mut self,
        view: &View<'_>,
        rules: Rules,
        mapper: &dyn Mapper,
        random: &mut ChaCha8Rng,
    ) -> Option<Time> {
        let mut dealer = InstantDispatch { dispatch: self, view, rules, mapper, random };
        loop {
            if let Some(at) = dealer.deliver() {
                return Some(at);
            }
            match dealer.due()? {
                Due::At(at) => return Some(at),
                Due::OneByOne(printed) => dealer.one_by_one(printed),
                Due::Batch => dealer.batch(),
            }
        }
    }
}

/// The next action of the dispatcher.
enum Due {
    /// Wait until this instant.
    At(Time),
    /// Map and send each task separately. If the value is true, the paper's rule for few tasks chooses the machine. If
    /// the value is false, the mapper chooses it.
    OneByOne(bool),
    /// Map all tasks of the pool together.
    Batch,
}

/// The dispatcher at an instant.
struct InstantDispatch<'a, 'b> {
    dispatch: &'a mut Dispatch,
    view: &'a View<'b>,
    rules: Rules,
    mapper: &'a dyn Mapper,
    random: &'a mut ChaCha8Rng,
}

impl InstantDispatch<'_, '_> {
    /// If a mapping is finished, sends its tasks. If a mapping is in progress, returns the instant at which it will be
    /// finished.
    fn deliver(&mut self) -> Option<Time> {
        let Planned { at, tasks } = self.dispatch.planned.take()?;
        if at > self.view.now {
            self.dispatch.planned = Some(Planned { at, tasks });
            return Some(at);
        }
        for (task, machine) in tasks {
            self.send(task, machine);
        }
        None
    }

    /// Sends a task to a machine. If the machine has failed since the mapping, the task waits again.
    fn send(&mut self, task: TaskId, machine: usize) {
        let target = &self.dispatch.machines.all()[machine];
        match self.view.instance.time_on(task, target.node).filter(|_| target.is_up) {
            Some(time) => {
                let arrives = self.view.now + self.rules.communication.cost(self.view.instance, task, target.node);
                self.dispatch.machines.send(machine, SentTask { task, time, arrives });
            }
            None => self.dispatch.wait(self.view.instance, task),
        }
    }

    /// Returns the next action in the current state, or `None` if only an event can change the state.
    fn due(&self) -> Option<Due> {
        let now = self.view.now;
        if self.dispatch.pool.is_empty() {
            return None;
        }
        match self.rules.when {
            MappingInstants::Arrival => Some(Due::OneByOne(false)),
            MappingInstants::Every(interval) => {
                let tick = next_multiple(now.max(self.dispatch.since), interval);
                Some(if tick == now { Due::Batch } else { Due::At(tick) })
            }
            MappingInstants::Poll => {
                let poll = self.dispatch.since + next_multiple(now - self.dispatch.since, POLL);
                Some(if poll == now { self.cycle().unwrap_or(Due::At(now + POLL)) } else { Due::At(poll) })
            }
            MappingInstants::Events => Some(self.cycle().unwrap_or_else(|| Due::At(now + self.slack()))),
            MappingInstants::Need => {
                Some(if self.slack() > Time::ZERO { Due::At(now + self.slack()) } else { Due::Batch })
            }
        }
    }

    /// Returns the action of the dynamic scheduling cycle, or `None` if no action is due yet.
    fn cycle(&self) -> Option<Due> {
        let enough = 2 * self.dispatch.machines.all().iter().filter(|machine| machine.is_up).count();
        if self.slack() > Time::ZERO {
            return None;
        }
        Some(if self.dispatch.pool.len() > enough { Due::Batch } else { Due::OneByOne(true) })
    }

    /// Returns the maximum time by which the next mapping can be delayed so that no machine becomes idle before the
    /// mapping is finished. Returns zero if a machine becomes idle even when the mapping begins now.
    fn slack(&self) -> Time {
        let left = self.dispatch.machines.least_left(self.view.now).unwrap_or(Time::MAX);
        let mut needed = self.rules.scheduling_time.expected(self.dispatch.pool.len(), self.dispatch.last);
        if self.rules.when == MappingInstants::Need {
            needed += self.lead();
        }
        if left > needed { left - needed } else { Time::ZERO }
    }

    /// Returns the maximum communication cost of the first waiting task over all machines.
    fn lead(&self) -> Time {
        match (self.rules.communication, self.dispatch.pool.first()) {
            (Communication::Fixed(time), _) => time,
            (Communication::Links, Some(&task)) => {
                let nodes = self.dispatch.machines.all().iter().map(|machine| machine.node);
                nodes.map(|node| self.cost(task, node)).max().unwrap_or(Time::ZERO)
            }
            (Communication::Links, None) => Time::ZERO,
        }
    }

    fn cost(&self, task: TaskId, node: usize) -> Time {
        self.rules.communication.cost(self.view.instance, task, node)
    }

    /// Returns the machines that are up.
    fn up(&self) -> Vec<usize> {
        let all = self.dispatch.machines.all();
        (0..all.len()).filter(|&machine| all[machine].is_up).collect()
    }

    /// Maps and sends each task separately.
    ///
    /// If `printed` is set, the communication cost is added to the time of the task, as in the paper. Otherwise, the
    /// machine runs other tasks while the task travels.
    fn one_by_one(&mut self, printed: bool) {
        let (up, now) = (self.up(), self.view.now);
        for task in std::mem::take(&mut self.dispatch.pool) {
            let (mut row, mut ready) = (Vec::with_capacity(up.len()), Vec::with_capacity(up.len()));
            for &machine in &up {
                let machine = &self.dispatch.machines.all()[machine];
                let (free, cost) = (machine.ready(now), self.cost(task, machine.node));
                row.push(task_time(self.view.instance.time_on(task, machine.node)));
                ready.push(if printed { free + cost } else { free.max(now + cost) }.ticks());
            }
            let problem = MappingProblem::new(Times::flat(row, up.len()), ready);
            let mapping = if printed {
                MinimumCompletion.map(&problem, self.random)
            } else {
                self.mapper.map(&problem, self.random)
            };
            self.send(task, up[mapping[0].index()]);
        }
    }

    /// Maps all tasks together. The mapper uses the expected state of the machines at the end of the mapping.
    fn batch(&mut self) {
        let (up, now) = (self.up(), self.view.now);
        let expected = self.rules.scheduling_time.expected(self.dispatch.pool.len(), self.dispatch.last);
        let needs = self.rules.when == MappingInstants::Need;
        let lead = if needs { self.lead() } else { Time::ZERO };
        let tasks = std::mem::take(&mut self.dispatch.pool);
        let ready =
            |&machine: &usize| self.dispatch.machines.all()[machine].ready(now).max(now + expected + lead).ticks();
        let nodes: Vec<usize> = up.iter().map(|&machine| self.dispatch.machines.all()[machine].node).collect();
        let instance = self.view.instance;
        let row = |&task: &TaskId| nodes.iter().map(move |&node| task_time(instance.time_on(task, node)));
        let times = Times::flat(tasks.iter().flat_map(row).collect(), up.len());
        let problem = MappingProblem::new(times, up.iter().map(ready).collect());
        let begin = (self.rules.scheduling_time == SchedulingTime::Measured).then(Instant::now);
        let mapping = self.mapper.map(&problem, self.random);
        let real = begin.map_or_else(Default::default, |begin| begin.elapsed());
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        if needs {
            // The order of a machine's tasks does not affect the instant at which the machine completes them. The
            // order affects the mean flow time.
            order.sort_by_key(|&task| problem.time(task, mapping[task]));
        }
        let at = now + self.rules.scheduling_time.spent(expected, real);
        let tasks = order.into_iter().map(|at| (tasks[at], up[mapping[at].index()])).collect();
        self.dispatch.last = at - now;
        self.dispatch.since =
            at + if matches!(self.rules.when, MappingInstants::Every(_)) { Time::TICK } else { Time::ZERO };
        self.dispatch.planned = Some(Planned { at, tasks });
    }
}

/// Returns the first multiple of `interval` that is not before `time`. The interval must be positive.
fn next_multiple(time: Time, interval: Time) -> Time {
    let whole = time.ticks().div_euclid(interval.ticks());
    let multiple = Time::from_ticks(whole * interval.ticks());
    if multiple < time { multiple + interval } else { multiple }
}
