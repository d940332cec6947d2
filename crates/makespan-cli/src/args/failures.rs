//! The options of `run` for failed jobs and for resuming.

use clap::Args;
use makespan_exec::{ExecuteOptions, HaltRule};

use super::TimeLimit;
use super::halt::HaltOption;

#[derive(Args, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub struct FailureOptions {
    /// Maximum number of retries of a job that failed or reached its time limit
    ///
    /// A job that was killed for lack of memory is retried with twice the memory
    #[arg(
        help_heading = "Failures and resuming",
        long,
        default_value_t = 0,
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub retry: u32,
    /// Maximum number of attempts at a job, including the first one (as in GNU parallel): --retries 3 is --retry 2
    #[arg(
        help_heading = "Failures and resuming",
        long,
        value_name = "N",
        conflicts_with = "retry",
        value_parser = super::machines::positive
    )]
    pub retries: Option<u32>,
    /// If a job has failed and has no retries left, continue with all jobs that do not depend on this job [default]
    #[arg(help_heading = "Failures and resuming", long, conflicts_with_all = ["fail_fast", "halt"])]
    pub keep_going: bool,
    /// If a job has failed and has no retries left, start no other job: --halt soon,fail=1
    #[arg(help_heading = "Failures and resuming", long, conflicts_with = "halt")]
    pub fail_fast: bool,
    /// End the run early, such as now,fail=1, soon,fail=3 or soon,fail=10%
    ///
    /// When the stated number of jobs has failed in this session, no other job starts. `soon` waits for running jobs;
    /// `now` ends them with SIGTERM, and kills them after 5 s. `success=` counts jobs that succeeded, and `done=`
    /// counts failed and successful jobs. N% is a percentage of all jobs. --resume continues the run. The exit status
    /// is the number of jobs that had failed. With =1, it is the status of the job that halted the run; with N%, the
    /// percentage of jobs that had failed; with `success=`, 0
    #[arg(help_heading = "Failures and resuming", long, value_name = "WHEN", allow_hyphen_values = true)]
    pub halt: Option<HaltOption>,
    /// Time limit for each job that states no walltime, such as 90s or 1h30m
    #[arg(help_heading = "Failures and resuming", long, value_name = "TIME", allow_hyphen_values = true)]
    pub timeout: Option<TimeLimit>,
    /// Kill a job that uses more memory than it requests
    ///
    /// This option needs control groups (cgroup v2). If they are not available, no job starts
    #[arg(help_heading = "Failures and resuming", long)]
    pub limit_memory: bool,
    /// Continue an interrupted run: the run in --folder, or the latest run of this list or command
    ///
    /// A job that succeeded does not run again, unless its command was edited. A job that failed runs again only with
    /// --retry-failed. With --folder, you may leave out the list and all other options; Makespan then uses the list and
    /// the options of the first session. For makefiles and workflows of Snakemake, the run consists of the jobs that
    /// make or Snakemake would run now
    #[arg(help_heading = "Failures and resuming", long)]
    pub resume: bool,
    /// With --resume, run failed jobs again
    #[arg(help_heading = "Failures and resuming", long, requires = "resume")]
    pub retry_failed: bool,
    /// With --resume, continue from the undamaged part of a damaged journal
    ///
    /// The damaged journal is kept
    #[arg(help_heading = "Failures and resuming", long, requires = "resume")]
    pub recover: bool,
}

impl FailureOptions {
    /// Applies these options to the options of a run.
    pub fn apply(&self, options: &mut ExecuteOptions) {
        options.retries = self.further_attempts();
        options.halt = self.rule();
        options.limit_memory = self.limit_memory;
        options.timeout = self.timeout.as_ref().map(TimeLimit::time);
        (options.resume, options.retry_failed, options.recover) = (self.resume, self.retry_failed, self.recover);
    }

    /// Returns the rule that ends the run early, if there is one.
    pub fn rule(&self) -> Option<HaltRule> {
        let fail_fast = self.fail_fast.then_some(HaltRule::FAIL_FAST);
        self.halt.map_or(fail_fast, |HaltOption(rule)| rule)
    }

    /// Returns the maximum number of retries.
    fn further_attempts(&self) -> u32 {
        self.retries.map_or(self.retry, |attempts| attempts - 1)
    }
}
