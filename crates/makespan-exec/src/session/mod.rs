//! A session: the loop between policy and engine in one process.

mod abandon;
mod active;
mod closing;
mod delayed;
mod ending;
mod estimates;
mod growth;
mod hand_over;
mod hold;
mod retry;
mod start;
mod state;
mod stop;
mod unneeded;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use makespan_core::{
    Decision, Estimator, Event, Instance, Outage, Policy, ProcSet, Running, TaskId, Time, Unavailable,
};

use crate::clock::{Clock, ticks};
use crate::engine::{Engine, Notice};
use crate::files::Files;
use crate::halt::EndCounter;
use crate::journal::{Attempt, Cause, Journal, JournalError, JournalRecord};
use crate::storage::Storage;
use crate::tasks::TaskList;
use crate::{ExecuteError, ExecuteOptions, Observer};
pub(crate) use active::Active;
pub(crate) use active::outcome;
use active::{DoubtfulEnd, SessionNews};
use delayed::DelayedStarts;
pub(crate) use hand_over::HandOver;
pub use hand_over::PlanAgain;
pub(crate) use hold::HoldState;
pub(crate) use retry::Retries;
pub(crate) use state::SessionState;
pub(crate) use unneeded::PruningState;

/// Shortest time until a wake-up, so that a policy with frequent wake-ups does not keep a core busy.
const SHORTEST_WAKE: Time = Time::from_ticks(1_000_000);

/// The state of a session.
pub(crate) struct Session<'a> {
    pub options: &'a ExecuteOptions,
    pub observer: &'a mut dyn Observer,
    pub files: Rc<Files>,
    pub clock: Clock,
    pub state: SessionState<'a>,
    pub ledger: Ledger<'a>,
    pub policy: PolicySide<'a>,
    pub machine: EngineSide<'a>,
    pub attempts: Vec<u32>,
    pub retries: Retries,
    /// Running tasks that the user cancelled. These tasks are not tried again.
    pub cancelled: BTreeSet<TaskId>,
    /// Tasks that need not run or may turn out not to be needed.
    pub pruning: PruningState,
    /// True if the session ends without ending its tasks.
    pub leaves: bool,
    /// True if jobs may still arrive.
    pub may_grow: bool,
    /// True if no further task starts. The reason is that enough tasks have failed or succeeded, or that the session
    /// ends.
    pub halted: bool,
    /// Counts the ends of tasks, which may halt the session.
    pub halting: EndCounter,
    /// The state of delayed starts.
    pub holding: HoldState,
    /// News that the observer has not received yet.
    pub news: Vec<SessionNews>,
}

/// The journal and the identity of its run.
pub(crate) struct Ledger<'a> {
    pub journal: Journal,
    pub storage: &'a dyn Storage,
    /// Start time of the run. The start time and the fingerprint of the instance identify the run.
    pub origin: i64,
    pub fingerprint: String,
    /// The tasks in the journal, if jobs may arrive during the run.
    pub known: TaskList,
    /// Instant of the next attempt to write the journal, if the last attempt failed.
    pub stalled: Option<Time>,
    /// The instant of the last sync of the journal.
    pub synced: Option<Time>,
    /// Instant at which the written records of a group must be synced.
    pub group: Option<Time>,
}

/// The data that the policy receives, and its decisions.
pub(crate) struct PolicySide<'a> {
    /// The instance at the begin of the session.
    pub stated: &'a Instance,
    /// The estimator, which learns from finished tasks.
    pub estimator: Option<Box<dyn Estimator>>,
    /// The time limits that the policy set for tasks, if these limits are below the tasks' own limits.
    pub granted: BTreeMap<TaskId, Time>,
    /// Events that the policy has not received yet.
    pub events: Vec<Event>,
    pub wake: Option<Time>,
    /// True if a start was refused because the processors are about to go down.
    pub closing: bool,
    /// The expected times at which processors go down.
    pub closings: Vec<(Outage, Unavailable)>,
}

