//! Gives tasks to the agents of hosts, and handles the ends of these tasks.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use makespan_core::{TaskId, counted};

use super::Hosts;
use super::files::name_files;
use crate::engine::{EarlierAttempt, EngineStart, Notice, Refusal, TakenAttempt, TaskFiles};
use crate::engine::{EndedBy, ended_by};
use crate::hosts::message::PlannerMessage;
use crate::order::{AttemptEnd, AttemptNodes, AttemptOrder, attempt_id};

/// An attempt of a task.
#[derive(Debug)]
pub(super) struct HeldAttempt {
    id: String,
    pub slot: usize,
    pub files: TaskFiles,
    /// The reason why a file of the attempt could not be stored.
    pub problem: Option<String>,
    /// The order. `None` if an earlier session gave the attempt to the host.
    order: Option<AttemptOrder>,
    /// The agent that received the order. `None` if no agent has received it, or if an earlier session sent it.
    given: Option<String>,
    /// True if the run has allowed the attempt to start.
    is_let_go: bool,
    /// The last request to end the attempt. True to kill it.
    asked: Option<bool>,
    pub end: Option<AttemptEnd>,
}

impl HeldAttempt {
    fn new(id: String, slot: usize, files: &TaskFiles) -> Self {
        let files = files.clone();
        Self { id, slot, files, problem: None, order: None, given: None, is_let_go: false, asked: None, end: None }
    }
}

impl Hosts {
    /// Prepares a task. When the run allows the task to start, the engine sends it to its host.
    pub(super) fn prepare(&mut self, start: &EngineStart<'_>) -> Result<(), Refusal> {
        let parts = self.slots.parts(start.processors);
        let passing = |reason: String| Refusal { reason, passing: true, closing: false };
        if let Some((away, _)) = parts.iter().find(|(slot, _)| !self.all[*slot].is_connected()) {
            return Err(passing(format!("host {} cannot be reached", self.slots.name(*away))));
        }
        let Some(&(slot, _)) = parts.first() else { return Err(passing("it has no processors".into())) };
        let named = parts.into_iter().map(|(slot, here)| (self.slots.name(slot).to_owned(), here));
        let nodes: AttemptNodes = named.collect();
        let limited = EngineStart { memory: start.memory.filter(|_| self.limits), ..*start };
        let order = AttemptOrder::new(&limited, (&self.slots, slot), &nodes, self.options.grace).map_err(passing)?;
        let id = attempt_id(&start.files.status);
        let held = HeldAttempt { order: Some(order), ..HeldAttempt::new(id, slot, start.files) };
        self.hold(start.task, held);
        Ok(())
    }

    fn hold(&mut self, task: TaskId, held: HeldAttempt) {
        self.by_id.insert(held.id.clone(), task);
        self.tasks.insert(task, held);
    }

    /// Sends a task that may start to its host.
    pub(super) fn give(&mut self, task: TaskId, claim: &str) {
        let Some(held) = self.tasks.get_mut(&task) else { return };
        held.is_let_go = true;
        if let Some(order) = &mut held.order {
            claim.clone_into(&mut order.claim);
        }
        self.send_order(task);
    }

    fn send_order(&mut self, task: TaskId) {
        let Some(held) = self.tasks.get_mut(&task) else { return };
        let host = &self.all[held.slot];
        if let (Some(order), Some(agent)) = (&held.order, &host.agent) {
            let start = PlannerMessage::Start(Box::new(order.clone()));
            held.given = Some(agent.clone());
            let staging = order.files.staging.as_ref().filter(|_| !host.shares);
            let Some(staging) = staging else { return host.send(start) };
            let inputs = staging.reads.iter().map(|name| Path::new(&staging.home).join(name)).collect::<Vec<_>>();
            if let Some(missing) = inputs.iter().find(|path| !path.is_file()) {
                let reason = format!("the input file {} of the task is not a regular file", missing.display());
                self.notices.push_back(Notice::Refused(task, reason));
                return;
            }
            host.send_files(&held.id, inputs, start);
        }
    }

    /// Removes a task.
    pub(super) fn drop_task(&mut self, task: TaskId) {
        let Some(held) = self.tasks.remove(&task) else { return };
        self.by_id.remove(&held.id);
        if held.end.is_some() {
            self.all[held.slot].send(PlannerMessage::Forget(held.id));
        }
    }

    fn lose(&mut self, task: TaskId, reason: &str) {
        self.drop_task(task);
        self.notices.push_back(Notice::Lost(task, reason.to_owned()));
    }

    /// Reports as lost all attempts on a host that have not ended.
    pub(super) fn lose_all(&mut self, slot: usize, reason: &str) {
        let there = |held: &HeldAttempt| held.slot == slot && held.is_let_go && held.end.is_none();
        let lost: Vec<TaskId> = self.tasks.iter().filter(|(_, held)| there(held)).map(|(&task, _)| task).collect();
        lost.into_iter().for_each(|task| self.lose(task, reason));
    }

    /// Requests the end of a task. If the host cannot be reached, the request is sent when it comes back.
    pub(super) fn ask_end(&mut self, task: TaskId, kill: bool) {
        let Some(held) = self.tasks.get_mut(&task).filter(|held| held.end.is_none()) else { return };
        if held.order.is_some() && held.given.is_none() {
            return self.lose(task, "the job was withdrawn before its start");
        }
        held.asked = Some(kill);
        self.all[held.slot].send(PlannerMessage::End { id: held.id.clone(), kill });
    }

