//! Bounds from the longest path of tasks before the end of each job.

use serde::{Deserialize, Serialize};

use super::{CertificateError, Kind, NodeKinds, Scope, Spans, Value, total};
use makespan_core::{Instance, JobId, Objective, Shape};

/// A bound on the end of each job: the end of the longest path of tasks from a release to a last task of the job. Each
/// task on the path has its shortest time. Paths include the edges between jobs.
///
/// The bound follows from the instance, so the certificate contains no data. The bound ignores data transfers. It also
/// ignores all tasks that are not on the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {}

impl Kind for Paths {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::OF_ENDS
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        of_completions(objective, instance, &earliest_ends(instance)).map(Value::Integer)
    }
}

/// Returns, for each job, the end of its longest path in ticks.
pub(super) fn earliest_ends(instance: &Instance) -> Vec<(JobId, i128)> {
    let spans = Spans::new(&NodeKinds::new(instance), instance);
    instance.ids().map(|id| (id, spans.completion(instance, id))).collect()
}

/// Returns the proven value of an objective of [`Objective::OF_ENDS`] under the condition that each job ends at or
/// after its instant in `ends`.
pub(super) fn of_completions(
    objective: Objective,
    instance: &Instance,
    ends: &[(JobId, i128)],
) -> Result<i128, CertificateError> {
    let shape = objective.shape().ok_or(CertificateError::OtherObjective { objective })?;
    Ok(shape.value(total_of(shape, instance, ends)?, instance.jobs().len()))
}

/// Returns the maximum or the sum (depending on `shape`) of the costs of the jobs, if the jobs end at the instants in
/// `ends`.
pub(super) fn total_of(shape: Shape, instance: &Instance, ends: &[(JobId, i128)]) -> Result<i128, CertificateError> {
    let mut costs = ends.iter().map(|&(id, end)| shape.cost(instance.job(id)).exact(end));
    if shape.is_sum {
        return total(costs);
    }
    costs.try_fold(0_i128, |most, cost| Some(most.max(cost?))).ok_or(CertificateError::Overflow)
}
