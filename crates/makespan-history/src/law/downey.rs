//! Fits Downey's law by a search in two dimensions.

use makespan_core::SpeedupLaw;

use super::laws::{Point, scale};
use super::search::search;

/// Largest parallelism that is searched, as a multiple of the largest measured allotment. At the measured allotments,
/// larger parallelisms give nearly the same times.
const FARTHEST: f64 = 16.0;

/// Half-width of the second search, on a logarithmic scale, around the measured speed-up of the largest allotment.
/// This speed-up may equal the parallelism except for measurement errors.
const NEAR: f64 = 0.05;

/// Largest variance that is searched. Larger variances hardly change the speed-up.
const WIDEST: f64 = 64.0;

/// Returns the law of least error. For each parallelism, on a logarithmic scale, the function searches the best
/// `sigma / (1 + sigma)`. The error has a kink wherever a measured allotment enters another case of the law, so the
/// search does not use gradients.
pub(super) fn downey(points: &[Point]) -> SpeedupLaw {
    // Grids fine enough to find each valley of the error: steps of 3 per cent in parallelism and of 1/30 in the share.
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
    // Beyond the last bend of the law, all allotments have a speed-up equal to the parallelism. So near the measured
    // speed-up, the valley of the error can be narrower than a step of the grid. A second search with smaller steps
    // examines this range.
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
