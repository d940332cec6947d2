//! Records forecasts of the starts of jobs, and calibrates ranges with the forecasts of jobs that have started.
//!
//! Several forecasts of a job are recorded while it waits, because users ask more often about a job that waits longer. With
//! one forecast for each job, the ranges would hold for jobs, but not for answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use makespan_history::{Calibration, History, HistoryError, StartForecast};

use super::future::{StartRange, ranges};
use super::outlook::Outlook;
use crate::words::JobNumber;

/// File name of the forecasts in the folder of the store.
pub(crate) const FORECASTS: &str = "forecasts.sqlite";
/// Percentage of the starts that a range must contain.
pub(crate) const PERCENT: u32 = 80;
/// Name of the service in the file of forecasts.
const CLUSTER: &str = "service";
/// Time between two plans, in milliseconds. Forecasts cannot be more precise.
const CYCLE: i64 = 300;
/// Time after which a forecast is forgotten if its job has not started, in milliseconds: 90 days.
const PATIENCE: i64 = 90 * 86_400_000;
/// Maximum number of forecasts that are recorded after a plan.
const MOST: usize = 20;

/// Minimum time between two recorded forecasts of a job, in seconds.
const GAP: f64 = 0.5;
/// Minimum time between two recorded forecasts of a job, as a part of the time that the job has waited.
const GAP_PART: f64 = 0.1;

/// A waiting job with recorded forecasts.
struct WaitingJob {
    /// The instant of the first forecast, in seconds since 1970.
    since: f64,
    /// The instant of the last forecast.
    last: f64,
    /// The number of forecasts.
    forecasts: u32,
}

impl WaitingJob {
    /// Returns true if the next forecast is due.
    fn is_due(&self, now: f64) -> bool {
        now - self.last >= GAP.max(GAP_PART * (now - self.since))
    }
}

/// The forecasts of starts.
pub(super) struct Forecasts {
    history: History,
    /// The waiting jobs with a recorded forecast.
    waiting: BTreeMap<JobNumber, WaitingJob>,
    pub calibration: Calibration,
}

/// Returns the calibration without earlier forecasts.
pub(super) fn uncalibrated() -> Calibration {
    Calibration::learn(&[], PERCENT, CYCLE)
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
        let known = history.learn_starts(CLUSTER, PERCENT, &[])?;
        let calibration = Calibration::learn(&known, PERCENT, CYCLE);
        Ok(Self { history, waiting: BTreeMap::new(), calibration })
    }

    /// Records the starts of jobs since the last plan, and forecasts of waiting jobs. `start_of` returns the start of a job
    /// that no longer waits, if the job has started.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn record(
        &mut self,
        outlook: &Outlook,
        now: f64,
        start_of: impl Fn(JobNumber) -> Option<f64>,
    ) -> Result<(), HistoryError> {
        let running: BTreeSet<JobNumber> = outlook.running.iter().map(|runs| runs.job).collect();
        let waits = outlook.expected.iter().map(|one| one.job).filter(|job| !running.contains(job));
        let waits: BTreeSet<JobNumber> = waits.collect();
        let is_gone = |job: &JobNumber, _: &mut WaitingJob| !waits.contains(job);
        let gone: Vec<(JobNumber, WaitingJob)> = self.waiting.extract_if(.., is_gone).collect();
        let started = gone.into_iter().filter_map(|(job, waited)| Some((job, waited, milliseconds(start_of(job)?))));
        let started =
            started.flat_map(|(job, waited, at)| (0..waited.forecasts).map(move |number| (name(job, number), at)));
        let started: Vec<(String, i64)> = started.collect();
        if !started.is_empty() {
            let known = self.history.learn_starts(CLUSTER, PERCENT, &started)?;
            self.calibration = Calibration::learn(&known, PERCENT, CYCLE);
        }
        let is_due = |job: &JobNumber| self.waiting.get(job).is_none_or(|waiting| waiting.is_due(now));
        let due: Vec<JobNumber> = waits.into_iter().filter(is_due).collect();
        // If many jobs are due, the recorded ones are spread over the whole queue.
        let step = due.len().div_ceil(MOST).max(1);
        let planned = |job| outlook.of_waiting(job, now).and_then(|expected| expected.start);
        let due: BTreeMap<JobNumber, Option<f64>> =
            due.into_iter().step_by(step).map(|job| (job, planned(job))).collect();
        let mut forecasts = Vec::with_capacity(due.len());
        for (job, range) in ranges(outlook, &due, now) {
            let waiting = self.waiting.entry(job).or_insert(WaitingJob { since: now, last: now, forecasts: 0 });
            let own = StartForecast { job: name(job, waiting.forecasts), ..range.forecast(job, now) };
            (waiting.last, waiting.forecasts) = (now, waiting.forecasts + 1);
            forecasts.push(StartForecast { range: self.calibration.range(&own), ..own });
        }
        if !forecasts.is_empty() {
            self.history.append_starts(CLUSTER, PERCENT, PATIENCE, &forecasts)?;
        }
        Ok(())
    }
}

/// Returns the name of a forecast of a job. The names of a job are equal after a restart, so that its first forecasts
/// remain.
fn name(job: JobNumber, number: u32) -> String {
    format!("{job}.{number}")
}

#[cfg(test)]
mod tests;
