//! Proven lower bounds.

use crate::model::{Instance, Time};
use crate::proof::certificate::{Certificate, CertificateError};
use crate::schedule::Objective;

/// No schedule of the instance has a smaller value of the objective; the certificate is the proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of what.
    pub objective: Objective,
    /// In the integer unit of the objective.
    pub value: i128,
    /// A condition: the bound speaks only of schedules whose makespan is at most this. `None`: of all.
    pub makespan_at_most: Option<Time>,
    /// Why.
    pub certificate: Certificate,
}

impl Bound {
    /// The strongest bound that `certificate` proves, under the condition that it needs, if any.
    ///
    /// # Errors
    /// [`CertificateError`] when it proves none on this instance.
    pub fn proved_by(certificate: Certificate, instance: &Instance) -> Result<Self, CertificateError> {
        let value = certificate.proves(instance)?;
        let (objective, makespan_at_most) = (certificate.objective(), certificate.horizon());
        Ok(Self { objective, value, makespan_at_most, certificate })
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
        let proven = self.certificate.proves(instance)?;
        if self.certificate.objective() != self.objective {
            return Err(CertificateError::OtherObjective { proves: self.certificate.objective() });
        }
        if let Some(horizon) = self.certificate.horizon()
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
