//! Proven lower bounds.

use crate::certificate::{Certificate, CertificateError};
use crate::{Instance, Objective};

/// No schedule of the instance has a smaller value of the objective; the certificate is the proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of what.
    pub objective: Objective,
    /// In the integer unit of the objective.
    pub value: i128,
    /// Why.
    pub certificate: Certificate,
}

impl Bound {
    /// The strongest bound that `certificate` proves.
    ///
    /// # Errors
    /// [`CertificateError`] when it proves none on this instance.
    pub fn proved_by(certificate: Certificate, instance: &Instance) -> Result<Self, CertificateError> {
        let value = certificate.proves(instance)?;
        Ok(Self { objective: certificate.objective(), value, certificate })
    }

    /// Checks the bound in exact integers, without a solver.
    ///
    /// # Errors
    /// [`CertificateError`] says what the certificate really proves.
    pub fn verify(&self, instance: &Instance) -> Result<(), CertificateError> {
        let proven = self.certificate.proves(instance)?;
        if self.certificate.objective() != self.objective {
            return Err(CertificateError::OtherObjective { proves: self.certificate.objective() });
        }
        if self.value > proven {
            let decimal = |value| self.objective.decimal(value);
            return Err(CertificateError::TooHigh { stated: decimal(self.value), proven: decimal(proven) });
        }
        Ok(())
    }
}
