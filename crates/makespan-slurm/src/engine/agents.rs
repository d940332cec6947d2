//! The agents, as the planner sees them: their connections, their signs of life, and their places. A place is a node
//! in a pilot.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{EngineMessage, Pilots};
use crate::pilot::link::{AgentMessage, dial};
use crate::pilot::{AgentBeacon, LEAVING, PilotNode, REMARK};

/// If an agent gives no sign of life for this time, it gets no more tasks. If Slurm then reports that the node or the
/// pilot of the agent is gone, the agent's tasks are lost.
const SILENCE: Duration = Duration::from_secs(5);

/// If an agent has given a sign of life within this time, its pilot runs. The planner may notice a sign of life
/// [`SILENCE`] late.
const ALIVE: Duration = Duration::from_secs(10);

/// Time between two attempts to connect to an agent.
const PAUSE: Duration = Duration::from_millis(500);

/// An agent on a node of a pilot.
#[derive(Debug)]
pub(super) struct Agent {
    /// The plan node that the agent serves.
    pub slot: usize,
    /// Number of tasks that the agent holds.
    pub holds: usize,
    beacon: Option<AgentBeacon>,
    /// The number of the current connection or connection attempt.
    number: u64,
    stream: Option<TcpStream>,
    dialling: bool,
    dialled: Instant,
    /// Time of the agent's last sign of life, by the clock of the file system.
    beat: Option<Duration>,
    /// Instant at which the planner noticed this sign of life.
    lived: Instant,
    /// True if the agent has given a sign of life in this session. If false, the agent may have ended in an earlier
    /// session.
    is_heard: bool,
    /// True if the agent accepts no more tasks.
    leaving: bool,
    /// The reason if Slurm has reported that the node or the pilot of the agent is gone.
    pub gone: Option<String>,
}

impl Agent {
    fn of(slot: usize) -> Self {
        let now = Instant::now();
        let (number, dialled) = (0, now.checked_sub(PAUSE).unwrap_or(now));
        Self {
            slot,
            holds: 0,
            beacon: None,
            number,
            stream: None,
            dialling: false,
            dialled,
            beat: None,
            lived: now,
            is_heard: false,
            leaving: false,
            gone: None,
        }
    }

    /// Marks the agent as present again, although its pilot was reported as ended. In this case, the controller had
    /// forgotten that pilot and gave its job id to another pilot of the run. The agent of the other pilot now runs at
    /// this place.
    pub fn is_again(&mut self) {
        (self.gone, self.is_heard, self.lived) = (None, self.stream.is_some(), Instant::now());
    }

    pub fn is_connected(&self) -> bool {
        self.stream.is_some()
    }

    fn is_silent(&self) -> bool {
        self.stream.is_none() && self.is_mute_for(SILENCE)
    }

    /// Returns true if the agent has given no sign of life for `time`. An open connection is not a sign of life: after
    /// a failure of the machine, the connection may stay open.
    pub fn is_mute_for(&self, time: Duration) -> bool {
        self.lived.elapsed() >= time
    }

    /// Returns true if the agent accepts tasks and has given a sign of life recently.
    pub fn is_at_work(&self) -> bool {
        self.is_heard && !self.leaving && self.gone.is_none() && !self.is_mute_for(ALIVE)
    }

    /// Closes the connection. After a pause, the planner connects again.
    pub fn hang_up(&mut self) {
        (self.stream, self.dialling, self.dialled) = (None, false, Instant::now());
    }

    /// Tells the agent that a file has changed. If this message is lost, the agent finds the file at its next check.
    pub fn tell(&mut self, line: &str) {
        if let Some(stream) = &mut self.stream
            && stream.write_all(format!("{line}\n").as_bytes()).is_err()
        {
            self.stream = None;
        }
    }
}

impl Pilots {
    /// Returns the place that currently serves a plan node.
    pub(super) fn place_of(&self, slot: usize) -> Option<&PilotNode> {
        let own = self.nodes.agents.iter().filter(|(_, agent)| agent.slot == slot && agent.gone.is_none());
        own.map(|(place, _)| place).next_back()
    }

    /// Returns the name of the cluster node that serves a plan node.
    pub(super) fn node_name(&self, slot: usize) -> String {
        self.place_of(slot).map_or_else(|| self.nodes.slots.name(slot).to_owned(), |place| place.node.clone())
    }

    /// Adds the agent at a place that is known from an earlier session.
    pub(super) fn know(&mut self, place: &PilotNode, slot: usize) {
        self.nodes.agents.insert(place.clone(), Agent::of(slot));
        let seat = &mut self.nodes.seats[self.nodes.slots.seat(slot)];
        seat.has_agent |= seat.job == Some(place.job);
    }

