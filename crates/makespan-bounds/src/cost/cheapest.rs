//! A bound on the cost: the sum of the least costs of the tasks.

use makespan_core::{Instance, Objective};
use makespan_verify::proof::CostPrices;
use makespan_verify::{Bound, Proof};

/// Returns the sum of the least costs of all tasks, which is a lower bound on the cost of every schedule. Takes
/// O(tasks * nodes).
pub fn cheapest(instance: &Instance) -> Bound {
    let proof = Proof::CostPrices(CostPrices::default());
    let nothing = |proof| Bound { objective: Objective::Cost, value: 0.into(), makespan_at_most: None, proof };
    Bound::proved_by(Objective::Cost, proof.clone(), instance).unwrap_or_else(|_| nothing(proof))
}