/// The tasks that the engine has received or is about to receive.
pub(crate) struct EngineSide<'a> {
    pub engine: &'a mut dyn Engine,
    pub active: BTreeMap<TaskId, Active>,
    pub starting: DelayedStarts,
    pub doubtful: Vec<DoubtfulEnd>,
    /// The tasks that were not handed over yet, if the engine decides when tasks start.
    pub handed: Option<HandOver<'a>>,
    /// Number of processes that the system had killed for lack of memory, at the last query.
    pub memory_kills: u64,
    /// Number of kills for lack of memory in this session that could not be attributed to a task.
    pub unexplained_kills: u64,
}

impl<'a> PolicySide<'a> {
    pub fn new(stated: &'a Instance, estimator: Option<Box<dyn Estimator>>) -> Self {
        let (granted, events, closings) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { stated, estimator, granted, events, wake: None, closing: false, closings }
    }
}

impl<'a> EngineSide<'a> {
    pub fn new(engine: &'a mut dyn Engine, handed: Option<HandOver<'a>>, memory_kills: u64) -> Self {
        let (active, starting, doubtful) = (BTreeMap::new(), DelayedStarts::default(), Vec::new());
        Self { engine, active, starting, doubtful, handed, memory_kills, unexplained_kills: 0 }
    }
}

