//! Run times that users request.

use std::fmt;
use std::str::FromStr;

use makespan_core::Time;
use rand::{Rng, RngExt};

use crate::GenerateError;

/// Unit of requested times, five minutes. Each requested time is rounded up to a multiple of this unit.
const STEP: i64 = 300 * Time::TICKS_PER_SECOND;

/// Distribution of requested times. A requested time is the run time of the job, multiplied by a factor that is
/// uniform on [1, `factor`]. The product is rounded up to a multiple of five minutes, because users request round
/// times.
///
/// In the literature, this simple model is called the "f-model" (D. G. Feitelson and A. Mu'alem Weil, "Utilization and
/// predictability in scheduling the IBM SP2 with backfilling", IPPS 1998, DOI 10.1109/IPPS.1998.669970). Requests of
/// real users have fewer distinct values than the requests of this model, and contain less information about the run
/// time (D. Tsafrir, Y. Etsion, D. G. Feitelson, "Modeling user runtime estimates", JSSPP 2005, DOI
/// `10.1007/11605300_1`). So policies that rely on requested times perform better with this model than in practice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requests {
    factor: f64,
}

impl Requests {
    /// Returns the distribution of requested times between the run time and `factor` times the run time.
    ///
    /// # Errors
    /// [`GenerateError`] if the factor is not from 1 to 1000.
    pub fn up_to(factor: f64) -> Result<Self, GenerateError> {
        if (1.0..=1000.0).contains(&factor) {
            return Ok(Self { factor });
        }
        let expected = "the maximum ratio of the requested time to the run time must be from 1 to 1000";
        Err(GenerateError::Option { name: "requests", value: factor.to_string(), expected })
    }

    /// Returns a random requested time, which is at least the run time.
    pub(super) fn draw(self, run: Time, random: &mut impl Rng) -> Time {
        let factor = 1.0 + (self.factor - 1.0) * random.random::<f64>();
        // If the product is too large, the conversion to an integer saturates. A later check then rejects the total
        // time of the jobs.
        let wanted = ((run.ticks() as f64 * factor).ceil() as i64).max(run.ticks());
        let steps = wanted / STEP + i64::from(wanted % STEP > 0);
        Time::from_ticks(steps.saturating_mul(STEP))
    }
}

impl FromStr for Requests {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        Self::up_to(text.parse().unwrap_or(f64::NAN))
    }
}

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.factor)
    }
}
