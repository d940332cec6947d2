//! Fits the typical peak of like commands.

use super::MemoryRun;
use super::reservation::{FactorRange, RelativePeak, ReservationCosts, deviation};
use crate::robust::{RobustLine, median};

/// Minimum number of runs for a line, and minimum number of different sizes in these runs.
const MIN_RUNS: usize = 5;
const MIN_SIZES: usize = 3;
/// A line is used if its expected waste is at most this part of the waste of the median.
const CLEARLY: f64 = 0.95;
/// Maximum ratio of the deviation from the line to the deviation from the median at which the line is used. Such a line
/// also holds for sizes outside a narrow range of known sizes.
const HALF: f64 = 0.5;
/// Maximum number of parts into which the runs are divided for the cross-validation. Up to twice this number of runs
/// are left out one by one.
const PARTS: usize = 5;

/// The memory that a run needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryNeed {
    bytes: f64,
    /// Size of the input files in bytes.
    inputs: Option<f64>,
}

/// The typical peak as a function of the size of the input files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TypicalPeak {
    /// One peak in bytes for all sizes.
    Constant(f64),
    /// A line over the sizes. `least` and `most` are the extreme peaks of the runs, and `largest` is the largest size
    /// of their input files.
    Line { line: RobustLine, least: f64, most: f64, largest: f64 },
}

impl TypicalPeak {
    /// Returns the typical peak in bytes. If the size is unknown, it is assumed to be the largest known size.
    pub fn at(self, inputs: Option<f64>) -> f64 {
        match self {
            Self::Constant(bytes) => bytes,
            Self::Line { line, least, most, largest } => {
                let size = inputs.unwrap_or(largest);
                // For an input that is larger than all known inputs, at least the largest peak is assumed.
                let floor = if size >= largest { most } else { least };
                line.at(size).max(floor)
            }
        }
    }

    /// Returns a need relative to the typical peak. Returns `None` if the typical peak is not positive.
    fn relative(self, need: &MemoryNeed) -> Option<RelativePeak> {
        let typical = self.at(need.inputs);
        (typical > 0.0).then(|| RelativePeak { typical, ratio: need.bytes / typical })
    }
}

/// Returns the memory that runs needed. A killed run needed more than its peak: the median of the larger peaks, or
/// twice its peak if no run had a larger peak.
pub(super) fn needs(runs: &[MemoryRun]) -> Vec<MemoryNeed> {
    let need = |run: &MemoryRun| {
        let peak = run.peak as f64;
        let larger = || runs.iter().filter(|other| !other.is_killed && other.peak > run.peak);
        let more = || median(larger().map(|other| other.peak as f64)).unwrap_or(2.0 * peak);
        let bytes = if run.is_killed { more() } else { peak };
        MemoryNeed { bytes, inputs: run.inputs.map(|bytes| bytes as f64) }
    };
    runs.iter().filter(|run| run.peak > 0).map(need).collect()
}

/// The typical peaks of runs, and the reservation relative to them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FittedPeak {
    pub typical: TypicalPeak,
    /// The reservation divided by the typical peak.
    pub factor: f64,
    /// Standard deviation of the logarithms of the peaks relative to the typical peaks.
    pub deviation: f64,
    /// Expected waste in bytes per run.
    waste: f64,
}

/// Returns the better one of the median and the line.
pub(super) fn best(needs: &[MemoryNeed], costs: ReservationCosts) -> Option<FittedPeak> {
    let constant = fitted(needs, costs, constant)?;
    let line = fitted(needs, costs, line)
        .filter(|line| line.waste <= CLEARLY * constant.waste || line.deviation <= HALF * constant.deviation);
    Some(line.unwrap_or(constant))
}

/// Returns the fit and its reservation. The factor comes from runs that were left out of the fit. Its limits come from
/// the fit to all runs, so that they refer to the predictions.
fn fitted(
    needs: &[MemoryNeed],
    costs: ReservationCosts,
    fit: fn(&[MemoryNeed]) -> Option<TypicalPeak>,
) -> Option<FittedPeak> {
    let typical = fit(needs)?;
    let apart = left_out(needs, fit)?;
    let ratios = needs.iter().map(|need| Some(typical.relative(need)?.ratio)).collect::<Option<Vec<f64>>>()?;
    let (factor, waste) = costs.factor(&apart, FactorRange::of(ratios, costs.basis));
    Some(FittedPeak { typical, factor, deviation: deviation(&apart), waste })
}

/// Returns the peak of each run relative to the typical peak that the other runs give. Returns `None` if a fit is
/// impossible.
fn left_out(needs: &[MemoryNeed], fit: fn(&[MemoryNeed]) -> Option<TypicalPeak>) -> Option<Vec<RelativePeak>> {
    if let [need] = needs {
        return Some(vec![fit(needs)?.relative(need)?]);
    }
    let parts = if needs.len() <= 2 * PARTS { needs.len() } else { PARTS };
    let mut peaks = Vec::with_capacity(needs.len());
    for part in 0..parts {
        let (mut own, mut others) = (Vec::new(), Vec::with_capacity(needs.len()));
        for (at, need) in needs.iter().enumerate() {
            if at % parts == part { own.push(*need) } else { others.push(*need) }
        }
        let typical = fit(&others)?;
        for need in &own {
            peaks.push(typical.relative(need)?);
        }
    }
    Some(peaks)
}

/// Returns the median of the peaks.
fn constant(needs: &[MemoryNeed]) -> Option<TypicalPeak> {
    median(needs.iter().map(|need| need.bytes)).map(TypicalPeak::Constant)
}

/// Returns the line of Theil and Sen, or a line through the origin if the former is negative at size 0. Returns `None`
/// if a size is unknown, if there are too few sizes, or if the line does not rise.
fn line(needs: &[MemoryNeed]) -> Option<TypicalPeak> {
    let points = needs.iter().map(|need| Some((need.inputs?, need.bytes))).collect::<Option<Vec<(f64, f64)>>>()?;
    let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    // One run is left out at a time, so the fit must be possible without it.
    if points.len() + 1 < MIN_RUNS || sizes.len() < MIN_SIZES {
        return None;
    }
    let fitted = RobustLine::theil_sen(&points)?;
    let proportional = || median(points.iter().map(|(x, y)| y / x)).map(|slope| RobustLine { intercept: 0.0, slope });
    let line = if fitted.intercept >= 0.0 { fitted } else { proportional()? };
    let peaks = || needs.iter().map(|need| need.bytes);
    (line.slope > 0.0).then(|| TypicalPeak::Line {
        line,
        least: peaks().fold(f64::INFINITY, f64::min),
        most: peaks().fold(0.0, f64::max),
        largest: *sizes.last().unwrap_or(&0.0),
    })
}
