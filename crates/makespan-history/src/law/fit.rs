//! Fits speed-up laws and ranks them.

use makespan_core::{SpeedupLaw, Time};

use super::downey::downey;
use super::laws::{Point, amdahl, power, scale};

/// A measured run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number of processors.
    pub processors: u32,
    /// The run time of the command on this allotment.
    pub time: Time,
}

/// A speed-up law fitted to measured times.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The law with its parameters.
    pub law: SpeedupLaw,
    /// The fitted time on one processor, which may differ from the measured time.
    pub sequential: Time,
    /// Number of fitted parameters, including the sequential time.
    pub parameters: usize,
    /// Root of the mean squared relative error; 0.02 means two per cent.
    pub error: f64,
    /// The deviation from each measured time, ordered by allotment.
    pub residuals: Vec<Residual>,
}

/// The deviation of a law from one measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Number of processors.
    pub processors: u32,
    /// The shortest measured time on this allotment.
    pub measured: Time,
    /// The time that the law predicts.
    pub fitted: Time,
    /// `fitted / measured - 1`.
    pub relative: f64,
}

impl Fit {
    /// Returns the name of the law in instance files.
    pub fn name(&self) -> &'static str {
        match self.law {
            SpeedupLaw::Linear {} => "linear",
            SpeedupLaw::Amdahl { .. } => "amdahl",
            SpeedupLaw::Power { .. } => "power",
            SpeedupLaw::Downey { .. } => "downey",
        }
    }
}

/// Difference of two errors that is too small for timing programs to measure. Among laws within this difference, the
/// law with fewer parameters is preferred.
const TIE: f64 = 0.005;

/// Fits Amdahl's law, the power law and Downey's law to the shortest time of each allotment. Each fit has a free
/// sequential time and minimises the squared relative error. The laws are sorted from best to worst. Among laws with an
/// error within half a per cent of the smallest error, laws with fewer parameters come first. A law needs as many
/// different allotments as it has parameters: 2, 2 and 3. With fewer allotments the list is shorter or empty, as
/// [`advice`] explains.
pub fn fit(samples: &[Sample]) -> Vec<Fit> {
    let points = points(samples);
    let mut fits = Vec::new();
    if points.len() >= 2 {
        fits.push(fitted(&points, amdahl(&points), 2));
        fits.push(fitted(&points, power(&points), 2));
    }
    if points.len() >= 3 {
        fits.push(fitted(&points, downey(&points), 3));
    }
    let least = fits.iter().map(|fit| fit.error).fold(f64::INFINITY, f64::min);
    let rank = |fit: &Fit| if fit.error <= least + TIE { fit.parameters } else { usize::MAX };
    fits.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.error.total_cmp(&b.error)));
    fits
}

/// Returns the best law. Downey's law is not fitted if a law of two parameters has an error of at most `noise`: a
/// smaller error would be due to chance, and the search for Downey's law takes milliseconds. Returns `None` with fewer
/// than two allotments.
pub fn best(samples: &[Sample], noise: f64) -> Option<Fit> {
    let points = points(samples);
    if points.len() < 2 {
        return None;
    }
    let two = [fitted(&points, amdahl(&points), 2), fitted(&points, power(&points), 2)];
    let better = two.into_iter().min_by(|a, b| a.error.total_cmp(&b.error))?;
    if points.len() == 2 || better.error <= noise { Some(better) } else { fit(samples).into_iter().next() }
}

/// Returns a sentence on the laws that cannot be fitted or checked because too few allotments were measured. Returns `None` if
/// every law can be fitted and checked.
pub fn advice(samples: &[Sample]) -> Option<String> {
    let say = |text: &str| Some(text.to_owned());
    match points(samples).len() {
        0 => say("no run time was measured, so no speed-up law is fitted"),
        1 => say("only one number of processors was measured, so no speed-up law is fitted; make the job rigid, or \
                  measure a second number of processors"),
        2 => say("times on two numbers of processors determine Amdahl's law and the power law exactly, so the error \
                  of the fit means nothing; Downey's law needs times on 3"),
        3 => say("times on three numbers of processors determine Downey's law exactly, so the error of the fit means \
                  nothing; measure a fourth number of processors"),
        _ => None,
    }
}

/// Returns the shortest time of each allotment, sorted by allotment.
fn points(samples: &[Sample]) -> Vec<Point> {
    let mut shortest = std::collections::BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.processors > 0 && sample.time > Time::ZERO) {
        let time = shortest.entry(sample.processors).or_insert(Time::MAX);
        *time = sample.time.min(*time);
    }
    shortest.into_iter().map(|(processors, time)| Point { processors, seconds: time.seconds() }).collect()
}

fn fitted(points: &[Point], law: SpeedupLaw, parameters: usize) -> Fit {
    let (sequential, squares) = scale(points, law);
    let time = |seconds: f64| Time::from_seconds_f64(seconds).unwrap_or(Time::MAX).max(Time::TICK);
    let residual = |point: &Point| {
        let seconds = sequential * law.time_fraction(point.processors);
        Residual {
            processors: point.processors,
            measured: time(point.seconds),
            fitted: time(seconds),
            relative: seconds / point.seconds - 1.0,
        }
    };
    Fit {
        law,
        sequential: time(sequential),
        parameters,
        error: (squares / points.len() as f64).sqrt(),
        residuals: points.iter().map(residual).collect(),
    }
}
