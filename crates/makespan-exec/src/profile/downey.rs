//! Downey's law: a search in two dimensions.

use makespan_core::SpeedupLaw;

use super::laws::{Point, scale};
use super::search::search;

/// Beyond this multiple of the largest measured allotment the parallelism cannot be told from the times.
const FARTHEST: f64 = 16.0;

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
    let best = search(0.0, (most * FARTHEST).ln(), PARALLELISM_STEPS, &|logarithm| {
        scale(points, law(logarithm, best_share(logarithm))).1
    });
    law(best, best_share(best))
}
