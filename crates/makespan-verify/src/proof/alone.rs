//! A bound on the makespan that follows from a single job.

use makespan_core::{Instance, JobId, Objective};
use serde::{Deserialize, Serialize};

use crate::proof::{CertificateError, Kind, Scope, Value, earliest_completion};

/// A bound on the makespan: the earliest end of one job that is alone on the empty platform. If the job is a bag, the
/// bound is the earliest end of one of its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alone {
    /// The job from which the bound follows.
    pub job: JobId,
}

impl Kind for Alone {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::SingleTasks
    }

    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.job.index() >= instance.jobs().len() {
            return Err(CertificateError::UnknownJob(self.job));
        }
        Ok(Value::Integer(earliest_completion(instance, self.job).ticks().into()))
    }
}
