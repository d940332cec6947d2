//! The longest path of tasks before the end of each job.

use serde::{Deserialize, Serialize};

use super::{CertificateError, Kind, Places, Scope, Spans, Value, total};
use crate::model::{Instance, Job, JobId, Rows};
use crate::schedule::{Objective, mean};

/// No job ends before the longest path of tasks that leads to its last task, each at its fastest, after its release. Paths go along
/// the edges between jobs, too.
///
/// There is nothing to state: all of it follows from the instance. Transfers count as nothing, and what else runs does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {}

impl Kind for Paths {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::OF_TIME
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        of_completions(objective, instance, &earliest_ends(instance)).map(Value::Integer)
    }
}

/// Returns the end of the longest path of each job, in ticks.
pub(super) fn earliest_ends(instance: &Instance) -> Vec<(JobId, i128)> {
    let spans = Spans::new(&Places::new(instance), instance);
    instance.ids().map(|id| (id, spans.completion(instance, id))).collect()
}

/// What follows for an objective of [`Objective::OF_TIME`] when no job ends earlier than this.
pub(super) fn of_completions(
    objective: Objective,
    instance: &Instance,
    ends: &[(JobId, i128)],
) -> Result<i128, CertificateError> {
    let weight = |job: &Job<Rows>| i128::from(job.weight.millionths());
    let late = |job: &Job<Rows>, end: i128| Some((end - i128::from(job.deadline?.ticks())).max(0));
    let each = ends.iter().map(|&(id, end)| (instance.job(id), end));
    match objective {
        Objective::Makespan => Ok(ends.iter().map(|&(_, end)| end).max().unwrap_or(0)),
        Objective::MeanFlow => {
            let flow = each.map(|(job, end)| end.checked_sub(i128::from(job.release.ticks())));
            Ok(mean(total(flow)?, instance.jobs().len()))
        }
        Objective::WeightedCompletion => total(each.map(|(job, end)| end.checked_mul(weight(job)))),
        Objective::MaxLateness => Ok(each.filter_map(|(job, end)| late(job, end)).max().unwrap_or(0)),
        Objective::WeightedLateness => {
            total(each.map(|(job, end)| late(job, end).unwrap_or(0).checked_mul(weight(job))))
        }
        Objective::Cost | Objective::Throughput => Err(CertificateError::OtherObjective { objective }),
    }
}
