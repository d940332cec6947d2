//! The jobs of a log as they ran, for statistics. A replay also needs machines, and drops starts that no simulation can
//! reproduce.

use std::sync::Arc;

use makespan_core::{Submission, Time, counted};

use crate::anomaly::Anomaly;
use crate::clock::Clock;
use crate::error::{FilePlace, FormatError};
use crate::format::Format;
use crate::replay::LoggedEnd;
use crate::replay::record::{LogContent, LogRecord};

/// A job of a log that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedJob {
    /// The instant from which the job could start: its submission or, if the log states it, a later instant at which its
    /// begin time and its dependencies allowed the start.
    pub submitted: Time,
    /// The start, if the log states it. The start is not earlier than `submitted`.
    pub started: Option<Time>,
    /// The run time, or the elapsed run time of a job that was running when the log was written. `None` if the log does
    /// not state the run time.
    pub run: Option<Time>,
    /// Number of processors.
    pub processors: u32,
    /// Time limit.
    pub limit: Option<Time>,
    /// How the job ended, if the log states it. `None` for a job that was running when the log was written.
    pub end: Option<LoggedEnd>,
    /// True if the job was running when the log was written.
    pub is_running: bool,
    /// User, account and partition, if the log states them.
    pub submission: Option<Arc<Submission>>,
}

impl LoggedJob {
    /// Returns the period in which the job held its processors, if the log states the start and the run time.
    pub fn period(&self) -> Option<(Time, Time)> {
        let started = self.started?;
        Some((started, Time::from_ticks(started.ticks().saturating_add(self.run?.ticks()))))
    }
}

/// The jobs of a log that ran.
#[derive(Clone, Debug)]
pub struct JobLog {
    /// The jobs, in the order of the file. Jobs that had not started when the log was written are omitted.
    pub jobs: Vec<LoggedJob>,
    /// Format of the file.
    pub format: Format,
    /// Number of processors of the machine, if the log states it.
    pub processors: Option<u32>,
    /// Clock of the log, which converts times to dates, if the log states a date.
    pub clock: Option<Clock>,
    /// Instant at which the log was written, if some jobs had not ended at this instant.
    pub now: Option<Time>,
    /// Notes for the user about skipped records and missing values.
    pub remarks: Vec<String>,
}

/// Returns the jobs of a log that ran. If `strict` is true, a log with a record that would be skipped or changed is
/// refused.
pub(crate) fn job_log(
    file: &str,
    format: Format,
    mut content: LogContent,
    strict: bool,
) -> Result<JobLog, FormatError> {
    content.accept(file, strict)?;
    // The notes about these anomalies describe replacements that this function does not make.
    let replaced = [Anomaly::ZeroRunTime, Anomaly::GuessedRunTime, Anomaly::StillRuns, Anomaly::StillWaits];
    content.report.forget(&replaced);
    let LogContent { records, report, processors, remarks: other, clock, now, .. } = content;
    let (mut jobs, mut waiting, mut early) = (Vec::with_capacity(records.len()), 0, 0);
    for record in records {
        if record.is_alive && record.started.is_none() {
            waiting += 1;
            continue;
        }
        early += usize::from(record.started.is_some_and(|started| started < record.submit));
        jobs.push(logged(record, now));
    }
    if jobs.is_empty() {
        let problem = "no job had started when the log was written";
        return Err(FormatError::content(file, FilePlace::default(), problem));
    }
    let untimed = jobs.iter().filter(|job| job.run.is_none()).count();
    let running = jobs.iter().filter(|job| job.is_running).count();
    let notes = [
        (waiting, "not included: not started when the log was written"),
        (running, "still running when the log was written: included only in the core hours, with the time until then"),
        (untimed, "without a readable run time: not included in the core hours"),
        (early, "with a start before the submission: the start is ignored, so the wait is unknown"),
    ];
    let notes = notes.into_iter().filter(|note| note.0 > 0);
    let notes = notes.map(|(count, text)| format!("{} {text}", counted(count, "job")));
    let remarks = report.remarks().chain(other).chain(notes).collect();
    Ok(JobLog { jobs, format, processors, clock, now, remarks })
}

