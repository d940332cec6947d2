//! Calibrates ranges of expected starts with the starts that earlier forecasts missed.

use crate::StartForecast;

/// Number of known starts from which ranges are calibrated.
pub const ENOUGH: usize = 50;
/// Weight of the term of a predicted wait in the scale of a miss. The other terms are the width of the range and a
/// cycle of the scheduler.
const WAIT: f64 = 0.3;
/// Step by which one miss changes the share that may lie outside on one side.
const STEP: f64 = 0.0005;
/// Bounds of the share that may lie outside on one side.
const TAILS: (f64, f64) = (0.02, 0.4);
/// Maximum number of starts that [`Calibration::held`] takes into account: the latest starts with a stated range.
const COUNTED: usize = 500;

/// Factors by which ranges are stretched, so that the stated share of starts lies within them.
///
/// The distance between an expected start and the actual start is divided by a scale: the distance between the expected
/// start and the end of the simulated range, plus 0.3 times the predicted wait, plus a cycle of the scheduler. The
/// quantile of these quotients is the factor for the next ranges, for each side by itself (split conformal prediction
/// with normalised scores; Lei et al., J. Amer. Statist. Assoc. 113, 2018,
/// <https://doi.org/10.1080/01621459.2017.1307116>). After each miss, the level of the quantile rises, and after each
/// hit it falls, because errors in a queue are not exchangeable (adaptive conformal inference; Gibbs and Candès, Adv.
/// Neural Inf. Process. Syst. 34, 2021, <https://arxiv.org/abs/2106.00170>).
///
/// The jobs that started are not a fair sample, because jobs that start late are known late. So a job that still waits
/// after its expected start counts as a *censored* observation: its quotient cannot be smaller than the quotient of a
/// start now. The quantile comes from the product-limit estimator (Kaplan and Meier, J. Amer. Statist. Assoc. 53, 1958,
/// <https://doi.org/10.1080/01621459.1958.10501452>).
///
/// ```
/// use makespan_history::{Calibration, StartForecast};
///
/// // All jobs started 100 s later than expected, although each range ended 20 s after the expected start.
/// let one = |job: i64| StartForecast {
///     job: job.to_string(), made: job, early: job + 90, start: job + 100, late: job + 120, range: None, started: Some(job + 200),
/// };
/// let starts: Vec<StartForecast> = (0..100).map(one).collect();
/// let calibration = Calibration::learn(&starts, 300, 80, 30);
/// let (early, late) = calibration.range(&one(1000)).unwrap();
/// assert!(early == 1100 && (1199..=1201).contains(&late));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Number of starts that are known.
    pub known: usize,
    /// The number of starts that their stated ranges contained, and the number of starts with a stated range. Counts up
    /// to 500 of the latest starts.
    pub held: (usize, usize),
    factors: Option<(f64, f64)>,
    cycle: i64,
}

