//! Runs on several threads; one thread keeps the journal.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use super::journal::Journal;
use super::{Campaign, Progress};
use crate::LabError;

/// Reads what the journal has and runs the rest, so that the results depend neither on the number of threads nor on the
/// order in which runs finish. The runs by key, and how many were in the journal already.
///
/// Plain threads and no pool: what a run does with a pool of its own stays as it is outside a campaign.
pub(super) fn finish<C: Campaign>(
    campaign: &C,
    folder: &Path,
    version: &str,
    progress: &mut dyn Progress,
) -> Result<(Vec<C::Run>, usize), LabError> {
    let (mut journal, mut runs) = Journal::open(folder, version, C::key)?;
    let starts = campaign.keys();
    let keys: BTreeSet<C::Key> = starts.iter().copied().collect();
    runs.retain(|key, _| keys.contains(key));
    let (reused, total) = (runs.len(), keys.len());
    let missing: Vec<C::Key> = starts.into_iter().filter(|key| !runs.contains_key(key)).collect();
    progress.started(total, reused);
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
                    // A receiver that is gone has met an error: what remains is not started.
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
            runs.insert(C::key(&run), run);
            progress.finished(runs.len(), total);
        }
        Ok::<(), LabError>(())
    })?;
    Ok((runs.into_values().collect(), reused))
}