    /// Assigns agents at new places to the plan nodes without an agent.
    pub(super) fn look_for_agents(&mut self) {
        if (0..self.nodes.slots.len()).all(|slot| self.place_of(slot).is_some()) {
            return;
        }
        for place in self.board.places() {
            if self.nodes.agents.contains_key(&place) || self.board.is_over(place.job) {
                continue;
            }
            let Some(seat) = self.nodes.seats.iter().position(|seat| seat.job == Some(place.job)) else { continue };
            let Some(beacon) = self.board.beacon(&place) else { continue };
            // A node that has left a job never returns to this job. But a controller that has lost its state may reuse
            // the job id. Then the agent at the same place has another token.
            if self.nodes.gone.get(&place).is_some_and(|token| token.as_ref() == Some(&beacon.token)) {
                continue;
            }
            let free = self.nodes.slots.of_seat(seat).filter(|&slot| self.place_of(slot).is_none());
            let free: Vec<usize> = free.collect();
            let Some(slot) = self.nodes.slots.choose(&free, &place.node) else { continue };
            if let Err(error) = self.board.bind(&place, slot) {
                self.tell(format!("cannot record the name of node {}: {error}; trying again", place.node));
                continue;
            }
            self.know(&place, slot);
            self.compare(&place, slot, &beacon);
        }
    }

    /// Keeps the connections open, and detects silent and lost agents.
    pub(super) fn look_after_agents(&mut self) {
        let places: Vec<PilotNode> = self.nodes.agents.keys().cloned().collect();
        for place in places {
            self.look_after(&place);
        }
    }

    fn look_after(&mut self, place: &PilotNode) {
        let Some(agent) = self.nodes.agents.get_mut(place) else { return };
        // A connected agent sends messages only when tasks end. Between messages, its beacon file shows signs of life.
        if agent.stream.is_none() || agent.is_mute_for(SILENCE) {
            let beat = self.board.last_beat(place);
            if beat.is_some() && beat != agent.beat {
                agent.is_heard |= agent.beat.is_some();
                agent.beat = beat;
                agent.lived = Instant::now();
            }
        }
        if agent.stream.is_none() && !agent.dialling && agent.dialled.elapsed() >= PAUSE {
            agent.dialled = Instant::now();
            let beacon = self.board.beacon(place);
            if let Some(limits) = beacon.as_ref().and_then(|beacon| beacon.no_limits.clone())
                && agent.beacon.as_ref().is_none_or(|known| known.no_limits.is_none())
            {
                let text = format!("the memory of jobs is not limited on {}: {limits}", place.node);
                self.run.notices.push_back(makespan_exec::engine::Notice::Told(text));
            }
            // Even if the previous agent at this place accepted no more tasks, a new agent may accept tasks.
            agent.leaving &= agent.beacon.as_ref().map(|known| &known.token) == beacon.as_ref().map(|new| &new.token);
            agent.beacon = beacon;
            if let Some(beacon) = agent.beacon.as_ref().filter(|beacon| beacon.port > 0) {
                self.hearing.dials += 1;
                (agent.number, agent.dialling) = (self.hearing.dials, true);
                let sender = self.hearing.sender.clone();
                dial(place, beacon, self.hearing.dials, move |place, number, said| {
                    sender.send(EngineMessage::Agent(place, number, said)).is_ok()
                });
            }
        }
        let (slot, silent, gone) = (agent.slot, agent.is_silent(), agent.gone.clone());
        let is_away = silent || agent.leaving || !agent.is_heard;
        match gone {
            Some(reason) if silent => {
                self.lose(place, &reason);
                self.nodes.agents.remove(place);
                self.nodes.gone.insert(place.clone(), self.board.beacon(place).map(|beacon| beacon.token));
                self.hearing.watch.forget_node(place);
            }
            Some(_) => {}
            None if is_away => self.close(slot),
            None if self.nodes.seats[self.nodes.slots.seat(slot)].takes_tasks() => self.open(slot),
            None => self.close(slot),
        }
        if silent {
            self.hearing.watch.ask_node(place);
        }
    }

    pub(super) fn heard_of_agent(&mut self, place: &PilotNode, number: u64, said: AgentMessage) {
        let Some(agent) = self.nodes.agents.get_mut(place).filter(|agent| agent.number == number) else { return };
        match said {
            AgentMessage::Open(stream) => {
                (agent.stream, agent.dialling, agent.lived) = (Some(stream), false, Instant::now());
                agent.is_heard = true;
                // Before the connection, the agent received no notifications, and the planner received no ends of
                // tasks. So both check all files now.
                agent.tell("?");
                for name in self.board.ids("done", place) {
                    self.ended(place, &name);
                }
                self.look_after(place);
            }
            AgentMessage::Line(line) if line == LEAVING => {
                agent.leaving = true;
                let slot = agent.slot;
                self.close(slot);
                self.hearing.watch.expect_end(place.job);
            }
            AgentMessage::Line(line) if line.starts_with(REMARK) => {
                self.tell(format!("no job can begin on {}: {}; trying again", place.node, &line[REMARK.len_utf8()..]));
            }
            AgentMessage::Line(name) => {
                agent.lived = Instant::now();
                self.ended(place, &name);
            }
            AgentMessage::Closed => (agent.stream, agent.dialling) = (None, false),
        }
    }
}
