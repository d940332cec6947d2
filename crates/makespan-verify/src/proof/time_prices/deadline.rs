//! Refutation of a deadline by prices that change over time.

use serde::{Deserialize, Serialize};

use super::{TimePrices, WidthPrices};
use makespan_core::{Instance, Objective, Time};

use crate::proof::error::malformed;
use crate::proof::prices::refute;
use crate::proof::{CertificateError, Kind, Scope, Value};

/// Prices of processors over time that refute a deadline D.
///
/// If all jobs end by D, they together pay at most the price of the open processors. This is the inequality of
/// [`TimePrices`] with horizon D and all weights zero. If the jobs pay more than this price even in their cheapest
/// runs, or if some job has no run that ends by D, then no schedule ends by D. So the makespan is at least D plus one
/// tick.
///
/// Only runs that fit between closed periods are allowed. For example, if the cluster is closed at night, a job that
/// is longer than the working day must use more processors or wait for a longer opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlinePrices {
    /// The refuted deadline.
    pub deadline: Time,
    /// The instants `t_0 .. t_J`, ascending and not negative. Between successive instants, the price is constant.
    pub instants: Vec<Time>,
    /// The price of a processor from `t_j` to `t_j+1`, in any unit. The number of prices is one less than the number of
    /// instants.
    pub prices: Vec<i64>,
    /// Additional prices. Each belongs to a function of the number of processors. There are at most 16 such functions.
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

    /// Returns the proven makespan. See [`TimePrices`].
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let deadline = self.deadline;
        if deadline < Time::ZERO {
            return malformed("the deadline is negative");
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
