//! The description of a campaign: its runs, its measure and its report.

use std::path::Path;

use clap::{Args, Command};
use makespan_cli::shards::{Shard, build};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::output::File;
use super::{Claim, Ran, Search};
use crate::LabError;

/// An experiment of many runs: its options, which runs it has, what is measured in each, and what is said about them.
/// Everything else is `reproduce`'s.
pub trait Campaign: Args + Sync {
    /// The word on the command line.
    const NAME: &'static str;
    /// The paper whose experiments are repeated, or what is measured.
    const PAPER: &'static str;
    /// What the runs are called.
    const UNIT: &'static str;
    /// Whether wall times are among the results.
    const MEASURES_TIME: bool = false;
    /// An instance with what was measured.
    type Run: Ran + Serialize + DeserializeOwned + Send;

    /// The options as the command line has them.
    fn arguments(command: Command) -> Command {
        Self::augment_args(command)
    }

    /// The options that the command line takes when none is given.
    fn usual() -> Self {
        let matches = Self::arguments(Command::new(Self::NAME)).try_get_matches_from([Self::NAME]);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).expect("every option has a default")
    }

    /// Refuses options that measure nothing.
    fn check(&self) -> Result<(), LabError>;

    /// What a run depends on besides its key and the program. Runs of another version are not taken from the journal.
    fn version(&self) -> String;

    /// Returns the part of the optimiser, if its plans are measured.
    fn search(&self) -> Option<&Search> {
        None
    }

    /// Returns the number of runs at the same time; `None` means one for each core.
    fn threads(&self) -> Option<usize> {
        self.search().map(|search| search.at_once)
    }

    /// Returns the keys of the runs, in the order in which they start.
    fn keys(&self) -> Vec<KeyOf<Self>>;

    /// Does a run.
    fn measure(&self, key: KeyOf<Self>) -> Result<Self::Run, LabError>;

    /// Returns the tables, figures and verdicts of runs, which come in the order of their keys.
    fn report(&self, runs: &[Self::Run]) -> Result<Report, LabError>;

    /// A campaign that belongs to this one and is played after it, with threads of its own and a folder of its name.
    fn part(&self) -> Option<Box<dyn AnyCampaign>> {
        None
    }
}

/// The key of a campaign's runs.
pub(super) type KeyOf<C> = <<C as Campaign>::Run as Ran>::Key;

/// A campaign of any type.
pub trait AnyCampaign {
    /// The word on the command line.
    fn name(&self) -> &'static str;

    /// Plays it.
    ///
    /// # Errors
    /// As `reproduce`.
    fn reproduce(&self, folder: &Path, progress: &mut dyn Progress) -> Result<Summary, LabError>;

    /// What runs depend on besides their keys: the program and its options. Runs of a part depend on more.
    ///
    /// # Errors
    /// `LabError` when an option is unusable, or this program cannot be read.
    fn version(&self) -> Result<String, LabError>;

    /// How much there is to do in a folder.
    ///
    /// # Errors
    /// `LabError` when an option is unusable, or a file cannot be read.
    fn size(&self, folder: &Path) -> Result<Size, LabError>;

    /// Does the runs of a shard that nobody has finished; [`Self::reproduce`] finds them in the folder.
    ///
    /// # Errors
    /// As `reproduce`.
    fn work(&self, folder: &Path, shard: Shard) -> Result<(), LabError>;
}

/// How much there is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Runs of the campaign, or of its part where that has more: no more shards than this have anything to do.
    pub runs: usize,
    /// Runs of both that nobody has finished.
    pub missing: usize,
    /// Threads that a run keeps busy.
    pub processors: usize,
}

/// What a campaign says about its runs.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it was measured, and tables.
    pub text: String,
    /// What is claimed, with verdicts.
    pub claims: Vec<Claim>,
    /// Tables and figures by names of files.
    pub files: Vec<File>,
}

/// What a campaign found.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What is claimed, with verdicts; those of a part come last.
    pub claims: Vec<Claim>,
    /// Runs in the results.
    pub runs: usize,
    /// Runs among them that an earlier campaign had finished.
    pub reused: usize,
    /// All this as text.
    pub text: String,
}

/// What runs depend on besides their keys.
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
