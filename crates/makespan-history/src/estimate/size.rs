//! The dependence of run times on the size of the input files.

use crate::robust::{RobustLine, deviation, median};

/// A sequential time and the size of the input files in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizedTime {
    pub seconds: f64,
    pub inputs: Option<u64>,
}

/// A model of the sequential time: a constant, or a line over the size of the input files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SizeModel {
    /// Median time in seconds, used if the size is unknown or does not affect the time.
    typical: f64,
    line: Option<RobustLine>,
}

/// Maximum number of points for a line, because the fit uses all pairs of points.
const MAX_POINTS: usize = 100;
/// Minimum number of points for a line. The points must also have at least this number of different sizes.
const MIN_POINTS: usize = 5;
const MIN_SIZES: usize = 3;
/// A line is used if the deviation from the line is at most this fraction of the deviation from the median.
const MARKEDLY: f64 = 0.5;

impl SizeModel {
    pub fn of(samples: &[SizedTime]) -> Option<Self> {
        let typical = median(samples.iter().map(|sample| sample.seconds))?;
        Some(Self { typical, line: line(samples, typical) })
    }

    pub fn seconds(&self, inputs: Option<u64>) -> f64 {
        match (self.line, inputs) {
            (Some(line), Some(inputs)) => line.at(inputs as f64),
            _ => self.typical,
        }
    }

    /// Returns the time for an input, relative to the median time.
    pub fn factor(&self, inputs: Option<u64>) -> f64 {
        self.seconds(inputs) / self.typical
    }

    /// Returns true if the time depends on the size of the input files.
    pub fn is_line(&self) -> bool {
        self.line.is_some()
    }

    /// Returns this model with all times multiplied by `factor`.
    pub fn scaled(self, factor: f64) -> Self {
        let line = |line: RobustLine| RobustLine { intercept: line.intercept * factor, slope: line.slope * factor };
        Self { typical: self.typical * factor, line: self.line.map(line) }
    }
}

/// Returns the line through the samples, if the line rises, gives positive times, and fits much better than the
/// median.
fn line(samples: &[SizedTime], typical: f64) -> Option<RobustLine> {
    let sized = samples.iter().filter_map(|sample| Some((sample.inputs? as f64, sample.seconds)));
    let points: Vec<(f64, f64)> = sized.take(MAX_POINTS).collect();
    let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if points.len() < MIN_POINTS || sizes.len() < MIN_SIZES {
        return None;
    }
    let fitted = RobustLine::theil_sen(&points)?;
    // If the line is below 0 at size 0, the intercept is smaller than the noise. So the times are assumed to be
    // proportional to the size.
    let proportional = || median(points.iter().map(|(x, y)| y / x)).map(|slope| RobustLine { intercept: 0.0, slope });
    let line = if fitted.intercept >= 0.0 { fitted } else { proportional()? };
    let residual = |fitted: f64, seconds: f64| seconds / fitted - 1.0;
    let with = deviation(points.iter().map(|&(x, y)| residual(line.at(x), y)));
    let without = deviation(points.iter().map(|&(_, y)| residual(typical, y)));
    (line.slope > 0.0 && line.at(sizes[0]) > 0.0 && with <= MARKEDLY * without).then_some(line)
}
