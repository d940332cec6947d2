//! Settles the tasks of a dead session, before the caller determines the remaining work.

use std::rc::Rc;
use std::time::SystemTime;

use makespan_core::{Instance, Platform};

use crate::files::Files;
use crate::journal::{FILE, Journal, OpenedJournal, Opening, TaskList, locked};
use crate::local::Local;
use crate::machine::cores;
use crate::recover::Recovery;
use crate::storage::Disk;
use crate::{ExecuteError, ExecuteOptions, Observer};

/// Ends tasks that a dead session left running in the folder of a run, and records their ends. Tasks that had already
/// finished are recorded as finished.
///
/// [`execute`](crate::execute) also does this when it resumes a run. This function is for callers that determine the
/// remaining work from files to which these tasks may still be writing. This function ignores a damaged journal,
/// because `execute` reports the damage.
///
/// # Errors
/// [`ExecuteError`] if the folder cannot be read or written, or if another process uses the folder.
pub fn settle(options: &ExecuteOptions, observer: &mut dyn Observer) -> Result<(), ExecuteError> {
    if !options.folder.join(FILE).is_file() {
        return Ok(());
    }
    // The tasks are read from the journal, so an empty instance suffices.
    let Some(nothing) = Platform::flat(1).ok().and_then(|platform| Instance::new(platform, vec![], vec![]).ok()) else {
        return Ok(());
    };
    let files = Rc::new(Files::new(&options.folder, &nothing)?);
    let lock = locked(&files.folder().join("lock"))?.0;
    let mut host = Local::new(files.folder(), cores()?, options.shim.clone());
    let how = Opening { resume: true, recover: false, of_now: true, grows: false };
    let begun = Journal::begin(&Disk, &files, &nothing, how, SystemTime::now(), Some(lock));
    let Ok(OpenedJournal { mut journal, mut history, earlier: Some(list), .. }) = begun else { return Ok(()) };
    Recovery {
        names: &TaskList::names(&list),
        instance: None,
        options,
        storage: &Disk,
        files: &files.of_earlier(&list),
        engine: &mut host,
        taken: &[],
        journal: &mut journal,
        observer,
        measured: Vec::new(),
    }
    .settle(&mut history)
}
