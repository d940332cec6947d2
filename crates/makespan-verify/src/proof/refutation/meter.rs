//! Limits of the time and memory of a check.

use crate::proof::CertificateError;
use crate::proof::error::unproved;

/// Maximum number of elementary operations of a check.
const MAX_WORK: usize = 1 << 30;
/// Maximum number of points of all cost functions.
const MAX_POINTS: usize = 1 << 20;

/// The work and the memory that a check may still use.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    work: usize,
    points: usize,
}

impl Meter {
    pub(super) const fn new() -> Self {
        Self { work: MAX_WORK, points: MAX_POINTS }
    }

    /// Deducts `work` elementary operations from the limit.
    pub(super) fn spend(&mut self, work: usize) -> Result<(), CertificateError> {
        match self.work.checked_sub(work) {
            Some(left) => {
                self.work = left;
                Ok(())
            }
            None => unproved(format!(
                "the certificate is too large to check: its steps need more than {MAX_WORK} operations"
            )),
        }
    }

    /// Deducts `points` points of cost functions from the limit.
    pub(super) fn store(&mut self, points: usize) -> Result<(), CertificateError> {
        match self.points.checked_sub(points) {
            Some(left) => {
                self.points = left;
                Ok(())
            }
            None => unproved(format!(
                "the certificate is too large to check: the cost functions of its prices have more than {MAX_POINTS} \
                 points in total"
            )),
        }
    }
}
