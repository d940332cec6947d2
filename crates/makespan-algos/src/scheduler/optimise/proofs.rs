//! Bounds that are proved before a search.

use makespan_bounds::best_by;
use makespan_core::{Instance, Objective};
use makespan_verify::Bound;

use crate::plan::Context;
use crate::search::Portfolio;

/// Maximum fraction of the time for all proofs together. The search uses the remaining time.
const PROOFS: f64 = 0.4;

/// Returns bounds on the objectives in `looked_for`. If the caller wants bounds and the budget is a time, also returns
/// bounds on the standard objectives, because they are reported with every schedule. Each bound gets an equal share of
/// the time. If a bound needs less time, later bounds get more. So the bounds on `looked_for` are computed last.
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
        let bound = best_by(instance, objective, &portfolio.clock(each * (at + 1) as f64)).ok();
        bound.iter().for_each(|bound| portfolio.incumbent.proved(bound));
        bound
    };
    all.iter().enumerate().filter_map(of).collect()
}
