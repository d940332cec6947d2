//! An instance that was read from a file, with the warnings of the reader.

use makespan_core::Instance;

/// An instance and its remarks.
pub struct LoadedInstance {
    pub instance: Instance,
    pub remarks: Vec<String>,
    /// True if job names contain line numbers, so that an edit of the file can change the names.
    pub has_made_up_names: bool,
}
