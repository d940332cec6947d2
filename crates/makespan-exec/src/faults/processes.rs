//! The simulated process table: shims and their tasks in virtual time.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::{ProcSet, TaskId};

use super::{Effect, MachineState, World};
use crate::engine::{EarlierAttempt, Engine, EngineStart, LeftProcesses, Notice, Refusal, TakenAttempt};
use crate::process::Identity;
use crate::status::{AttemptClaim, AttemptStatus, StatusSlot, nanoseconds};
use crate::storage::{Storage, is_passing};

/// Time between two attempts of a shim at an operation that fails.
const PAUSE: Duration = Duration::from_millis(200);

/// A shim and its task.
#[expect(clippy::struct_excessive_bools, reason = "each flag states one event of the process")]
#[derive(Clone, Debug)]
pub(super) struct Process {
    task: TaskId,
    processors: ProcSet,
    gpus: Vec<u64>,
    path: PathBuf,
    claim: Option<AttemptClaim>,
    state: State,
    /// True if the session that started this shim has died.
    alone: bool,
    /// True if the current session manages this shim.
    known: bool,
    asked: bool,
    killed: bool,
    stopped: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    /// Waits until this instant, and then tries to reserve disk space for the status.
    Unreserved(Duration),
    Waiting,
    /// Runs the command, which will end at this instant with this exit status.
    Running(Duration, i32),
    /// Waits until this instant, and then tries to write this exit status.
    Leaving(Duration, i32),
    Gone(i32),
}

/// Returns the run time of a task, its exit status, and whether it reacts to SIGTERM.
pub(super) fn script(task: TaskId) -> (Duration, i32, bool) {
    match task.0 {
        0 => (Duration::from_secs(1), 0, true),
        1 => (Duration::from_secs(2), 0, true),
        2 => (Duration::from_secs(1), 3, true),
        3 => (Duration::from_secs(100), 0, false),
        4 => (Duration::from_millis(1500), 0, false),
        _ => (Duration::from_secs(3), 0, true),
    }
}

impl Process {
    fn is_alive(&self) -> bool {
        !matches!(self.state, State::Gone(_))
    }

    fn next(&self) -> Option<Duration> {
        match self.state {
            State::Unreserved(at) | State::Running(at, _) | State::Leaving(at, _) => Some(at),
            State::Waiting | State::Gone(_) => None,
        }
    }

    /// Asks the process to end. A process that has already ended by itself is not marked as asked.
    fn end(&mut self, now: Duration, kill: bool) {
        self.asked |= !matches!(self.state, State::Leaving(..));
        self.killed |= kill;
        self.ask(now, kill);
    }

    fn ask(&mut self, now: Duration, kill: bool) {
        let react = kill || script(self.task).2;
        let status = if kill { 137 } else { 143 };
        if let State::Running(until, exit) = &mut self.state
            && react
        {
            (*until, *exit) = (now, status);
        }
    }
}

impl MachineState {
    /// Informs the shims that the session has died.
    pub fn orphan(&mut self) {
        for process in self.processes.values_mut() {
            (process.alone, process.known) = (true, false);
            if matches!(process.state, State::Waiting | State::Unreserved(_)) {
                process.state = State::Gone(125);
            }
        }
    }

    fn check_copies(&mut self, new: i32) {
        let process = &self.processes[&new];
        let others = self.processes.iter().filter(|(pid, other)| **pid != new && other.is_alive());
        for (_, other) in others {
            if other.task == process.task {
                self.violations.push(format!("two copies of job {}", process.task.0));
            } else if !other.processors.is_disjoint(&process.processors) {
                self.violations.push(format!("jobs {} and {} share processors", process.task.0, other.task.0));
            } else if process.gpus.is_empty() || other.gpus.iter().any(|gpu| process.gpus.contains(gpu)) {
                self.violations.push(format!("jobs {} and {} share GPUs", process.task.0, other.task.0));
            }
        }
    }
}

impl World {
    pub fn kill_shim(&self, pid: i32) {
        let mut inner = self.0.borrow_mut();
        let Some(process) = inner.processes.get_mut(&pid) else { return };
        process.state = State::Gone(137);
        let task = process.task.0;
        inner.victims.insert(task);
    }

    /// Sends SIGTERM to all tasks and shims, like a service manager.
    pub fn stop_processes(&self) {
        let mut inner = self.0.borrow_mut();
        let now = inner.clock;
        for process in inner.processes.values_mut() {
            process.stopped = true;
            process.ask(now, false);
        }
    }

