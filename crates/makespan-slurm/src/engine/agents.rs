//! The agents of the places, as the planner knows them.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{Heard, Pilots};
use crate::pilot::link::{Said, dial};
use crate::pilot::{Beacon, LEAVING, Place, REMARK};

/// For how long nothing is heard of an agent until no more is given to it, and, if Slurm says that its node or its pilot is gone,
/// its tasks are lost.
const SILENCE: Duration = Duration::from_secs(5);

/// Between two attempts at a connection.
const PAUSE: Duration = Duration::from_millis(500);

/// An agent.
#[derive(Debug)]
pub(super) struct Agent {
    /// The node of the plan that it is.
    pub slot: usize,
    /// How many tasks it holds.
    pub holds: usize,
    beacon: Option<Beacon>,
    /// The number of the present connection, or of the attempt at one.
    number: u64,
    stream: Option<TcpStream>,
    dialling: bool,
    dialled: Instant,
    /// Its last sign of life, by its own clock, and when we saw that it was new.
    beat: Option<Duration>,
    lived: Instant,
    /// Whether there was one since we know it: what an earlier session knew may be gone.
    is_heard: bool,
    /// Whether it takes nothing more.
    leaving: bool,
    /// Whether Slurm says that its node or its pilot is gone.
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

    /// Its pilot was over, and the controller, which has forgotten that, has given the number of the job to another pilot of ours: whoever
    /// is in the place now serves that one.
    pub fn is_again(&mut self) {
        (self.gone, self.is_heard, self.lived) = (None, self.stream.is_some(), Instant::now());
    }

    pub fn is_connected(&self) -> bool {
        self.stream.is_some()
    }

    fn is_silent(&self) -> bool {
        self.stream.is_none() && self.is_mute_for(SILENCE)
    }

    /// Whether there was no sign of life for so long, be it connected or not: the connection to a machine that is gone may stay open.
    pub fn is_mute_for(&self, time: Duration) -> bool {
        self.lived.elapsed() >= time
    }

    /// Gives the connection up, and tries no other at once.
    pub fn hang_up(&mut self) {
        (self.stream, self.dialling, self.dialled) = (None, false, Instant::now());
    }

    /// Says that a file has moved. Who does not hear it looks.
    pub fn tell(&mut self, line: &str) {
        if let Some(stream) = &mut self.stream
            && stream.write_all(format!("{line}\n").as_bytes()).is_err()
        {
            self.stream = None;
        }
    }
}

impl Pilots {
    /// The place that a node of the plan is now.
    pub(super) fn place_of(&self, slot: usize) -> Option<&Place> {
        let own = self.nodes.agents.iter().filter(|(_, agent)| agent.slot == slot && agent.gone.is_none());
        own.map(|(place, _)| place).next_back()
    }

    /// What a node of the plan is called in the cluster.
    pub(super) fn node_name(&self, slot: usize) -> String {
        self.place_of(slot).map_or_else(|| self.nodes.slots.name(slot).to_owned(), |place| place.node.clone())
    }

    /// A place that an earlier session knew.
    pub(super) fn know(&mut self, place: &Place, slot: usize) {
        self.nodes.agents.insert(place.clone(), Agent::of(slot));
    }

    /// Gives places that are new to the nodes of the plan that wait for them.
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
            // A node that has left a job does not come back to it; a controller without its memory gives the number of a job again.
            if self.nodes.gone.get(&place).is_some_and(|token| token.as_ref() == Some(&beacon.token)) {
                continue;
            }
            let free = self.nodes.slots.of_seat(seat).filter(|&slot| self.place_of(slot).is_none());
            let free: Vec<usize> = free.collect();
            let Some(slot) = self.nodes.slots.choose(&free, &place.node) else { continue };
            if let Err(error) = self.board.bind(&place, slot) {
                self.tell(format!("cannot write which node {} is: {error}; trying again", place.node));
                continue;
            }
            self.know(&place, slot);
            self.compare(&place, slot, &beacon);
        }
    }

    /// Keeps connections up, and sees who is silent and who is gone.
    pub(super) fn look_after_agents(&mut self) {
        let places: Vec<Place> = self.nodes.agents.keys().cloned().collect();
        for place in places {
            self.look_after(&place);
        }
    }

    fn look_after(&mut self, place: &Place) {
        let Some(agent) = self.nodes.agents.get_mut(place) else { return };
        // Who is connected says nothing while nothing ends.
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
            // Another agent of the place may stay.
            agent.leaving &= agent.beacon.as_ref().map(|known| &known.token) == beacon.as_ref().map(|new| &new.token);
            agent.beacon = beacon;
            if let Some(beacon) = agent.beacon.as_ref().filter(|beacon| beacon.port > 0) {
                self.hearing.dials += 1;
                (agent.number, agent.dialling) = (self.hearing.dials, true);
                let sender = self.hearing.sender.clone();
                dial(place, beacon, self.hearing.dials, move |place, number, said| {
                    sender.send(Heard::Agent(place, number, said)).is_ok()
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
            None if is_away => self.close(slot, None),
            None if self.nodes.seats[self.nodes.slots.seat(slot)].takes_tasks() => self.open(slot),
            None => self.close(slot, None),
        }
        if silent {
            self.hearing.watch.ask_node(place);
        }
    }

    pub(super) fn heard_of_agent(&mut self, place: &Place, number: u64, said: Said) {
        let Some(agent) = self.nodes.agents.get_mut(place).filter(|agent| agent.number == number) else { return };
        match said {
            Said::Open(stream) => {
                (agent.stream, agent.dialling, agent.lived) = (Some(stream), false, Instant::now());
                agent.is_heard = true;
                // What was given before it was there was not told, and what ended was not heard.
                agent.tell("?");
                for name in self.board.ids("done", place) {
                    self.ended(place, &name);
                }
                self.look_after(place);
            }
            Said::Line(line) if line == LEAVING => {
                agent.leaving = true;
                let slot = agent.slot;
                self.close(slot, None);
            }
            Said::Line(line) if line.starts_with(REMARK) => {
                self.tell(format!("no job can begin on {}: {}; trying again", place.node, &line[REMARK.len_utf8()..]));
            }
            Said::Line(name) => {
                agent.lived = Instant::now();
                self.ended(place, &name);
            }
            Said::Closed => (agent.stream, agent.dialling) = (None, false),
        }
    }
}
