//! Gives tasks to agents, and handles the ends of these tasks.

use std::thread::sleep;
use std::time::{Duration, Instant};

use makespan_core::{TaskId, counted};
use makespan_exec::engine::{EarlierAttempt, EngineStart, Notice, Refusal, TakenAttempt};
use makespan_exec::order::attempt_id;

use super::Pilots;
use crate::pilot::{AttemptEnd, AttemptOrder, PilotNode};

/// Time between two attempts to write a file.
const PAUSE: Duration = Duration::from_millis(500);

/// An attempt of a task.
#[derive(Debug)]
pub(super) struct HeldAttempt {
    pub id: String,
    pub place: PilotNode,
    pub order: AttemptOrder,
    /// True if the run has allowed the attempt to start.
    pub is_let_go: bool,
    pub is_given: bool,
    /// Instant of the next try to write the order for the agent.
    again: Option<Instant>,
    pub fate: Option<AttemptEnd>,
}

impl Pilots {
    /// Prepares a task. When the run allows the task to start, the engine gives it to the task's agent.
    pub(super) fn prepare(&mut self, start: &EngineStart<'_>) -> Result<(), Refusal> {
        let parts = self.nodes.slots.parts(start.processors);
        let passing = |reason: String| Refusal { reason, passing: true, closing: false };
        let mut nodes = Vec::new();
        for (slot, here) in &parts {
            let Some(place) = self.place_of(*slot) else {
                return Err(passing(format!("the node {} is unavailable", self.nodes.slots.name(*slot))));
            };
            nodes.push((place.node.clone(), here.clone()));
        }
        if let Some(reason) = self.drain_for(&parts, start) {
            return Err(Refusal { reason, passing: false, closing: true });
        }
        let Some((head, _)) = parts.first() else { return Err(passing("it has no processors".into())) };
        let Some(place) = self.place_of(*head).cloned() else { return Err(passing("its node is unavailable".into())) };
        let limited = EngineStart { memory: start.memory.filter(|_| self.run.limits), environment: &[], ..*start };
        let order = AttemptOrder::new(&limited, (&self.nodes.slots, *head), &nodes, self.options.grace);
        let order = order.map_err(passing)?;
        let id = attempt_id(&start.files.status);
        let held = HeldAttempt { id, place, order, is_let_go: false, is_given: false, again: None, fate: None };
        self.hold(held);
        Ok(())
    }

    fn hold(&mut self, held: HeldAttempt) {
        if let Some(agent) = self.nodes.agents.get_mut(&held.place) {
            agent.holds += 1;
        }
        self.run.by_id.insert(held.id.clone(), held.order.task);
        self.run.tasks.insert(held.order.task, held);
    }

    /// Gives a task that may start to its agent.
    pub(super) fn give(&mut self, task: TaskId) {
        let Some(held) = self.run.tasks.get_mut(&task) else { return };
        match self.board.give(&held.place, &held.id, &held.order) {
            Ok(()) => {
                held.is_given = true;
                if let Some(agent) = self.nodes.agents.get_mut(&held.place) {
                    agent.tell(&held.id);
                }
            }
            Err(error) => {
                if held.again.is_none() {
                    let text = format!("job `{}` cannot be given to its node: {error}; trying again", held.order.name);
                    self.run.notices.push_back(Notice::Told(text));
                }
                held.again = Some(Instant::now() + PAUSE);
            }
        }
    }

    /// Gives tasks again if their files could not be written before.
    pub(super) fn give_again(&mut self) {
        let now = Instant::now();
        let due = |held: &HeldAttempt| held.is_let_go && !held.is_given && held.again.is_some_and(|again| again <= now);
        let due: Vec<TaskId> = self.run.tasks.iter().filter(|(_, held)| due(held)).map(|(&task, _)| task).collect();
        for task in due {
            self.give(task);
        }
    }

    /// Removes a task and its files.
    pub(super) fn drop_task(&mut self, task: TaskId) {
        let Some(held) = self.run.tasks.remove(&task) else { return };
        self.run.by_id.remove(&held.id);
        if let Some(agent) = self.nodes.agents.get_mut(&held.place) {
            agent.holds -= 1;
        }
        if let Some(fate) = &held.fate {
            self.board.forget(&held.place, &held.id, fate);
        }
    }

    /// Requests the end of a task.
    pub(super) fn ask_end(&mut self, task: TaskId, kill: bool) {
        let Some(held) = self.run.tasks.get_mut(&task).filter(|held| held.fate.is_none()) else { return };
        if !held.is_given || self.board.take_back(&held.place, &held.id) {
            // The task has not started.
            held.fate = Some(AttemptEnd::Gone);
            self.drop_task(task);
            self.run.notices.push_back(Notice::Lost(task, "the job was withdrawn before its start".into()));
            return;
        }
        // If the request fails, it is repeated.
        let _ = self.board.ask_end(&held.place, &held.id, kill);
        if let Some(agent) = self.nodes.agents.get_mut(&held.place) {
            agent.tell("!");
        }
    }

