//! A refuted deadline for each job, as if it were alone.

use serde::{Deserialize, Serialize};

use super::paths::of_completions;
use super::time_window::Known;
use super::{CertificateError, Kind, Scope, TimeWindow, Value};
use crate::model::{Instance, JobId};
use crate::schedule::Objective;

/// For each job a deadline that it cannot meet even if it is alone, after what it waits for: the job then ends a tick later at the
/// earliest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobWindows {
    /// One a job, in their order.
    pub windows: Vec<TimeWindow>,
}

impl JobWindows {
    /// When each job ends at the earliest, in ticks.
    fn completions(&self, instance: &Instance) -> Result<Vec<(JobId, i128)>, CertificateError> {
        if self.windows.len() != instance.jobs().len() {
            let problem = format!("it has {} windows for {} jobs", self.windows.len(), instance.jobs().len());
            return Err(CertificateError::Malformed(problem));
        }
        let known = Known::new(instance);
        let each = instance.ids().zip(&self.windows);
        each.map(|(id, window)| Ok((id, window.of_job(&known, id)?))).collect()
    }
}

impl Kind for JobWindows {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::OF_JOBS
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        of_completions(objective, instance, &self.completions(instance)?).map(Value::Integer)
    }
}
