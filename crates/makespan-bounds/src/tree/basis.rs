//! The set of basic variables, which determines a vertex of the linear programme.

use super::field::Field;
use super::figures::Coefficients;

/// The identifier of a variable x: the work of an application on a node, or the idleness of the node (application 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub node: u32,
    pub application: u32,
}

/// A variable that enters or leaves the basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// Work of an application on a node, or idleness.
    Work(Share),
    /// The idle time of a port.
    Port(usize),
    /// The amount by which an application gets more than its share of the throughput.
    Surplus(usize),
}

/// A basis. Each node that computes has a *key* application, and may have *extra* applications. The key application
/// gets the capacity that the extras leave. Let s be the number of basic surpluses. The number of extras, plus s, plus
/// one for the throughput, equals the number of busy ports plus the number of applications.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub key: Vec<u32>,
    pub extras: Vec<Vec<u32>>,
    /// True for ports without idle time.
    pub busy: Vec<bool>,
    /// For each application, true if its surplus is basic, so that the application may get more than its share of the
    /// throughput. Applications are numbered from 1.
    pub surplus: Vec<bool>,
}

impl Basis {
    /// Returns the basis in which all nodes are idle and the throughput is 0. This basis is always feasible.
    pub fn idle<F: Field>(figures: &Coefficients<F>) -> Self {
        let nodes = figures.nodes();
        let mut surplus = vec![true; figures.applications() + 1];
        surplus[0] = false;
        surplus[1] = false;
        Self { key: vec![0; nodes], extras: vec![Vec::new(); nodes], busy: vec![false; nodes], surplus }
    }

    /// Returns true if the work of an application on a node is basic.
    pub fn holds(&self, share: Share) -> bool {
        let node = share.node as usize;
        self.key[node] == share.application || self.extras[node].contains(&share.application)
    }

    /// Exchanges two variables. If the leaving variable is the key of a node, `promoted` chooses the extra application
    /// that becomes the new key.
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
    /// Returns the node at which the factorisation contains the variable. For a surplus, returns the root.
    pub fn node(self) -> usize {
        match self {
            Self::Work(share) => share.node as usize,
            Self::Port(node) => node,
            Self::Surplus(_) => 0,
        }
    }
}