impl Calibration {
    /// Learns from earlier forecasts. Jobs without a known start must still wait at the instant `now`.
    ///
    /// `percent` is the percentage of starts that a range must contain. `cycle` is the number of seconds between two
    /// cycles of the scheduler.
    pub fn learn(forecasts: &[StartForecast], now: i64, percent: u32, cycle: i64) -> Self {
        let cycle = cycle.max(1);
        let mut known: Vec<(i64, &StartForecast)> =
            forecasts.iter().filter_map(|forecast| Some((forecast.started?, forecast))).collect();
        known.sort_by_key(|&(started, forecast)| (started, forecast.made));
        let is_late = |one: &&StartForecast| one.started.is_none() && one.start < now;
        let late: Vec<&StartForecast> = forecasts.iter().filter(is_late).collect();
        let nominal = (1.0 - f64::from(percent) / 100.0) / 2.0;
        let (mut early_tail, mut late_tail) = (nominal, nominal);
        let mut held = Vec::new();
        let follow = |tail: &mut f64, missed: bool| {
            *tail = (*tail + STEP * (nominal - f64::from(u8::from(missed)))).clamp(TAILS.0.min(nominal), TAILS.1);
        };
        for &(started, forecast) in &known {
            if let Some((early, late)) = forecast.range {
                follow(&mut early_tail, started < early);
                follow(&mut late_tail, started > late);
                held.push((early..=late).contains(&started));
            }
        }
        for one in &late {
            if one.range.is_some_and(|range| range.1 < now) {
                follow(&mut late_tail, true);
            }
        }
        let latest = &held[held.len().saturating_sub(COUNTED)..];
        let contained = latest.iter().filter(|&&held| held).count();
        let factors = (known.len() >= ENOUGH).then(|| {
            let too_early = |of: &StartForecast, at: i64| (of.start - at) as f64 / of.scales(cycle).0;
            let too_late = |of: &StartForecast, at: i64| (at - of.start) as f64 / of.scales(cycle).1;
            // A late job cannot become an early job, so its score on that side is known well enough.
            let all = known.iter().map(|&(started, one)| (one, started, true));
            let early = all.clone().chain(late.iter().map(|&one| (one, now, true)));
            let late = all.chain(late.iter().map(|&one| (one, now, false)));
            let early = quantile(early.map(|(one, at, known)| (too_early(one, at), known)).collect(), early_tail);
            let late = quantile(late.map(|(one, at, known)| (too_late(one, at), known)).collect(), late_tail);
            (early.max(0.0), late.max(0.0))
        });
        Self { known: known.len(), held: (contained, latest.len()), factors, cycle }
    }

    /// Returns the calibrated range of a start, which contains the expected start and begins at the forecast's instant
    /// or later. Returns `None` if fewer than [`ENOUGH`] starts are known.
    pub fn range(&self, forecast: &StartForecast) -> Option<(i64, i64)> {
        let (early, late) = self.factors?;
        let (before, after) = forecast.scales(self.cycle);
        // Starts are whole seconds, so a start has a score up to the factor exactly if it lies within the floored distance.
        let distance = |factor: f64, scale: f64| (factor * scale).floor() as i64;
        let first = forecast.start.saturating_sub(distance(early, before)).max(forecast.made);
        Some((first.min(forecast.start), forecast.start.saturating_add(distance(late, after))))
    }
}

impl StartForecast {
    /// Returns the scales of a start that is earlier, or later, than expected, in seconds.
    fn scales(&self, cycle: i64) -> (f64, f64) {
        let shared = WAIT * self.start.saturating_sub(self.made).max(0) as f64 + cycle as f64;
        let side = |width: i64| width.max(0) as f64 + shared;
        (side(self.start.saturating_sub(self.early)), side(self.late.saturating_sub(self.start)))
    }
}

