//! The dual side of a basis: what a unit of work is worth, and what port time costs.

use super::basis::{Basis, Share, Variable};
use super::factor::{Factor, Singular};
use super::field::Field;
use super::figures::Figures;
use super::root;

/// What a basis is priced for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The fair throughput.
    Throughput,
    /// Little communication: the sum over ports of the time that they send.
    Communication,
}

/// Prices under which every basic variable gains nothing.
pub(super) struct Prices<F> {
    /// What a unit of work of each application is worth; idleness nothing.
    pub worth: Vec<F>,
    /// What a byte costs at each node: the ports above it, link by link.
    pub byte: Vec<F>,
    /// What a task costs at each node for latencies.
    pub task: Vec<F>,
    /// What the time of each port costs, beyond what the goal itself makes it cost.
    pub port: Vec<F>,
}

impl<F: Field> Prices<F> {
    /// The worths from the root's system, then the ports downwards: the share that a busy port determines gains nothing.
    pub fn new(figures: &Figures<F>, basis: &Basis, factor: &Factor<F>, goal: Goal) -> Result<Self, Singular> {
        let applications = figures.applications();
        let columns = root::matrix(figures, basis, factor)?;
        let open = &factor.parts[0].open;
        let mut right = vec![F::zero(); applications];
        match goal {
            // The throughput's own column: it is worth 1.
            Goal::Throughput => right[open.len()] = F::one().negated(),
            Goal::Communication => {
                for (at, column) in open.iter().enumerate() {
                    right[at] = column.takes[applications].clone();
                }
            }
        }
        let mut worth = vec![F::zero()];
        worth.extend(root::solve(&columns, &right, true)?);
        let nodes = figures.nodes();
        let mut prices =
            Self { worth, byte: vec![F::zero(); nodes], task: vec![F::zero(); nodes], port: vec![F::zero(); nodes] };
        for node in 0..nodes {
            if let Some(pivot) = &factor.parts[node].pivot {
                let takes = &pivot.column.takes;
                let mut gain = F::zero();
                for application in 1..=applications {
                    gain.add_product(&takes[application - 1], &prices.net(figures, node, application));
                }
                if goal == Goal::Communication {
                    gain.subtract_product(&takes[applications], &F::one());
                }
                prices.port[node] = gain.over(&pivot.coefficient);
            }
            let mut time = prices.port[node].clone();
            if goal == Goal::Communication {
                time.add(&F::one());
            }
            for child in figures.children[node].clone() {
                let mut byte = prices.byte[node].clone();
                byte.add_product(&time, &figures.delay[child]);
                prices.byte[child] = byte;
                let mut task = prices.task[node].clone();
                task.add_product(&time, &figures.latency[child]);
                prices.task[child] = task;
            }
        }
        Ok(prices)
    }

    /// What a unit of work is worth on a node, with its bytes and latencies paid.
    pub fn net(&self, figures: &Figures<F>, node: usize, application: usize) -> F {
        let mut net = self.worth[application].clone();
        net.subtract_product(&figures.ratio[application], &self.byte[node]);
        net.subtract_product(&figures.tasks[application], &self.task[node]);
        net
    }

    /// What the goal gains for a unit of a variable that is not basic.
    pub fn gain(&self, figures: &Figures<F>, basis: &Basis, variable: Variable) -> F {
        match variable {
            Variable::Work(Share { node, application }) => {
                let node = node as usize;
                let mut gain = self.net(figures, node, application as usize);
                gain.subtract_product(&self.net(figures, node, basis.key[node] as usize), &F::one());
                gain
            }
            Variable::Port(node) => self.port[node].negated(),
            Variable::Surplus(application) => self.worth[application].negated(),
        }
    }
}
