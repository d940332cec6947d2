//! The definition of a campaign: its runs, the measurement of a run, and the report.

use std::path::Path;

use clap::{Args, Command};
use makespan_cli::shards::{Shard, build};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::output::File;
use super::{AnyRun, Claim, SearchOptions};
use crate::LabError;

/// An experiment of many runs. An implementation defines the options, the runs, the measurement of each run, and the
/// report. The function `reproduce` uses this implementation to run the whole campaign.
pub trait Campaign: Args + Sync {
    /// The name on the command line.
    const NAME: &'static str;
    /// The paper that describes the experiments. If there is no paper, the subject of the measurements.
    const PAPER: &'static str;
    /// The plural noun for the runs in messages, such as `graphs`.
    const UNIT: &'static str;
    /// True if the results contain wall times.
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

    /// Returns an error if an option is invalid, or if the options select no runs.
    fn check(&self) -> Result<(), LabError>;

    /// Formats the options that influence a run. The journal stores this text with each run. A run in the journal is
    /// reused only if its text is equal to the current text.
    fn version(&self) -> String;

    /// Returns the options of the optimiser, if the campaign measures plans of the optimiser.
    fn search(&self) -> Option<&SearchOptions> {
        None
    }

    /// Returns the number of threads that measure runs. `None` means one thread for each core.
    fn threads(&self) -> Option<usize> {
        self.search().map(|search| search.at_once)
    }

    /// Returns the keys of the runs, in the order in which they start.
    fn keys(&self) -> Vec<KeyOf<Self>>;

    /// Measures a run.
    fn measure(&self, key: KeyOf<Self>) -> Result<Self::Run, LabError>;

    /// Returns the tables, figures and verdicts. `runs` is sorted by key.
    fn report(&self, runs: &[Self::Run]) -> Result<CampaignReport, LabError>;

    /// Returns the second part of this campaign, or `None` if there is no second part. The second part is another
    /// campaign, which runs afterwards, with its own number of threads. It writes its results to a subfolder that has
    /// its name.
    fn part(&self) -> Option<Box<dyn AnyCampaign>> {
        None
    }
}

/// The key of a campaign's runs.
pub(super) type KeyOf<C> = <<C as Campaign>::Run as AnyRun>::Key;

/// Object-safe version of `Campaign`, for the table of all campaigns.
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

    /// Returns the size of the campaign. A run is missing if the folder does not contain its results.
    ///
    /// # Errors
    /// `LabError` if an option is invalid, or a file cannot be read.
    fn size(&self, folder: &Path) -> Result<CampaignSize, LabError>;

    /// Measures the unfinished runs of a shard, and writes their results to the folder. Afterwards, [`Self::reproduce`]
    /// uses these results.
    ///
    /// # Errors
    /// The errors of `reproduce`.
    fn work(&self, folder: &Path, shard: Shard) -> Result<(), LabError>;
}

/// The size of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CampaignSize {
    /// Number of runs of the campaign, or of its second part (`Campaign::part`) if that number is larger. More shards
    /// than this number would be useless, because some shards would have no runs.
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
    /// Number of all runs.
    pub runs: usize,
    /// Number of runs that were not measured again, because the journal of an earlier campaign contains their results.
    pub reused: usize,
    /// The whole result as text.
    pub text: String,
}

/// Returns the program version and the options that influence runs.
pub(super) fn version<C: Campaign>(campaign: &C) -> Result<String, LabError> {
    let build = build().map_err(LabError::file("the running program".as_ref()))?;
    Ok(format!("build {build:016x}; journal 3; {}", campaign.version()))
}

/// Receives the progress of a campaign. The calls come from the thread that started the campaign.
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
