//! The set of basic variables, which determines a vertex of the linear programme.

use super::field::Field;
use super::figures::Coefficients;

/// The identifier of a variable: the work of an application on a node, or the idle capacity of the node (application
/// 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub node: u32,
    pub application: u32,
}

/// A variable that may enter or leave the basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// The work of an application on a node, or the idle capacity of the node.
    Work(Share),
    /// The idle time of a port.
    Port(usize),
    /// The work that the application with this number gets in addition to its share of the throughput.
    Surplus(usize),
}

/// A basis. Each node that computes has a *key* application and may have *extra* applications (extras). The key
/// application gets the capacity that the extras leave. The size of a basis is fixed:
///
/// `extras + basic surpluses + 1 = busy ports + applications`.
///
/// Here, the 1 stands for the throughput.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    /// For each node, its key application. The key is 0 if the capacity that the extras leave is idle.
    pub key: Vec<u32>,
    /// For each node, its extra applications.
    pub extras: Vec<Vec<u32>>,
    /// For each node, true if its port has no idle time.
    pub busy: Vec<bool>,
    /// For each application, true if its surplus is basic. Applications are numbered from 1.
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

    /// Replaces the basic variable `leaves` by `enters`. If `leaves` is the work of the key application of a node,
    /// `promoted` returns one of the extra applications of this node, which becomes the new key.
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
    /// Returns the node of the variable: the elimination of this node contains the variable. For a surplus, returns the
    /// root.
    pub fn node(self) -> usize {
        match self {
            Self::Work(share) => share.node as usize,
            Self::Port(node) => node,
            Self::Surplus(_) => 0,
        }
    }
}
