//! What an independent prototype of the paper's algorithm measured on instances of its own.

use super::Options;
use super::options::{SHELVES, SWEEP};
use super::points::{Gathered, Points};

/// A figure of the prototype beside ours, for the four families.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Processors of an SMP: k.
    pub each: u32,
    /// Spec of our algorithm.
    pub algorithm: String,
    /// Mean and largest ratio of the prototype.
    pub prototype: (f64, f64),
    /// Mean and largest ratio here.
    pub measured: (f64, f64),
}

/// Its figures: k, then the paper's algorithm, a list sweep in best placement, and one second of local search on that.
const KNOWN: [(u32, [(f64, f64); 3]); 4] = [
    (2, [(1.126, 1.487), (1.042, 1.171), (1.025, 1.162)]),
    (4, [(1.208, 1.494), (1.040, 1.165), (1.026, 1.164)]),
    (8, [(1.281, 1.721), (1.046, 1.219), (1.035, 1.192)]),
    (16, [(1.334, 1.833), (1.053, 1.320), (1.047, 1.266)]),
];

/// Where both have figures. Its local search stands beside `optimise` under the first limit.
pub(super) fn compare(options: &Options, points: &Points) -> Vec<Comparison> {
    let algorithms = options.algorithms();
    let position = |spec: &str| algorithms.iter().position(|known| known == spec);
    let first_optimise = (!options.limits.is_empty()).then(|| algorithms.len() - options.limits.len());
    let ours = [position(SHELVES), position(SWEEP[0]), first_optimise];
    let mut comparisons = Vec::new();
    for (each, known) in KNOWN {
        for (at, prototype) in ours.into_iter().zip(known) {
            let Some(at) = at else { continue };
            let figures = points.get(&(Gathered::Families { each }, at)).filter(|figures| figures.plans > 0);
            comparisons.extend(figures.map(|figures| Comparison {
                each,
                algorithm: algorithms[at].clone(),
                prototype,
                measured: (figures.mean, figures.max),
            }));
        }
    }
    comparisons
}
