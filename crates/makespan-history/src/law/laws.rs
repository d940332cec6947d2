//! Fits single laws by least squared relative error.
//!
//! Let `f(n)` be the law's fraction of the sequential time `T` on `n` processors, and `t(n)` the measured time. The error is the
//! sum of `(T f(n) / t(n) - 1)^2` over all points. For a given `f`, the best `T` has a closed form ([`scale`]), so the searches
//! run over the parameters of `f` only.

use makespan_core::SpeedupLaw;

use super::search::golden;

/// A measured time in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub processors: u32,
    pub seconds: f64,
}

/// Returns the best sequential time for a law, in seconds, and the resulting sum of squared relative errors.
pub(super) fn scale(points: &[Point], law: SpeedupLaw) -> (f64, f64) {
    let ratios = || points.iter().map(|point| law.time_fraction(point.processors) / point.seconds);
    let (sum, squares) = ratios().fold((0.0, 0.0), |(sum, squares), ratio| (sum + ratio, squares + ratio * ratio));
    let sequential = sum / squares;
    (sequential, ratios().map(|ratio| (sequential * ratio - 1.0).powi(2)).sum())
}

/// Fits Amdahl's law by linear least squares in `a + b / n` with `a, b >= 0`. The serial share is `a / (a + b)`.
pub(super) fn amdahl(points: &[Point]) -> SpeedupLaw {
    // Normal equations of (a / t + b / (n t) - 1).
    let (mut aa, mut ab, mut bb, mut a1, mut b1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for point in points {
        let u = 1.0 / point.seconds;
        let v = u / f64::from(point.processors);
        (aa, ab, bb, a1, b1) = (aa + u * u, ab + u * v, bb + v * v, a1 + u, b1 + v);
    }
    let determinant = aa * bb - ab * ab;
    let (a, b) = ((a1 * bb - b1 * ab) / determinant, (aa * b1 - ab * a1) / determinant);
    // The error is convex. If the optimum lies outside the quadrant, the constrained optimum lies on its border.
    let serial = if a <= 0.0 {
        0.0
    } else if b <= 0.0 {
        1.0
    } else {
        a / (a + b)
    };
    SpeedupLaw::Amdahl { serial }
}

/// Fits the power law: a straight line through the logarithms, then a golden-section search around its slope for the least
/// relative error.
pub(super) fn power(points: &[Point]) -> SpeedupLaw {
    let count = points.len() as f64;
    let x = |point: &Point| f64::from(point.processors).ln();
    let y = |point: &Point| point.seconds.ln();
    let (mean_x, mean_y) = (points.iter().map(x).sum::<f64>() / count, points.iter().map(y).sum::<f64>() / count);
    let covariance: f64 = points.iter().map(|point| (x(point) - mean_x) * (y(point) - mean_y)).sum();
    let variance: f64 = points.iter().map(|point| (x(point) - mean_x).powi(2)).sum();
    let start = (-covariance / variance).clamp(0.0, 1.0);
    let error = |exponent: f64| scale(points, SpeedupLaw::Power { exponent }).1;
    SpeedupLaw::Power { exponent: golden((start - 0.2).max(0.0), (start + 0.2).min(1.0), &error) }
}
