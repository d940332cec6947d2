//! Proven lower bounds.

use crate::model::{Instance, Time};
use crate::proof::{CertificateError, Proof};
use crate::schedule::Objective;

/// No schedule of the instance has a smaller value of the objective. Objective and proof together are a certificate, from
/// which the value follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of what.
    pub objective: Objective,
    /// In the integer unit of the objective.
    pub value: i128,
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

    /// Whether it speaks of this schedule, that is, whether the schedule meets the condition.
    pub fn speaks_of(&self, schedule: &crate::schedule::Schedule) -> bool {
        self.makespan_at_most.is_none_or(|most| schedule.makespan() <= most)
    }

    /// Checks the bound in exact integers, without a solver. A certificate with a horizon supports conditions up to
    /// that horizon only; one without supports any, and none.
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
        if self.value > proven {
            let decimal = |value| self.objective.decimal(value);
            return Err(CertificateError::TooHigh { stated: decimal(self.value), proven: decimal(proven) });
        }
        Ok(())
    }
}
