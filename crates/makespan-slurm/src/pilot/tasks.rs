//! The attempts that an agent runs.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use makespan_core::TaskId;
use makespan_exec::engine::{EndedBy, Engine, EngineStart, ended_by};

use super::agent::{Agent, REMARK};
use super::attempt::RunningAttempt;
use super::board::AttemptProcess;
use makespan_exec::order::{AttemptEnd, AttemptOrder};

/// Delay of the report of a task's end, if Slurm may have stopped everything on this node and so the task. If Slurm
/// stops this agent during the delay, it also stopped the task. On a busy machine, Slurm needs some time to stop all
/// processes.
pub(crate) const DOUBT: Duration = Duration::from_secs(2);

/// The GPUs for an attempt.
enum Gpus {
    /// These GPUs. `None` if the attempt needs none.
    These(Option<Vec<u64>>),
    /// Other attempts hold the GPUs.
    Busy,
}

/// Pause before a failed operation is tried again.
const PAUSE: Duration = Duration::from_millis(200);

impl Agent {
    /// Takes an attempt that the planner has given, and starts it.
    pub(super) fn take(&mut self, id: &str) {
        if self.board.take(&self.place, id) {
            self.begin(id);
        }
    }

    /// Starts an attempt that the agent has taken. If the attempt was started before, has no effect.
    fn begin(&mut self, id: &str) {
        let bytes = match self.board.taken(&self.place, id) {
            Ok(bytes) => bytes,
            Err(error) => return self.say(&format!("{id}: cannot read the description of the task: {error}")),
        };
        let order: AttemptOrder = match serde_json::from_slice(&bytes) {
            Ok(order) => order,
            Err(error) => {
                return self.ended(
                    id,
                    &AttemptEnd::Refused(format!("the agent cannot parse the description of the task: {error}; check that all nodes run the same version of makespan")),
                );
            }
        };
        let file = match self.board.claim(id) {
            Ok(Some(file)) => file,
            Ok(None) => return self.inherit(id, order),
            Err(error) => return self.delay(id, &format!("cannot claim: {error}")),
        };
        self.start(id, order, file);
    }

    /// Adopts an attempt that a previous agent started.
    fn inherit(&mut self, id: &str, order: AttemptOrder) {
        match self.board.claimant(id) {
            Some(left) => _ = self.running.insert(id.to_owned(), RunningAttempt::new(order, Some(left))),
            // There is no record of a process, so the task did not run.
            None => self.ended(id, &AttemptEnd::Gone),
        }
    }

    fn start(&mut self, id: &str, mut order: AttemptOrder, mut claim: std::fs::File) {
        match self.gpus_for(&order) {
            Ok(Gpus::These(gpus)) => order.gpus = gpus,
            Ok(Gpus::Busy) => {
                // When another job has released its GPUs, the attempt is started.
                self.board.unclaim(id);
                self.delayed.push((Instant::now() + PAUSE, id.to_owned()));
                return;
            }
            Err(reason) => return self.ended(id, &AttemptEnd::Refused(reason)),
        }
        if order.memory.is_some() {
            self.limit_memory();
        }
        let shim = match self.local.start(&EngineStart { is_pinned: !self.shares_cores, ..order.start() }) {
            Ok(shim) => shim,
            Err(refusal) if refusal.passing && self.ending => return self.ended(id, &AttemptEnd::Gone),
            Err(refusal) if refusal.passing => {
                self.board.unclaim(id);
                return self.delay(id, &refusal.reason);
            }
            Err(refusal) => return self.ended(id, &AttemptEnd::Refused(refusal.reason)),
        };
        let left = AttemptProcess { shim, boot: self.boot.clone(), gpus: order.gpus.clone() };
        let written = serde_json::to_vec(&left).map_err(Into::into).and_then(|bytes| claim.write_all(&bytes));
        if let Err(error) = written {
            // Without this record, no other agent could find the attempt. So it must not run.
            self.local.call_off(order.task);
            self.board.unclaim(id);
            return self.delay(id, &format!("cannot record which agent starts the task: {error}"));
        }
        self.local.go(order.task, &order.claim);
        self.running.insert(id.to_owned(), RunningAttempt::new(order, None));
    }

    /// Returns the GPUs of this node for an attempt: the GPUs in the plan. If the pilot holds fewer GPUs than the plan
    /// assumes, returns other GPUs.
    ///
    /// # Errors
    /// The pilot holds too few GPUs.
    fn gpus_for(&self, order: &AttemptOrder) -> Result<Gpus, String> {
        let planned = || Ok(Gpus::These(order.gpus.clone()));
        let (Some(own), Some(wanted)) = (self.beacon.gpus, order.gpus.as_deref().filter(|wanted| !wanted.is_empty()))
        else {
            return planned();
        };
        if wanted.len() > own {
            let (needs, node) = (wanted.len(), &self.place.node);
            return Err(format!(
                "the job needs {needs} GPUs on {node}, but the pilot holds only {own} there; request more GPUs in a \
                 new run: --slurm=--gres=gpu:{needs}"
            ));
        }
        let held = self.running.values().flat_map(|one| one.order.gpus.iter().flatten().copied());
        let held: BTreeSet<u64> = held.collect();
        if wanted.iter().all(|number| *number < own as u64 && !held.contains(number)) {
            return planned();
        }
        let free: Vec<u64> = (0..own as u64).filter(|number| !held.contains(number)).take(wanted.len()).collect();
        Ok(if free.len() == wanted.len() { Gpus::These(Some(free)) } else { Gpus::Busy })
    }

