//! The figures of a group of jobs.

use makespan_core::{Distribution, Time};
use makespan_formats::{LoggedEnd, LoggedJob};
use serde_json::{Value, json};

/// Processor ticks in a core hour.
const CORE_HOUR: f64 = 3600.0 * Time::TICKS_PER_SECOND as f64;

/// Exact sums over the jobs of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Number of jobs that ended.
    pub jobs: usize,
    /// Processor ticks of all jobs.
    used: i128,
    /// Processor ticks of the jobs that ended without success.
    failed: i128,
    /// Number of jobs with processor ticks that have ended, in this period or later.
    timed: usize,
    /// Number of these jobs with a known end.
    timed_known_ends: usize,
    /// Known waits.
    waits: Vec<Time>,
    /// Number of jobs with a known end.
    known_ends: usize,
    /// Number of jobs that were killed at their time limit.
    at_limit: usize,
    /// Run times, in ticks, of the jobs with a time limit and a run time.
    limited_run: i128,
    /// Time limits of these jobs, in ticks.
    limits: i128,
}

impl Tally {
    /// Adds the core time of a job. `held` is the time, in ticks, during which the job held its processors.
    pub fn add_time(&mut self, job: &LoggedJob, held: i64) {
        let area = i128::from(held) * i128::from(job.processors);
        self.used += area;
        self.timed += usize::from(!job.is_running);
        self.timed_known_ends += usize::from(job.end.is_some());
        if job.end.is_some_and(|end| end != LoggedEnd::Succeeded) {
            self.failed += area;
        }
    }

    /// Adds a job that ended, without its core time.
    pub fn add_job(&mut self, job: &LoggedJob) {
        self.jobs += 1;
        self.waits.extend(job.started.map(|started| started - job.submitted));
        self.known_ends += usize::from(job.end.is_some());
        self.at_limit += usize::from(job.end == Some(LoggedEnd::AtLimit));
        if let Some((run, limit)) = job.run.zip(job.limit) {
            self.limited_run += i128::from(run.ticks());
            self.limits += i128::from(limit.ticks());
        }
    }

    /// Adds the jobs of another group.
    pub fn merge(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.used += other.used;
        self.failed += other.failed;
        self.timed += other.timed;
        self.timed_known_ends += other.timed_known_ends;
        self.waits.extend(&other.waits);
        self.known_ends += other.known_ends;
        self.at_limit += other.at_limit;
        self.limited_run += other.limited_run;
        self.limits += other.limits;
    }

    /// Returns the processor ticks of all jobs.
    pub fn used(&self) -> i128 {
        self.used
    }

    /// Computes the figures. `capacity` is the number of processor ticks that the machine offered, if it is known and
    /// positive.
    pub fn figures(&self, capacity: Option<i128>) -> Figures {
        let share = |part: i128, whole: i128| part as f64 / whole as f64;
        // A number or a sum over no jobs is 0. It is unknown only if there are jobs and the end of none of them is known.
        let is_known = |jobs: usize, known: usize| jobs == 0 || known > 0;
        Figures {
            jobs: self.jobs,
            core_hours: self.used as f64 / CORE_HOUR,
            known_waits: self.waits.len(),
            wait: (!self.waits.is_empty()).then(|| Distribution::of_times(self.waits.clone())),
            utilisation: capacity.filter(|&capacity| capacity > 0).map(|capacity| share(self.used, capacity)),
            known_ends: self.known_ends,
            at_limit: is_known(self.jobs, self.known_ends).then_some(self.at_limit),
            limit_used: (self.limits > 0).then(|| share(self.limited_run, self.limits)),
            failed_core_hours: is_known(self.timed, self.timed_known_ends).then(|| self.failed as f64 / CORE_HOUR),
        }
    }
}

/// The figures of a group. A figure is `None` if the log does not state the necessary values.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Number of jobs that ended.
    pub jobs: usize,
    pub core_hours: f64,
    /// Number of jobs with a known wait.
    pub known_waits: usize,
    /// Waits in seconds.
    pub wait: Option<Distribution>,
    /// Core hours divided by the core hours of the machine.
    pub utilisation: Option<f64>,
    /// Number of jobs with a known end.
    pub known_ends: usize,
    /// Number of jobs that were killed at their time limit.
    pub at_limit: Option<usize>,
    /// Sum of the run times divided by the sum of the time limits.
    pub limit_used: Option<f64>,
    /// Core hours of the jobs that ended without success.
    pub failed_core_hours: Option<f64>,
}

