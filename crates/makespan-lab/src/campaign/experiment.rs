//! The description of a campaign: its runs, its measure and its report.

use std::path::Path;

use clap::{Args, Command};
use makespan_cli::shards::{Shard, build};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::output::File;
use super::{AnyRun, Claim, SearchOptions};
use crate::LabError;

/// An experiment of many runs. An implementation defines the options, the runs, the measurement of each run, and the
/// report. The function `reproduce` does everything else.
pub trait Campaign: Args + Sync {
    /// The name on the command line.
    const NAME: &'static str;
    /// The paper with the experiments to repeat, or the subject of the measurements.
    const PAPER: &'static str;
    /// The plural noun for the runs in messages, such as `graphs`.
    const UNIT: &'static str;
    /// True if wall times are among the results.
    const MEASURES_TIME: bool = false;
    /// The type of the result of a run. A result contains data of the instance and the measurements.
    type Run: AnyRun + Serialize + DeserializeOwned + Send;

    /// Adds the options to a command.
    fn arguments(command: Command) -> Command {
        Self::augment_args(command)
    }

    /// Returns the default options.
    fn usual() -> Self {
        let matches = Self::arguments(Command::new(Self::NAME)).try_get_matches_from([Self::NAME]);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).expect("every option has a default")
    }

    /// Returns an error if nothing would be measured with these options.
    fn check(&self) -> Result<(), LabError>;

    /// Returns the options that influence a run, as text. The journal stores this text. A run in the journal is reused
    /// only if the text has not changed.
    fn version(&self) -> String;

    /// Returns the options of the optimiser, if the campaign measures plans of the optimiser.
    fn search(&self) -> Option<&SearchOptions> {
        None
    }

    /// Returns the number of runs that are measured at the same time. `None` means one run for each core.
    fn threads(&self) -> Option<usize> {
        self.search().map(|search| search.at_once)
    }

    /// Returns the keys of the runs, in the order in which they start.
    fn keys(&self) -> Vec<KeyOf<Self>>;

    /// Measures a run.
    fn measure(&self, key: KeyOf<Self>) -> Result<Self::Run, LabError>;

    /// Returns the tables, figures and verdicts. `runs` is sorted by key.
    fn report(&self, runs: &[Self::Run]) -> Result<CampaignReport, LabError>;

    /// Returns the second part of this campaign, if it has one. The second part is a campaign that runs after this
    /// one, with its own number of threads. It writes its results to a subfolder with its own name.
    fn part(&self) -> Option<Box<dyn AnyCampaign>> {
        None
    }
}

/// The key of a campaign's runs.
pub(super) type KeyOf<C> = <<C as Campaign>::Run as AnyRun>::Key;

/// A campaign of any type.
pub trait AnyCampaign {
    /// Returns the name on the command line.
    fn name(&self) -> &'static str;

    /// Runs the campaign.
    ///
    /// # Errors
    /// The errors of `reproduce`.
    fn reproduce(&self, folder: &Path, progress: &mut dyn Progress) -> Result<Summary, LabError>;

    /// Returns the program version and the options that influence runs, including the options of `Campaign::part`.
    ///
    /// # Errors
    /// `LabError` if an option is invalid, or this program cannot be read.
    fn version(&self) -> Result<String, LabError>;

    /// Returns the size of the campaign. Runs with results in the folder are not missing.
    ///
    /// # Errors
    /// `LabError` if an option is invalid, or a file cannot be read.
    fn size(&self, folder: &Path) -> Result<CampaignSize, LabError>;

    /// Measures the unfinished runs of a shard, and writes the results to the folder, where [`Self::reproduce`] finds
    /// them.
    ///
    /// # Errors
    /// The errors of `reproduce`.
    fn work(&self, folder: &Path, shard: Shard) -> Result<(), LabError>;
}

/// The size of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CampaignSize {
    /// Number of runs of the campaign or of its second part (`Campaign::part`), whichever is larger. Shards beyond this
    /// number would have no runs.
    pub runs: usize,
    /// Number of unfinished runs, including the runs of the second part (`Campaign::part`).
    pub missing: usize,
    /// Number of threads that a run uses.
    pub processors: usize,
}

/// The report of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignReport {
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
    /// The claims with verdicts. The claims of the second part come last.
    pub claims: Vec<Claim>,
    /// Number of runs in the results.
    pub runs: usize,
    /// Number of runs with results that an earlier campaign had stored in the journal.
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
    /// Called before the first run. `total` is the number of all runs, and `reused` is the number of runs that an
    /// earlier campaign finished.
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
