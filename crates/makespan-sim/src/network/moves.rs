//! Sending, receiving and computing of tasks.

use makespan_core::Time;
use makespan_core::network::{NodeDecision, NodeEvent, NodePolicy};

use super::engine::Engine;
use super::events::FutureEvent;
use super::observer::{NetworkObserver, NetworkRecord};
use super::run::SimulationDefect;
use super::server::ticks;

impl<P: NodePolicy, O: NetworkObserver> Engine<'_, P, O> {
    pub(super) fn decided(&mut self, node: usize, decision: NodeDecision) -> Result<(), SimulationDefect> {
        let (view, kinds) = (self.state.view(node), self.state.kinds());
        match decision {
            NodeDecision::Compute { kind } if kind < kinds && view.can_compute(kind) => {
                self.compute(node, kind);
                Ok(())
            }
            NodeDecision::Send { child, kind }
                if kind < kinds && child < view.degree() && view.can_send(child, kind) =>
            {
                self.send(node, self.state.network.children(node).start + child, kind);
                Ok(())
            }
            NodeDecision::Wait { until } if until > self.state.now => {
                self.events.push(until, FutureEvent::Wait { node: node as u32 });
                Ok(())
            }
            decision => Err(SimulationDefect::Decision { node, decision }),
        }
    }

    fn compute(&mut self, node: usize, kind: usize) {
        let now = self.state.now;
        let state = &mut self.state;
        let (lane, kinds) = (state.lane(kind), state.kinds());
        state.ready[node * kinds + kind] -= 1;
        state.idle[node * state.lanes + lane] -= 1;
        let work = ticks(state.network.kinds()[kind].work, state.speed[node]);
        state.processors[node].add(now, kind, node, [0.0, work]);
        self.observer.on(now, NetworkRecord::ComputingBegins { node, kind });
        self.await_processor(node);
        self.freed(node, kind);
    }

    pub(super) fn await_processor(&mut self, node: usize) {
        let server = &self.state.processors[node];
        if let Some(end) = server.next_end() {
            self.events.push(end, FutureEvent::Processor { node: node as u32, version: server.version });
        }
    }

    pub(super) fn computing_ends(&mut self, node: usize) {
        let now = self.state.now;
        let Some(active) = self.state.processors[node].finish(now) else { return };
        let (kind, kinds) = (active.kind as usize, self.state.kinds());
        let lane = self.state.lane(kind);
        self.state.idle[node * self.state.lanes + lane] += 1;
        self.state.computed[node * kinds + kind] += 1;
        for &(application, count) in &self.state.network.kinds()[kind].tasks {
            self.left[application] -= u64::from(count);
            self.completions[application].extend(std::iter::repeat_n(now, count as usize));
        }
        self.observer.on(now, NetworkRecord::ComputingEnds { node, kind });
        self.await_processor(node);
        self.ask(node);
    }

    fn send(&mut self, node: usize, to: usize, kind: usize) {
        let now = self.state.now;
        let state = &mut self.state;
        let (lane, kinds, lanes) = (state.lane(kind), state.kinds(), state.lanes);
        state.ready[node * kinds + kind] -= 1;
        state.ports[node * lanes + lane] -= 1;
        state.requests[to * lanes + lane] -= 1;
        state.receiving[to * lanes + lane] = true;
        state.levels[to * kinds + kind] += 1;
        let piece = &state.network.kinds()[kind];
        let latency = state.network.nodes()[to].latency.ticks() as f64 * f64::from(piece.size());
        let time = [latency, ticks(piece.data, state.bandwidth[to])];
        state.port[node].add(now, kind, to, time);
        self.observer.on(now, NetworkRecord::SendBegins { node: to, kind });
        self.await_port(node);
    }

    pub(super) fn await_port(&mut self, node: usize) {
        let server = &self.state.port[node];
        if let Some(end) = server.next_end() {
            self.events.push(end, FutureEvent::Port { node: node as u32, version: server.version });
        }
    }

    pub(super) fn send_ends(&mut self, node: usize) {
        let now = self.state.now;
        let Some(active) = self.state.port[node].finish(now) else { return };
        let (kind, to) = (active.kind as usize, active.node as usize);
        let state = &mut self.state;
        let (lane, kinds, lanes) = (state.lane(kind), state.kinds(), state.lanes);
        state.link_busy[to] += active.used;
        state.ports[node * lanes + lane] += 1;
        state.receiving[to * lanes + lane] = false;
        state.received[to * kinds + kind] += 1;
        state.ready[to * kinds + kind] += 1;
        state.held[to * lanes + lane] += 1;
        state.peak[to] = state.peak[to].max(state.held[to * lanes + lane]);
        self.hops += 1;
        self.observer.on(now, NetworkRecord::SendEnds { node: to, kind });
        self.await_port(node);
        self.freed(node, kind);
        self.tell(to, NodeEvent::Received { kind });
        self.ask(node);
    }

    /// Frees a slot of a node's buffer, and requests another task from the node's parent.
    fn freed(&mut self, node: usize, kind: usize) {
        if node > 0 {
            let lane = self.state.lane(kind);
            self.state.held[node * self.state.lanes + lane] -= 1;
            self.request(node, lane, Some(kind as u32));
        }
    }

    pub(super) fn request(&mut self, node: usize, lane: usize, freed: Option<u32>) {
        let latency = self.state.network.nodes()[node].latency;
        if self.options.slow_requests && latency > Time::ZERO {
            let due = FutureEvent::Request { node: node as u32, lane: lane as u32, freed };
            self.events.push(self.state.now + latency, due);
        } else {
            self.requested(node, lane, freed);
        }
    }

    /// Handles a request that has reached the parent.
    pub(super) fn requested(&mut self, node: usize, lane: usize, freed: Option<u32>) {
        let Some(parent) = self.state.parent(node).filter(|_| !self.state.removed[node]) else { return };
        self.state.requests[node * self.state.lanes + lane] += 1;
        if let Some(kind) = freed {
            let kinds = self.state.kinds();
            self.state.levels[node * kinds + kind as usize] -= 1;
        }
        let child = node - self.state.network.children(parent).start;
        self.tell(parent, NodeEvent::Requested { child, lane });
    }
}
