//! The search over orders of tasks that can also keep processors idle for later tasks.

use std::time::Duration;

use makespan_core::{Instance, Objective, Unsupported};

use super::{Optimise, Target};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};
use crate::scheduler::sequenced;

/// Searches for a schedule that keeps hard deadlines by annealing the order of all tasks. A task starts after all earlier
/// tasks of the order on its processors. So processors may wait for an urgent task that is released later.
pub(super) struct InSequence(pub(super) Optimise);

impl Scheduler for InSequence {
    fn name(&self) -> String {
        self.0.name()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        sequenced::supports(instance)
    }

    fn guarantee(&self, _instance: &Instance, _objective: Objective) -> Option<Guarantee> {
        None
    }

    fn is_anytime(&self) -> bool {
        true
    }

    fn time_limit(&self) -> Option<Duration> {
        self.0.budget.time()
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        let Optimise { target, budget, searches, .. } = self.0;
        let Target::Objective(objective) = target else {
            let reason = Unsupported("it keeps deadlines only for one objective".into());
            return Err(ScheduleError::Unsupported { scheduler: self.name(), reason });
        };
        sequenced::optimise(self, objective, (budget, searches), instance, context)
    }
}
