//! Shards: parts of a campaign that are measured by separate processes, each with its own journal, possibly on
//! several machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use makespan_cli::shards::{SHARDS, Shard};

use super::experiment::{KeyOf, version};
use super::journal::{Journal, LockedAction, finished};
use super::output::made;
use super::{Campaign, CampaignSize};
use crate::LabError;

/// Returns the path of the journal of a shard. `folder` is the folder of the results.
fn journal_of(shard: Shard, folder: &Path) -> PathBuf {
    folder.join(SHARDS).join(format!("{:04}.jsonl", shard.index))
}

/// Measures the unfinished runs of a shard one after another. If another process is already measuring the shard, first
/// waits until that process ends.
pub(super) fn work<C: Campaign>(campaign: &C, folder: &Path, shard: Shard) -> Result<(), LabError> {
    campaign.check()?;
    let version = version(campaign)?;
    made(&folder.join(SHARDS))?;
    let (mut journal, own) = Journal::open::<C::Run>(&journal_of(shard, folder), &version, LockedAction::Wait)?;
    let earlier = finished::<C::Run>(&super::journal::path(folder), &version)?;
    for key in campaign.keys().into_iter().skip(shard.index).step_by(shard.count) {
        if !own.contains_key(&key) && !earlier.contains_key(&key) {
            journal.add(&campaign.measure(key)?)?;
        }
    }
    campaign.part().map_or(Ok(()), |part| part.work(&folder.join(part.name()), shard))
}

/// Returns all runs that shards have finished. The journals of the shards are in `folder`.
pub(super) fn gathered<C: Campaign>(folder: &Path, version: &str) -> Result<BTreeMap<KeyOf<C>, C::Run>, LabError> {
    let shards = folder.join(SHARDS);
    let mut paths = Vec::new();
    if shards.is_dir() {
        for entry in fs::read_dir(&shards).map_err(LabError::file(&shards))? {
            paths.push(entry.map_err(LabError::file(&shards))?.path());
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    paths.sort_unstable();
    let mut runs = BTreeMap::new();
    for path in paths {
        runs.extend(finished(&path, version)?);
    }
    Ok(runs)
}

/// Returns the size of the campaign. A run is missing if the folder does not contain its results.
pub(super) fn size<C: Campaign>(campaign: &C, folder: &Path) -> Result<CampaignSize, LabError> {
    campaign.check()?;
    let version = version(campaign)?;
    let mut there: BTreeSet<KeyOf<C>> =
        finished::<C::Run>(&super::journal::path(folder), &version)?.into_keys().collect();
    there.extend(gathered::<C>(folder, &version)?.into_keys());
    let keys: BTreeSet<KeyOf<C>> = campaign.keys().into_iter().collect();
    let missing = keys.iter().filter(|key| !there.contains(key)).count();
    let own = CampaignSize {
        runs: keys.len(),
        missing,
        processors: campaign.search().map_or(1, |search| search.searches.max(1)),
    };
    let Some(part) = campaign.part() else { return Ok(own) };
    let part = part.size(&folder.join(part.name()))?;
    Ok(CampaignSize {
        runs: own.runs.max(part.runs),
        missing: own.missing + part.missing,
        processors: own.processors.max(part.processors),
    })
}
