//! Proven bounds.

use crate::model::{Instance, Time};
use crate::proof::{CertificateError, Proof, Value};
use crate::schedule::{Objective, Schedule};

/// No schedule of the instance has a smaller value of the objective; of a throughput, which is maximised, none has a larger one.
/// Objective and proof together are a certificate, from which the value follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of what.
    pub objective: Objective,
    /// How much.
    pub value: Value,
    /// A condition: the bound speaks only of schedules whose makespan is at most this. `None`: of all.
    pub makespan_at_most: Option<Time>,
    /// Why.
    pub proof: Proof,
}

impl Bound {
    /// The strongest bound on the objective that the proof gives, under the condition that it needs, if any.
    ///
    /// # Errors
    /// [`CertificateError`] when it gives none on this instance.
    pub fn proved_by(objective: Objective, proof: Proof, instance: &Instance) -> Result<Self, CertificateError> {
        let value = proof.proves(objective, instance)?;
        Ok(Self { objective, value, makespan_at_most: proof.horizon(), proof })
    }

    /// The value of one on a makespan, as a time.
    pub fn ticks(&self) -> Time {
        Time::from_ticks(i64::try_from(self.value.integer()).unwrap_or(i64::MAX))
    }

    /// Whether it speaks of this schedule, that is, whether the schedule meets the condition. One on a throughput speaks of rates
    /// with their transfers, which a schedule does not have.
    pub fn speaks_of(&self, schedule: &Schedule) -> bool {
        !self.objective.is_maximised() && self.makespan_at_most.is_none_or(|most| schedule.makespan() <= most)
    }

    /// Whether a value is beyond the bound: better than what it says is possible.
    pub fn excludes(&self, value: &Value) -> bool {
        if self.objective.is_maximised() { *value > self.value } else { *value < self.value }
    }

    /// How many times worse a value is than the bound, and 1 exactly where both are equal; otherwise `None` where one of them
    /// that is to divide is not positive.
    pub fn ratio(&self, value: &Value) -> Option<f64> {
        if self.value == *value {
            return Some(1.0);
        }
        let (more, less) = if self.objective.is_maximised() { (&self.value, value) } else { (value, &self.value) };
        if *less <= Value::Integer(0) {
            return None;
        }
        let ratio = more.as_f64() / less.as_f64();
        // Large values that differ may have one float, and would pass for proved optimal.
        Some(if more > less { ratio.max(1.0_f64.next_up()) } else { ratio })
    }

    /// Checks the bound in exact integers, that on a throughput in rationals, without a solver. A certificate with a horizon
    /// supports conditions up to that horizon only; one without supports any, and none.
    ///
    /// # Errors
    /// [`CertificateError`] says what the certificate really proves.
    pub fn verify(&self, instance: &Instance) -> Result<(), CertificateError> {
        let proven = self.proof.proves(self.objective, instance)?;
        if let Some(horizon) = self.proof.horizon()
            && self.makespan_at_most.is_none_or(|most| most > horizon)
        {
            return Err(CertificateError::OnlyUntil { horizon });
        }
        if self.excludes(&proven) {
            let decimal = |value: &Value| value.decimal(self.objective);
            return Err(CertificateError::TooStrong { stated: decimal(&self.value), proven: decimal(&proven) });
        }
        Ok(())
    }
}
