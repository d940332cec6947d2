//! Downey's law: a search in two dimensions.

use makespan_core::SpeedupLaw;

use super::laws::{Point, scale};
use super::search::search;

/// Beyond this multiple of the largest measured allotment the parallelism cannot be told from the times.
const FARTHEST: f64 = 16.0;

/// How far, on the logarithmic scale, the speed-up of the largest allotment is from the parallelism where it is that
/// but for the measuring.
const NEAR: f64 = 0.05;

/// The largest variance that is searched; speed-ups hardly change beyond it.
const WIDEST: f64 = 64.0;

/// The law of least error: for each parallelism, on a logarithmic scale, the best `sigma / (1 + sigma)`. The error has
/// a kink wherever a measured allotment changes its case of the law, which is why no gradient is followed.
pub(super) fn downey(points: &[Point]) -> SpeedupLaw {
    // Grids fine enough to meet each valley of the error: 3 per cent of parallelism, 1/30 of the share.
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
    // Allotments beyond the law's last bend all have the parallelism as their speed-up, and only that one: a valley
    // narrower than the grid, around the speed-up of the largest.
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
