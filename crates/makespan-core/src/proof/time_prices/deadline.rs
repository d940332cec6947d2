//! Prices in time that refute a deadline.

use serde::{Deserialize, Serialize};

use super::{TimePrices, WidthPrices};
use crate::model::{Instance, Time};
use crate::proof::error::malformed;
use crate::proof::prices::refute;
use crate::proof::{CertificateError, Kind, Scope, Value};
use crate::schedule::Objective;

/// A price of processors at every instant that refutes a deadline D.
///
/// Where all weights are zero and everything ends by D, what [`TimePrices`] with the horizon D prove is at most zero: the prices that all jobs
/// pay are at most those of what is open. If the jobs pay more even where each runs at its cheapest, or one of them has no run that ends by
/// D, nothing ends by D, and the makespan is at least one tick more. Runs that closed processors do not leave room for do not
/// count: a job that is longer than a working day has to take more processors, or to wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlinePrices {
    /// The refuted deadline.
    pub deadline: Time,
    /// `t_0 .. t_J`, ascending, not negative.
    pub instants: Vec<Time>,
    /// The price of a processor from `t_j` to `t_j+1`, one fewer than instants, in any unit.
    pub prices: Vec<i64>,
    /// Prices of functions of the number of processors, besides; at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widths: Vec<WidthPrices>,
}

impl Kind for DeadlinePrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::EqualProcessors
    }

    /// As [`TimePrices`].
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let deadline = self.deadline;
        if deadline < Time::ZERO {
            return malformed("a deadline is not negative");
        }
        let prices = TimePrices {
            instants: self.instants.clone(),
            prices: self.prices.clone(),
            scale: 0,
            horizon: Some(deadline),
            widths: self.widths.clone(),
        };
        prices.check()?;
        let proven = match prices.weighed(instance, |_| 0) {
            Ok((needed, available)) => refute(deadline, needed, available),
            Err(CertificateError::HorizonTooShort { .. }) => Ok(i128::from(deadline.ticks()) + 1),
            Err(error) => Err(error),
        };
        proven.map(Value::Integer)
    }
}
