//! The hosts, as the planner sees them: their connections, and their signs of life.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Hosts;
use crate::engine::Notice;
use crate::hosts::frame::FrameSender;
use crate::hosts::lease::{LOST, since_boot};
use crate::hosts::link::{HostEvent, Link, LinkEvent};
use crate::hosts::message::{HostMessage, PlannerMessage};
use crate::hosts::probe::ProbedHost;
use crate::hosts::spec::HostSpec;
use crate::order::AttemptEnd;

/// If a host gives no sign of life for this time, the connection is replaced.
const SILENCE: Duration = Duration::from_secs(15);

/// Time in which the agent of a host must answer.
const PATIENCE: Duration = Duration::from_secs(40);

/// Minimum and maximum time between two attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(20));

/// If no host was reachable for this time, the run ends and can be resumed.
const ALONE: Duration = Duration::from_mins(10);

/// A host with its connection.
#[derive(Debug)]
pub(super) struct Host {
    pub spec: HostSpec,
    link: Option<Link>,
    sender: Option<FrameSender<PlannerMessage>>,
    /// The agent that has answered on the current connection.
    pub agent: Option<String>,
    /// True if the host shares the folder of the run.
    pub shares: bool,
    /// The time of the last beat, or of the start of this session ([`since_boot`]).
    heard: Duration,
    again: Instant,
    pause: Duration,
    /// True if the host cannot run tasks until the user changes something.
    is_unfit: bool,
    /// The last reason that was reported.
    said: String,
    /// Attempts on the host that belong to no task of this session, and that have not ended.
    pub strangers: BTreeSet<String>,
    /// Ends that the host reported before the session decided which attempts it takes over.
    pub early: BTreeMap<String, AttemptEnd>,
    /// True if parts of files arrived before the session decided which attempts it takes over. These parts are lost.
    pub has_missed_files: bool,
    /// The position of the host in the list of the user.
    index: usize,
    /// The number of the current connection.
    number: u64,
}

impl Host {
    pub fn new(probed: ProbedHost) -> Self {
        let (link, sender) = probed.link.unzip();
        if let Some(link) = &link {
            link.expect(Some(PATIENCE));
        }
        Self {
            spec: probed.spec,
            link,
            sender,
            agent: None,
            shares: true,
            heard: since_boot(),
            again: Instant::now() + PAUSES.0,
            pause: PAUSES.0,
            is_unfit: false,
            said: String::new(),
            strangers: BTreeSet::new(),
            early: BTreeMap::new(),
            has_missed_files: false,
            index: probed.index,
            number: 0,
        }
    }

    pub fn send(&self, message: PlannerMessage) {
        if let Some(sender) = &self.sender {
            sender.send(message);
        }
    }

    /// Sends files of an attempt, and then a message.
    pub fn send_files(&self, id: &str, files: Vec<PathBuf>, last: PlannerMessage) {
        if let Some(sender) = &self.sender {
            sender.send_files(id, files, last);
        }
    }

    /// Kills the attempts on the host that belong to no task of this session.
    pub fn end_strangers(&self) {
        self.strangers.iter().for_each(|id| self.send(PlannerMessage::End { id: id.clone(), kill: true }));
    }

    /// Returns true if the host has a connection, but its agent has not answered.
    pub fn is_opening(&self) -> bool {
        self.link.is_some() && self.agent.is_none()
    }

    pub fn is_connected(&self) -> bool {
        self.agent.is_some()
    }

    /// Cuts the connection if the host has not answered in time.
    pub fn expire(&self) {
        self.link.iter().for_each(Link::expire);
    }

    /// Returns true if tasks of an agent without contact have certainly ended.
    pub fn is_lost(&self) -> bool {
        self.agent.is_none() && since_boot() >= self.heard + LOST
    }

    /// Ends the connection. The planner connects again after a pause.
    pub fn hang_up(&mut self) {
        (self.link, self.sender, self.agent) = (None, None, None);
        self.again = Instant::now() + self.pause;
        self.pause = PAUSES.1.min(self.pause * 2);
    }
}

