//! Calibrates the ranges of starts with the history of earlier forecasts on the same cluster.

use makespan_history::{Calibration, ENOUGH, History, HistoryError, StartForecast, default_path};
use makespan_slurm::forecast::Forecast;
use makespan_slurm::queue::Queue;
use serde_json::{Value, json};

use super::source;
use crate::args::{KnownTimes, QueueOptions};
use crate::output::complain;

/// Seconds after which a forecast is forgotten if its job has not started: 90 days.
const PATIENCE: i64 = 90 * 86_400;

/// The share of starts that the ranges contain, and how it was calibrated.
pub struct RangeShare {
    pub percent: u32,
    /// `None` without a history.
    calibration: Option<Calibration>,
}

impl RangeShare {
    /// Replaces the simulated ranges by calibrated ranges, adds a note about the calibration, and records the forecast in
    /// the history. Ranges of run times
    /// that are not learned are not calibrated. The forecast of a what-if question is not recorded, because its job does
    /// not exist.
    ///
    /// A forecast from saved outputs uses a history only if the options name it, so its result depends only on stated
    /// files.
    pub fn of(queue: &Queue, forecast: &mut Forecast, from: &str, options: &QueueOptions, percent: u32) -> Self {
        let default = || default_path().filter(|_| source::is_running(from));
        let learns = options.times.unwrap_or_default() == KnownTimes::Learned;
        let path = if options.no_history || !learns { None } else { options.history.clone().or_else(default) };
        let history = path.map(|path| History::open(&path));
        let done =
            history.map(|history| calibrated(queue, forecast, &mut history?, percent, options.what_if.is_none()));
        let give_up =
            |error: HistoryError| complain(&format!("note: {error}; the ranges of starts are not calibrated"));
        let ranges = Self { percent, calibration: done.and_then(|done| done.map_err(give_up).ok()) };
        if forecast.expected.iter().any(|one| one.outlook.late.is_some()) {
            forecast.remarks.extend(ranges.note());
        }
        ranges
    }

    /// Returns a sentence about the calibration, if a history is used.
    fn note(&self) -> Option<String> {
        let Calibration { known, held, .. } = self.calibration.as_ref()?;
        let percent = self.percent;
        if *known < ENOUGH {
            return Some(format!("the ranges are not yet calibrated: {known} of {ENOUGH} starts are known"));
        }
        let held = held
            .map_or(String::new(), |held| format!("; the latest ranges contained {:.0} % of the starts", 100.0 * held));
        Some(format!("the ranges are calibrated to contain {percent} % of the starts, from {known} known starts{held}"))
    }

    /// Returns the share as JSON.
    pub fn json(&self) -> Value {
        let known = self.calibration.as_ref().map_or(0, |calibration| calibration.known);
        let held = self.calibration.as_ref().and_then(|calibration| calibration.held);
        json!({ "percent": self.percent, "calibrated": known >= ENOUGH, "known_starts": known, "held": held })
    }
}

fn calibrated(
    queue: &Queue,
    forecast: &mut Forecast,
    history: &mut History,
    percent: u32,
    records: bool,
) -> Result<Calibration, HistoryError> {
    let cluster = queue.config.get("ClusterName").unwrap_or_default();
    let key = |shown: &str, submitted: Option<i64>| format!("{shown}@{}", submitted.unwrap_or_default());
    let running = queue.jobs.iter().filter_map(|job| Some((key(&job.shown, job.submitted), job.run.as_ref()?.started)));
    let ended = queue.past.iter().filter_map(|run| Some((key(run.shown.as_ref()?, run.submitted), run.started?)));
    let started: Vec<(String, i64)> = running.chain(ended).filter(|&(_, at)| at <= queue.now).collect();
    let known = history.learn_starts(cluster, percent, &started)?;
    let calibration = Calibration::learn(&known, percent, queue.cycle_rules().bf_interval);
    let mut made = Vec::new();
    for one in &mut forecast.expected {
        let (Some(start), Some(early), Some(late)) = (one.outlook.start, one.outlook.early, one.outlook.late) else {
            continue;
        };
        let job = &queue.jobs[one.job];
        let job = key(&job.shown, job.submitted);
        let mut own = StartForecast { job, made: queue.now, early, start, late, range: None, started: None };
        own.range = calibration.range(&own);
        if let Some((early, late)) = own.range {
            (one.outlook.early, one.outlook.late) = (Some(early), Some(late));
        }
        made.push(own);
    }
    if records {
        history.append_starts(cluster, percent, PATIENCE, &made)?;
    }
    Ok(calibration)
}
