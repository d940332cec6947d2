//! The event loop of a network.

use std::collections::VecDeque;

use makespan_core::Time;
use makespan_core::network::{Network, NodeDecision, NodeEvent, NodePolicy};

use super::events::{Events, FutureEvent};
use super::observer::NetworkObserver;
use super::options::{EndCondition, NetworkOptions};
use super::run::{NetworkRun, SimulationDefect};
use super::state::NetworkState;

/// The state of a simulated run.
pub(super) struct Engine<'a, P, O> {
    pub(super) state: NetworkState<'a>,
    pub(super) policies: &'a mut [P],
    pub(super) observer: &'a mut O,
    pub(super) options: &'a NetworkOptions,
    pub(super) events: Events,
    /// Nodes with policies to call. Each node occurs at most once.
    asking: VecDeque<u32>,
    is_asking: Vec<bool>,
    pub(super) completions: Vec<Vec<Time>>,
    pub(super) left: Vec<u64>,
    pub(super) hops: u64,
    pub(super) resent: u64,
}

/// Simulates the network until all tasks are done or the options end the run. `policies` has a policy for each node, in
/// the network's order.
///
/// Equal networks, policies and options give equal runs. A task makes one hop on each link of its path. Apart from the
/// time that the policies take, the simulation takes O(h log b) for h hops and b busy nodes.
///
/// # Errors
/// [`SimulationDefect`] if a policy makes an invalid decision, or the options do not fit the network.
pub fn simulate<P: NodePolicy, O: NetworkObserver>(
    network: &Network,
    policies: &mut [P],
    options: &NetworkOptions,
    observer: &mut O,
) -> Result<NetworkRun, SimulationDefect> {
    options.check(network)?;
    if options.buffer == 0 {
        return Err(SimulationDefect::NoBuffer);
    }
    let nodes = network.nodes().len();
    if policies.len() != nodes {
        return Err(SimulationDefect::Policies { policies: policies.len(), nodes });
    }
    let mut engine = Engine {
        state: NetworkState::new(network, options),
        policies,
        observer,
        options,
        events: Events::default(),
        asking: VecDeque::new(),
        is_asking: vec![false; nodes],
        completions: vec![Vec::new(); network.applications()],
        left: network.tasks(),
        hops: 0,
        resent: 0,
    };
    engine.begin();
    let stalled = engine.play()?;
    Ok(engine.finish(stalled))
}

impl<P: NodePolicy, O: NetworkObserver> Engine<'_, P, O> {
    /// Lets every node request as many tasks as fit into its buffer.
    fn begin(&mut self) {
        for (index, change) in self.options.changes.iter().enumerate() {
            self.events.push(change.at, FutureEvent::Change(index as u32));
        }
        let lanes = self.state.lanes;
        for node in 1..self.state.network.nodes().len() {
            let Some(parent) = self.state.parent(node) else { continue };
            if self.options.slow_requests && self.state.network.nodes()[node].latency > Time::ZERO {
                for lane in 0..lanes {
                    for _ in 0..std::mem::take(&mut self.state.requests[node * lanes + lane]) {
                        self.request(node, lane, None);
                    }
                }
                continue;
            }
            let child = node - self.state.network.children(parent).start;
            for lane in 0..lanes {
                for _ in 0..self.state.requests[node * lanes + lane] {
                    self.tell(parent, NodeEvent::Requested { child, lane });
                }
            }
        }
        self.ask(0);
    }

    /// Processes events until the run is over. Returns true if no event is pending although tasks remain.
    fn play(&mut self) -> Result<bool, SimulationDefect> {
        self.settle()?;
        while !self.is_over() {
            let Some(now) = self.events.next_time() else { return Ok(true) };
            if let EndCondition::At(last) = self.options.until
                && now > last
            {
                self.state.now = last;
                return Ok(false);
            }
            self.state.now = now;
            while let Some(due) = self.events.pop_at(now) {
                self.happen(due);
            }
            self.settle()?;
        }
        Ok(false)
    }

    fn is_over(&self) -> bool {
        match self.options.until {
            EndCondition::FirstApplication => self.left.contains(&0),
            EndCondition::AllDone | EndCondition::At(_) => self.left.iter().all(|&left| left == 0),
        }
    }

    fn happen(&mut self, due: FutureEvent) {
        match due {
            FutureEvent::Port { node, version } if self.state.port[node as usize].version == version => {
                self.send_ends(node as usize);
            }
            FutureEvent::Processor { node, version } if self.state.processors[node as usize].version == version => {
                self.computing_ends(node as usize);
            }
            FutureEvent::Port { .. } | FutureEvent::Processor { .. } => {}
            FutureEvent::Request { node, lane, freed } => self.requested(node as usize, lane as usize, freed),
            FutureEvent::Wait { node } => self.ask(node as usize),
            FutureEvent::Change(index) => self.change(self.options.changes[index as usize]),
        }
    }

    /// Calls the policies of the waiting nodes until no policy has a further decision.
    fn settle(&mut self) -> Result<(), SimulationDefect> {
        while let Some(node) = self.asking.pop_front() {
            let node = node as usize;
            self.is_asking[node] = false;
            while !self.state.removed[node] {
                let Some(decision) = self.policies[node].decide(&self.state.view(node)) else { break };
                self.decided(node, decision)?;
                if matches!(decision, NodeDecision::Wait { .. }) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Marks a node, so that its policy is called after the events of this instant.
    pub(super) fn ask(&mut self, node: usize) {
        if !self.is_asking[node] {
            self.is_asking[node] = true;
            self.asking.push_back(node as u32);
        }
    }

    /// Passes an event to the policy of a node.
    pub(super) fn tell(&mut self, node: usize, event: NodeEvent) {
        self.policies[node].hear(event, &self.state.view(node));
        self.ask(node);
    }

    fn finish(mut self, stalled: bool) -> NetworkRun {
        let now = self.state.now;
        let whole = |ticks: f64| Time::from_ticks(ticks.round() as i64);
        let busy = |servers: &mut Vec<super::server::Server>| -> Vec<Time> {
            servers.iter_mut().for_each(|server| server.advance(now));
            servers.iter().map(|server| whole(server.busy)).collect()
        };
        let processor_busy = busy(&mut self.state.processors);
        let port_busy = busy(&mut self.state.port);
        for port in &mut self.state.port {
            for active in port.abort_all(now) {
                self.state.link_busy[active.node as usize] += active.used;
            }
        }
        NetworkRun {
            end: now,
            completions: self.completions,
            tasks: self.state.network.tasks(),
            computed: self.state.computed,
            received: self.state.received,
            processor_busy,
            port_busy,
            link_busy: self.state.link_busy.iter().copied().map(whole).collect(),
            peak: self.state.peak,
            removed: self.state.removed,
            hops: self.hops,
            events: self.events.count(),
            resent: self.resent,
            stalled,
        }
    }
}
