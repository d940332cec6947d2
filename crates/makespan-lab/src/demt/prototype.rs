//! What an independent prototype of the paper's algorithm measured on 200 processors.

use super::{Criterion, Points, algorithm};
use crate::generate::Family;

const SIZES: [usize; 5] = [25, 50, 100, 200, 400];

/// Ratios of DEMT at [`SIZES`]: makespan over the dual bound, weighted completion over the programme as printed.
const RATIOS: [(Family, [f64; 5], [f64; 5]); 4] = [
    (Family::Weak, [2.06, 2.13, 2.14, 2.01, 1.83], [2.43, 2.53, 2.60, 2.69, 2.68]),
    (Family::High, [1.72, 1.77, 1.91, 1.91, 1.84], [2.44, 2.40, 2.43, 2.45, 2.45]),
    (Family::Mixed, [2.00, 1.87, 1.89, 1.94, 1.89], [2.60, 2.59, 2.75, 2.81, 2.78]),
    (Family::Cirne, [1.03, 1.06, 1.18, 1.50, 1.66], [1.99, 2.09, 2.22, 2.21, 2.14]),
];

/// DEMT in a family by one criterion, over the numbers of jobs that both measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Which family.
    pub family: Family,
    /// By what.
    pub criterion: Criterion,
    /// The prototype's smallest and largest average ratio.
    pub prototype: (f64, f64),
    /// Ours.
    pub measured: (f64, f64),
    /// Ours minus the prototype's where they are furthest apart.
    pub difference: f64,
    /// The number of jobs at which that is.
    pub at: usize,
}

/// Sets DEMT beside the prototype.
pub(super) fn compare(points: &Points) -> Vec<Comparison> {
    let both = |(family, makespan, minsum): (Family, [f64; 5], [f64; 5])| {
        [(family, Criterion::Makespan, makespan), (family, Criterion::MinsumPrinted, minsum)]
    };
    let each = RATIOS.into_iter().flat_map(both);
    each.filter_map(|(family, criterion, ratios)| comparison(points, family, criterion, ratios)).collect()
}

fn comparison(points: &Points, family: Family, criterion: Criterion, ratios: [f64; 5]) -> Option<Comparison> {
    let mut pairs: Vec<(usize, f64, f64)> = Vec::new();
    for point in points.curve(family, algorithm::DEMT) {
        if let Some(index) = SIZES.iter().position(|&jobs| jobs == point.jobs) {
            pairs.push((point.jobs, ratios[index], point.ratio(criterion).of_sums));
        }
    }
    let &(at, theirs, ours) = pairs.iter().max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()))?;
    let range = |values: Vec<f64>| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (low, values.into_iter().fold(f64::NEG_INFINITY, f64::max))
    };
    Some(Comparison {
        family,
        criterion,
        prototype: range(pairs.iter().map(|pair| pair.1).collect()),
        measured: range(pairs.iter().map(|pair| pair.2).collect()),
        difference: ours - theirs,
        at,
    })
}
