//! Proven bounds with their certificates.

use crate::model::{Instance, Time};
use crate::proof::{CertificateError, Proof, Value};
use crate::schedule::{Objective, Schedule};

/// A proven bound: no schedule of the instance has a smaller value of the objective. For a throughput, which is
/// maximised, no schedule has a larger one. The objective and the proof form a certificate, from which the value
/// follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The objective.
    pub objective: Objective,
    /// The bound.
    pub value: Value,
    /// A condition: the bound applies only to schedules with at most this makespan. `None` means all schedules.
    pub makespan_at_most: Option<Time>,
    /// The proof.
    pub proof: Proof,
}

impl Bound {
    /// Returns the strongest bound on the objective that the proof yields, with the condition that the proof requires,
    /// if any.
    ///
    /// # Errors
    /// [`CertificateError`] if the proof yields no bound on this instance.
    pub fn proved_by(objective: Objective, proof: Proof, instance: &Instance) -> Result<Self, CertificateError> {
        let value = proof.proves(objective, instance)?;
        Ok(Self { objective, value, makespan_at_most: proof.horizon(), proof })
    }

    /// Returns the value of a bound on the makespan, as a time.
    pub fn ticks(&self) -> Time {
        Time::from_ticks(i64::try_from(self.value.integer()).unwrap_or(i64::MAX))
    }

    /// Returns true if the bound applies to this schedule, that is, if the schedule meets the condition. A bound on a
    /// throughput applies to rates with their transfers, and never to a schedule.
    pub fn speaks_of(&self, schedule: &Schedule) -> bool {
        !self.objective.is_maximised() && self.makespan_at_most.is_none_or(|most| schedule.makespan() <= most)
    }

    /// Returns true if a value is better than the bound allows.
    pub fn excludes(&self, value: &Value) -> bool {
        if self.objective.is_maximised() { *value > self.value } else { *value < self.value }
    }

    /// Returns the ratio by which a value is worse than the bound. The ratio is exactly 1 if both are equal. Otherwise,
    /// it is `None` if the divisor is not positive.
    pub fn ratio(&self, value: &Value) -> Option<f64> {
        if self.value == *value {
            return Some(1.0);
        }
        let (more, less) = if self.objective.is_maximised() { (&self.value, value) } else { (value, &self.value) };
        if *less <= Value::Integer(0) {
            return None;
        }
        let ratio = more.as_f64() / less.as_f64();
        // Different large values may be equal as floats. A ratio of 1 would mean that the value is proved optimal.
        Some(if more > less { ratio.max(1.0_f64.next_up()) } else { ratio })
    }

    /// Checks the bound in exact arithmetic without a solver: in integers, or in rationals for a throughput. A
    /// certificate with a horizon proves only bounds with a condition up to this horizon. A certificate without a
    /// horizon proves bounds with any condition or none.
    ///
    /// # Errors
    /// [`CertificateError`] reports what the certificate proves.
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
