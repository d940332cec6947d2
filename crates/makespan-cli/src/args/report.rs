//! The options of `makespan report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args)]
pub struct ReportOptions {
    /// Log of the jobs that ran: a dump of sacct, an SWF log or a workload of Batsim; - is standard input
    ///
    /// The file may be compressed with gzip or bzip2
    pub log: PathBuf,
    /// Properties by which jobs are grouped, separated by commas, such as account,user,partition
    ///
    /// The report has a table for each property
    #[arg(long, value_enum, value_name = "PROPERTIES", value_delimiter = ',')]
    pub by: Vec<ReportProperty>,
    /// Also report each month
    #[arg(long)]
    pub month: bool,
    /// Number of processors of the machine, instead of the number in the log
    #[arg(long, value_name = "N", value_parser = super::machines::positive, allow_hyphen_values = true)]
    pub processors: Option<u32>,
    /// Cluster that wrote the log: slurm, or a folder with saved output of Slurm's commands
    #[arg(long, value_name = "slurm|FOLDER", conflicts_with = "processors")]
    pub from: Option<String>,
    /// Maximum number of groups in each table of the text [default: 20]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub advice: BackfillOptions,
    /// Refuse a log if a record would be skipped or changed
    #[arg(long)]
    pub strict: bool,
    /// With --format csv, write names unchanged
    ///
    /// Without this option, names that a spreadsheet reads as formulas (they begin with = + - or @) get an apostrophe in
    /// front
    #[arg(hide_short_help = true, long)]
    pub raw_names: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
}

/// Options of the advice about backfill.
#[derive(Args)]
pub struct BackfillOptions {
    /// Instead of a report, simulate the log with other parameters of Slurm's backfill, and print which parameter binds
    ///
    /// The differences of waits and slowdowns have ranges. See docs/report.md
    #[arg(long, conflicts_with_all = ["by", "month", "limit", "raw_names"])]
    pub backfill: bool,
    /// With --backfill, the present policy, such as `slurm[bf_window=2880]` [default: slurm, with the parameters of the
    /// cluster that --from names]
    #[arg(long, value_name = "SPEC", requires = "backfill")]
    pub policy: Option<String>,
    /// With --backfill, the seed of the resamples
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, requires = "backfill")]
    pub seed: u64,
}

/// A property by which jobs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportProperty {
    /// The account that is charged; in SWF logs, the number of the group
    Account,
    /// The user
    User,
    /// The partition
    Partition,
    /// The class of service
    Qos,
}

impl ReportProperty {
    pub fn word(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::User => "user",
            Self::Partition => "partition",
            Self::Qos => "qos",
        }
    }
}

/// The format of a report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text for people
    Text,
    /// JSON for programs; stable and documented in docs/report.md
    Json,
    /// A table with one row for each group and month
    Csv,
}
