//! The arguments of the commands that show a run or a job of a service.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[cfg(feature = "service")]
use super::ConnectionOptions;
use super::Format;

#[derive(Args)]
pub struct JobOptions {
    /// The number of a job of a service, or the folder of a run
    pub target: JobTarget,
    /// The name of a job of the run, or its number in the list (only with a folder)
    #[arg(value_name = "JOB")]
    pub job: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[cfg(feature = "service")]
    #[command(flatten)]
    pub connection: ConnectionOptions,
}

/// A job of a service, or the folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobTarget {
    Number(u64),
    Folder(PathBuf),
}

impl From<OsString> for JobTarget {
    /// Parses the argument. A number is the number of a job, so a folder with the name `7` must be written `./7`.
    fn from(word: OsString) -> Self {
        let number = word.to_str().and_then(|word| word.parse().ok());
        number.map_or_else(|| Self::Folder(word.into()), Self::Number)
    }
}

#[derive(Args)]
pub struct LogsOptions {
    /// The number of a job of a service, or the folder of a run
    ///
    /// The outputs of a run are printed in the order of the list, each to standard output and standard error as the job
    /// wrote it. A file that is missing or truncated is an error
    pub target: JobTarget,
    /// Continue until the task has ended
    #[arg(long, short)]
    pub follow: bool,
    /// Print only the standard error of the jobs, to standard output
    #[arg(long)]
    pub err: bool,
    /// For a job of a service: number of the task, counted from 0 [default: 0]
    #[arg(long, value_name = "N")]
    pub task: Option<u64>,
    #[cfg(feature = "service")]
    #[command(flatten)]
    pub connection: ConnectionOptions,
}