/// Returns the smallest known score that at most the share `tail` of scores is expected to exceed, or the largest known
/// score. The second value of a score is false if the score is only a lower bound.
fn quantile(mut scores: Vec<(f64, bool)>, tail: f64) -> f64 {
    scores.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    let (mut beyond, mut largest) = (1.0, 0.0);
    for (place, &(score, _)) in scores.iter().enumerate().filter(|one| one.1.1) {
        let left = (scores.len() - place) as f64;
        beyond *= (left - 1.0) / left;
        largest = score;
        if beyond <= tail + 1e-12 {
            break;
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn forecast(made: i64, wait: i64, before: i64, after: i64, started: i64) -> StartForecast {
        let start = made + wait;
        let (early, late) = ((start - before).max(made), start + after);
        StartForecast { job: made.to_string(), made, early, start, late, range: None, started: Some(started) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Calibrates with one half of the forecasts, and counts the other half. The errors have an unknown scale.
        #[test]
        fn ranges_contain_the_stated_share_of_starts(
            percent in 60_u32..95, scale in 0.2..4.0_f64,
            draws in prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 2400),
        ) {
            let one = |(number, &(wait, error)): (usize, &(f64, f64))| {
                let (made, wait) = (number as i64 * 20, (wait * 5000.0) as i64);
                let error = (error - 0.4) * scale * (300.0 + 0.5 * wait as f64);
                forecast(made, wait, wait / 5, wait / 5, made.max(made + wait + error as i64))
            };
            let all: Vec<StartForecast> = draws.iter().enumerate().map(one).collect();
            let (known, later) = all.split_at(1200);
            let calibration = Calibration::learn(known, i64::MAX, percent, 30);
            let holds = |one: &&StartForecast| {
                let (early, late) = calibration.range(one).unwrap();
                (early..=late).contains(&one.started.unwrap())
            };
            let share = later.iter().filter(holds).count() as f64 / later.len() as f64;
            prop_assert!((share - f64::from(percent) / 100.0).abs() < 0.08, "{share} for {percent} %");
        }

        /// Compares two histories: in one, the stated ranges end before all starts; in the other, after all starts.
        #[test]
        fn ranges_grow_after_misses_and_shrink_after_hits(scores in prop::collection::vec(1_i64..2000, 60..300)) {
            let stated = |late: i64| {
                let one = |(number, &score): (usize, &i64)| {
                    let made = number as i64 * 10;
                    StartForecast { range: Some((made, made + late)), ..forecast(made, 100, 20, 20, made + 100 + score) }
                };
                let all: Vec<StartForecast> = scores.iter().enumerate().map(one).collect();
                Calibration::learn(&all, i64::MAX, 80, 30)
            };
            let (missed, held) = (stated(50), stated(5000));
            prop_assert_eq!((missed.held, held.held), ((0, scores.len()), (scores.len(), scores.len())));
            let late = |calibration: &Calibration| calibration.range(&forecast(0, 100, 20, 20, 0)).unwrap().1;
            prop_assert!(late(&missed) >= late(&held));
        }

        /// All forecasts are made at one instant. At a later instant, some of the jobs have started. The range contains the
        /// stated share of all starts, also of those that are not known yet.
        #[test]
        fn jobs_that_still_wait_count(
            known in 0.7..1.0_f64, draws in prop::collection::vec(0.0..1.0_f64, 1000),
        ) {
            let starts = |draw: f64| 1000 + (2000.0 * draw.powi(3)) as i64;
            let all: Vec<StartForecast> = draws.iter().map(|&draw| forecast(0, 1000, 10, 10, starts(draw))).collect();
            let now = starts(known);
            let hidden = |one: &StartForecast| StartForecast { started: one.started.filter(|&at| at <= now), ..one.clone() };
            let seen: Vec<StartForecast> = all.iter().map(hidden).collect();
            let calibration = Calibration::learn(&seen, now, 80, 30);
            let late = |one: &StartForecast| calibration.range(one).unwrap().1;
            let share = all.iter().filter(|one| one.started.unwrap() <= late(one)).count() as f64 / 1000.0;
            // If fewer than 90 % of the starts are known, the range contains the known starts.
            let known = seen.iter().filter(|one| one.started.is_some()).count() as f64 / 1000.0;
            prop_assert!((share - known.min(0.9)).abs() < 0.02, "{share} if {known} are known");
            let without: Vec<StartForecast> = seen.into_iter().filter(|one| one.started.is_some()).collect();
            prop_assert!(Calibration::learn(&without, now, 80, 30).range(&all[0]).unwrap().1 <= late(&all[0]));
        }

        #[test]
        fn every_forecast_gets_a_range_with_its_start(
            starts in prop::collection::vec((any::<i32>(), 0..100_000_i64, 0..9_i64, 0..9_i64, any::<i32>()), 0..80), percent in 1_u32..100,
        ) {
            let all: Vec<StartForecast> = starts.iter().map(|&(made, wait, before, after, started)| {
                forecast(made.into(), wait, before, after, started.into())
            }).collect();
            let calibration = Calibration::learn(&all, i64::MAX, percent, 0);
            prop_assert_eq!(calibration.known, all.len());
            for one in &all {
                let range = calibration.range(one);
                prop_assert_eq!(range.is_some(), all.len() >= ENOUGH);
                prop_assert!(range.is_none_or(|(early, late)| early <= one.start && one.start <= late && early >= one.made.min(one.start)));
            }
        }
    }
}
