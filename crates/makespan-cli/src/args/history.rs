//! The options of `makespan history`, and the options with which other commands select the history.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

/// Options that select the history to read and write.
#[derive(Args, Clone)]
pub struct HistoryChoice {
    /// Estimate times from this history, and record runs in it [default: ~/.local/share/makespan/history.sqlite, or the
    /// location that the environment states; see docs/history.md]
    #[arg(long, value_name = "FILE", conflicts_with = "no_history")]
    pub history: Option<PathBuf>,
    /// Neither read nor write a history
    #[arg(long)]
    pub no_history: bool,
}

/// Where the memory of jobs comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MemorySource {
    /// Only amounts that jobs state.
    #[default]
    Stated,
    /// Peaks of earlier runs of the same command or of similar commands.
    Learned,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct HistoryOptions {
    #[command(subcommand)]
    pub action: Option<HistoryAction>,
    #[command(flatten)]
    pub list: HistoryListOptions,
}

#[derive(Subcommand)]
pub enum HistoryAction {
    /// Delete records permanently
    Forget(HistoryForgetOptions),
    /// Write records as CSV
    Export(HistoryExportOptions),
}

/// Options that select records.
#[derive(Args)]
pub struct HistoryFilter {
    /// The history [default: ~/.local/share/makespan/history.sqlite, or the location that the environment states; see
    /// docs/history.md]
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Select only records with a command that matches this pattern, such as 'gzip *'
    ///
    /// In a pattern, * matches any text, and ? matches any single character
    #[arg(long, value_name = "PATTERN")]
    pub command: Option<String>,
    /// Select only records of this machine
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Select only records older than this, such as 90d
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
}

#[derive(Args)]
pub struct HistoryListOptions {
    #[command(flatten)]
    pub filter: HistoryFilter,
    /// Compare the memory that jobs state with the memory that they used, and print amounts to state
    #[arg(long, conflicts_with_all = ["limit", "older_than"])]
    pub advice: bool,
    /// With --advice, read the jobs from this output of sacct instead of the history; see docs/history.md for the
    /// columns
    #[arg(long, value_name = "FILE", requires = "advice", conflicts_with_all = ["history", "command", "host"])]
    pub sacct: Option<PathBuf>,
    /// With --advice, also write the table as CSV
    #[arg(long, value_name = "FILE.csv", requires = "advice")]
    pub csv: Option<PathBuf>,
    /// With --csv, write names into CSV unchanged
    #[arg(long, requires = "csv")]
    pub raw_names: bool,
    /// Show this many of the latest records [default: 20; with --format json all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args)]
pub struct HistoryForgetOptions {
    #[command(flatten)]
    pub filter: HistoryFilter,
    /// Delete all records
    #[arg(long, conflicts_with_all = ["command", "host", "older_than"], required_unless_present_any = ["command", "host", "older_than"])]
    pub all: bool,
}

#[derive(Args)]
pub struct HistoryExportOptions {
    #[command(flatten)]
    pub filter: HistoryFilter,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE.csv")]
    pub output: Option<PathBuf>,
    /// Write commands into CSV unchanged
    ///
    /// Without this option, commands that a spreadsheet reads as formulas (they begin with = + - or @) get an
    /// apostrophe in front
    #[arg(long)]
    pub raw_names: bool,
}