    /// Handles the end of an attempt that an agent has reported. Returns true if this end was not known before.
    pub(super) fn ended(&mut self, place: &PilotNode, name: &str) -> bool {
        let Some((id, fate)) = self.board.fate(place, name) else { return false };
        let task = self.run.by_id.get(&id).copied();
        let Some((task, held)) = task.and_then(|task| Some((task, self.run.tasks.get_mut(&task)?))) else {
            // The attempt belongs to no task of this session. So only remove its files.
            self.board.forget(place, &id, &fate);
            return false;
        };
        if held.fate.is_some() || held.place != *place {
            return false;
        }
        held.fate = Some(fate.clone());
        let seat = self.nodes.agents.get(place).map(|agent| self.nodes.slots.seat(agent.slot));
        let Some(notice) = fate.notice(task) else {
            self.drop_task(task);
            let text = format!("the job was killed on {} together with its shim, or its pilot has ended", place.node);
            self.run.notices.push_back(Notice::Lost(task, text));
            return true;
        };
        if let Some(seat) = seat {
            self.nodes.seats[seat].has_ended_any = true;
        }
        self.run.notices.push_back(notice);
        true
    }

    /// Searches the files for ended attempts. Returns true if there are any new ones.
    pub(super) fn look_for_ends(&mut self) -> bool {
        let places: Vec<PilotNode> =
            self.nodes.agents.iter().filter(|(_, agent)| agent.holds > 0).map(|(place, _)| place.clone()).collect();
        let mut found = false;
        for place in places {
            for name in self.board.ids("done", &place) {
                found |= self.ended(&place, &name);
            }
        }
        found
    }

    /// Handles the loss of a place. Reports as lost all attempts at this place that have not ended.
    pub(super) fn lose(&mut self, place: &PilotNode, reason: &str) {
        for name in self.board.ids("done", place) {
            self.ended(place, &name);
        }
        let there = |held: &&HeldAttempt| held.place == *place && held.fate.is_none();
        let lost: Vec<TaskId> = self.run.tasks.values().filter(there).map(|held| held.order.task).collect();
        for task in lost {
            if let Some(held) = self.run.tasks.get(&task) {
                self.board.bury(place, &held.id);
            }
            self.drop_task(task);
            self.run.notices.push_back(Notice::Lost(task, reason.to_owned()));
        }
    }

    /// Adopts attempts of earlier sessions that still run. Also adopts ended attempts if no session has handled their
    /// ends.
    pub(super) fn find_tasks(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        let mut taken = Vec::new();
        let places: Vec<PilotNode> = self.nodes.agents.keys().cloned().collect();
        for place in places {
            let done = self.board.ids("done", &place);
            let done = done.iter().filter_map(|name| name.rsplit_once('=').map(|(id, _)| id.to_owned()));
            let mut ids = self.board.ids("in", &place);
            ids.extend(self.board.ids("run", &place));
            ids.extend(done);
            for id in ids {
                let Some(found) = earlier.iter().find(|earlier| attempt_id(&earlier.files.status) == id) else {
                    continue;
                };
                if self.run.by_id.contains_key(&id) {
                    continue;
                }
                let Some(order) = self.board.order(&place, &id) else { continue };
                let gpus = order.all_gpus.clone();
                let place = place.clone();
                let held = HeldAttempt { id, place, order, is_let_go: true, is_given: true, again: None, fate: None };
                self.hold(held);
                taken.push(TakenAttempt { task: found.task, gpus });
            }
        }
        // First report the attempts that have already ended.
        self.look_for_ends();
        let ended =
            taken.iter().filter(|taken| self.run.tasks.get(&taken.task).is_none_or(|held| held.fate.is_some())).count();
        let jobs = |count: usize| counted(count, "job");
        let text = match (taken.len() - ended, ended) {
            (0, 0) => return taken,
            (0, ended) => format!("{} ended since the last session", jobs(ended)),
            (open, 0) => format!("{} of the last session are still running, and are taken over", jobs(open)),
            (open, ended) => {
                format!("{} ended since the last session, and {open} are still running and are taken over", jobs(ended))
            }
        };
        self.tell(text);
        taken
    }

    /// Ends attempts of earlier sessions that do not belong to the tasks of this session. Returns after all of them
    /// have ended.
    pub(super) fn end_strangers(&mut self, grace: Duration, tell: &mut dyn FnMut(&str)) {
        let begun = Instant::now();
        let (mut asked, mut killed, mut told) = (false, false, false);
        loop {
            let mut left = 0;
            let places: Vec<PilotNode> = self.nodes.agents.keys().cloned().collect();
            for place in places {
                for id in self.board.ids("in", &place).into_iter().filter(|id| !self.run.by_id.contains_key(id)) {
                    self.board.take_back(&place, &id);
                }
                for id in self.board.ids("run", &place).into_iter().filter(|id| !self.run.by_id.contains_key(id)) {
                    left += 1;
                    let kill = begun.elapsed() >= grace;
                    if !asked || (kill && !killed) {
                        let _ = self.board.ask_end(&place, &id, kill);
                    }
                }
                if let Some(agent) = self.nodes.agents.get_mut(&place).filter(|_| left > 0) {
                    agent.tell("!");
                }
            }
            asked = true;
            killed |= begun.elapsed() >= grace;
            if left == 0 {
                return;
            }
            if !told && begun.elapsed() > grace + Duration::from_secs(2) {
                told = true;
                tell("jobs of an earlier session are still running; the run continues when these jobs have ended");
            }
            while let Ok(heard) = self.hearing.heard.try_recv() {
                self.take_in(heard);
            }
            self.look();
            sleep(Duration::from_millis(20));
        }
    }
}
