//! A best steady state with the proof that none is better, exactly.

use dashu_ratio::RBig;
use thiserror::Error;

use super::rates::sum;
use super::{Rates, RatesError, TreeProblem};

/// An optimal solution of the steady-state programme and of its dual, in rationals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimum {
    /// The fair throughput: weighted tasks a second.
    pub throughput: RBig,
    /// Who computes what.
    pub rates: Rates,
    /// What a task of each application is worth: the weighted prices add up to 1.
    pub task_prices: Vec<RBig>,
    /// What the time of each node's port is worth: by so much would the fair throughput rise for a second more in a second.
    pub port_prices: Vec<RBig>,
}

/// Why it is no optimum.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OptimumError {
    /// The rates are no steady state.
    #[error(transparent)]
    Rates(#[from] RatesError),
    /// The rates have another throughput.
    #[error("the rates have another fair throughput than the one stated")]
    Throughput,
    /// The prices are no prices, or allow more.
    #[error("the prices do not prove that no steady state is better")]
    Prices,
}

impl Optimum {
    /// Checks primal and dual in rationals: the rates are feasible with this throughput, and the prices bound every
    /// throughput by it.
    ///
    /// # Errors
    /// [`OptimumError`] says which part fails.
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

/// What prices bound the fair throughput by, exactly (the argument is that of [`crate::proof::TreePrices`]); `None`
/// when they are negative, too few or all zero.
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
