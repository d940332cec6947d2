//! The quantities that have prices: the processors that a job holds, or functions of their number.

use makespan_core::Availability;
use makespan_verify::proof::Scale;

use super::allotments::PricedAllotment;
use super::instants;

/// Maximum number of terms in which the value of an allotment is not zero.
pub(super) const MAX_OF_ONE: usize = 4;

/// The quantities that have prices (terms). Each quantity has a limited capacity at each instant, and running jobs use
/// a part of this capacity.
pub(super) enum Terms {
    /// The number of processors, and dual-feasible functions of this number.
    Widths(Vec<Width>),
    /// The processors of each node.
    Nodes(Vec<Availability>),
}

/// A dual-feasible function of the number of processors, scaled such that its capacity on all m processors is m.
#[derive(Clone)]
pub(super) struct Width {
    /// The unscaled function, in the integers of a certificate.
    pub(super) steps: Scale,
    /// The unscaled capacity of all processors, divided by the number of processors.
    pub(super) unit: f64,
    /// The scaled value for each number of processors, from 0 on.
    values: Vec<f64>,
    /// The capacity for each number of available processors, from 0 on: the maximum sum of the scaled values of jobs
    /// that can run on these processors at the same time.
    most: Vec<f64>,
}

impl Width {
    /// Builds the function from steps with ascending sizes and values. Returns `None` if the capacity of all
    /// processors is zero.
    pub(super) fn new(steps: Vec<(i64, u32)>, processors: u32) -> Option<Self> {
        let value = |width: i64| {
            let after = steps.partition_point(|&(size, _)| size <= width);
            after.checked_sub(1).map_or(0, |at| steps[at].1)
        };
        let mut most = vec![0_u64; processors as usize + 1];
        for room in 1..most.len() {
            let with = |&(size, value): &(i64, u32)| {
                let rest = room.checked_sub(usize::try_from(size).ok()?)?;
                Some(most[rest] + u64::from(value))
            };
            most[room] = steps.iter().map_while(with).max().unwrap_or(0);
        }
        let unit = most[processors as usize] as f64 / f64::from(processors);
        if unit <= 0.0 {
            return None;
        }
        let values = (0..=i64::from(processors)).map(|width| f64::from(value(width)) / unit).collect();
        let most = most.into_iter().map(|most| most as f64 / unit).collect();
        Some(Self { steps: Scale::Steps(steps), unit, values, most })
    }

    /// Returns the scaled value of the function for a job on this number of processors.
    pub(super) fn value(&self, processors: f64) -> f64 {
        self.values[processors as usize]
    }
}

/// For each allotment, pairs of a term and the value of the allotment in this term. Pairs with the value zero are
/// omitted.
pub(super) struct Values {
    entries: Vec<(u32, f64)>,
    /// For each allotment, the index of its first entry. The last number is the total number of entries.
    starts: Vec<u32>,
}

impl Values {
    #[inline]
    pub(super) fn of(&self, shape: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[shape] as usize..self.starts[shape + 1] as usize]
    }
}

impl Terms {
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Widths(widths) => 1 + widths.len(),
            Self::Nodes(nodes) => nodes.len(),
        }
    }

    pub(super) fn values(&self, shapes: &[PricedAllotment]) -> Values {
        let (mut entries, mut starts) = (Vec::with_capacity(shapes.len()), vec![0]);
        for shape in shapes {
            match self {
                Self::Widths(widths) => {
                    entries.push((0, shape.processors));
                    let values = widths.iter().map(|width| width.value(shape.processors));
                    entries.extend((1..).zip(values).filter(|&(_, value)| value > 0.0));
                }
                Self::Nodes(_) => entries.push((shape.node, 1.0)),
            }
            starts.push(entries.len() as u32);
        }
        Values { entries, starts }
    }

    /// For each interval between consecutive instants, returns the mean capacity of each term.
    pub(super) fn open(&self, availability: &Availability, instants: &[f64]) -> Vec<f64> {
        let of_terms: Vec<Vec<f64>> = match self {
            Self::Widths(widths) => {
                let worth = |width: &Width| instants::worth(availability, instants, |open| width.most[open as usize]);
                std::iter::once(instants::open(availability, instants)).chain(widths.iter().map(worth)).collect()
            }
            Self::Nodes(nodes) => nodes.iter().map(|node| instants::open(node, instants)).collect(),
        };
        (0..instants.len() - 1).flat_map(|at| of_terms.iter().map(move |open| open[at])).collect()
    }
}
