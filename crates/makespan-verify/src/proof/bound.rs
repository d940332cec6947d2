//! Proven bounds with their certificates.

use makespan_core::{Instance, Objective, Schedule, Time};

use crate::proof::{CertificateError, Proof, Value};

/// A proven bound. No schedule of the instance has a smaller value of the objective. A throughput is maximised, so no
/// steady state has a larger throughput.
///
/// The objective and the proof form a certificate, from which the value of the bound follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The objective that is bounded.
    pub objective: Objective,
    /// The value of the bound.
    pub value: Value,
    /// A condition: the bound applies only to schedules with at most this makespan. `None` means all schedules.
    pub makespan_at_most: Option<Time>,
    /// The proof from which the value follows.
    pub proof: Proof,
}

impl Bound {
    /// Returns the strongest bound on the objective that the proof yields. If the proof applies only to schedules with
    /// at most some makespan, this makespan is the condition of the bound.
    ///
    /// # Errors
    /// [`CertificateError`] if the proof yields no bound on this instance.
    pub fn proved_by(objective: Objective, proof: Proof, instance: &Instance) -> Result<Self, CertificateError> {
        let value = proof.proves(objective, instance)?;
        Ok(Self { objective, value, makespan_at_most: proof.horizon(), proof })
    }

    /// Returns the value as a time. The bound must be on the makespan.
    pub fn ticks(&self) -> Time {
        Time::from_ticks(i64::try_from(self.value.integer()).unwrap_or(i64::MAX))
    }

    /// Returns true if the schedule meets the condition of the bound. Returns false if the bound is on a throughput,
    /// because only a steady state has a throughput.
    pub fn speaks_of(&self, schedule: &Schedule) -> bool {
        !self.objective.is_maximised() && self.makespan_at_most.is_none_or(|most| schedule.makespan() <= most)
    }

    /// Returns true if the bound proves that no schedule reaches this value: the value is below a lower bound or above
    /// an upper bound.
    pub fn excludes(&self, value: &Value) -> bool {
        if self.objective.is_maximised() { *value > self.value } else { *value < self.value }
    }

    /// Returns `value` divided by the bound, or, for a throughput, the bound divided by `value`. If `value` equals the
    /// bound, returns 1. Otherwise, if the divisor is not positive, returns `None`.
    pub fn ratio(&self, value: &Value) -> Option<f64> {
        if self.value == *value {
            return Some(1.0);
        }
        let (more, less) = if self.objective.is_maximised() { (&self.value, value) } else { (value, &self.value) };
        if *less <= Value::Integer(0) {
            return None;
        }
        let ratio = more.as_f64() / less.as_f64();
        // Distinct large values may be equal as floats. A ratio of 1 would mean that the value is proved optimal, so
        // the ratio is kept above 1.
        Some(if more > less { ratio.max(1.0_f64.next_up()) } else { ratio })
    }

    /// Returns the value of a schedule divided by the bound. For a complete schedule, the ratio is at least 1, and it
    /// is 1 only if the value equals the bound. A larger ratio means a worse schedule. Returns `None` if the bound is
    /// not valid for the schedule, or if the bound is not positive and differs from the value.
    pub fn ratio_of(&self, instance: &Instance, schedule: &Schedule) -> Option<f64> {
        self.ratio(&self.objective.value(instance, schedule).into()).filter(|_| self.speaks_of(schedule))
    }

    /// Checks the bound in exact arithmetic without a solver: in integers, or in rationals for a throughput. If the
    /// certificate is valid only up to a horizon, the condition of the bound must limit the makespan to at most this
    /// horizon. If the certificate is valid for all schedules, the bound may have any condition or none.
    ///
    /// # Errors
    /// [`CertificateError`] if the certificate does not prove the bound.
    pub fn verify(&self, instance: &Instance) -> Result<(), CertificateError> {
        let decimal = |value: &Value| value.decimal(self.objective);
        let proven = self.proof.proves(self.objective, instance);
        let proven = proven.map_err(|error| error.of_bound(decimal(&self.value)))?;
        if let Some(horizon) = self.proof.horizon()
            && self.makespan_at_most.is_none_or(|most| most > horizon)
        {
            let until = |most: Time| format!("schedules with makespan at most {most}");
            let stated = self.makespan_at_most.map_or("all schedules".to_owned(), until);
            return Err(CertificateError::OnlyUntil { stated, horizon });
        }
        if self.excludes(&proven) {
            return Err(CertificateError::TooStrong { stated: decimal(&self.value), proven: decimal(&proven) });
        }
        Ok(())
    }
}