    /// Handles the end of an attempt.
    pub(super) fn ended(&mut self, slot: usize, id: &str, end: AttemptEnd) {
        if !self.is_settled {
            self.all[slot].early.insert(id.to_owned(), end);
            return;
        }
        let task = self.by_id.get(id).copied();
        let Some((task, held)) = task.and_then(|task| Some((task, self.tasks.get_mut(&task)?))) else {
            self.all[slot].send(PlannerMessage::Forget(id.to_owned()));
            self.all[slot].strangers.remove(id);
            return self.open_if_fit(slot);
        };
        if held.end.is_some() || held.slot != slot {
            return;
        }
        held.end = Some(end.clone());
        if !self.all[slot].shares && matches!(end, AttemptEnd::Exit(_)) {
            let problem = held.problem.take().map_or_else(|| name_files(&self.options.folder, &held.files), Err);
            if let Err(problem) = problem {
                let remedy = "free space, or make the folder writable";
                return self.lose(task, &format!("cannot store the files of the job: {problem}; {remedy}"));
            }
        }
        match end.notice(task) {
            Some(notice) => self.notices.push_back(notice),
            None => self.lose(task, "the job was withdrawn before its start"),
        }
    }

    /// Finds the ends of attempts on a host that cannot be reached. Their statuses are in the shared folder of the run.
    pub(super) fn find_ends(&mut self, slot: usize) {
        for (&task, held) in self.tasks.iter_mut().filter(|(_, held)| held.slot == slot && held.end.is_none()) {
            if held.is_let_go && ended_by(&self.options.folder.join(&held.files.status)) == Some(EndedBy::Itself) {
                // The session reads the exit status in the file.
                held.end = Some(AttemptEnd::Exit(0));
                self.notices.push_back(Notice::Ended(task));
            }
        }
    }

    /// Compares the attempts of this session with the attempts that the agent of a host holds, after a connection.
    pub(super) fn compare(&mut self, slot: usize, held: &[String]) {
        let own = self.tasks.iter().filter(|(_, one)| one.slot == slot && one.is_let_go && one.end.is_none());
        let own: Vec<TaskId> = own.map(|(&task, _)| task).collect();
        let agent = self.all[slot].agent.clone();
        for task in own {
            let Some(one) = self.tasks.get_mut(&task) else { continue };
            if held.contains(&one.id) {
                one.given.clone_from(&agent);
                if let Some(kill) = one.asked {
                    self.all[slot].send(PlannerMessage::End { id: one.id.clone(), kill });
                }
            } else if one.order.is_some() && (one.given.is_none() || one.given == agent) {
                // The order was lost with the connection.
                self.send_order(task);
            } else {
                let reason = format!("the agent of host {} has ended, and its jobs with it", self.slots.name(slot));
                self.lose(task, &reason);
            }
        }
        self.all[slot].strangers = held.iter().filter(|id| !self.by_id.contains_key(*id)).cloned().collect();
        if self.is_settled {
            self.all[slot].end_strangers();
        }
    }

    /// Adopts attempts of earlier sessions. They run, or they have ended and no session has recorded it. If a host
    /// cannot be reached, its attempts may still run until its agent ends them.
    pub(super) fn adopt(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        let mut taken = Vec::new();
        for attempt in earlier {
            let Some(slot) = self.slots.first_of(&attempt.processors) else { continue };
            let id = attempt_id(&attempt.files.status);
            let host = &self.all[slot];
            if host.is_connected() && !host.strangers.contains(&id) {
                continue;
            }
            self.all[slot].strangers.remove(&id);
            let given = self.all[slot].agent.clone();
            let held = HeldAttempt { given, is_let_go: true, ..HeldAttempt::new(id, slot, &attempt.files) };
            self.hold(attempt.task, held);
            taken.push(TakenAttempt { task: attempt.task, gpus: attempt.gpus.clone().unwrap_or_default() });
        }
        let away = self.tasks.values().filter(|held| !self.all[held.slot].is_connected()).count();
        if away > 0 {
            let text = format!("{} may still run on hosts that cannot be reached now", counted(away, "job"));
            self.notices.push_back(Notice::Told(text));
        }
        taken
    }

    /// Ends the attempts of earlier sessions that were not adopted, and reports the ends that hosts have reported so far.
    pub(super) fn settle(&mut self) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        for slot in 0..self.all.len() {
            self.all[slot].end_strangers();
            let early = std::mem::take(&mut self.all[slot].early);
            if self.all[slot].has_missed_files {
                // After a new connection, the agent sends the files and the ends again.
                self.all[slot].hang_up();
                continue;
            }
            for (id, end) in early {
                self.ended(slot, &id, end);
            }
            self.open_if_fit(slot);
        }
    }

    /// Waits until no attempt of another session runs: each agent has ended them, or has been out of contact longer than
    /// [`crate::hosts::LOST`].
    pub(super) fn outlast_strangers(&mut self, tell: &mut dyn FnMut(&str)) {
        self.settle();
        let mut told = false;
        for slot in 0..self.all.len() {
            while !self.all[slot].strangers.is_empty() && !self.all[slot].is_lost() {
                if !std::mem::replace(&mut told, true) {
                    tell("jobs of an earlier session are being ended");
                }
                while let Ok(event) = self.events.try_recv() {
                    self.hear(event);
                }
                self.look_after_hosts();
                sleep(Duration::from_millis(20));
            }
        }
    }
}
