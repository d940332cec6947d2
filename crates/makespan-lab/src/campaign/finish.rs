//! Runs the measurements on several threads. One thread writes the journal.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use super::experiment::KeyOf;
use super::journal::{Journal, LockedAction, path};
use super::{AnyRun, Campaign, Progress, shard};
use crate::LabError;

/// The runs of a campaign.
pub(super) struct Finished<R> {
    /// The runs in the order of their keys.
    pub runs: Vec<R>,
    /// Number of runs that were already in the journal.
    pub reused: usize,
    /// True if shards have measured at least one of the runs.
    pub sharded: bool,
}

/// Returns all runs of a campaign. Reads the finished runs from the journal and from the shards, and measures the
/// missing runs. The results depend neither on the number of threads or shards nor on the order in which runs finish.
///
/// The threads of this function do not belong to a thread pool. So if a measurement uses a thread pool, the pool works
/// as it does outside a campaign.
pub(super) fn finish<C: Campaign>(
    campaign: &C,
    folder: &Path,
    version: &str,
    progress: &mut dyn Progress,
) -> Result<Finished<C::Run>, LabError> {
    let (mut journal, mut runs) = Journal::open::<C::Run>(&path(folder), version, LockedAction::Refuse)?;
    let starts = campaign.keys();
    let keys: BTreeSet<KeyOf<C>> = starts.iter().copied().collect();
    runs.retain(|key, _| keys.contains(key));
    let (reused, total) = (runs.len(), keys.len());
    let mut gathered = shard::gathered::<C>(folder, version)?;
    gathered.retain(|key, _| keys.contains(key));
    let sharded = !gathered.is_empty();
    gathered.retain(|key, _| !runs.contains_key(key));
    for (key, run) in gathered {
        journal.add(&run)?;
        runs.insert(key, run);
    }
    let missing: Vec<KeyOf<C>> = starts.into_iter().filter(|key| !runs.contains_key(key)).collect();
    progress.started(total, runs.len());
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = campaign.threads().unwrap_or_else(cores).clamp(1, missing.len().max(1));
    let queue = Mutex::new(missing.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            let worker = move || {
                while let Some(key) = next() {
                    // Sending fails only if the thread that writes the journal has failed. In this case, start no more
                    // runs.
                    if sender.send(campaign.measure(key)).is_err() {
                        break;
                    }
                }
            };
            let spawned = thread::Builder::new().spawn_scoped(scope, worker);
            spawned.map_err(|error| LabError::Threads(error.to_string()))?;
        }
        drop(sender);
        for result in receiver {
            let run: C::Run = result?;
            journal.add(&run)?;
            runs.insert(run.key(), run);
            progress.finished(runs.len(), total);
        }
        Ok::<(), LabError>(())
    })?;
    Ok(Finished { runs: runs.into_values().collect(), reused, sharded })
}
