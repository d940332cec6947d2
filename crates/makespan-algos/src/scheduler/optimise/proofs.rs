//! Bounds that are proved before a search.

use makespan_bounds::best_by;
use makespan_core::{Bound, Context, Instance, Objective};

use crate::search::Portfolio;

/// The part of the time that proofs may take in all; what they leave goes to the search.
const PROOFS: f64 = 0.4;

/// The bounds on what is looked for, and those that are told with every schedule where they are wanted and time is what ends the search. The time
/// is shared equally, and what one leaves goes to those behind it: the last one is what is minimised.
pub(super) fn prove(
    instance: &Instance,
    portfolio: &Portfolio,
    context: &Context,
    looked_for: &[Objective],
) -> Vec<Bound> {
    let wanted = context.prove && portfolio.budget.time().is_some();
    let told = Objective::standard(instance).filter(|told| wanted && !looked_for.contains(told));
    let all: Vec<Objective> = told.chain(looked_for.iter().copied()).collect();
    let each = PROOFS / all.len() as f64;
    let of = |(at, &objective): (usize, &Objective)| {
        best_by(instance, objective, &portfolio.clock(each * (at + 1) as f64)).ok()
    };
    all.iter().enumerate().filter_map(of).collect()
}
