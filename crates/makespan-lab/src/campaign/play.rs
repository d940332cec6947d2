//! The one way in which every campaign is played.

use std::fs;
use std::path::Path;

use clap::{Args, Command};
use makespan_cli::shards::{Shard, build};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::finish::Finished;
use super::shard::{self, Size};
use super::{Claim, Progress, claims_markdown, claims_text, finish, write, write_result};
use crate::LabError;

/// What is said of wall times that were not measured on one machine alone.
const SHARDED: &str =
    "Times were measured in shards: several instances at the same time, on the machines that these ran on.\n";

/// An experiment of many runs: its options, which runs it has, what is measured in each, and what is said about them.
/// Everything else is [`reproduce`]'s.
pub trait Campaign: Args + Sync {
    /// The word on the command line.
    const NAME: &'static str;
    /// The paper whose experiments are repeated, or what is measured.
    const PAPER: &'static str;
    /// What the runs are called.
    const UNIT: &'static str;
    /// Whether wall times are among the results.
    const MEASURES_TIME: bool = false;
    /// Which run.
    type Key: Copy + Ord + Send;
    /// What was measured in a run.
    type Run: Serialize + DeserializeOwned + Send;
    /// The runs summed up.
    type Points;

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

    /// How many runs at the same time; one a core without it.
    fn threads(&self) -> Option<usize>;

    /// How many threads a run keeps busy.
    fn processors(&self) -> usize {
        1
    }

    /// The runs, in the order in which they start.
    fn keys(&self) -> Vec<Self::Key>;

    /// Which run this is.
    fn key(run: &Self::Run) -> Self::Key;

    /// Does a run.
    fn measure(&self, key: Self::Key) -> Result<Self::Run, LabError>;

    /// What is said about the runs, which come in the order of their keys.
    fn report(&self, runs: &[Self::Run]) -> Result<Report<Self::Points>, LabError>;

    /// A campaign that belongs to this one and is played after it, with threads of its own and a folder of its name.
    fn part(&self) -> Option<Box<dyn AnyCampaign>> {
        None
    }
}

/// A campaign of any type.
pub trait AnyCampaign {
    /// The word on the command line.
    fn name(&self) -> &'static str;

    /// Plays it.
    ///
    /// # Errors
    /// As [`reproduce`].
    fn reproduce(&self, folder: &Path, progress: &mut dyn Progress) -> Result<Summary<()>, LabError>;

    /// What runs depend on besides their keys: the program and its options. Runs of a part depend on more.
    ///
    /// # Errors
    /// [`LabError`] when an option is unusable, or this program cannot be read.
    fn version(&self) -> Result<String, LabError>;

    /// How much there is to do in a folder.
    ///
    /// # Errors
    /// [`LabError`] when an option is unusable, or a file cannot be read.
    fn size(&self, folder: &Path) -> Result<Size, LabError>;

    /// Does the runs of a shard that nobody has finished; [`Self::reproduce`] finds them in the folder.
    ///
    /// # Errors
    /// As [`reproduce`].
    fn work(&self, folder: &Path, shard: Shard) -> Result<(), LabError>;
}

impl<C: Campaign> AnyCampaign for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn reproduce(&self, folder: &Path, progress: &mut dyn Progress) -> Result<Summary<()>, LabError> {
        let Summary { claims, runs, reused, text, .. } = reproduce(self, folder, progress)?;
        Ok(Summary { points: (), claims, runs, reused, text })
    }

    fn version(&self) -> Result<String, LabError> {
        self.check()?;
        let part = self.part().map(|part| part.version()).transpose()?;
        Ok(version(self)? + &part.map_or_else(String::new, |part| format!("; {part}")))
    }

    fn size(&self, folder: &Path) -> Result<Size, LabError> {
        refuse_file(folder)?;
        shard::size(self, folder)
    }

    fn work(&self, folder: &Path, shard: Shard) -> Result<(), LabError> {
        shard::work(self, folder, shard)
    }
}

/// What a campaign says about its runs.
#[derive(Clone, Debug)]
pub struct Report<P> {
    /// The runs summed up.
    pub points: P,
    /// How it was measured, and tables.
    pub text: String,
    /// What is claimed, with verdicts.
    pub claims: Vec<Claim>,
    /// Tables and figures by names of files.
    pub files: Vec<(String, Vec<u8>)>,
}

/// What a campaign found.
#[derive(Clone, Debug)]
pub struct Summary<P> {
    /// The runs summed up.
    pub points: P,
    /// What is claimed, with verdicts; those of a part come last.
    pub claims: Vec<Claim>,
    /// Runs in the results.
    pub runs: usize,
    /// Runs among them that an earlier campaign had finished.
    pub reused: usize,
    /// All this as text.
    pub text: String,
}

/// Plays a campaign and writes its tables, its figures (as SVG, PDF and, where they have data, for LaTeX), `report.txt` and `claims.md` to a folder, made when missing. A
/// journal in the folder keeps finished runs, so that an interrupted campaign goes on where it stopped.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be read or written, or a plan or bound turns out wrong.
pub fn reproduce<C: Campaign>(
    campaign: &C,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<Summary<C::Points>, LabError> {
    campaign.check()?;
    positive(&[("threads", campaign.threads().unwrap_or(1))])?;
    refuse_file(folder)?;
    made(folder)?;
    let Finished { runs, reused, sharded } = finish(campaign, folder, &version(campaign)?, progress)?;
    let Report { points, mut text, claims, files } = campaign.report(&runs)?;
    if sharded && C::MEASURES_TIME {
        text += SHARDED;
    }
    files.iter().try_for_each(|file| write_result(folder, file))?;
    write(folder, "claims.md", format!("# {}\n\n{}", C::PAPER, claims_markdown(&claims)).as_bytes())?;
    let text = format!("{text}\nClaims\n{}\n", claims_text(&claims));
    let mut summary = Summary { points, claims, runs: runs.len(), reused, text };
    if let Some(part) = campaign.part() {
        let part = part.reproduce(&folder.join(part.name()), progress)?;
        summary.claims.extend(part.claims);
        summary.runs += part.runs;
        summary.reused += part.reused;
        summary.text += &format!("\n{}", part.text);
    }
    write(folder, "report.txt", summary.text.as_bytes())?;
    Ok(summary)
}

/// What runs depend on besides their keys.
pub(super) fn version<C: Campaign>(campaign: &C) -> Result<String, LabError> {
    let build = build().map_err(LabError::file("the running program".as_ref()))?;
    Ok(format!("build {build:016x}; journal 3; {}", campaign.version()))
}

/// Makes a folder, with those above it.
pub(super) fn made(folder: &Path) -> Result<(), LabError> {
    fs::create_dir_all(folder).map_err(LabError::file(folder))
}

fn refuse_file(folder: &Path) -> Result<(), LabError> {
    if folder.exists() && !folder.is_dir() { Err(LabError::NoFolder(folder.to_owned())) } else { Ok(()) }
}

/// An option that is refused.
pub(crate) fn refuse(name: &'static str, value: impl Into<String>, expected: &'static str) -> Result<(), LabError> {
    Err(LabError::Option { name, value: value.into(), expected })
}

/// Refuses the first option that is 0.
pub(crate) fn positive(counts: &[(&'static str, usize)]) -> Result<(), LabError> {
    counts.iter().filter(|(_, count)| *count == 0).try_for_each(|(name, _)| refuse(name, "0", "it must be at least 1"))
}
