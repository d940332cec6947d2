//! Runs a campaign of any type.

use std::fmt::Display;
use std::path::Path;

use makespan_cli::shards::Shard;

use super::experiment::version;
use super::finish::Finished;
use super::output::made;
use super::{
    AnyCampaign, Campaign, CampaignReport, CampaignSize, Progress, Summary, claims_markdown, claims_text, finish,
    shard, write, write_result,
};
use crate::LabError;

/// A note for reports with wall times that shards measured.
const SHARDED: &str =
    "Times were measured in shards: several instances ran at the same time, on the machines of the shards.\n";

impl<C: Campaign> AnyCampaign for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn reproduce(&self, folder: &Path, progress: &mut dyn Progress) -> Result<Summary, LabError> {
        Ok(reproduce(self, folder, progress)?.0)
    }

    fn version(&self) -> Result<String, LabError> {
        self.check()?;
        let part = self.part().map(|part| part.version()).transpose()?;
        Ok(version(self)? + &part.map_or_else(String::new, |part| format!("; {part}")))
    }

    fn size(&self, folder: &Path) -> Result<CampaignSize, LabError> {
        refuse_file(folder)?;
        shard::size(self, folder)
    }

    fn work(&self, folder: &Path, shard: Shard) -> Result<(), LabError> {
        shard::work(self, folder, shard)
    }
}

/// Runs a campaign and returns its runs. Writes tables, figures, `report.txt` and `claims.md` to a folder, and creates
/// the folder if necessary. Figures are written as SVG and PDF. Figures that plot data are also written for LaTeX. A
/// journal in the folder contains the finished runs, so that an interrupted campaign can continue.
///
/// # Errors
/// [`LabError`] if an option is invalid, a file cannot be read or written, or a plan or bound is wrong.
pub fn reproduce<C: Campaign>(
    campaign: &C,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<(Summary, Vec<C::Run>), LabError> {
    campaign.check()?;
    super::positive(&[("threads", campaign.threads().unwrap_or(1))])?;
    refuse_file(folder)?;
    made(folder)?;
    let Finished { runs, reused, sharded } = finish(campaign, folder, &version(campaign)?, progress)?;
    let CampaignReport { mut text, claims, files } = campaign.report(&runs)?;
    if sharded && C::MEASURES_TIME {
        text += SHARDED;
    }
    files.iter().try_for_each(|file| write_result(folder, file))?;
    write(folder, "claims.md", format!("# {}\n\n{}", C::PAPER, claims_markdown(&claims)).as_bytes())?;
    let text = format!("{text}\nClaims\n{}\n", claims_text(&claims));
    let mut summary = Summary { claims, runs: runs.len(), reused, text };
    if let Some(part) = campaign.part() {
        let part = part.reproduce(&folder.join(part.name()), progress)?;
        summary.claims.extend(part.claims);
        summary.runs += part.runs;
        summary.reused += part.reused;
        summary.text += &format!("\n{}", part.text);
    }
    write(folder, "report.txt", summary.text.as_bytes())?;
    Ok((summary, runs))
}

fn refuse_file(folder: &Path) -> Result<(), LabError> {
    if folder.exists() && !folder.is_dir() { Err(LabError::NoFolder(folder.to_owned())) } else { Ok(()) }
}

/// Returns the element of `all` that has this name. If there is none, returns an error that states the valid values.
pub(crate) fn parsed<T: Display>(
    all: impl IntoIterator<Item = T>,
    text: &str,
    name: &'static str,
    expected: &'static str,
) -> Result<T, LabError> {
    let found = all.into_iter().find(|one| one.to_string() == text);
    found.ok_or_else(|| LabError::Option { name, value: format!("`{text}`"), expected })
}
