//! Compares costs: the plans of the paper's method, optimised plans, and proved bounds.

use makespan_algos::kernel::chains::method::Method;
use makespan_core::{Instance, Time};

use super::{CriticalJobsKey, CriticalJobsOutcome, DEADLINES, with_deadline};
use crate::LabError;
use crate::campaign::{Claim, aligned, failed, shown};

/// Parameters of `optimise`: two searches that minimise the cost. The searches are limited by a number of steps, so
/// that the results do not depend on the machine.
const STEPS: &str = "objective=cost,steps=50000,searches=2";
/// Number of steps of the search for dual prices.
const PRICED: u32 = 300;

/// Returns the spec of `optimise` with a deadline of `factor` times HEFT's makespan.
pub(super) fn spec(factor: &str) -> String {
    let usual = factor.parse().is_ok_and(|factor: f64| factor.to_bits() == Method::default().deadline.to_bits());
    if usual { format!("optimise[{STEPS}]") } else { format!("optimise[{STEPS},deadline={factor}]") }
}

/// Returns a name for the bound on the cost of plans that end by `factor` times HEFT's makespan. This name appears in
/// the column `algorithm` of the results.
pub(super) fn bound(factor: &str) -> String {
    format!("bound[deadline={factor}]")
}

/// Returns a bound on the cost for each deadline. The bound holds for every plan that meets the deadline. `heft` is the
/// makespan of HEFT's plan in seconds.
pub(super) fn bounds(
    instance: &Instance,
    heft: f64,
    key: CriticalJobsKey,
) -> Result<Vec<(String, CriticalJobsOutcome)>, LabError> {
    let each = DEADLINES.iter().map(|factor| {
        let algorithm = bound(factor);
        let unproved = || failed(&algorithm, key, "nothing is proved".to_owned());
        let factor: f64 = factor.parse().map_err(|_| unproved())?;
        // Round HEFT's makespan to whole ticks, multiply it by the factor, and round the product up.
        let horizon = Time::from_ticks(((heft * 1e9).round() * factor).ceil() as i64);
        let bound = makespan_bounds::cost::within(instance, horizon, PRICED);
        let bound = bound.filter(|bound| bound.verify(instance).is_ok()).ok_or_else(unproved)?;
        let (makespan, cost) = (horizon.seconds(), bound.value.integer() as f64 / 1e3);
        Ok((algorithm, CriticalJobsOutcome { makespan, cost, ..CriticalJobsOutcome::default() }))
    });
    each.collect()
}

/// Returns the claim that optimised plans reach the target for the cost. `cost` takes a spec. It returns the mean cost
/// of this algorithm on layered graphs, divided by HEFT's cost.
pub(super) fn claim(cost: impl Fn(&str) -> Option<f64>) -> Claim {
    let (found, proved) = (cost(&spec("1.5")), cost(&bound("1.5")));
    let statement = "If the deadline is 1.5 times HEFT's makespan, optimised plans of layered graphs cost at most 0.70 of HEFT's cost (0.61 is reachable)";
    let figure = found.zip(proved).map(|(found, proved)| (format!("{found:.3}; {proved:.3} proved"), found <= 0.70));
    Claim::one("aim", statement, figure)
}

/// Formats a table of costs with a row for each deadline. `cost` takes a spec. It returns the mean cost of this
/// algorithm on graphs of one shape, divided by HEFT's cost.
pub(super) fn table(cost: impl Fn(&str) -> Option<f64>) -> String {
    const WIDTHS: [i32; 4] = [-44, 10, 10, 10];
    let mut text = aligned(&WIDTHS, ["  cost by deadline", "method", "optimised", "proved"]);
    for factor in DEADLINES {
        let ratios = [with_deadline(factor), spec(factor), bound(factor)].map(|name| shown(cost(&name), 3));
        text += &aligned(&WIDTHS, std::iter::once(format!("  {factor}")).chain(ratios));
    }
    text
}
