//! The interface of a kind of proof.

use makespan_core::{Instance, Objective, Time};

use crate::proof::{CertificateError, Value};

/// A kind of proof.
pub(super) trait Kind {
    /// Returns the objectives that the proof can bound.
    fn objectives(&self) -> &'static [Objective];

    /// Returns the instances to which the proof applies.
    fn scope(&self) -> Scope;

    /// Returns the proven value for a supported objective and instance.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError>;

    /// Returns the proven value, as an integer, for the first objective that the kind supports.
    #[cfg(test)]
    fn proves(&self, instance: &Instance) -> Result<i128, CertificateError> {
        self.value(self.objectives()[0], instance).map(|value| value.integer())
    }

    /// Returns the largest makespan of the schedules to which the proof applies, or `None` if the proof applies to all
    /// schedules.
    fn horizon(&self) -> Option<Time> {
        None
    }
}

/// The instances to which a proof applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All instances.
    Any,
    /// Instances without graphs of tasks.
    SingleTasks,
    /// Instances with equal processors and without graphs of tasks.
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
