//! A refuted deadline for each job, as if it were alone.

use serde::{Deserialize, Serialize};

use crate::model::{Instance, JobId};
use crate::proof::{CertificateError, Kind, Scope, TimeWindow, Value, total};
use crate::schedule::{Objective, mean};

/// For each job a deadline that it cannot meet even if it is alone: the job then ends a tick later at the earliest.
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
        let each = instance.ids().zip(&self.windows);
        each.map(|(id, window)| Ok((id, window.of_jobs(instance, [id])?))).collect()
    }
}

impl Kind for JobWindows {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::WeightedCompletion, Objective::MeanFlow]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let each = self.completions(instance)?.into_iter();
        if objective == Objective::MeanFlow {
            let flow = |(id, end): (JobId, i128)| end.checked_sub(i128::from(instance.job(id).release.ticks()));
            return Ok(Value::Integer(mean(total(each.map(flow))?, instance.jobs().len())));
        }
        let weighed = each.map(|(id, end)| end.checked_mul(i128::from(instance.job(id).weight.millionths())));
        total(weighed).map(Value::Integer)
    }
}
