//! Records the first forecast of the start of each job, and calibrates ranges with the forecasts of jobs that have started.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use makespan_history::{Calibration, History, HistoryError, StartForecast};

use super::future::{StartRange, ranges};
use super::outlook::Outlook;
use crate::words::JobNumber;

/// File name of the forecasts in the folder of the store.
const FORECASTS: &str = "forecasts.sqlite";
/// Percentage of the starts that a range must contain.
pub(super) const PERCENT: u32 = 80;
/// Name of the service in the file of forecasts.
const CLUSTER: &str = "service";
/// Time between two plans, in milliseconds. Forecasts cannot be more precise.
const CYCLE: i64 = 300;
/// Time after which a forecast is forgotten if its job has not started, in milliseconds: 90 days.
const PATIENCE: i64 = 90 * 86_400_000;
/// Maximum number of forecasts that are recorded after a plan.
const MOST: usize = 20;

/// The forecasts of starts.
pub(super) struct Forecasts {
    history: History,
    /// The waiting jobs with a recorded forecast.
    waiting: BTreeSet<JobNumber>,
    pub calibration: Calibration,
}

/// Returns the calibration of a service that has no earlier forecasts.
pub(super) fn uncalibrated() -> Calibration {
    Calibration::learn(&[], 0, PERCENT, CYCLE)
}

/// Returns an instant of the wall clock in milliseconds since 1970.
fn milliseconds(instant: f64) -> i64 {
    (instant * 1e3).round() as i64
}

impl StartRange {
    /// Returns the range as a forecast that is made at the instant `now`.
    pub fn forecast(self, job: JobNumber, now: f64) -> StartForecast {
        let [made, early, start, late] = [now, self.early, self.start, self.late].map(milliseconds);
        StartForecast { job: job.to_string(), made, early, start, late, range: None, started: None }
    }

    /// Returns the range calibrated with earlier forecasts, if there are enough of them.
    pub fn calibrated(self, calibration: &Calibration, job: JobNumber, now: f64) -> Self {
        let range = calibration.range(&self.forecast(job, now));
        range.map_or(self, |(early, late)| Self {
            early: (early as f64 / 1e3).max(now).min(self.start),
            late: (late as f64 / 1e3).max(self.start),
            ..self
        })
    }
}

impl Forecasts {
    /// Opens the forecasts of a store.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(folder: &Path) -> Result<Self, HistoryError> {
        let mut history = History::open(&folder.join(FORECASTS))?;
        let known = history.learn_starts(CLUSTER, PERCENT, &[], |_| false)?;
        let calibration = Calibration::learn(&known, 0, PERCENT, CYCLE);
        Ok(Self { history, waiting: BTreeSet::new(), calibration })
    }

    /// Records the starts of jobs since the last plan, and the first forecasts of waiting jobs. `start_of` returns the
    /// start of a job that no longer waits, if the job has started.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn record(
        &mut self,
        outlook: &Outlook,
        now: f64,
        start_of: impl Fn(JobNumber) -> Option<f64>,
    ) -> Result<(), HistoryError> {
        let waits: BTreeSet<JobNumber> = outlook.expected.iter().map(|one| one.job).collect();
        let gone: Vec<JobNumber> = self.waiting.difference(&waits).copied().collect();
        self.waiting.retain(|job| waits.contains(job));
        let started = gone.into_iter().filter_map(|job| Some((job.to_string(), milliseconds(start_of(job)?))));
        let started: Vec<(String, i64)> = started.collect();
        if !started.is_empty() {
            let waiting: HashSet<String> = waits.iter().map(ToString::to_string).collect();
            let known = self.history.learn_starts(CLUSTER, PERCENT, &started, |job| waiting.contains(job))?;
            self.calibration = Calibration::learn(&known, milliseconds(now), PERCENT, CYCLE);
        }
        let running: BTreeSet<JobNumber> = outlook.running.iter().map(|runs| runs.job).collect();
        let new: Vec<JobNumber> =
            waits.difference(&self.waiting).filter(|job| !running.contains(job)).copied().collect();
        // If many jobs are new, the recorded ones are spread over the whole queue.
        let step = new.len().div_ceil(MOST).max(1);
        let planned = |job| outlook.of_waiting(job, now).and_then(|expected| expected.start);
        let new: BTreeMap<JobNumber, Option<f64>> =
            new.into_iter().step_by(step).map(|job| (job, planned(job))).collect();
        let forecast = |(job, range): (JobNumber, StartRange)| {
            let own = range.forecast(job, now);
            StartForecast { range: self.calibration.range(&own), ..own }
        };
        let forecasts: Vec<StartForecast> = ranges(outlook, &new, now).into_iter().map(forecast).collect();
        if !forecasts.is_empty() {
            self.history.append_starts(CLUSTER, PERCENT, PATIENCE, &forecasts)?;
        }
        self.waiting.extend(new.into_keys());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
