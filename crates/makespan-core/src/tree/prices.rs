//! Prices of tasks and of port time. They bound the value of the tasks that a steady state completes.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::TreeProblem;
use crate::model::Time;

/// Prices of tasks and of port time. Any prices prove a bound, by linear programming duality.
///
/// Let a task of application k be worth `y_k >= 0`, and let a second of the port of node u cost `m_u >= 0`. A task of
/// application k has `b_k` bytes and the work `c_k`. The application has the weight `w_k`. Node v can do the work `C_v`
/// per second.
///
/// For each link on the path from the root to node v, let u be its sender, B its bandwidth and l its latency. Let `P_v`
/// be the sum of `m_u / B` over these links: the cost of sending a byte to node v. Let `Q_v` be the sum of `m_u l` over
/// these links: the cost of the latencies when a task is sent to node v. Then a unit of work on node v earns at most
/// `L_v = max(0, max over k of (y_k - Q_v - b_k P_v) / c_k)`.
///
/// *Theorem.* The fair throughput r of every steady state is at most `(sum of m_u + sum of C_v L_v) / sum of w_k y_k`.
///
/// *Proof.* The steady state computes at least `w_k r` tasks of each application k per second. These tasks are worth
/// `r sum of w_k y_k` in total. Each node v earns at most `C_v L_v` per second. The port of each node u costs at most
/// `m_u` per second, because it is busy for at most a second in each second. So
/// `r sum of w_k y_k <= sum of m_u + sum of C_v L_v`. ∎
///
/// The prices are integers. Their units cancel in the quotient. `P_v` and `Q_v` are rounded down, and earnings are
/// rounded up, to multiples of 2^-256 of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreePrices {
    /// The worth of a task of each application, in job order.
    pub tasks: Vec<u64>,
    /// The cost of the port of each node, in platform order.
    pub ports: Vec<u64>,
    /// Unit of `ports`: 2^`exponent` units of `tasks` per second.
    pub exponent: i32,
}

/// Number of binary places of a price.
const PLACES: usize = 256;
/// Maximum absolute value of the exponent. Larger exponents would only make the check slower.
const MAX: u32 = 1200;

/// The reason why prices prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PricesError {
    /// The numbers of prices do not match the problem.
    #[error("there is not exactly one price for every bag and every node")]
    Number,
    /// The exponent is too large or too small.
    #[error("the exponent is not from -1200 to 1200")]
    Exponent,
    /// The prices of all tasks are zero.
    #[error("no bag has tasks with a positive price")]
    Worthless,
}

impl TreePrices {
    /// Returns an upper bound on the fair throughput of every steady state, in weighted tasks per second. Takes O(nodes
    /// * applications).
    ///
    /// # Errors
    /// [`PricesError`] if the prices do not match the problem, or if the prices of all tasks are zero.
    pub fn fair_throughput(&self, problem: &TreeProblem) -> Result<RBig, PricesError> {
        let income = self.income(problem)?;
        let weights = problem.applications().iter().zip(&self.tasks);
        let weighted = weights.fold(RBig::ZERO, |sum, (app, &price)| sum + &app.weight * RBig::from(price));
        if weighted.is_zero() { Err(PricesError::Worthless) } else { Ok(income / weighted) }
    }

    /// Returns an upper bound on the value of the tasks that any steady state completes per second, in the unit of
    /// `tasks`. Every rounding in the computation increases the bound. Takes O(nodes * applications).
    ///
    /// # Errors
    /// [`PricesError`] if the prices do not match the problem.
    pub fn income(&self, problem: &TreeProblem) -> Result<RBig, PricesError> {
        let applications = problem.applications();
        if self.tasks.len() != applications.len() || self.ports.len() != problem.nodes().len() {
            return Err(PricesError::Number);
        }
        if self.exponent.unsigned_abs() > MAX {
            return Err(PricesError::Exponent);
        }
        let worth: Vec<IBig> = self.tasks.iter().map(|&price| IBig::from(price) << PLACES).collect();
        let costs: Vec<(IBig, IBig)> = applications.iter().map(|app| of(&app.data)).collect();
        let works: Vec<(IBig, IBig)> = applications.iter().map(|app| of(&app.work)).collect();
        let (mut byte, mut send) = (vec![IBig::ZERO; problem.nodes().len()], vec![IBig::ZERO; problem.nodes().len()]);
        let second = IBig::from(Time::TICKS_PER_SECOND);
        let mut total = IBig::ZERO;
        for &node in problem.order() {
            let one = &problem.nodes()[node];
            total += self.port(node, true);
            if let Some(parent) = one.parent {
                let (numerator, denominator) = of(&one.bandwidth);
                let port = self.port(parent, false);
                byte[node] = &byte[parent] + floor(&(&port * denominator), &numerator);
                send[node] = &send[parent] + floor(&(port * one.latency.ticks()), &second);
            }
            let (numerator, denominator) = of(&problem.capacity(node));
            if numerator == IBig::ZERO {
                continue;
            }
            let earned = (0..applications.len()).map(|at| {
                let net = &worth[at] - &send[node] - floor(&(&byte[node] * &costs[at].0), &costs[at].1);
                ceil(&(net * &works[at].1), &works[at].0)
            });
            let rent = earned.max().unwrap_or(IBig::ZERO).max(IBig::ZERO);
            total += ceil(&(rent * numerator), &denominator);
        }
        Ok(RBig::from_parts(total, UBig::ONE << PLACES))
    }

    /// Returns the price of a port as a fixed-point number, rounded up or down.
    fn port(&self, node: usize, up: bool) -> IBig {
        let shift = i64::from(self.exponent) + PLACES as i64;
        let price = IBig::from(self.ports[node]);
        if shift >= 0 {
            return price << shift as usize;
        }
        let unit = IBig::ONE << shift.unsigned_abs() as usize;
        if up { ceil(&price, &unit) } else { floor(&price, &unit) }
    }
}

/// Returns the numerator and the denominator of a rational.
fn of(value: &RBig) -> (IBig, IBig) {
    (value.numerator().clone(), IBig::from(value.denominator().clone()))
}

fn floor(numerator: &IBig, denominator: &IBig) -> IBig {
    let quotient = numerator / denominator;
    // The division rounds towards zero, so negative quotients are corrected to be rounded down.
    if *numerator < IBig::ZERO && &quotient * denominator != *numerator { quotient - IBig::ONE } else { quotient }
}

fn ceil(numerator: &IBig, denominator: &IBig) -> IBig {
    -floor(&-numerator.clone(), denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_round_as_they_say() {
        for numerator in -7..=7_i64 {
            for denominator in 1..=4_i64 {
                let (a, b) = (IBig::from(numerator), IBig::from(denominator));
                assert_eq!(floor(&a, &b), IBig::from(numerator.div_euclid(denominator)));
                assert_eq!(ceil(&a, &b), IBig::from(-(-numerator).div_euclid(denominator)));
            }
        }
    }
}
