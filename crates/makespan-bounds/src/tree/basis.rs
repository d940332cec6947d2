//! Which variables are basic: a vertex of the linear programme.

use super::field::Field;
use super::figures::Figures;

/// A variable x of a node: application (0: idleness) there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub node: u32,
    pub application: u32,
}

/// A variable that enters or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// Work of an application on a node, or idleness.
    Work(Share),
    /// The time that a port is idle.
    Port(usize),
    /// What an application gets beyond its share.
    Surplus(usize),
}

/// Each node that computes has a *key* application, and *extras* whose shares the key's makes up to the capacity. There
/// are as many extras, surpluses and the throughput together as busy ports and applications.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub key: Vec<u32>,
    pub extras: Vec<Vec<u32>>,
    /// Ports without idle time.
    pub busy: Vec<bool>,
    /// Applications that may get more than their share, by number from 1.
    pub surplus: Vec<bool>,
}

impl Basis {
    /// Everything is idle and the throughput is 0: always feasible.
    pub fn idle<F: Field>(figures: &Figures<F>) -> Self {
        let nodes = figures.nodes();
        let mut surplus = vec![true; figures.applications() + 1];
        surplus[0] = false;
        surplus[1] = false;
        Self { key: vec![0; nodes], extras: vec![Vec::new(); nodes], busy: vec![false; nodes], surplus }
    }

    /// Whether the work of an application on a node is basic.
    pub fn holds(&self, share: Share) -> bool {
        let node = share.node as usize;
        self.key[node] == share.application || self.extras[node].contains(&share.application)
    }

    /// Exchanges two variables. `promoted` says which extra of a node is to be its key if the key leaves.
    pub fn exchange(&mut self, enters: Variable, leaves: Variable, promoted: impl Fn(u32, &[u32]) -> u32) {
        match enters {
            Variable::Work(Share { node, application }) => self.extras[node as usize].push(application),
            Variable::Port(node) => self.busy[node] = false,
            Variable::Surplus(application) => self.surplus[application] = true,
        }
        match leaves {
            Variable::Work(Share { node, application }) => {
                let at = node as usize;
                let mut gone = application;
                if self.key[at] == application {
                    gone = promoted(node, &self.extras[at]);
                    self.key[at] = gone;
                }
                self.extras[at].retain(|&extra| extra != gone);
            }
            Variable::Port(node) => self.busy[node] = true,
            Variable::Surplus(application) => self.surplus[application] = false,
        }
    }
}

impl Variable {
    /// The node whose part of the factorisation it belongs to; the root for a surplus.
    pub fn node(self) -> usize {
        match self {
            Self::Work(share) => share.node as usize,
            Self::Port(node) => node,
            Self::Surplus(_) => 0,
        }
    }
}
