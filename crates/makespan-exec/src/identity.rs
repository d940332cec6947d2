//! The fingerprint of an instance in its journal.

use makespan_core::{Instance, fingerprint};

/// Returns the fingerprint that a journal stores for its instance. If jobs may arrive during the run, the fingerprint
/// includes only the machines.
pub(crate) fn identity(instance: &Instance, grows: bool) -> String {
    if grows { fingerprint(&instance.with_jobs(Vec::new())) } else { fingerprint(instance) }
}