    /// Returns the running tasks that were not asked to end, with the number of starts of each. Task 3 is omitted,
    /// because it may reach its time limit.
    pub fn undisturbed(&self) -> BTreeMap<u64, usize> {
        let inner = self.0.borrow();
        let runs =
            |process: &&Process| matches!(process.state, State::Running(..)) && !process.asked && !process.stopped;
        let running = inner.processes.values().filter(runs).map(|process| process.task.0).filter(|&task| task != 3);
        running.map(|task| (task, inner.started[&task])).collect()
    }

    /// Performs the next event, if it is due at `until` or before. Returns the shim of the event, or 0 for a stop
    /// request.
    pub fn next_event(&self, until: Duration) -> Option<i32> {
        let mut inner = self.0.borrow_mut();
        let next = inner.processes.iter().filter_map(|(&pid, process)| Some((process.next()?, pid))).min();
        let at = next.map_or(until, |(at, _)| at.min(until)).max(inner.clock);
        if let Some(stop) = inner.stop_at
            && stop <= at
        {
            inner.stop_at = None;
            inner.clock = inner.clock.max(stop);
            inner.stop.request();
            return Some(0);
        }
        inner.clock = at;
        let (_, pid) = next.filter(|&(at, _)| at <= until)?;
        let state = inner.processes[&pid].state.clone();
        inner.actor = Some(pid);
        drop(inner);
        let then = match state {
            State::Unreserved(_) => self.reserve(pid),
            State::Running(_, exit) => {
                let mut inner = self.0.borrow_mut();
                let process = &inner.processes[&pid];
                let task = process.task;
                if script(task).1 == exit {
                    *inner.completed.entry(task.0).or_default() += 1;
                }
                State::Leaving(inner.clock, exit)
            }
            State::Leaving(_, exit) => self.leave(pid, exit),
            state => state,
        };
        let mut inner = self.0.borrow_mut();
        inner.actor = None;
        if let Some(process) = inner.processes.get_mut(&pid).filter(|process| process.is_alive()) {
            process.state = then;
        }
        Some(pid)
    }

    fn reserve(&self, pid: i32) -> State {
        let path = self.0.borrow().processes[&pid].path.clone();
        match StatusSlot::reserve(self, &path) {
            Ok(_) => self.let_run(pid, State::Waiting),
            Err(_) => State::Unreserved(self.0.borrow().clock + PAUSE),
        }
    }

    /// Starts the task if the session has let it run.
    fn let_run(&self, pid: i32, state: State) -> State {
        let mut inner = self.0.borrow_mut();
        let (now, process) = (inner.clock, inner.processes[&pid].clone());
        if process.claim.is_none() || state != State::Waiting {
            return state;
        }
        let (time, exit, _) = script(process.task);
        *inner.started.entry(process.task.0).or_default() += 1;
        State::Running(now + time, exit)
    }

    /// Writes the status as a shim does. If the session has died, the shim retries forever, because no other process knows the
    /// status.
    fn leave(&self, pid: i32, exit: i32) -> State {
        let (process, now) = (self.0.borrow().processes[&pid].clone(), self.wall());
        let Some(claim) = process.claim else { return State::Gone(exit) };
        let (asked, stopped) = (process.asked, process.stopped);
        let status = AttemptStatus {
            claim,
            exit,
            asked,
            stopped,
            ended: nanoseconds(now),
            accounting: None,
            left_background: false,
            reason: None,
        };
        let filled =
            StatusSlot::reserve(self, &process.path).and_then(|mut slot| slot.fill(self, &status, process.alone));
        match filled {
            Err(_) if process.alone && !process.killed => State::Leaving(self.0.borrow().clock + PAUSE, exit),
            _ => State::Gone(exit),
        }
    }

    fn pid_of(&self, task: TaskId) -> Option<i32> {
        let inner = self.0.borrow();
        inner.processes.iter().rev().find(|(_, process)| process.task == task && process.known).map(|(&pid, _)| pid)
    }
}

impl Engine for World {
    fn now(&self) -> Duration {
        self.0.borrow().clock
    }

    fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000_000) + self.0.borrow().clock
    }

    fn host(&self, _processors: &ProcSet) -> String {
        "world".into()
    }

    fn place(&self) -> String {
        format!("boot {}", self.0.borrow().boots)
    }

    fn start(&mut self, start: &EngineStart<'_>) -> Result<Identity, Refusal> {
        let refuse =
            |error: io::Error| Refusal { reason: error.to_string(), passing: is_passing(&error), closing: false };
        let effect = self.step(true).map_err(refuse)?;
        if effect == Effect::HalfThenError {
            return self.done(effect).map_err(refuse).map(|()| Identity { pid: 0, start: 0 });
        }
        let mut inner = self.0.borrow_mut();
        inner.next_pid += 1;
        let (pid, clock) = (inner.next_pid, inner.clock);
        let path = PathBuf::from("/run/status").join(format!("{}.{}", start.name, start.attempt));
        let process = Process {
            task: start.task,
            processors: start.processors.clone(),
            gpus: start.gpus.unwrap_or_default().to_vec(),
            path,
            claim: None,
            state: State::Unreserved(clock),
            alone: false,
            known: true,
            asked: false,
            killed: false,
            stopped: false,
        };
        inner.processes.insert(pid, process);
        inner.check_copies(pid);
        drop(inner);
        self.done(effect).map_err(refuse)?;
        Ok(Identity { pid, start: 1 })
    }

    fn go(&mut self, task: TaskId, claim: &str) {
        let Some(pid) = self.pid_of(task) else { return };
        let effect = self.step(false);
        if let Some(process) = self.0.borrow_mut().processes.get_mut(&pid) {
            process.claim = serde_json::from_str(claim).ok();
        }
        let state = self.0.borrow().processes[&pid].state.clone();
        let state = self.let_run(pid, state);
        if let Some(process) = self.0.borrow_mut().processes.get_mut(&pid) {
            process.state = state;
        }
        let _ = effect.and_then(|effect| self.done(effect));
    }

    fn call_off(&mut self, task: TaskId) {
        if let Some(pid) = self.pid_of(task) {
            self.0.borrow_mut().processes.remove(&pid);
        }
    }

    fn end(&mut self, task: TaskId, kill: bool) {
        let _ = self.step(false).and_then(|effect| self.done(effect));
        let Some(pid) = self.pid_of(task) else { return };
        let mut inner = self.0.borrow_mut();
        let now = inner.clock;
        if let Some(process) = inner.processes.get_mut(&pid) {
            process.end(now, kill);
        }
    }

    fn wait(&mut self, timeout: Duration) -> Option<Notice> {
        let until = self.0.borrow().clock + timeout;
        loop {
            let gone = |process: &Process| process.known && matches!(process.state, State::Gone(_));
            let gone = |(_, process): &(&i32, &Process)| gone(process);
            let gone = self.0.borrow().processes.iter().find(gone).map(|(&pid, process)| (pid, process.clone()));
            if let Some((pid, Process { task, path, alone, .. })) = gone {
                let left = self.read(&path).ok().flatten().and_then(|bytes| AttemptStatus::parse(&bytes));
                if left.is_some() || !alone {
                    return Some(Notice::Ended(task));
                }
                self.0.borrow_mut().processes.remove(&pid);
                return Some(Notice::Lost(task, "its shim is gone".into()));
            }
            self.next_event(until)?;
        }
    }

    fn reap(&mut self, task: TaskId) -> i32 {
        let Some(pid) = self.pid_of(task) else { return -1 };
        match self.0.borrow_mut().processes.remove(&pid).map(|process| process.state) {
            Some(State::Gone(exit)) => exit,
            _ => -1,
        }
    }

    fn is_alive(&self, shim: Identity) -> bool {
        self.0.borrow().processes.get(&shim.pid).is_some_and(Process::is_alive)
    }

    fn end_left(&mut self, left: &LeftProcesses<'_>, grace: Duration, _tell: &mut dyn FnMut(&str)) {
        let _ = self.step(false).and_then(|effect| self.done(effect));
        for kill in [false, true] {
            let mut inner = self.0.borrow_mut();
            let now = inner.clock;
            let ours = |pid: &i32| left.shims.iter().any(|shim| shim.pid == *pid);
            inner.processes.iter_mut().filter(|(pid, _)| ours(pid)).for_each(|(_, process)| process.end(now, kill));
            drop(inner);
            let until = now + grace;
            let is_left = |process: &Process| process.is_alive() && !process.known;
            let alive = |world: &Self| world.0.borrow().processes.values().any(is_left);
            while alive(self) && self.next_event(until).is_some() {}
        }
        self.0.borrow_mut().processes.retain(|_, process| process.known);
    }

    fn take_over(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        let mut inner = self.0.borrow_mut();
        let mut goes_on = Vec::new();
        for attempt in earlier {
            let shim = attempt.shim.and_then(|shim| inner.processes.get_mut(&shim.pid));
            if let (Some(process), Some(gpus)) = (shim.filter(|process| process.is_alive()), &attempt.gpus) {
                process.known = true;
                goes_on.push(TakenAttempt { task: attempt.task, gpus: gpus.clone() });
            }
        }
        goes_on
    }
}
