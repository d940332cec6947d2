//! The one way in which every campaign is played.

use std::fs;
use std::path::Path;

use clap::{Args, Command};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Claim, Progress, build, claims_markdown, claims_text, finish, write};
use crate::LabError;

/// An experiment of many runs: its options, which runs it has, what is measured in each, and what is said about them.
/// Everything else is [`reproduce`]'s.
pub trait Campaign: Args + Sync {
    /// The word on the command line.
    const NAME: &'static str;
    /// The paper whose experiments are repeated, or what is measured.
    const PAPER: &'static str;
    /// What the runs are called.
    const UNIT: &'static str;
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

    /// The runs, in the order in which they start.
    fn keys(&self) -> Vec<Self::Key>;

    /// Which run this is.
    fn key(run: &Self::Run) -> Self::Key;

    /// Does a run.
    fn measure(&self, key: Self::Key) -> Result<Self::Run, LabError>;

    /// What is said about the runs, which come in the order of their keys.
    fn report(&self, runs: &[Self::Run]) -> Result<Report<Self::Points>, LabError>;

    /// A campaign that belongs to this one and is played after it, with a folder and threads of its own.
    fn part(&self, _folder: &Path, _progress: &mut dyn Progress) -> Result<Option<Summary<()>>, LabError> {
        Ok(None)
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

/// Plays a campaign and writes its tables and figures, `report.txt` and `claims.md` to a folder, made when missing. A
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
    if folder.exists() && !folder.is_dir() {
        return Err(LabError::NoFolder(folder.to_owned()));
    }
    fs::create_dir_all(folder).map_err(LabError::file(folder))?;
    let version = format!("build {:016x}; journal 3; {}", build()?, campaign.version());
    let (runs, reused) = finish(campaign, folder, &version, progress)?;
    let Report { points, text, claims, files } = campaign.report(&runs)?;
    for (name, contents) in files {
        write(folder, &name, &contents)?;
    }
    write(folder, "claims.md", format!("# {}\n\n{}", C::PAPER, claims_markdown(&claims)).as_bytes())?;
    let text = format!("{text}\nClaims\n{}\n", claims_text(&claims));
    let mut summary = Summary { points, claims, runs: runs.len(), reused, text };
    if let Some(part) = campaign.part(folder, progress)? {
        summary.claims.extend(part.claims);
        summary.runs += part.runs;
        summary.reused += part.reused;
        summary.text += &format!("\n{}", part.text);
    }
    write(folder, "report.txt", summary.text.as_bytes())?;
    Ok(summary)
}

/// An option that is refused.
pub(crate) fn refuse(name: &'static str, value: impl Into<String>, expected: &'static str) -> Result<(), LabError> {
    Err(LabError::Option { name, value: value.into(), expected })
}

/// Refuses the first option that is 0.
pub(crate) fn positive(counts: &[(&'static str, usize)]) -> Result<(), LabError> {
    counts.iter().filter(|(_, count)| *count == 0).try_for_each(|(name, _)| refuse(name, "0", "it must be at least 1"))
}
