//! The dual solution of a basis: the worth of a unit of work, and the prices of port time.

use super::basis::{Basis, Share, Variable};
use super::factor::{Factor, SingularMatrix};
use super::field::Field;
use super::figures::Coefficients;
use super::root;

/// The objective for which a basis is priced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PriceGoal {
    /// The fair throughput.
    Throughput,
    /// The least communication: the sum of the sending times of all ports.
    Communication,
}

/// Prices at which every basic variable has the gain zero.
pub(super) struct Prices<F> {
    /// For each application, the worth of a unit of work. Zero for application 0.
    pub worth: Vec<F>,
    /// For each node, the price of sending a byte to the node: the sum over the ports on the path from the root.
    pub byte: Vec<F>,
    /// For each node, the price of the latencies of sending a task to the node.
    pub task: Vec<F>,
    /// For each port, the price of its time. For the goal of least communication, port time costs 1 in addition to this
    /// price.
    pub port: Vec<F>,
}

impl<F: Field> Prices<F> {
    /// Computes the worths from the system of equations at the root. Then computes the prices of ports from the root
    /// downwards: each busy port gets the price at which the share that it determines has the gain zero.
    pub fn new(
        figures: &Coefficients<F>,
        basis: &Basis,
        factor: &Factor<F>,
        goal: PriceGoal,
    ) -> Result<Self, SingularMatrix> {
        let applications = figures.applications();
        let columns = root::matrix(figures, basis, factor)?;
        let open = &factor.parts[0].open;
        let mut right = vec![F::zero(); applications];
        match goal {
            // The objective coefficient of the throughput column is 1.
            PriceGoal::Throughput => right[open.len()] = F::one().negated(),
            PriceGoal::Communication => {
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
                if goal == PriceGoal::Communication {
                    gain.subtract_product(&takes[applications], &F::one());
                }
                prices.port[node] = gain.over(&pivot.coefficient);
            }
            let mut time = prices.port[node].clone();
            if goal == PriceGoal::Communication {
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

    /// Returns the worth of a unit of work of an application, minus the price of sending this work to a node.
    pub fn net(&self, figures: &Coefficients<F>, node: usize, application: usize) -> F {
        let mut net = self.worth[application].clone();
        net.subtract_product(&figures.ratio[application], &self.byte[node]);
        net.subtract_product(&figures.tasks[application], &self.task[node]);
        net
    }

    /// Returns the increase of the goal per unit of a variable that is not basic.
    pub fn gain(&self, figures: &Coefficients<F>, basis: &Basis, variable: Variable) -> F {
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