    /// Schedules another start of an attempt for a moment later.
    fn delay(&mut self, id: &str, reason: &str) {
        if self.delayed_for != reason {
            self.say(&format!("{id}: {reason}; trying again"));
            self.tell(&format!("{REMARK}{reason}").replace('\n', " "));
            reason.clone_into(&mut self.delayed_for);
        }
        self.delayed.push((Instant::now() + PAUSE, id.to_owned()));
    }

    /// Handles the end of a task's process.
    pub(super) fn exited(&mut self, task: TaskId) {
        let status = self.local.reap(task);
        let is_it = |one: &RunningAttempt| one.order.task == task && !one.is_inherited();
        let found = self.running.extract_if(.., |_, one| is_it(one)).next();
        let Some((id, begun)) = found else { return };
        let fate = match status {
            // While the pilot ends, an attempt that did not succeed counts as gone.
            status if self.ending && status != 0 => AttemptEnd::Gone,
            _ if begun.timed_out => AttemptEnd::TimedOut,
            status => AttemptEnd::Exit(status),
        };
        if matches!(fate, AttemptEnd::Exit(status) if status != 0)
            && begun.asked.is_none()
            && self.was_stopped(status, &begun.order)
        {
            return self.doubtful.push((Instant::now() + DOUBT, id, fate));
        }
        self.ended(&id, &fate);
    }

    /// Returns true if Slurm may have stopped the task together with everything in its job.
    fn was_stopped(&self, status: i32, order: &AttemptOrder) -> bool {
        status > 128 || ended_by(&self.board.run().join(&order.files.status)) == Some(EndedBy::Signal)
    }

    /// Reports doubtful ends as the ends of tasks if [`DOUBT`] has passed and Slurm has not stopped this agent.
    pub(super) fn settle_doubts(&mut self) {
        let now = Instant::now();
        let ending = self.ending;
        let (due, rest) = std::mem::take(&mut self.doubtful).into_iter().partition(|(due, ..)| ending || *due <= now);
        self.doubtful = rest;
        for (_, id, fate) in Vec::into_iter(due) {
            self.ended(&id, if ending { &AttemptEnd::Gone } else { &fate });
        }
    }

    /// Reports the end of an attempt. If this fails, reports the end again later.
    pub(super) fn ended(&mut self, id: &str, fate: &AttemptEnd) {
        match self.board.done(&self.place, id, fate) {
            Ok(name) => self.tell(&name),
            Err(error) => {
                if self.untold.is_empty() {
                    self.say(&format!("{id}: cannot record that it has ended: {error}; trying again"));
                }
                self.untold.push((id.to_owned(), fate.clone()));
            }
        }
    }

    /// Checks the attempts that previous agents started.
    pub(super) fn look_after(&mut self) {
        let (board, local, boot) = (&self.board, &self.local, &self.boot);
        let mut over = Vec::new();
        self.running.retain(|id, one| {
            let fate = one.fate(board, local, boot);
            over.extend(fate.map(|(fate, doubtful)| (id.clone(), fate, doubtful)));
            over.last().is_none_or(|(ended, ..)| ended != id)
        });
        for (id, fate, doubtful) in over {
            if doubtful {
                self.doubtful.push((Instant::now() + DOUBT, id, fate));
            } else {
                self.ended(&id, &fate);
            }
        }
    }

    /// Ends an attempt. If `kill` is true, kills it.
    pub(super) fn end(&mut self, id: &str, kill: bool) {
        if let Some(one) = self.running.get_mut(id) {
            one.end(&mut self.local, &self.boot, kill);
        }
    }

    /// Ends tasks that have reached their walltime if no planner has ended them. If they do not end, kills them.
    pub(super) fn enforce_walltimes(&mut self) {
        let now = Instant::now();
        for one in self.running.values_mut() {
            if one.is_late(now) {
                one.timed_out = true;
                one.end(&mut self.local, &self.boot, false);
            } else if one.is_overdue(now) {
                one.end(&mut self.local, &self.boot, true);
            }
        }
    }

    /// Tries failed starts again, and sends failed reports again.
    pub(super) fn try_again(&mut self) {
        let now = Instant::now();
        let (due, rest) = std::mem::take(&mut self.delayed).into_iter().partition(|(at, _)| *at <= now);
        self.delayed = rest;
        for (_, id) in Vec::into_iter(due) {
            self.begin(&id);
        }
        for (id, fate) in std::mem::take(&mut self.untold) {
            self.ended(&id, &fate);
        }
    }

    /// Adopts tasks that a previous agent took but did not finish.
    pub(super) fn look_for_taken(&mut self) {
        for id in self.board.ids("run", &self.place) {
            self.begin(&id);
        }
    }
}
