//! Conversion of prices from floating point to a certificate in integers.

use makespan_core::Time;
use makespan_verify::proof::{DualFeasible, Scale, Term};

use super::board::{AllotmentBoard, Grid};
use super::game::Costs;

/// The largest value of a step function in a certificate. This value is divisible by all numbers from 2 to 10.
const LEVELS: f64 = 5040.0;
/// Maximum number of terms that are products of a function of the width and a function of the time. If there are more,
/// the terms with the lowest prices are omitted.
const MAX_PAIRS: usize = 8;

/// Converts costs to a certificate. Because of rounding, the certificate may fail to refute `deadline`, so the caller
/// must check it.
pub(super) fn certificate(board: &AllotmentBoard, costs: &Costs, deadline: Time) -> DualFeasible {
    let (processors, from) = (board.setting.instance.processors(), board.setting.from);
    let (m, d) = (f64::from(processors), (deadline - from).ticks() as f64);
    // The price of the whole area in the certificate, if the cost of the area is 1. This price is large, so that
    // rounding to integers loses little.
    let unit = (m * d * f64::from(1 << 20)).min(2_f64.powi(60));
    let mut terms = Vec::new();
    let mut add = |cost: f64, widths: Scale, times: Scale| {
        let price = (unit * cost).round() as i64;
        if price > 0 {
            terms.push(Term { price, widths, times });
        }
    };
    add(costs.area / m / d, Scale::Whole, Scale::Whole);
    if let Some((times, share)) = steps(&costs.times, board.time_grid) {
        add(share / m, Scale::Whole, times);
    }
    if let Some((widths, share)) = steps(&costs.widths, board.width_grid) {
        add(share / d, widths, Scale::Whole);
    }
    let mut pairs: Vec<(usize, &Vec<f64>)> = costs.both.iter().enumerate().collect();
    let dearest = |row: &[f64]| row.last().copied().unwrap_or(0.0);
    pairs.sort_by(|(a, first), (b, second)| dearest(second).total_cmp(&dearest(first)).then(a.cmp(b)));
    for (index, row) in pairs.into_iter().take(MAX_PAIRS) {
        if let (Some((widths, wide)), Some((times, long))) =
            (steps(&board.setting.widths[index], board.width_grid), steps(row, board.time_grid))
        {
            add(wide * long, widths, times);
        }
    }
    DualFeasible { deadline, from, terms }
}

/// Converts a function to the step function of a certificate. `values` contains the value of the function for each
/// class. Returns the step function and the value of one of its units. Returns `None` if the function is zero
/// everywhere.
pub(crate) fn steps(values: &[f64], grid: Grid) -> Option<(Scale, f64)> {
    let top = values.last().copied().filter(|&top| top > 0.0)?;
    let mut steps: Vec<(i64, u32)> = Vec::new();
    for (class, value) in values.iter().enumerate().skip(1) {
        let value = (value / top * LEVELS).round() as u32;
        if value > steps.last().map_or(0, |step| step.1) {
            steps.push((grid.least(class), value));
        }
    }
    Some((Scale::Steps(steps), top / LEVELS))
}
