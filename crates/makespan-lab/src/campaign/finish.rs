//! Runs on several threads; one thread keeps the journal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use super::Progress;
use super::journal::{Journal, Record};
use crate::LabError;

/// What is to be done.
pub(crate) struct Work<'a, K> {
    /// Where the journal is; made when missing.
    pub(crate) folder: &'a Path,
    /// What a run depends on besides its key; a journal entry made under another version is not reused.
    pub(crate) version: String,
    /// The runs, in the order in which they start.
    pub(crate) keys: Vec<K>,
    /// How many run at the same time; one a core without it.
    pub(crate) threads: Option<usize>,
}

/// Every run of a campaign, by key.
pub(crate) struct Finished<R> {
    pub(crate) runs: Vec<R>,
    /// How many were in the journal already.
    pub(crate) reused: usize,
}

/// Reads what the journal has and runs the rest, so that the results depend neither on the number of threads nor on the
/// order in which runs finish.
///
/// Plain threads and no pool: what a run does with a pool of its own stays as it is outside a campaign.
pub(crate) fn finish<R: Record>(
    work: &Work<'_, R::Key>,
    execute: impl Fn(R::Key) -> Result<R, LabError> + Sync,
    progress: &mut dyn Progress,
) -> Result<Finished<R>, LabError> {
    fs::create_dir_all(work.folder).map_err(LabError::file(work.folder))?;
    let (mut journal, mut runs) = Journal::open(work.folder, &work.version)?;
    let keys: BTreeSet<R::Key> = work.keys.iter().copied().collect();
    runs.retain(|key, _| keys.contains(key));
    let (reused, total) = (runs.len(), keys.len());
    let missing: Vec<R::Key> = work.keys.iter().copied().filter(|key| !runs.contains_key(key)).collect();
    progress.started(total, reused);
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = work.threads.unwrap_or_else(cores).clamp(1, missing.len().max(1));
    let queue = Mutex::new(missing.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, execute) = (sender.clone(), &next, &execute);
            let worker = move || {
                while let Some(key) = next() {
                    // A receiver that is gone has met an error: what remains is not started.
                    if sender.send(execute(key)).is_err() {
                        break;
                    }
                }
            };
            let spawned = thread::Builder::new().spawn_scoped(scope, worker);
            spawned.map_err(|error| LabError::Threads(error.to_string()))?;
        }
        drop(sender);
        for result in receiver {
            let run: R = result?;
            journal.add(&run)?;
            runs.insert(run.key(), run);
            progress.finished(runs.len(), total);
        }
        Ok::<(), LabError>(())
    })?;
    Ok(Finished { runs: runs.into_values().collect(), reused })
}
