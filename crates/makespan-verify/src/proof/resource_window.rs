//! Refutation of a deadline by the amounts of a resource that tasks hold.

use serde::{Deserialize, Serialize};

use super::capacity::{DeadlineWindow, open_amount};
use super::error::malformed;
use super::prices::{Sum, refute};
use super::{CertificateError, Kind, NodeKinds, Scope, Spans, Value};
use makespan_core::{Instance, Objective, ResourceKind, Time};

/// A deadline that is refuted by the amounts of one resource (such as memory, GPUs or licences) that tasks hold within
/// a window. [`super::TimeWindow`] uses the same argument for processors.
///
/// Suppose that all tasks end by `deadline`. On each allotment, a task holds some amount, and overlaps the window `from
/// .. until` for some minimum time. The task holds at least the product of this amount and this time within the window.
/// Consider the minimum of the product over all allotments. If the sum of these minima over all tasks exceeds the
/// available amount multiplied by the length of the window, the supposition is false. So the makespan is at least
/// `deadline` plus one tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceWindow {
    /// The refuted deadline.
    pub deadline: Time,
    /// Beginning of the window.
    pub from: Time,
    /// End of the window.
    pub until: Time,
    /// The name of the resource.
    pub resource: String,
}

impl Kind for ResourceWindow {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// Returns the proven makespan in ticks: `deadline + 1`. Takes O(tasks * (allotments * kinds of nodes) + edges).
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let window = DeadlineWindow::new(self.deadline, self.from, self.until)?;
        let platform = instance.platform();
        let resource = platform.resource(&self.resource);
        let comes_back = |id: &_| platform.resource_of(*id).kind != ResourceKind::Consumable;
        let Some(resource) = resource.filter(comes_back) else {
            return malformed(format!("the platform has no resource `{}` that tasks hold and return", self.resource));
        };
        let places = NodeKinds::new(instance);
        let spans = Spans::new(&places, instance);
        let mut needed = Sum::default();
        for job in instance.jobs() {
            for task in job.different_task_ids() {
                let (span, demands) = (spans.of(instance, task), instance.demands(task));
                let mut least: Option<i128> = None;
                places.each(task, |run| {
                    if let Some(time) = window.least(span.head, run.time, span.tail) {
                        let held = time.saturating_mul(i128::from(run.holds(demands, resource)));
                        least = Some(least.map_or(held, |least| least.min(held)));
                    }
                });
                let Some(least) = least else { return Ok(Value::Integer(window.deadline + 1)) };
                needed.add(least.checked_mul(i128::from(job.equal_tasks())))?;
            }
        }
        let available = open_amount(instance, resource, window.from, window.until).ok_or(CertificateError::Overflow)?;
        refute(self.deadline, needed.0, available).map(Value::Integer)
    }
}
