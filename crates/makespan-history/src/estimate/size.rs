//! How times depend on the size of the input files.

use super::robust::{Line, deviation, median};

/// A time on one processor and the bytes of its input files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sized {
    pub seconds: f64,
    pub inputs: Option<u64>,
}

/// The time on one processor: the same for all, or by the size of the input files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// Where the size is not known, or says nothing.
    typical: f64,
    line: Option<Line>,
}

/// Points beyond which no line is looked for, since all pairs are.
const MAX_POINTS: usize = 100;
/// Fewer points, or fewer sizes, make no line.
const MIN_POINTS: usize = 5;
const MIN_SIZES: usize = 3;
/// A line is believed when the deviation from it is at most this part of that from the median.
const MARKEDLY: f64 = 0.5;

impl Size {
    pub fn of(samples: &[Sized]) -> Option<Self> {
        let typical = median(samples.iter().map(|sample| sample.seconds))?;
        Some(Self { typical, line: line(samples, typical) })
    }

    pub fn seconds(&self, inputs: Option<u64>) -> f64 {
        match (self.line, inputs) {
            (Some(line), Some(inputs)) => line.at(inputs as f64),
            _ => self.typical,
        }
    }

    /// The time of an input over that of a typical one.
    pub fn factor(&self, inputs: Option<u64>) -> f64 {
        self.seconds(inputs) / self.typical
    }

    /// Whether the size of the input files says something.
    pub fn is_line(&self) -> bool {
        self.line.is_some()
    }

    /// The same shape, where times are this much longer.
    pub fn scaled(self, factor: f64) -> Self {
        let line = |line: Line| Line { intercept: line.intercept * factor, slope: line.slope * factor };
        Self { typical: self.typical * factor, line: self.line.map(line) }
    }
}

/// The line through the samples, if it rises from no negative time and explains markedly more than the median does.
fn line(samples: &[Sized], typical: f64) -> Option<Line> {
    let sized = samples.iter().filter_map(|sample| Some((sample.inputs? as f64, sample.seconds)));
    let points: Vec<(f64, f64)> = sized.take(MAX_POINTS).collect();
    let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if points.len() < MIN_POINTS || sizes.len() < MIN_SIZES {
        return None;
    }
    let fitted = Line::theil_sen(&points)?;
    // A time at size 0 below 0 is a small one that the noise hides: then times are proportional.
    let proportional = || median(points.iter().map(|(x, y)| y / x)).map(|slope| Line { intercept: 0.0, slope });
    let line = if fitted.intercept >= 0.0 { fitted } else { proportional()? };
    let residual = |fitted: f64, seconds: f64| seconds / fitted - 1.0;
    let with = deviation(points.iter().map(|&(x, y)| residual(line.at(x), y)));
    let without = deviation(points.iter().map(|&(_, y)| residual(typical, y)));
    (line.slope > 0.0 && line.at(sizes[0]) > 0.0 && with <= MARKEDLY * without).then_some(line)
}
