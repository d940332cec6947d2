//! The jobs that waited, and histograms of their waits with bars for a terminal.

use std::collections::HashSet;

use makespan::Simulated;
use makespan_core::{Instance, Outcome, Run, TaskId};
use serde_json::{Value, json};

/// Upper limit of each range of waits in seconds, and its name.
const BINS: [(f64, &str); 8] = [
    (60.0, "up to 1 min"),
    (600.0, "up to 10 min"),
    (3_600.0, "up to 1 h"),
    (14_400.0, "up to 4 h"),
    (43_200.0, "up to 12 h"),
    (86_400.0, "up to 1 d"),
    (259_200.0, "up to 3 d"),
    (f64::INFINITY, "longer"),
];

/// Number of characters of a full bar.
const BAR: usize = 10;

/// Returns the last run of each job, except jobs that ran from the beginning.
pub fn waited<'a>(outcome: &'a Simulated, running: &HashSet<TaskId>) -> Vec<&'a Run> {
    let is_last = |run: &&Run| !matches!(run.outcome, Outcome::Interrupted | Outcome::NotStarted);
    outcome.simulation.trace.runs.iter().filter(is_last).filter(|run| !running.contains(&run.task)).collect()
}

/// Counts the jobs in each range of waits.
pub fn counts((instance, runs): &(&Instance, Vec<&Run>)) -> [usize; 8] {
    let mut counts = [0; 8];
    for run in runs {
        let wait = (run.start - instance.release(run.task)).seconds();
        counts[BINS.iter().position(|bin| wait <= bin.0).unwrap_or(BINS.len() - 1)] += 1;
    }
    counts
}

/// Returns a row for each range of waits, with the share of jobs and a bar for each outcome. Empty ranges at the end
/// are left out.
pub fn cells(all: &[[usize; 8]], with_bars: bool) -> Vec<Vec<String>> {
    let last = (0..BINS.len()).rev().find(|&bin| all.iter().any(|counts| counts[bin] > 0)).unwrap_or(0);
    let row = |bin: usize| {
        let share = |counts: &[usize; 8]| {
            let jobs: usize = counts.iter().sum();
            let share = counts[bin] as f64 / jobs.max(1) as f64;
            let bar = "#".repeat((share * BAR as f64).round() as usize);
            if with_bars { format!("{bar:<BAR$} {:>5.1} %", 100.0 * share) } else { format!("{:.1} %", 100.0 * share) }
        };
        std::iter::once(BINS[bin].1.to_owned()).chain(all.iter().map(share)).collect()
    };
    (0..=last).map(row).collect()
}

/// Returns the histogram as JSON.
pub fn json(counts: &[usize; 8]) -> Value {
    let bins = BINS.iter().zip(counts);
    bins.map(|(bin, count)| json!({ "up_to": bin.0.is_finite().then_some(bin.0), "jobs": count })).collect()
}
