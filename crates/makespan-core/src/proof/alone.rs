//! A job alone.

use serde::{Deserialize, Serialize};

use crate::model::{Instance, JobId};
use crate::proof::{CertificateError, Kind, Scope, Value, earliest_completion};
use crate::schedule::Objective;

/// This job, or one task of this bag, alone on the empty platform cannot end sooner: nor can everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alone {
    /// Which job.
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
