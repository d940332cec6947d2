//! Changes of machines during a run.

use makespan_core::network::{NodeEvent, NodePolicy};

use super::engine::Engine;
use super::observer::{NetworkObserver, NetworkRecord};
use super::options::{NetworkChange, NodeChange};

impl<P: NodePolicy, O: NetworkObserver> Engine<'_, P, O> {
    pub(super) fn change(&mut self, change: NetworkChange) {
        let (node, now) = (change.node, self.state.now);
        if self.state.removed[node] {
            return;
        }
        match (change.what, self.state.parent(node)) {
            (NodeChange::Speed(speed), _) => {
                let factor = self.state.speed[node] / speed;
                self.state.speed[node] = speed;
                self.state.processors[node].stretch(now, node, factor);
                self.await_processor(node);
                self.tell(node, NodeEvent::SpeedChanged);
            }
            (NodeChange::Bandwidth(bandwidth), Some(parent)) => {
                let factor = self.state.bandwidth[node] / bandwidth;
                self.state.bandwidth[node] = bandwidth;
                self.state.port[parent].stretch(now, node, factor);
                self.await_port(parent);
                let child = node - self.state.network.children(parent).start;
                self.tell(parent, NodeEvent::BandwidthChanged { child });
            }
            (NodeChange::Removed, Some(_)) => self.remove(self.last_use(node)),
            (NodeChange::Bandwidth(_) | NodeChange::Removed, None) => {}
        }
    }

    /// Returns the highest ancestor that is a switch and leads only to this node, or the node itself if there is no
    /// such ancestor.
    fn last_use(&self, mut node: usize) -> usize {
        while let Some(parent) = self.state.parent(node) {
            let other = |other: usize| other != node && self.state.serves[other] && !self.state.removed[other];
            let is_needed = self.state.network.children(parent).any(other);
            if parent == 0 || self.state.network.nodes()[parent].processors > 0 || is_needed {
                break;
            }
            node = parent;
        }
        node
    }

    /// Removes a node and all nodes below it. The tasks of these nodes return to the root, which has the data of every
    /// task. Tasks that are being sent to `node` stay in the buffer of its parent.
    fn remove(&mut self, node: usize) {
        let Some(parent) = self.state.parent(node) else { return };
        let now = self.state.now;
        let (lanes, kinds) = (self.state.lanes, self.state.kinds());
        let child = node - self.state.network.children(parent).start;
        while let Some(active) = self.state.port[parent].abort(now, node) {
            let kind = active.kind as usize;
            let lane = self.state.lane(kind);
            self.state.link_busy[node] += active.used;
            self.state.ports[parent * lanes + lane] += 1;
            self.state.ready[parent * kinds + kind] += 1;
            self.tell(parent, NodeEvent::Returned { kind });
        }
        self.await_port(parent);
        let mut gone = vec![node];
        let mut at = 0;
        while at < gone.len() {
            gone.extend(self.state.network.children(gone[at]).filter(|&below| !self.state.removed[below]));
            at += 1;
        }
        let mut back = vec![0_u32; kinds];
        for &node in gone.iter().rev() {
            self.clear(node, &mut back);
        }
        self.tell(parent, NodeEvent::ChildRemoved { child });
        for (kind, &count) in back.iter().enumerate() {
            self.resent += u64::from(count);
            for _ in 0..count {
                self.state.ready[kind] += 1;
                self.tell(0, NodeEvent::Received { kind });
            }
        }
    }

    /// Removes all tasks from a node, and adds the number of removed tasks of each kind to `back`.
    fn clear(&mut self, node: usize, back: &mut [u32]) {
        let now = self.state.now;
        let (lanes, kinds) = (self.state.lanes, self.state.kinds());
        for (back, ready) in back.iter_mut().zip(&mut self.state.ready[node * kinds..(node + 1) * kinds]) {
            *back += std::mem::take(ready);
        }
        let sent = self.state.port[node].abort_all(now);
        for active in &sent {
            self.state.link_busy[active.node as usize] += active.used;
        }
        for active in sent.into_iter().chain(self.state.processors[node].abort_all(now)) {
            back[active.kind as usize] += 1;
        }
        let own = node * lanes..(node + 1) * lanes;
        self.state.requests[own.clone()].fill(0);
        self.state.held[own.clone()].fill(0);
        self.state.receiving[own].fill(false);
        self.state.levels[node * kinds..(node + 1) * kinds].fill(0);
        self.state.removed[node] = true;
        self.observer.on(now, NetworkRecord::Removed { node });
    }
}
