//! Bounds from one deadline for each job: the job cannot meet the deadline even if it is alone.

use serde::{Deserialize, Serialize};

use super::error::malformed;
use super::paths::of_completions;
use super::time_window::WindowData;
use super::{CertificateError, Kind, Scope, TimeWindow, Value};
use makespan_core::{Instance, JobId, Objective};

/// For each job, a deadline that the job cannot meet even if only the job and its predecessors exist. So in every
/// schedule, the job ends at least a tick after this deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobWindows {
    /// For each job of the instance, in file order, a window with a deadline that the job cannot meet.
    pub windows: Vec<TimeWindow>,
}

impl JobWindows {
    /// Returns the earliest end of each job, in ticks.
    fn completions(&self, instance: &Instance) -> Result<Vec<(JobId, i128)>, CertificateError> {
        if self.windows.len() != instance.jobs().len() {
            return malformed(format!("there are {} windows for {} jobs", self.windows.len(), instance.jobs().len()));
        }
        let known = WindowData::new(instance);
        let each = instance.ids().zip(&self.windows);
        each.map(|(id, window)| Ok((id, window.of_job(&known, id)?))).collect()
    }
}

impl Kind for JobWindows {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::OF_JOB_ENDS
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        of_completions(objective, instance, &self.completions(instance)?).map(Value::Integer)
    }
}