impl Hosts {
    /// Handles an event of a connection. Events of earlier connections are outdated.
    pub(super) fn hear(&mut self, HostEvent { host: index, number, event }: HostEvent) {
        // The connections were numbered by the order of the hosts of the user.
        let Some(slot) = self.all.iter().position(|host| host.index == index) else { return };
        if self.all[slot].link.as_ref().is_none_or(|link| link.number != number) {
            return;
        }
        match event {
            LinkEvent::Told(text) => self.notices.push_back(Notice::Told(text)),
            LinkEvent::Open(_, sender) => {
                let host = &mut self.all[slot];
                host.sender = Some(sender);
                host.link.iter().for_each(|link| link.expect(Some(PATIENCE)));
                self.open_run(slot);
            }
            LinkEvent::Message(message) => self.heed(slot, message),
            LinkEvent::Closed(failure) => {
                let is_news = self.all[slot].said.is_empty() && !self.all[slot].is_unfit;
                self.all[slot].hang_up();
                self.close(slot);
                if is_news {
                    self.tell(slot, &format!("{}; connecting again", failure.reason));
                    self.all[slot].said = failure.reason;
                }
            }
        }
    }

    fn heed(&mut self, slot: usize, message: HostMessage) {
        match message {
            HostMessage::Facts(_) => {}
            HostMessage::Welcome { agent, held, shares } => {
                self.all[slot].shares = shares;
                self.welcome(slot, agent, &held);
            }
            HostMessage::File(part) => self.store(slot, &part),
            HostMessage::Unfit(reason) => {
                self.tell(slot, &format!("{reason}; the host gets no jobs"));
                self.all[slot].is_unfit = true;
            }
            HostMessage::Beat(number) => {
                self.all[slot].heard = since_boot();
                self.all[slot].send(PlannerMessage::Returned(number));
            }
            HostMessage::Ended(id, end) => self.ended(slot, &id, end),
            HostMessage::Told(text) => self.tell(slot, &text),
        }
    }

    fn welcome(&mut self, slot: usize, agent: String, held: &[String]) {
        let host = &mut self.all[slot];
        host.link.iter().for_each(|link| link.expect(None));
        (host.heard, host.pause, host.agent) = (since_boot(), PAUSES.0, Some(agent));
        if !std::mem::take(&mut host.said).is_empty() {
            self.tell(slot, "connected again");
        }
        self.compare(slot, held);
        self.open_if_fit(slot);
    }

    /// Opens a node if its host has answered and runs no attempts of other sessions.
    pub(super) fn open_if_fit(&mut self, slot: usize) {
        if self.is_settled && self.all[slot].is_connected() && self.all[slot].strangers.is_empty() {
            self.open(slot);
        }
    }

    /// Replaces silent connections, connects again, and gives up tasks that have certainly ended with their agent.
    pub(super) fn look_after_hosts(&mut self) {
        for slot in 0..self.all.len() {
            let host = &mut self.all[slot];
            host.expire();
            if host.is_connected() && since_boot() >= host.heard + SILENCE {
                host.hang_up();
                self.close(slot);
                let reason = format!("it has been silent for {} s", SILENCE.as_secs());
                self.tell(slot, &format!("{reason}; connecting again"));
                self.all[slot].said = reason;
            }
            if !self.all[slot].is_connected() && self.all[slot].shares {
                self.find_ends(slot);
            }
            if self.all[slot].is_lost() {
                let reason = format!("host {} was out of contact for {} s", self.slots.name(slot), LOST.as_secs());
                self.lose_all(slot, &reason);
                self.all[slot].strangers.clear();
            }
            let host = &mut self.all[slot];
            if host.link.is_none() && !host.is_unfit && Instant::now() >= host.again {
                host.number += 1;
                host.link = Some(Link::open((host.index, &host.spec.name), host.number, &self.program, &self.sender));
            }
        }
        self.look_for_end();
    }

    /// Ends the run if no host can be reached.
    fn look_for_end(&mut self) {
        let is_alone = self.tasks.is_empty() && !self.all.iter().any(Host::is_connected);
        let unfit = self.all.iter().all(|host| host.is_unfit);
        self.alone = if is_alone { Some(self.alone.unwrap_or_else(Instant::now)) } else { None };
        if self.is_over || !self.alone.is_some_and(|since| unfit || since.elapsed() >= ALONE) {
            return;
        }
        self.is_over = true;
        let text = if unfit {
            "no host can run the jobs; follow the messages above, and resume the run".to_owned()
        } else {
            format!(
                "no host could be reached for {} min; resume the run when a host can be reached",
                ALONE.as_secs() / 60
            )
        };
        self.notices.push_back(Notice::Over(text));
    }
}