impl Session<'_> {
    /// Runs until every task has ended or a stop is requested. When the function returns, no task is running. `closed`
    /// are tasks that ended earlier and are not run again. The successors of these tasks are ended without starting
    /// them.
    pub fn run(&mut self, closed: &[TaskId], policy: &mut dyn Policy) -> Result<(), ExecuteError> {
        let outcome = self.close(closed).and_then(|()| self.hear()).and_then(|()| self.drive(policy));
        if outcome.is_ok() && self.leaves {
            return self.leave_running();
        }
        if outcome.is_ok() && self.is_idle() && !self.halted && !self.options.stop.is_requested() {
            return self.finish();
        }
        let ended = self.end_all();
        outcome.and(ended)
    }

    /// Takes over an attempt of an earlier session.
    ///
    /// # Errors
    /// The processors of the attempt are not free.
    pub fn take_over(&mut self, task: TaskId, attempt: &Attempt, gpus: Vec<u64>) -> Result<(), ExecuteError> {
        let (start, processors, now) = (attempt.at, attempt.processors.clone(), self.now());
        if self.machine.handed.is_none() {
            self.state.cluster.take_over(Running { task, start, processors: processors.clone() })?;
        }
        if let Some(held) = &mut self.state.gpus {
            held.hold(task, gpus);
        }
        let walltime = self.own_walltime(task).map(|walltime| start + walltime);
        let ending = attempt.ending.map(|cause| (cause, now));
        let active = Active { attempt: attempt.attempt, start, processors, going: true, walltime, ending };
        if self.machine.handed.is_none() {
            self.news.push(SessionNews::Started(active.running(task)));
        }
        self.machine.active.insert(task, active);
        Ok(())
    }

    /// Records that all tasks are done. Retries until the journal can be written.
    fn finish(&mut self) -> Result<(), ExecuteError> {
        self.ledger.journal.note(JournalRecord::Finished { at: self.now() });
        self.commit();
        while self.ledger.stalled.is_some() && !self.options.stop.is_requested() {
            self.wait()?;
            self.commit();
            self.refuse_deletion()?;
        }
        Ok(self.ledger.journal.commit()?)
    }

    fn drive(&mut self, policy: &mut dyn Policy) -> Result<(), ExecuteError> {
        while !self.options.stop.is_requested() {
            if self.halted {
                return self.drain();
            }
            self.heed_requests()?;
            if self.leaves {
                return Ok(());
            }
            let now = self.now();
            while let Some(task) = self.state.release(now) {
                if self.state.cluster.submit(task) {
                    self.policy.events.push(Event::Submitted(task));
                }
            }
            if self.policy.events.is_empty() && self.policy.wake.is_some_and(|wake| wake <= now) {
                self.policy.events.push(Event::Wake);
            }
            // A task that cannot be started ends at once, which gives the policy another event.
            while !self.policy.events.is_empty() && !self.halted && !self.options.stop.is_requested() {
                self.tell(policy)?;
            }
            if self.halted {
                continue;
            }
            self.decide_pruning();
            if !self.policy.events.is_empty() {
                continue;
            }
            self.start_delayed()?;
            self.launch_crowded()?;
            self.commit_in_groups();
            self.refuse_deletion()?;
            self.enforce_limits();
            self.settle_doubts()?;
            let all_started = self.state.unreleased.is_empty() && self.policy.wake.is_none();
            let none_awaited = !self.machine.engine.awaits() || self.state.cluster.waiting().is_empty();
            if self.is_idle() && all_started && none_awaited && !self.may_grow {
                return Ok(self.state.cluster.check_complete()?);
            }
            self.tell_waiting();
            self.wait()?;
        }
        Ok(())
    }

    /// Waits until the running tasks have ended. No further task starts. Returns early if the running tasks must be
    /// ended.
    fn drain(&mut self) -> Result<(), ExecuteError> {
        self.recall_all();
        self.call_off();
        self.machine.starting.clear();
        self.forget_crowded();
        while !self.options.stop.is_requested() && !self.halting.ends_running() {
            self.commit_in_groups();
            self.refuse_deletion()?;
            self.enforce_limits();
            self.settle_doubts()?;
            self.policy.events.clear();
            if self.machine.active.is_empty() && self.machine.doubtful.is_empty() && self.ledger.stalled.is_none() {
                break;
            }
            self.wait()?;
        }
        Ok(())
    }

    /// Returns an error if the journal was deleted, because it can never be written again.
    fn refuse_deletion(&self) -> Result<(), ExecuteError> {
        if self.ledger.stalled.is_none() && self.machine.starting.is_empty() {
            return Ok(());
        }
        match self.ledger.journal.in_place() {
            Err(error @ JournalError::Gone { .. }) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Returns whether no task is running or about to start, and all ends are recorded.
    pub(super) fn is_idle(&self) -> bool {
        let none =
            self.machine.active.is_empty() && self.machine.starting.is_empty() && self.machine.doubtful.is_empty();
        none && !self.is_crowded()
            && !self.is_undecided()
            && self.policy.events.is_empty()
            && self.ledger.stalled.is_none()
    }

    fn now(&self) -> Time {
        self.clock.now(&*self.machine.engine)
    }

    /// Gives the policy all new events and executes its decisions.
    fn tell(&mut self, policy: &mut dyn Policy) -> Result<(), ExecuteError> {
        let mut events = std::mem::take(&mut self.policy.events);
        events.sort_by_key(Event::order);
        for event in &events {
            match *event {
                Event::Finished(task) | Event::Failed(task) => {
                    self.policy.granted.remove(&task);
                    self.state.end(task);
                }
                Event::Interrupted(task) => {
                    self.policy.granted.remove(&task);
                    self.state.end(task);
                    self.state.cluster.submit(task);
                }
                _ => {}
            }
        }
        self.policy.wake = None;
        let now = self.now();
        self.state.cluster.advance(now);
        let mut decisions = Vec::new();
        policy.on(&events, &self.state.cluster.view(), &mut decisions);
        for entry in policy.log() {
            self.ledger.journal.note(JournalRecord::Told { entry });
            self.news.push(SessionNews::Told(entry));
        }
        for decision in decisions {
            match decision {
                Decision::Start { task, processors } => self.start(task, processors)?,
                Decision::Limit { task, time } => {
                    self.state.cluster.check_waiting(task)?;
                    self.policy.granted.insert(task, time);
                }
                Decision::WakeAt(at) => {
                    let at = at.max(now + SHORTEST_WAKE);
                    self.policy.wake = Some(self.policy.wake.map_or(at, |wake| wake.min(at)));
                }
                Decision::Cancel(task) => {
                    self.state.cluster.withdraw(task)?;
                    self.ledger.journal.note(JournalRecord::Cancelled { task, at: now });
                    self.news.push(SessionNews::Cancelled(task));
                    self.observer.message(&format!("the policy cancelled job `{}`", self.state.name(task)));
                    self.abandon(task, now)?;
                }
            }
        }
        // The engine reports processors that go down before the policy is called again, so that the policy does not
        // repeat the start.
        if std::mem::take(&mut self.policy.closing) { self.hear() } else { Ok(()) }
    }

    /// Sleeps until the next event, the next relevant instant or the next tick.
    fn wait(&mut self) -> Result<(), ExecuteError> {
        if !self.policy.events.is_empty() {
            return Ok(());
        }
        let now = self.now();
        let limits = self.machine.active.values().map(|active| match active.ending {
            Some((_, kill)) => Some(kill),
            None => active.walltime,
        });
        let doubts = self.machine.doubtful.iter().map(|doubtful| doubtful.due);
        let instants = limits.flatten().chain(doubts).chain(self.policy.wake).chain(self.state.next_release());
        let next = instants.chain(self.next_attempt()).chain(self.ledger.group).chain(self.pruning.next).min();
        let until = next.map_or(Duration::MAX, |next| Duration::from_nanos(next.saturating_since(now).ticks() as u64));
        if let Some(notice) = self.machine.engine.wait(until.min(self.options.tick)) {
            self.take_in(notice)?;
        }
        self.hear()?;
        self.observer.tick(&self.state.progress(self.now()));
        Ok(())
    }

    /// Handles all events that have happened by now.
    fn hear(&mut self) -> Result<(), ExecuteError> {
        while let Some(notice) = self.machine.engine.wait(Duration::ZERO) {
            self.take_in(notice)?;
        }
        Ok(())
    }

    fn take_in(&mut self, notice: Notice) -> Result<(), ExecuteError> {
        match notice {
            Notice::Begun { task, at, processors } => self.begun(task, at, processors),
            Notice::Ended(task) => return self.exited(task),
            Notice::TimedOut(task) => {
                let now = self.now();
                if let Some(active) = self.machine.active.get_mut(&task) {
                    active.ending = Some((Cause::Walltime, now));
                }
                return self.exited(task);
            }
            Notice::Refused(task, reason) => return self.refused(task, reason),
            Notice::Lost(task, reason) => return self.lost(task, reason),
            Notice::Down { outage, processors, expected } => {
                self.state.cluster.advance(self.now());
                let expected = expected.map(|expected| self.now() + ticks(expected));
                let changed = self.state.cluster.fail(outage, &processors, expected);
                self.tell_nodes(&changed, Event::NodeDown);
            }
            Notice::Up(outage) => {
                self.state.cluster.advance(self.now());
                let changed = self.state.cluster.repair(outage);
                self.tell_nodes(&changed, Event::NodeUp);
            }
            Notice::Closing { outage, processors, after } => self.announce(outage, processors, after),
            Notice::Told(text) => self.observer.message(&text),
            Notice::Warned(text) => self.observer.warning(&text),
            Notice::Over(reason) => {
                self.observer.message(&reason);
                self.halted = true;
            }
        }
        Ok(())
    }

    fn tell_nodes(&mut self, processors: &ProcSet, event: fn(usize) -> Event) {
        let platform = self.state.cluster.instance().platform();
        for &(first, last) in processors.intervals() {
            let nodes = platform.node_of(first)..=platform.node_of(last);
            let computing = nodes.filter(|&node| platform.nodes()[node].processors > 0);
            self.policy
                .events
                .extend(computing.map(event).filter(|event| !self.policy.events.contains(event)).collect::<Vec<_>>());
        }
    }
}
