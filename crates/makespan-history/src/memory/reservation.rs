//! Chooses the factor between the typical peak of a run and its reservation.
//!
//! Let `r` be the peak of a run divided by its typical peak `b`, and let the reservation be `f b`. If `r <= f`, the run
//! wastes `(f - r) b`. If `r > f`, the run is killed, and the next attempt gets twice the memory. The waste of the
//! killed attempt is its whole reservation, for its whole run time, plus [`DELAY`] times `r b` for the delay. If
//! reservations are not limits, most runs above their reservation are not killed, so the delay is not counted. The
//! expected waste is the mean over the observed `r`. A few runs do not show the whole distribution, so each observed `r`
//! is replaced by several values around it (a smoothed bootstrap). The width of these values falls as the number of
//! runs grows.
//!
//! Only factors in a [`FactorRange`] are compared. Peaks with two levels would otherwise lead to a factor below most
//! peaks, because it is cheap to kill short attempts, or to a factor far above all peaks.
//!
//! B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall, 1986, section 6.4.

use super::{ExcessRule, MemoryBasis};

/// Waste of a kill in addition to the waste of its attempt, in multiples of the peak of the run. The value is chosen on
/// the tuning seeds of `benches/memory`, so that waste and kills are both low.
const DELAY: f64 = 6.0;
/// Values around each observation, in multiples of the width: the middles of nine equal shares of the normal
/// distribution.
const AROUND: [f64; 9] = [-1.59, -0.97, -0.59, -0.28, 0.0, 0.28, 0.59, 0.97, 1.59];
/// Width of the values, as a part of the observed deviation, for a single observation.
const SMOOTHING: f64 = 0.7;
/// Number of factors that are compared.
const CANDIDATES: usize = 80;
/// Share of the peaks that a reservation always contains.
const SHARE: f64 = 0.95;
/// Maximum and minimum margin above the largest peak, in standard errors of the assumed deviation.
const MAX_MARGIN: f64 = 2.0;
const MIN_MARGIN: f64 = 0.5;

/// The typical peak of a run in bytes, and the peak of the run divided by the typical peak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RelativePeak {
    pub typical: f64,
    pub ratio: f64,
}

/// The assumptions about runs for which the expected waste is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReservationCosts {
    pub basis: MemoryBasis,
    pub excess: ExcessRule,
}

/// The factors that the peaks of runs justify.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FactorRange {
    /// The ratio of rank `⌈0.95 (n + 1)⌉` of `n` ratios. If the rank is above `n`, a small margin above the largest ratio.
    pub least: f64,
    /// The largest margin above the largest ratio.
    pub most: f64,
}

impl FactorRange {
    /// Returns the range for the ratios of runs to the typical peaks that were fitted to these runs. `ratios` must not be
    /// empty.
    pub fn of(mut ratios: Vec<f64>, basis: MemoryBasis) -> Self {
        ratios.sort_by(f64::total_cmp);
        let (count, largest) = (ratios.len(), ratios.last().copied().unwrap_or(1.0));
        let error = basis.assumed_deviation() / (count as f64).sqrt();
        let rank = (SHARE * (count + 1) as f64).ceil() as usize;
        let least = ratios.get(rank - 1).copied().unwrap_or(largest * (MIN_MARGIN * error).exp());
        Self { least, most: largest * (MAX_MARGIN * error).exp() }
    }
}

impl ReservationCosts {
    /// Returns the factor in the range with the least expected waste, and this waste in bytes per run. `peaks` must not
    /// be empty.
    pub fn factor(self, peaks: &[RelativePeak], range: FactorRange) -> (f64, f64) {
        let width = self.width(peaks);
        let around =
            |peak: &RelativePeak| AROUND.map(|z| RelativePeak { ratio: peak.ratio * (width * z).exp(), ..*peak });
        let mut sample: Vec<RelativePeak> = peaks.iter().flat_map(around).collect();
        sample.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let last = sample.len() - 1;
        // The factors in the lower quarter kill most runs.
        let steps = (0..=CANDIDATES).map(|step| last / 4 + (last - last / 4) * step / CANDIDATES);
        let mean = |factor: f64| -> f64 {
            let waste = |peak: &RelativePeak| peak.typical * self.waste(factor, peak.ratio);
            sample.iter().map(waste).sum::<f64>() / sample.len() as f64
        };
        let factors = steps.map(|at| sample[at].ratio).chain([range.least, range.most]);
        let candidates =
            factors.map(|factor| factor.clamp(range.least, range.most)).map(|factor| (factor, mean(factor)));
        candidates.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0))).unwrap_or((1.0, 0.0))
    }

    /// Returns the waste of a run for a factor, relative to the typical peak.
    fn waste(self, factor: f64, ratio: f64) -> f64 {
        if ratio <= factor {
            return factor - ratio;
        }
        let mut killed = if self.excess == ExcessRule::Kill { DELAY * ratio } else { 0.0 };
        let mut reserved = factor;
        while reserved < ratio {
            killed += reserved;
            reserved *= 2.0;
        }
        killed + reserved - ratio
    }

    /// Returns the smoothing width around an observation: a difference of natural logarithms of the values.
    fn width(self, peaks: &[RelativePeak]) -> f64 {
        let count = peaks.len() as f64;
        let observed = SMOOTHING * deviation(peaks) * count.powf(-0.2);
        (self.basis.assumed_deviation().powi(2) / count + observed * observed).sqrt()
    }
}

/// Returns the standard deviation of the logarithms of the ratios, or 0 for a single run.
pub(super) fn deviation(peaks: &[RelativePeak]) -> f64 {
    if peaks.len() < 2 {
        return 0.0;
    }
    let logarithm = |peak: &RelativePeak| peak.ratio.ln();
    let mean = peaks.iter().map(logarithm).sum::<f64>() / peaks.len() as f64;
    let squares: f64 = peaks.iter().map(|peak| (logarithm(peak) - mean).powi(2)).sum();
    (squares / (peaks.len() - 1) as f64).sqrt()
}
