//! Connects to all hosts before a run, so that the plan is made for the hosts that can be used.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use super::frame::FrameSender;
use super::link::{HostEvent, Link, LinkEvent};
use super::message::{HostFacts, PlannerMessage};
use super::program::OwnProgram;
use super::spec::HostSpec;

/// A host of the run.
#[derive(Debug)]
pub struct ProbedHost {
    /// The host as the user stated it.
    pub spec: HostSpec,
    /// The position of the host in the list of the user.
    pub(super) index: usize,
    /// Properties that the host reported. `None` if it cannot be reached now.
    pub(super) facts: Option<HostFacts>,
    pub(super) link: Option<(Link, FrameSender<PlannerMessage>)>,
}

impl ProbedHost {
    /// Returns the number of cores: the stated number, or the number that the host reported.
    pub fn cores(&self) -> Option<u32> {
        self.spec.cores.or(self.facts.as_ref().map(|facts| facts.cores))
    }

    /// Returns the memory in bytes and the number of GPUs that the host reported.
    pub fn resources(&self) -> (Option<u64>, Option<u64>) {
        self.facts.as_ref().map_or((None, None), |facts| (facts.memory, facts.gpus))
    }
}

/// The hosts of a run, with open connections.
#[derive(Debug)]
pub struct ProbedHosts {
    /// The hosts, in the order of the user.
    pub hosts: Vec<ProbedHost>,
    pub(super) program: Arc<OwnProgram>,
    pub(super) sender: Sender<HostEvent>,
    pub(super) events: Receiver<HostEvent>,
}

/// Connects to all hosts, and copies this program to hosts without a copy. Leaves out a host that cannot be used, and
/// reports the reason. A host that cannot be reached now is kept if its cores are stated or if `keeps_all` is true,
/// because it may come back.
///
/// # Errors
/// No host can be used.
pub fn probe(specs: Vec<HostSpec>, keeps_all: bool, tell: &mut dyn FnMut(&str)) -> Result<ProbedHosts, String> {
    let program = Arc::new(OwnProgram::find()?);
    let (sender, events) = mpsc::channel();
    let mut links: Vec<Option<Link>> =
        (0..).zip(&specs).map(|(index, spec)| Some(Link::open((index, &spec.name), 0, &program, &sender))).collect();
    let mut hosts: Vec<Option<ProbedHost>> =
        (0..).zip(specs).map(|(index, spec)| Some(ProbedHost { spec, index, facts: None, link: None })).collect();
    let mut open = hosts.len();
    while open > 0 {
        links.iter().flatten().for_each(Link::expire);
        let Ok(HostEvent { host: index, event, .. }) = events.recv_timeout(Duration::from_millis(100)) else {
            continue;
        };
        let Some(host) = &mut hosts[index] else { continue };
        match event {
            LinkEvent::Open(facts, planner) => {
                open -= 1;
                host.facts = Some(facts);
                host.link = links[index].take().map(|link| (link, planner));
            }
            LinkEvent::Told(text) => tell(&text),
            LinkEvent::Message(_) => {}
            LinkEvent::Closed(failure) => {
                open -= usize::from(host.facts.is_none());
                host.link = None;
                let may_return = failure.passing && (host.cores().is_some() || keeps_all);
                let name = &host.spec.name;
                if may_return || keeps_all {
                    tell(&format!(
                        "host {name} cannot be used now: {}; it is tried again during the run",
                        failure.reason
                    ));
                } else {
                    let state = format!("; to use it when it comes back, state its cores: {name}*8");
                    let state = if failure.passing { state.as_str() } else { "" };
                    tell(&format!("host {name} is left out: {}{state}", failure.reason));
                    hosts[index] = None;
                }
            }
        }
    }
    let hosts: Vec<ProbedHost> = hosts.into_iter().flatten().collect();
    if !hosts.iter().any(|host| host.link.is_some()) && !keeps_all {
        return Err("no host can be used; the messages above name the reason for each host".into());
    }
    Ok(ProbedHosts { hosts, program, sender, events })
}
