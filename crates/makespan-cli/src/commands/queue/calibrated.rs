//! Calibrates the ranges of starts with the history of earlier forecasts on the same cluster.

use std::collections::HashSet;

use makespan_history::{Calibration, History, HistoryError, RangeShare, StartForecast, default_path};
use makespan_slurm::forecast::Forecast;
use makespan_slurm::queue::Queue;

use super::source;
use crate::args::{KnownTimes, QueueOptions};
use crate::output::complain;

/// Seconds after which a forecast is forgotten if its job has not started: 90 days.
const PATIENCE: i64 = 90 * 86_400;

/// Replaces the simulated ranges by calibrated ranges, adds a note about the calibration, and records the forecast in the
/// history. Ranges of run times that are not learned are not calibrated. The forecast of a what-if question is not
/// recorded, because its job does not exist.
///
/// A forecast from saved outputs uses a history only if the options name it, so its result depends only on stated files.
pub fn calibrate(
    queue: &Queue,
    forecast: &mut Forecast,
    from: &str,
    options: &QueueOptions,
    percent: u32,
) -> RangeShare {
    let default = || default_path().filter(|_| source::is_running(from) && from != source::GRID_ENGINE);
    let learns = options.times.unwrap_or_default() == KnownTimes::Learned;
    let path = if options.no_history || !learns { None } else { options.history.clone().or_else(default) };
    let history = path.map(|path| History::open(&path));
    let done = history.map(|history| calibrated(queue, forecast, &mut history?, percent, options.what_if.is_none()));
    let give_up = |error: HistoryError| complain(&format!("note: {error}; the ranges of starts are not calibrated"));
    let calibration = done.and_then(|done| done.map_err(give_up).ok());
    let ranges = RangeShare::new(percent, calibration.as_ref());
    if calibration.is_some() && forecast.expected.iter().any(|one| one.outlook.late.is_some()) {
        forecast.remarks.push(ranges.words());
    }
    ranges
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
    let expected = forecast.expected.iter().map(|one| &queue.jobs[one.job]);
    let waiting: HashSet<String> = expected.map(|job| key(&job.shown, job.submitted)).collect();
    let known = history.learn_starts(cluster, percent, &started, |job| waiting.contains(job))?;
    let calibration = Calibration::learn(&known, queue.now, percent, queue.cycle_rules().bf_interval);
    let mut made = Vec::new();
    for one in &mut forecast.expected {
        let (Some(start), Some(early), Some(late)) = (one.outlook.start, one.outlook.early, one.outlook.late) else {
            continue;
        };
        let waiting = &queue.jobs[one.job];
        let job = key(&waiting.shown, waiting.submitted);
        let mut own = StartForecast { job, made: queue.now, early, start, late, range: None, started: None };
        // The job cannot start before its begin time, whatever earlier forecasts missed.
        let bound = waiting.eligible.map_or(queue.now, |begin| begin.max(queue.now)).min(start);
        own.range = calibration.range(&own).map(|(early, late)| (early.max(bound), late));
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