impl Figures {
    /// Headings of the figures in a text.
    pub const HEADING: [&'static str; 9] =
        ["jobs", "core h", "wait", "median", "95 %", "util %", "died", "used %", "failed"];
    /// Headings of the figures in a CSV table.
    pub const COLUMNS: [&'static str; 11] = [
        "jobs",
        "core_hours",
        "known_waits",
        "wait_mean_seconds",
        "wait_median_seconds",
        "wait_p95_seconds",
        "utilisation",
        "known_ends",
        "died_at_limit",
        "limit_used",
        "failed_core_hours",
    ];

    /// Returns the cells of a row of the text.
    pub fn cells(&self) -> [String; 9] {
        let percent = |share: Option<f64>| share.map_or_else(missing, |share| format!("{:.1}", 100.0 * share));
        let wait = |of: fn(&Distribution) -> f64| self.wait.as_ref().map_or_else(missing, |wait| compact(of(wait)));
        [
            self.jobs.to_string(),
            hours(self.core_hours),
            wait(|wait| wait.mean),
            wait(|wait| wait.median),
            wait(|wait| wait.p95),
            percent(self.utilisation),
            self.at_limit.map_or_else(missing, |count| count.to_string()),
            percent(self.limit_used),
            self.failed_core_hours.map_or_else(missing, hours),
        ]
    }

    /// Returns the cells of a row of the CSV table. A cell is empty if its figure is unknown.
    pub fn csv(&self) -> [String; 11] {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let wait = |of: fn(&Distribution) -> f64| number(self.wait.as_ref().map(of));
        [
            self.jobs.to_string(),
            self.core_hours.to_string(),
            self.known_waits.to_string(),
            wait(|wait| wait.mean),
            wait(|wait| wait.median),
            wait(|wait| wait.p95),
            number(self.utilisation),
            self.known_ends.to_string(),
            self.at_limit.map_or(String::new(), |count| count.to_string()),
            number(self.limit_used),
            number(self.failed_core_hours),
        ]
    }

    /// Returns the figures as JSON. Unknown figures are null.
    pub fn json(&self) -> Value {
        json!({
            "jobs": self.jobs,
            "core_hours": self.core_hours,
            "known_waits": self.known_waits,
            "wait": self.wait.map(|wait| json!({ "mean": wait.mean, "median": wait.median, "p95": wait.p95 })),
            "utilisation": self.utilisation,
            "known_ends": self.known_ends,
            "died_at_limit": self.at_limit,
            "limit_used": self.limit_used,
            "failed_core_hours": self.failed_core_hours,
        })
    }
}

fn missing() -> String {
    "-".to_owned()
}

/// Formats core hours with one decimal, or without decimals if the number is long.
fn hours(count: f64) -> String {
    if count < 9999.95 { format!("{count:.1}") } else { format!("{count:.0}") }
}

/// Formats a duration in the largest suitable unit, in few columns: `59s`, `12m`, `2.5h`, `4.2d`.
fn compact(seconds: f64) -> String {
    const UNITS: [(f64, f64, usize, &str); 3] =
        [(99.5, 1.0, 0, "s"), (99.5 * 60.0, 60.0, 0, "m"), (99.95 * 3600.0, 3600.0, 1, "h")];
    let unit = UNITS.iter().find(|unit| seconds < unit.0);
    let (_, length, places, name) = *unit.unwrap_or(&(f64::INFINITY, 86_400.0, 1, "d"));
    format!("{:.places$}{name}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let all = [0.0, 99.4, 99.6, 5969.0, 5971.0, 359_000.0, 360_000.0].map(compact);
        assert_eq!(all, ["0s", "99s", "2m", "99m", "1.7h", "99.7h", "4.2d"]);
        assert_eq!([0.04, 9999.9, 10_000.2].map(hours), ["0.0", "9999.9", "10000"]);
    }
}
