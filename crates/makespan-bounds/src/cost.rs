//! Bounds on the cost: what every task costs at least, and prices under a horizon.

use makespan_core::certificate::CostPrices;
use makespan_core::{Bound, Certificate, Instance, Objective};

/// The bound that holds of every schedule: each task counts with its least cost. O(tasks * nodes).
pub fn cheapest(instance: &Instance) -> Bound {
    let certificate = Certificate::CostPrices(CostPrices::default());
    let nothing = |certificate| Bound { objective: Objective::Cost, value: 0, makespan_at_most: None, certificate };
    Bound::proved_by(certificate.clone(), instance).unwrap_or_else(|_| nothing(certificate))
}
