//! All laws, best first.

use makespan_core::{SpeedupLaw, Time};

use super::downey::downey;
use super::laws::{Point, amdahl, power, scale};

/// One measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The allotment.
    pub processors: u32,
    /// How long the command took on it.
    pub time: Time,
}

/// A speed-up law fitted to measured times.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The law with its parameters.
    pub law: SpeedupLaw,
    /// The time on one processor by the fit, which is not quite the measured one.
    pub sequential: Time,
    /// How many figures were fitted, the sequential time among them.
    pub parameters: usize,
    /// Root of the mean squared relative error; 0.02 is two per cent.
    pub error: f64,
    /// How each point is met, by allotment.
    pub residuals: Vec<Residual>,
}

/// How a law meets one measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// The allotment.
    pub processors: u32,
    /// The shortest measured time.
    pub measured: Time,
    /// The time by the law.
    pub fitted: Time,
    /// `fitted / measured - 1`.
    pub relative: f64,
}

impl Fit {
    /// The law's name in instance files.
    pub fn name(&self) -> &'static str {
        match self.law {
            SpeedupLaw::Linear {} => "linear",
            SpeedupLaw::Amdahl { .. } => "amdahl",
            SpeedupLaw::Power { .. } => "power",
            SpeedupLaw::Downey { .. } => "downey",
        }
    }
}

/// Errors this close cannot be told apart by timing programs; the law of fewer parameters is preferred.
const TIE: f64 = 0.005;

/// Fits the laws of Amdahl, of powers and of Downey to the shortest times, each with its sequential time free, by least
/// squared relative error; best first, and among errors within half a per cent of the best the fewest parameters
/// first. A law needs as many different allotments as it has parameters: 2, 2 and 3. With fewer the list is shorter,
/// or empty, as [`advice`] explains.
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

/// The best law alone. A law of two parameters is taken as it is if its error is at most `noise`, since an error that size says
/// nothing; then Downey's law, whose search takes milliseconds, is not fitted. `None` with fewer than two allotments.
pub fn best(samples: &[Sample], noise: f64) -> Option<Fit> {
    let points = points(samples);
    if points.len() < 2 {
        return None;
    }
    let two = [fitted(&points, amdahl(&points), 2), fitted(&points, power(&points), 2)];
    let better = two.into_iter().min_by(|a, b| a.error.total_cmp(&b.error))?;
    if points.len() == 2 || better.error <= noise { Some(better) } else { fit(samples).into_iter().next() }
}

/// What the number of measured allotments does not allow, in one sentence; `None` when every law can be fitted and
/// checked.
pub fn advice(samples: &[Sample]) -> Option<String> {
    let say = |text: &str| Some(text.to_owned());
    match points(samples).len() {
        0 => say("there is no time to fit a law to"),
        1 => say("one allotment shows no speed-up: no law is fitted; write the job as rigid, or measure 2 allotments"),
        2 => say("two allotments fix the laws of Amdahl and of powers exactly, so their error says nothing; \
                  Downey's law needs 3 allotments"),
        3 => say("three allotments fix Downey's law exactly, so its error says nothing"),
        _ => None,
    }
}

/// The shortest time of each allotment, ascending.
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
