//! Alpha-fair steady states, with an exact proof of their quality.

use dashu_ratio::RBig;
use thiserror::Error;

use super::{PricesError, Rates, RatesError, TreePrices, TreeProblem};

/// A proof that rates are nearly alpha-fair.
///
/// Let `x_k` be the throughput of application k, with the weight `w_k`. Rates are *alpha-fair* (J. Mo and J. Walrand,
/// IEEE/ACM Transactions on Networking 8(5), 2000, DOI 10.1109/90.879343) if they maximise the sum of
/// `w_k x_k^(1 - alpha) / (1 - alpha)`, or the sum of `w_k log x_k` if alpha is 1. With alpha 1, rates are
/// *proportionally fair* (F. Kelly, European Transactions on Telecommunications 8(1), 1997, DOI 10.1002/ett.4460080106).
/// They are then also the Nash bargaining solution of a game, in which every application can refuse to cooperate and
/// gets nothing. If alpha increases, the rates approach the largest fair throughput.
///
/// *Theorem.* Let the value of a task of application k be its marginal utility `g_k = w_k / x_k^alpha`. The rates are
/// alpha-fair if and only if no steady state completes tasks of a larger value per second.
///
/// *Proof.* The utility is concave and its gradient is g. So a steady state with throughputs y has a utility that is
/// larger by at most the sum of `g_k (y_k - x_k)`. If this sum is positive for some y, then a small step from x towards
/// y increases the utility. ∎
///
/// The optimal rates are often irrational. So the proof is a number e: the tasks that any steady state completes per
/// second are worth at most 1 + e times the tasks that these rates complete. The number is computed exactly from the
/// rates and prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fairness {
    /// The exponent alpha, from 1 to [`Fairness::MAX`].
    pub alpha: u32,
    /// Prices of tasks and ports. Prices of tasks that are proportional to the marginal utilities prove the most.
    pub prices: TreePrices,
}

/// The reason why a proof of fairness is not valid.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FairnessError {
    /// The rates are not a steady state.
    #[error(transparent)]
    Rates(#[from] RatesError),
    /// The prices do not match the problem.
    #[error(transparent)]
    Prices(#[from] PricesError),
    /// The exponent is not supported.
    #[error("alpha is {0}, but only whole numbers from 1 to 10 are supported")]
    Alpha(u32),
    /// The utility of an application is not defined, because its throughput is zero.
    #[error("application {0} completes no tasks, so its marginal utility is infinite")]
    Idle(usize),
}

impl Fairness {
    /// Maximum value of alpha. Larger values change the rates little, but need numbers with more digits.
    pub const MAX: u32 = 10;

    /// Returns the number e of these rates: every steady state completes tasks of at most 1 + e times their value. Takes
    /// O(nodes * applications).
    ///
    /// # Errors
    /// [`FairnessError`] if the rates are not a steady state, if they or the prices of tasks are zero, or if the prices
    /// do not match the problem.
    pub fn excess(&self, problem: &TreeProblem, rates: &Rates) -> Result<RBig, FairnessError> {
        if self.alpha == 0 || self.alpha > Self::MAX {
            return Err(FairnessError::Alpha(self.alpha));
        }
        rates.fair_throughput(problem)?;
        let income = self.prices.income(problem)?;
        let totals = rates.totals(problem);
        if let Some(idle) = totals.iter().position(RBig::is_zero) {
            return Err(FairnessError::Idle(idle));
        }
        // Let t be the price of a task. Its value is at most `largest` times t, so a steady state completes tasks of at
        // most `largest` times the income.
        let (mut value, mut largest) = (RBig::ZERO, RBig::ZERO);
        for ((app, total), &price) in problem.applications().iter().zip(&totals).zip(&self.prices.tasks) {
            if price == 0 {
                return Err(PricesError::Worthless.into());
            }
            let utility = &app.weight / total.pow(self.alpha as isize);
            value += &utility * total;
            largest = largest.max(utility / RBig::from(price));
        }
        Ok(largest * income / value - RBig::ONE)
    }
}
