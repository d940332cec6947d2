//! Downey's speed-up law: a search in two dimensions.

use makespan_core::SpeedupLaw;

use super::laws::{Point, scale};
use super::search::search;

/// Maximum parallelism, as a multiple of the largest measured allotment. Measured times cannot distinguish larger
/// values.
const FARTHEST: f64 = 16.0;

/// Half-width of the logarithmic interval around the measured speed-up of the largest allotment in which a second
/// search looks for the parallelism.
const NEAR: f64 = 0.05;

/// Maximum variance in the search. Larger values hardly change the speed-ups.
const WIDEST: f64 = 64.0;

/// Returns the law with the least error. The search uses a logarithmic scale for the parallelism, and finds the best
/// `sigma / (1 + sigma)` for each value. The error has kinks at which a measured allotment moves to another case of
/// the law, so the search uses no gradient.
pub(super) fn downey(points: &[Point]) -> SpeedupLaw {
    // Step widths that find each valley of the error: 3 per cent of the parallelism, 1/30 of the share.
    const PARALLELISM_STEPS: u32 = 200;
    const SHARE_STEPS: u32 = 30;
    let most = points.iter().map(|point| f64::from(point.processors)).fold(1.0, f64::max);
    let law = |logarithm: f64, share: f64| SpeedupLaw::Downey {
        parallelism: logarithm.exp().max(1.0),
        sigma: share / (1.0 - share),
    };
    let best_share = |logarithm: f64| {
        search(0.0, WIDEST / (1.0 + WIDEST), SHARE_STEPS, &|share| scale(points, law(logarithm, share)).1)
    };
    let error = |logarithm: f64| scale(points, law(logarithm, best_share(logarithm))).1;
    let farthest = (most * FARTHEST).ln();
    let mut best = search(0.0, farthest, PARALLELISM_STEPS, &error);
    // If the largest allotments lie beyond the last bend of the law, their speed-up equals the parallelism. The error
    // then has a valley around this speed-up that is narrower than the grid.
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let speedup = (f64::from(first.processors) * first.seconds / last.seconds).ln();
        let near = |offset: f64| (speedup + offset).clamp(0.0, farthest);
        let bend = search(near(-NEAR), near(NEAR), PARALLELISM_STEPS, &error);
        if error(bend) < error(best) {
            best = bend;
        }
    }
    law(best, best_share(best))
}
