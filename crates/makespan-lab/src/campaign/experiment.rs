//! The description of a campaign: its runs, its measure and its report.

use std::path::Path;

use clap::{Args, Command};
use makespan_cli::shards::{Shard, build};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::output::File;
use super::{Claim, Ran, Search};
use crate::LabError;

/// An experiment of many runs. It defines the options, the runs, the measurement of each run, and the report.
/// `reproduce` does the rest.
pub trait Campaign: Args + Sync {
    /// The name on the command line.
    const NAME: &'static str;
    /// The paper whose experiments are repeated, or the subject of the measurements.
    const PAPER: &'static str;
    /// The name of the runs, in the plural.
    const UNIT: &'static str;
    /// True if wall times are among the results.
    const MEASURES_TIME: bool = false;
    /// The result of a run: the instance and the measurements.
    type Run: Ran + Serialize + DeserializeOwned + Send;

    /// Adds the options to a command.
    fn arguments(command: Command) -> Command {
        Self::augment_args(command)
    }

    /// Returns the default options.
    fn usual() -> Self {
        let matches = Self::arguments(Command::new(Self::NAME)).try_get_matches_from([Self::NAME]);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).expect("every option has a default")
    }

    /// Rejects options with which nothing would be measured.
    fn check(&self) -> Result<(), LabError>;

    /// Returns the options that influence a run. Runs of another version are not taken from the journal.
    fn version(&self) -> String;

    /// Returns the options of the optimiser, if its plans are measured.
    fn search(&self) -> Option<&Search> {
        None
    }

    /// Returns the number of runs at the same time; `None` means one for each core.
    fn threads(&self) -> Option<usize> {
        self.search().map(|search| search.at_once)
    }

    /// Returns the keys of the runs, in the order in which they start.
    fn keys(&self) -> Vec<KeyOf<Self>>;

    /// Measures a run.
    fn measure(&self, key: KeyOf<Self>) -> Result<Self::Run, LabError>;

    /// Returns the tables, figures and verdicts of the runs, which are in the order of their keys.
    fn report(&self, runs: &[Self::Run]) -> Result<Report, LabError>;

    /// Returns a campaign that belongs to this one and runs after it, with its own threads and a folder of its name.
    fn part(&self) -> Option<Box<dyn AnyCampaign>> {
        None
    }
}

/// The key of a campaign's runs.
pub(super) type KeyOf<C> = <<C as Campaign>::Run as Ran>::Key;

/// A campaign of any type.
pub trait AnyCampaign {
    /// Returns the name on the command line.
    fn name(&self) -> &'static str;

    /// Runs the campaign.
    ///
    /// # Errors
    /// The errors of `reproduce`.
    fn reproduce(&self, folder: &Path, progress: &mut dyn Progress) -> Result<Summary, LabError>;

    /// Returns the program version and the options that influence runs, including those of a part.
    ///
    /// # Errors
    /// `LabError` if an option is invalid, or this program cannot be read.
    fn version(&self) -> Result<String, LabError>;

    /// Returns the amount of work for a folder.
    ///
    /// # Errors
    /// `LabError` if an option is invalid, or a file cannot be read.
    fn size(&self, folder: &Path) -> Result<Size, LabError>;

    /// Measures the unfinished runs of a shard. [`Self::reproduce`] finds them in the folder.
    ///
    /// # Errors
    /// The errors of `reproduce`.
    fn work(&self, folder: &Path, shard: Shard) -> Result<(), LabError>;
}

/// The amount of work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Number of runs of the campaign, or of its part if that has more. Additional shards have no work.
    pub runs: usize,
    /// Number of unfinished runs of the campaign and its part.
    pub missing: usize,
    /// Number of threads that a run uses.
    pub processors: usize,
}

/// The report of a campaign.
#[derive(Clone, Debug)]
pub struct Report {
    /// The method and the tables.
    pub text: String,
    /// The claims with verdicts.
    pub claims: Vec<Claim>,
    /// Tables and figures with the names of their files.
    pub files: Vec<File>,
}

/// The result of a campaign.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The claims with verdicts. The claims of a part come last.
    pub claims: Vec<Claim>,
    /// Number of runs in the results.
    pub runs: usize,
    /// Number of these runs that an earlier campaign had finished.
    pub reused: usize,
    /// The whole result as text.
    pub text: String,
}

/// Returns the program version and the options that influence runs.
pub(super) fn version<C: Campaign>(campaign: &C) -> Result<String, LabError> {
    let build = build().map_err(LabError::file("the running program".as_ref()))?;
    Ok(format!("build {build:016x}; journal 3; {}", campaign.version()))
}

/// Receives the progress of a campaign, on the thread that started it.
pub trait Progress {
    /// Called before the first run with the number of all runs and of those that an earlier campaign has finished.
    fn started(&mut self, total: usize, reused: usize);
    /// Called after each run.
    fn finished(&mut self, done: usize, total: usize);
}

/// Ignores all calls.
#[cfg(test)]
pub(crate) struct Silent;

#[cfg(test)]
impl Progress for Silent {
    fn started(&mut self, _total: usize, _reused: usize) {}
    fn finished(&mut self, _done: usize, _total: usize) {}
}
