//! Checks that a run respects the rules of the network, using only the records that an observer receives.

use makespan_core::Time;
use makespan_core::network::Network;

use crate::network::{NetworkObserver, NetworkOptions, NetworkRecord};

pub(super) struct Audit<'a> {
    network: &'a Network,
    options: &'a NetworkOptions,
    /// Number of tasks in the buffer, including tasks that are being sent, by node and kind.
    held: Vec<Vec<u32>>,
    /// Kinds of the tasks that are being sent, by receiving node.
    coming: Vec<Vec<usize>>,
    computing: Vec<Vec<usize>>,
    pub(super) done: Vec<u32>,
    now: Time,
}

impl<'a> Audit<'a> {
    pub(super) fn new(network: &'a Network, options: &'a NetworkOptions) -> Self {
        let (nodes, kinds) = (network.nodes().len(), network.kinds().len());
        let mut held = vec![vec![0; kinds]; nodes];
        held[0] = network.kinds().iter().map(|kind| kind.count).collect();
        let (coming, computing) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        Self { network, options, held, coming, computing, done: vec![0; kinds], now: Time::ZERO }
    }

    fn lane(&self, kind: usize) -> usize {
        if self.options.lanes { kind } else { 0 }
    }

    fn in_lane(&self, kinds: &[usize], lane: usize) -> usize {
        kinds.iter().filter(|&&kind| self.lane(kind) == lane).count()
    }

    fn leaving(&self, node: usize) -> Vec<usize> {
        self.network.children(node).flat_map(|child| self.coming[child].clone()).collect()
    }

    fn free(&self, node: usize, kind: usize) -> u32 {
        let leaving = self.leaving(node).iter().filter(|&&other| other == kind).count();
        self.held[node][kind] - leaving as u32
    }

    fn parent(&self, node: usize) -> usize {
        self.network.nodes()[node].parent.unwrap()
    }

    pub(super) fn left(&self) -> u64 {
        let held = self.held.iter().flatten().map(|&count| u64::from(count)).sum::<u64>();
        held + self.computing.iter().map(|kinds| kinds.len() as u64).sum::<u64>()
    }

    /// Checks that every task is either completed or in exactly one buffer, transfer or processor.
    pub(super) fn check(&self) {
        for (kind, of) in self.network.kinds().iter().enumerate() {
            let held: u32 = self.held.iter().map(|held| held[kind]).sum();
            let computing = self.computing.iter().flatten().filter(|&&other| other == kind).count() as u32;
            assert_eq!(held + computing + self.done[kind], of.count, "kind {kind}");
        }
    }
}

impl NetworkObserver for Audit<'_> {
    fn on(&mut self, now: Time, record: NetworkRecord) {
        assert!(now >= self.now, "time goes forward");
        self.now = now;
        match record {
            NetworkRecord::SendBegins { node, kind } => {
                let (parent, lane) = (self.parent(node), self.lane(kind));
                assert!(self.free(parent, kind) > 0, "the sent task is in the parent's buffer");
                assert_eq!(self.in_lane(&self.coming[node], lane), 0, "a node receives one task at a time");
                assert!(
                    self.in_lane(&self.leaving(parent), lane) < self.options.sends as usize,
                    "no node makes more sends at once than allowed"
                );
                self.coming[node].push(kind);
                let room: u32 = (0..self.held[node].len())
                    .filter(|&other| self.lane(other) == lane)
                    .map(|other| self.held[node][other])
                    .sum();
                assert!(room < self.options.buffer, "the receiving buffer has room for the sent task");
            }
            NetworkRecord::SendEnds { node, kind } => {
                let at = self.coming[node].iter().position(|&other| other == kind).unwrap();
                self.coming[node].remove(at);
                let parent = self.parent(node);
                self.held[parent][kind] -= 1;
                self.held[node][kind] += 1;
            }
            NetworkRecord::ComputingBegins { node, kind } => {
                assert!(self.free(node, kind) > 0, "the computed task is in the node's buffer");
                let lane = self.in_lane(&self.computing[node], self.lane(kind));
                assert!(
                    lane < self.network.nodes()[node].processors as usize,
                    "each processor computes at most one task"
                );
                self.held[node][kind] -= 1;
                self.computing[node].push(kind);
            }
            NetworkRecord::ComputingEnds { node, kind } => {
                let at = self.computing[node].iter().position(|&other| other == kind).unwrap();
                self.computing[node].remove(at);
                self.done[kind] += 1;
            }
            NetworkRecord::Removed { node } => {
                self.coming[node].clear();
                for kind in 0..self.done.len() {
                    self.held[0][kind] += std::mem::take(&mut self.held[node][kind]);
                }
                for kind in std::mem::take(&mut self.computing[node]) {
                    self.held[0][kind] += 1;
                }
            }
        }
        self.check();
    }
}
