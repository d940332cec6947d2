//! Runs on all cores; one thread keeps the journal.

use std::sync::mpsc;

use rayon::prelude::*;

use super::journal::Journal;
use super::run::execute;
use super::{Key, Options, Progress, Run, Solve};
use crate::LabError;

/// Every run of the options, by key.
pub(super) struct Finished {
    pub(super) runs: Vec<Run>,
    /// How many were in the journal already.
    pub(super) reused: usize,
}

/// Reads what the journal has and runs the rest. Each run follows from the options and its key, so the results do not
/// depend on the number of threads nor on the order in which they finish.
pub(super) fn finish(options: &Options, solve: &Solve<'_>, progress: &mut dyn Progress) -> Result<Finished, LabError> {
    let (mut journal, mut runs) = Journal::open(&options.output, options.version())?;
    let keys = options.keys();
    runs.retain(|key, _| keys.contains(key));
    let (reused, total) = (runs.len(), keys.len());
    // Large instances last would leave cores idle at the end.
    let mut missing: Vec<Key> = keys.into_iter().filter(|key| !runs.contains_key(key)).collect();
    missing.sort_by_key(|key| std::cmp::Reverse(key.jobs));
    progress.started(total, reused);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads.unwrap_or(0))
        .build()
        .map_err(|error| LabError::Threads(error.to_string()))?;
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            pool.install(|| {
                // A receiver that is gone has met an error: what remains is not started.
                let _stopped = missing
                    .par_iter()
                    .with_max_len(1)
                    .try_for_each_with(sender, |sender, &key| sender.send(execute(options, key, solve)));
            });
        });
        for result in receiver {
            let run = result?;
            journal.add(&run)?;
            let key = run.key;
            runs.insert(key, run);
            progress.finished(key, runs.len(), total);
        }
        Ok::<(), LabError>(())
    })?;
    Ok(Finished { runs: runs.into_values().collect(), reused })
}
