//! The options of `makespan queue`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use makespan_slurm::forecast::RunTimes;

#[derive(Args)]
pub struct QueueOptions {
    /// Instead of the queue of a service, read the queue of Slurm (slurm) or Grid Engine (sge), or a folder with saved
    /// output of their commands; for a list such as slurm:a,slurm:b, print each cluster and the sums
    ///
    /// slurm:NAME is the cluster of `sbatch -M NAME`, and `slurm:/PATH/slurm.conf` is the cluster of this file
    #[arg(long, value_name = "slurm[:CLUSTER]|sge|FOLDER")]
    #[cfg_attr(feature = "service", arg(conflicts_with_all = ["url", "token_file", "ca"]))]
    pub from: Option<String>,
    /// For a cluster: show one job, such as 123 or `123_4`, and details of its expected start
    #[arg(long, value_name = "JOB", value_parser = NonEmptyStringValueParser::new())]
    pub job: Option<String>,
    /// For a cluster: show when a job that is not submitted would start, such as 'nodes=4 time=2h partition=p', and
    /// which jobs it would delay
    ///
    /// The words are options of `sbatch` by their long names. The path of a job script stands for the options in the
    /// `#SBATCH` lines of this script
    #[arg(long, value_name = "JOB|SCRIPT", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with_all = ["job", "watch", "report", "user", "limit"])]
    pub what_if: Option<String>,
    /// For a cluster: update the output every SECONDS seconds; the minimum is 5
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "30")]
    pub watch: Option<u16>,
    /// For a cluster: also write the queue to an HTML page
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Instant of saved outputs, such as 2026-11-22T02:04:10 [default: the instant that they state]
    #[arg(long, value_name = "TIME", requires = "from")]
    pub at: Option<String>,
    /// With --from slurm, days of accounting history to learn run times from [default: 7]
    #[arg(long, value_name = "DAYS")]
    pub past: Option<u32>,
    /// For a cluster: source of the run times of jobs [default: learned]
    #[arg(long, value_enum)]
    pub times: Option<KnownTimes>,
    /// For a cluster: number of simulations with random run times, which give the range of each start [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub draws: Option<u32>,
    /// For a cluster: percentage of the starts that the ranges contain [default: 80]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(50..=99))]
    pub range: Option<u32>,
    /// For a cluster: file with earlier forecasts, which calibrate the ranges [default: with --from slurm, the history;
    /// see docs/history.md]
    #[arg(long, value_name = "FILE", conflicts_with = "no_history")]
    pub history: Option<PathBuf>,
    /// For a cluster: neither calibrate the ranges nor record the forecasts
    #[arg(long)]
    pub no_history: bool,
    /// Show only the jobs of this user
    #[arg(long, value_name = "USER", value_parser = NonEmptyStringValueParser::new())]
    pub user: Option<String>,
    /// For a service: jobs of these states, or all [default: held,waiting,running]
    #[cfg(feature = "service")]
    #[arg(long, value_name = "STATE,STATE..", value_delimiter = ',', value_parser = super::service::state)]
    #[arg(conflicts_with_all = ["from", "job", "what_if", "watch", "report", "past", "times", "draws", "range"])]
    #[arg(conflicts_with_all = ["history", "no_history"])]
    pub state: Vec<super::AnyState>,
    /// Maximum number of jobs to show, also on a page; for a cluster, of pending and of running jobs [default: 1000, and
    /// 20 running jobs; all on a page and with --format json]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: QueueFormat,
    #[cfg(feature = "service")]
    #[command(flatten)]
    pub connection: super::ConnectionOptions,
}

impl QueueOptions {
    /// Returns the given options that select a part of one queue, or repeat the output.
    pub fn of_part(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [
            (self.job.is_some(), "--job"),
            (self.what_if.is_some(), "--what-if"),
            (self.user.is_some(), "--user"),
            (self.limit.is_some(), "--limit"),
            (self.watch.is_some(), "--watch"),
        ];
        all.into_iter().filter_map(|(is_given, name)| is_given.then_some(name))
    }
}

#[cfg(feature = "service")]
impl QueueOptions {
    /// Returns the first given option that only the queue of a cluster supports.
    pub fn of_cluster(&self) -> Option<&'static str> {
        let given = [
            (self.job.is_some(), "--job"),
            (self.what_if.is_some(), "--what-if"),
            (self.watch.is_some(), "--watch"),
            (self.report.is_some(), "--report"),
            (self.past.is_some(), "--past"),
            (self.times.is_some(), "--times"),
            (self.draws.is_some(), "--draws"),
            (self.range.is_some(), "--range"),
            (self.history.is_some(), "--history"),
            (self.no_history, "--no-history"),
            (self.format == QueueFormat::Prometheus, "--format prometheus"),
        ];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Returns true if no option and no environment variable names a service.
    pub fn names_no_service(&self) -> bool {
        let super::ConnectionOptions { url, token_file, ca } = &self.connection;
        let variables = ["MAKESPAN_URL", "MAKESPAN_STORE", "MAKESPAN_TOKEN_FILE"];
        url.is_none()
            && token_file.is_none()
            && ca.is_none()
            && variables.iter().all(|name| std::env::var_os(name).is_none())
    }
}

/// The format of a queue.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QueueFormat {
    /// Text for people
    Text,
    /// JSON for programs; stable and documented in docs/formats.md
    Json,
    /// For a cluster: metrics in the text format of Prometheus; see docs/queue.md
    Prometheus,
}

/// The source of the predicted run times of a cluster's jobs.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KnownTimes {
    /// Learn from ended jobs of this cluster; without such jobs, as `usual`
    #[default]
    Learned,
    /// Learn nothing. Assume that jobs use as much of their time limits as the jobs in public logs do
    Usual,
    /// Learn nothing; every job runs until its time limit
    Limits,
}

impl From<KnownTimes> for RunTimes {
    fn from(times: KnownTimes) -> Self {
        match times {
            KnownTimes::Learned => Self::Learned,
            KnownTimes::Usual => Self::Usual,
            KnownTimes::Limits => Self::Limits,
        }
    }
}
