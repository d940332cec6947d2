//! What is priced: the processors that a job holds, or functions of how many they are.

use makespan_core::Availability;
use makespan_core::proof::Scale;

use super::allotments::Shape;
use super::instants;

/// An allotment counts in at most so many terms.
pub(super) const MAX_OF_ONE: usize = 4;

/// The kinds of what has a price. Of each there is only so much at an instant, and a job that runs takes part of it.
pub(super) enum Terms {
    /// Processors, and dual-feasible functions of their number.
    Widths(Vec<Width>),
    /// A processor of each of so many nodes.
    Nodes(Vec<Availability>),
}

/// A dual-feasible function of the number of processors, scaled such that all processors together count as many as they are.
#[derive(Clone)]
pub(super) struct Width {
    /// In the integers of a certificate.
    pub(super) steps: Scale,
    /// What all processors together count in them, over their number.
    pub(super) unit: f64,
    /// What each number of processors counts.
    values: Vec<f64>,
    /// What side by side on so many processors counts at most.
    most: Vec<f64>,
}

impl Width {
    /// From steps of ascending sizes and values; `None` where all processors together count nothing.
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

    /// What so many processors count.
    pub(super) fn value(&self, processors: f64) -> f64 {
        self.values[processors as usize]
    }
}

/// What each allotment counts in each term that it counts in.
pub(super) struct Values {
    entries: Vec<(u32, f64)>,
    /// Where those of each allotment begin; one more than allotments.
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

    pub(super) fn values(&self, shapes: &[Shape]) -> Values {
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

    /// Between instants, what there is of each term on average.
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
