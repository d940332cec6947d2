//! The arguments of `makespan history`, and which history other commands use.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

/// Which history times are estimated from, and what runs is added to.
#[derive(Args)]
pub struct HistoryChoice {
    /// Estimate times from this history, and add what runs to it [default: ~/.local/share/makespan/history.sqlite, or where the
    /// environment says; docs/history.md]
    #[arg(long, value_name = "FILE", conflicts_with = "no_history")]
    pub history: Option<PathBuf>,
    /// Neither read nor write a history
    #[arg(long)]
    pub no_history: bool,
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
    /// Remove records for good
    Forget(HistoryForgetOptions),
    /// Write records as CSV
    Export(HistoryExportOptions),
}

/// Which records.
#[derive(Args)]
pub struct HistoryFilter {
    /// The history [default: ~/.local/share/makespan/history.sqlite, or where the environment says; docs/history.md]
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Select only records with a command that matches this pattern, such as 'gzip *'
    ///
    /// In a pattern, * matches any text, and ? matches any single character
    #[arg(long, value_name = "PATTERN")]
    pub command: Option<String>,
    /// Records of this machine
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Records older than this, such as 90d
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
}

#[derive(Args)]
pub struct HistoryListOptions {
    #[command(flatten)]
    pub filter: HistoryFilter,
    /// Show this many of the latest records [default: 20; with --format json all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args)]
pub struct HistoryForgetOptions {
    #[command(flatten)]
    pub filter: HistoryFilter,
    /// All records
    #[arg(long, conflicts_with_all = ["command", "host", "older_than"], required_unless_present_any = ["command", "host", "older_than"])]
    pub all: bool,
}

#[derive(Args)]
pub struct HistoryExportOptions {
    #[command(flatten)]
    pub filter: HistoryFilter,
    /// Where to write [default: standard output]
    #[arg(long, short, value_name = "FILE.csv")]
    pub output: Option<PathBuf>,
    /// Write commands as they are, also those that a spreadsheet takes for formulas (beginning with = + - or @), which are written
    /// behind an apostrophe otherwise
    #[arg(long)]
    pub raw_names: bool,
}