fn logged(record: LogRecord, now: Option<Time>) -> LoggedJob {
    let started = record.started.filter(|&started| started >= record.submit);
    let run = if record.is_alive {
        started.zip(now).map(|(started, now)| (now - started).max(Time::ZERO))
    } else {
        // The readers use one tick for a run time of 0.
        let stated = if record.run == Time::TICK { Time::ZERO } else { record.run };
        Some(stated).filter(|_| !record.is_guess)
    };
    LoggedJob {
        submitted: record.submit,
        started,
        run,
        processors: record.processors,
        limit: record.requested,
        end: record.end,
        is_running: record.is_alive,
        submission: record.submission,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_job_log;

    fn seconds(count: i64) -> Time {
        Time::from_seconds(count)
    }

    #[test]
    fn a_dump_states_ends_starts_and_the_elapsed_time_of_running_jobs() {
        let dump = "JobID|User|Account|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State\n\
                    1|ann|phys|2024-01-31T23:00:00|2024-01-31T23:10:00|2024-01-31T23:40:00|00:30:00|00:30:00|4|TIMEOUT\n\
                    2|bob|bio|2024-01-31T23:00:00|2024-01-31T23:00:00|2024-01-31T23:00:00|00:00:00|01:00:00|2|FAILED\n\
                    3|bob|bio|2024-01-31T23:00:00|2024-01-31T23:20:00|Unknown|00:30:00|08:00:00|2|RUNNING\n\
                    4|bob|bio|2024-01-31T23:00:00|Unknown|Unknown|00:00:00|08:00:00|2|PENDING\n\
                    5|ann|phys|2024-01-31T23:30:00|2024-01-31T23:10:00|2024-01-31T23:40:00|00:30:00|01:00:00|1|COMPLETED\n";
        let log = parse_job_log(dump.as_bytes(), "dump", false).unwrap();
        let found: Vec<_> = log.jobs.iter().map(|job| (job.started, job.run, job.end, job.is_running)).collect();
        let row = |started: Option<i64>, run, end, running| (started.map(seconds), Some(seconds(run)), end, running);
        let expected = [
            row(Some(600), 1800, Some(LoggedEnd::AtLimit), false),
            row(Some(0), 0, Some(LoggedEnd::Failed), false),
            row(Some(1200), 1800, None, true),
            row(None, 1800, Some(LoggedEnd::Succeeded), false),
        ];
        assert_eq!(found, expected);
        assert_eq!((log.now, log.processors), (Some(seconds(3000)), None));
        for part in ["1 job not included", "1 job still running", "1 job with a start before"] {
            assert!(log.remarks.iter().any(|remark| remark.starts_with(part)), "{part}: {:?}", log.remarks);
        }
        assert!(log.remarks.iter().all(|remark| !remark.contains("nanosecond")), "{:?}", log.remarks);
    }

    #[test]
    fn a_log_of_swf_infers_deaths_at_the_limit() {
        let line = |status: i64, run: i64| format!("{run} 0 10 {run} 2 -1 -1 2 100 -1 {status} 7 3 -1 1 5 -1 -1\n");
        let text = format!("; MaxProcs: 8\n{}{}{}", line(0, 100), line(1, 101), line(5, 50));
        let log = parse_job_log(text.as_bytes(), "log.swf", false).unwrap();
        let ends: Vec<_> = log.jobs.iter().map(|job| job.end.unwrap()).collect();
        assert_eq!(ends, [LoggedEnd::AtLimit, LoggedEnd::Succeeded, LoggedEnd::Cancelled]);
        assert_eq!((log.processors, log.clock), (Some(8), None));
        let names = log.jobs[0].submission.as_deref().unwrap();
        assert_eq!((names.user.as_deref(), names.account.as_deref()), (Some("7"), Some("3")));
    }

    #[test]
    fn files_without_jobs_that_ran_are_refused() {
        let waits = "JobID|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State\n\
                     1|2024-01-31T23:00:00|Unknown|Unknown|00:00:00|08:00:00|2|PENDING\n";
        let native = "{\"version\": 1, \"platform\": {\"processors\": 2}, \"jobs\": []}";
        for (text, part) in [
            (waits, "no job had started"),
            ("JobID|Submit|Elapsed|AllocCPUS\n", "no record can be read as a job"),
            ("; MaxProcs: 8\n", "no record can be read as a job"),
            ("", "empty"),
            (native, "not a log"),
        ] {
            let error = parse_job_log(text.as_bytes(), "x", false).unwrap_err().to_string();
            assert!(error.contains(part), "{part}: {error}");
        }
        // No remedy names a kind of file that has no jobs that ran.
        for text in [
            "",
            " \n",
            "hello",
            "a b\nc d\n",
            "# Title\n\ntext\n",
            "\0\u{1}",
            "[x]\ny = 1\n",
            native,
            "gzip a\ngzip b\n",
        ] {
            for name in ["x", "x.txt", "x.md", "x.csv"] {
                let error = parse_job_log(text.as_bytes(), name, false).unwrap_err().to_string();
                assert!(error.contains("a dump of sacct, an SWF log"), "{name}: {error}");
                assert!(!error.contains("akefile") && !error.contains("a list of"), "{name}: {error}");
            }
        }
    }
}
