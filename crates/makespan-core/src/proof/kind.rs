//! What a kind of proof says of itself.

use crate::model::{Instance, Time};
use crate::proof::{CertificateError, Value};
use crate::schedule::Objective;

/// A kind of proof.
pub(super) trait Kind {
    /// The objectives of which it speaks.
    fn objectives(&self) -> &'static [Objective];

    /// The instances of which it speaks.
    fn scope(&self) -> Scope;

    /// What follows for an objective and an instance of which it speaks.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError>;

    /// What follows for the first objective of the kind, of which it is an integer.
    #[cfg(test)]
    fn proves(&self, instance: &Instance) -> Result<i128, CertificateError> {
        self.value(self.objectives()[0], instance).map(|value| value.integer())
    }

    /// The makespan up to which it speaks of schedules; `None` when it speaks of all.
    fn horizon(&self) -> Option<Time> {
        None
    }
}

/// Which instances a proof speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All.
    Any,
    /// Those without graphs of tasks.
    SingleTasks,
    /// Those of them in which all processors are equal.
    EqualProcessors,
}

impl Scope {
    pub(super) fn check(self, instance: &Instance) -> Result<(), CertificateError> {
        if self != Self::Any && instance.has_compound_jobs() {
            return Err(CertificateError::Compound);
        }
        if self == Self::EqualProcessors && !instance.has_equal_processors() {
            return Err(CertificateError::UnequalProcessors);
        }
        Ok(())
    }
}
