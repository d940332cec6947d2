//! An optimal steady state, with an exact proof of optimality.

use dashu_ratio::RBig;
use thiserror::Error;

use super::rates::sum;
use super::{Rates, RatesError, TreeProblem};

/// An optimal solution of the linear programme of steady states, and an optimal solution of its dual, in exact
/// rationals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimum {
    /// The fair throughput, in weighted tasks per second.
    pub throughput: RBig,
    /// The rates at which nodes compute tasks.
    pub rates: Rates,
    /// The dual price of a task of each application. The sum of the prices, each multiplied by the weight of its
    /// application, is 1.
    pub task_prices: Vec<RBig>,
    /// The dual price of each node's port: the increase of the fair throughput if the port had one more second of time
    /// in each second.
    pub port_prices: Vec<RBig>,
}

/// The reason why a solution is not an optimum.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OptimumError {
    /// The rates are not a steady state.
    #[error(transparent)]
    Rates(#[from] RatesError),
    /// The throughput of the rates differs from the stated throughput.
    #[error("the fair throughput of the rates differs from the stated fair throughput")]
    Throughput,
    /// The prices are invalid, or allow a higher throughput.
    #[error("the prices (dual values) do not prove that no steady state is better")]
    Prices,
}

impl Optimum {
    /// Checks in exact rationals that the rates are feasible and have the stated throughput, and that the prices prove
    /// that no throughput is higher.
    ///
    /// # Errors
    /// [`OptimumError`] reports which of these checks fails.
    pub fn verify(&self, problem: &TreeProblem) -> Result<(), OptimumError> {
        if self.rates.fair_throughput(problem)? != self.throughput {
            return Err(OptimumError::Throughput);
        }
        match dual_value(problem, &self.task_prices, &self.port_prices) {
            Some(value) if value == self.throughput => Ok(()),
            _ => Err(OptimumError::Prices),
        }
    }
}

/// Returns the exact upper bound on the fair throughput that these prices prove. Returns `None` if prices are negative,
/// missing or all zero.
pub fn dual_value(problem: &TreeProblem, task_prices: &[RBig], port_prices: &[RBig]) -> Option<RBig> {
    let applications = problem.applications();
    let negative = |prices: &[RBig]| prices.iter().any(|price| *price < RBig::ZERO);
    if task_prices.len() != applications.len()
        || port_prices.len() != problem.nodes().len()
        || negative(task_prices)
        || negative(port_prices)
    {
        return None;
    }
    let weighted = applications.iter().zip(task_prices).fold(RBig::ZERO, |sum, (app, price)| sum + &app.weight * price);
    if weighted.is_zero() {
        return None;
    }
    let (mut byte, mut send) = (vec![RBig::ZERO; problem.nodes().len()], vec![RBig::ZERO; problem.nodes().len()]);
    let mut terms: Vec<RBig> = port_prices.iter().filter(|price| !price.is_zero()).cloned().collect();
    for &node in problem.order() {
        let one = &problem.nodes()[node];
        if let Some(parent) = one.parent {
            (byte[node], send[node]) = (byte[parent].clone(), send[parent].clone());
            let port = &port_prices[parent];
            if !port.is_zero() {
                byte[node] += port / &one.bandwidth;
                send[node] += port * one.latency_seconds();
            }
        }
        if one.computes() {
            let net = applications
                .iter()
                .zip(task_prices)
                .map(|(app, price)| (price - &send[node] - &app.data * &byte[node]) / &app.work);
            let rent = net.max().unwrap_or(RBig::ZERO);
            if rent > RBig::ZERO {
                terms.push(rent * problem.capacity(node));
            }
        }
    }
    Some(sum(&terms) / weighted)
}
