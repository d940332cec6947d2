//! The exit status of a run, which follows the rules of GNU parallel.

use makespan_core::Outcome;
use makespan_exec::{HaltCause, HaltCount, HaltLimit, HaltRule};

/// Exit status after an error that is not the failure of a job.
pub const ERROR: u8 = 255;

/// The largest number of jobs that an exit status can represent.
const LARGEST: u64 = 100;

/// The facts that determine the exit status of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunEnding {
    pub jobs: u64,
    /// The number of jobs that failed or were not run, in all sessions of the run.
    pub unsuccessful: u64,
    /// Exit status that the halt rule gives; `None` if no job halted the run.
    pub halt: Option<u8>,
    /// True if the status is a percentage of the jobs.
    pub is_percentage: bool,
    /// Exit status for the signal that stopped the run; `None` if no signal stopped the run.
    pub stopped: Option<u8>,
    /// True if an error prevented outputs or the report from being written.
    pub is_incomplete: bool,
}

impl RunEnding {
    /// Returns the exit status of the run. The first rule that matches gives the status:
    ///
    /// * After an error, the status is 255.
    /// * If a signal stopped the run, the status is 128 plus the number of the signal.
    /// * If a job halted the run, the halt rule gives the status.
    /// * If the halt rule is a percentage, the status is the percentage of the jobs that failed or were not run.
    /// * Otherwise, the status is the number of jobs that failed or were not run, or 101 if this number is above 100.
    pub fn status(self) -> u8 {
        match (self.is_incomplete, self.stopped.or(self.halt)) {
            (true, _) => ERROR,
            (false, Some(status)) => status,
            (false, None) if self.is_percentage => percentage(self.unsuccessful, self.jobs),
            (false, None) => number(self.unsuccessful),
        }
    }
}

/// Returns true if the halt rule makes the exit status a percentage.
pub fn is_percentage(rule: Option<HaltRule>) -> bool {
    rule.is_some_and(|rule| matches!(rule.limit, HaltLimit::Percent(_)))
}

/// Returns the exit status of a halted run. If a single failure is enough to halt the run, returns the exit status of
/// the failed job.
pub fn of_halt(cause: &HaltCause) -> u8 {
    let HaltCause { rule, failed, tasks, outcome } = cause;
    match rule.limit {
        _ if rule.counts == HaltCount::Successes => 0,
        limit if limit.is_one(*tasks) => of_job(*outcome),
        HaltLimit::Percent(_) => percentage(*failed, *tasks),
        HaltLimit::Number(_) => number(*failed),
    }
}

/// Returns the exit status of a job as a shell reports it. A signal that ended the job gives 128 plus its number. A
/// job that could not start gives 127, and a job that reached its time limit gives 255.
fn of_job(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Succeeded => 0,
        Outcome::Failed { status } => u8::try_from(status).unwrap_or(ERROR),
        Outcome::NotStarted => 127,
        Outcome::TimedOut | Outcome::Interrupted => ERROR,
    }
}

/// Returns `jobs` as an exit status, or 101 if `jobs` is above 100.
fn number(jobs: u64) -> u8 {
    u8::try_from(jobs.min(LARGEST + 1)).unwrap_or(ERROR)
}

/// Returns a percentage of the jobs, rounded up.
fn percentage(part: u64, jobs: u64) -> u8 {
    let percent = (u128::from(part) * 100).div_ceil(u128::from(jobs.max(1)));
    u8::try_from(percent).unwrap_or(ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_the_number_of_jobs_without_success() {
        for (unsuccessful, stopped, is_incomplete, status) in [
            (0, None, false, 0),
            (1, None, false, 1),
            (100, None, false, 100),
            (101, None, false, 101),
            (1_000_000, None, false, 101),
            (7, Some(143), false, 143),
            (0, None, true, 255),
            (3, Some(130), true, 255),
        ] {
            let ending = RunEnding { unsuccessful, stopped, is_incomplete, ..RunEnding::default() };
            assert_eq!(ending.status(), status);
        }
    }

    #[test]
    fn a_halted_run_has_the_status_of_its_rule() {
        let one = RunEnding { jobs: 30, unsuccessful: 1, is_percentage: true, ..RunEnding::default() };
        assert_eq!([one.status(), RunEnding { halt: Some(9), ..one }.status()], [4, 9]);
        assert_eq!(RunEnding { halt: Some(9), stopped: Some(143), ..one }.status(), 143);
        let (failures, failed) = (HaltCount::Failures, Outcome::Failed { status: 7 });
        for (counts, limit, failed, outcome, status) in [
            (failures, HaltLimit::Number(1), 1, failed, 7),
            (failures, HaltLimit::Number(1), 1, Outcome::Failed { status: 137 }, 137),
            (failures, HaltLimit::Number(1), 1, Outcome::TimedOut, 255),
            (failures, HaltLimit::Number(1), 1, Outcome::NotStarted, 127),
            (failures, HaltLimit::Number(2), 2, failed, 2),
            (failures, HaltLimit::Number(200), 200, failed, 101),
            (failures, HaltLimit::Percent(10), 3, failed, 10),
            (failures, HaltLimit::Percent(1), 2, failed, 7),
            (HaltCount::Ends, HaltLimit::Number(3), 0, Outcome::Succeeded, 0),
            (HaltCount::Successes, HaltLimit::Number(3), 5, Outcome::Succeeded, 0),
        ] {
            let rule = HaltRule { ends_running: true, counts, limit };
            assert_eq!(of_halt(&HaltCause { rule, failed, tasks: 30, outcome }), status, "{counts:?} {limit:?}");
        }
    }
}
