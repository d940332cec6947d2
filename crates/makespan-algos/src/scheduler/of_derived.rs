//! Plans for objectives that are computed from other objectives.

use makespan_core::{Instance, Objective};
use makespan_verify::proof::Derived;
use makespan_verify::{Bound, Proof};

use crate::plan::{Context, Plan, ScheduleError, Scheduler};

/// Plans for a derived objective: `base` plans the changed instance ([`Objective::derived`]), in which the same
/// schedules are valid. `name` is the spec of the derived objective, for errors. Bounds on the base become bounds on
/// the derived objective.
pub(super) fn schedule(
    objective: Objective,
    name: &str,
    base: &dyn Scheduler,
    instance: &Instance,
    context: &mut Context,
) -> Result<Plan, ScheduleError> {
    let Some(derived) = objective.derived(instance) else { return base.schedule(instance, context) };
    // The standard bounds of the changed instance would not be reported.
    let mut changed = Context { bounds: Vec::new(), remarks: Vec::new(), prove: false, ..context.clone() };
    let plan = base.schedule(&derived.instance, &mut changed).map_err(|error| match error {
        ScheduleError::Unsupported { reason, .. } => ScheduleError::Unsupported { scheduler: name.into(), reason },
        ScheduleError::NotFound { limit, floor, reached, .. } => {
            ScheduleError::NotFound { scheduler: name.into(), limit, floor, reached }
        }
        other => other,
    })?;
    context.remarks.extend(changed.remarks);
    // Due dates, weights and penalties do not affect these objectives.
    let is_unchanged = |bound: &Bound| matches!(bound.objective, Objective::Makespan | Objective::MeanFlow);
    for bound in changed.bounds {
        if bound.objective == derived.base {
            let proof = Proof::Derived(Derived { proof: Box::new(bound.proof) });
            context.bounds.extend(Bound::proved_by(objective, proof, instance).ok());
        } else if is_unchanged(&bound) {
            context.bounds.push(bound);
        }
    }
    Ok(plan)
}
