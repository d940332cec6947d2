//! What every task costs at least.

use makespan_core::proof::CostPrices;
use makespan_core::{Bound, Instance, Objective, Proof};

/// The bound that holds of every schedule: each task counts with its least cost. O(tasks * nodes).
pub fn cheapest(instance: &Instance) -> Bound {
    let proof = Proof::CostPrices(CostPrices::default());
    let nothing = |proof| Bound { objective: Objective::Cost, value: 0.into(), makespan_at_most: None, proof };
    Bound::proved_by(Objective::Cost, proof.clone(), instance).unwrap_or_else(|_| nothing(proof))
}
