//! Sort keys that order tasks without a position in the current plan.

use std::cmp::Ordering;

/// A sort key. The task with the smallest key comes first. If the policy began with a plan that contains the task, the
/// first field of the key is 0, and the second field is the position of the task in this plan. Otherwise, the first
/// field is positive, and the second field depends on the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlanSortKey(pub u8, pub f64, pub f64);

impl Eq for PlanSortKey {}

impl PartialOrd for PlanSortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PlanSortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0).then(self.1.total_cmp(&other.1)).then(self.2.total_cmp(&other.2))
    }
}
