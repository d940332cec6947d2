//! An instance that was read from a file, with the warnings of the reader.

use makespan_core::Instance;

/// An instance and its remarks.
pub struct Loaded {
    pub instance: Instance,
    pub remarks: Vec<String>,
    /// Names of jobs come from the numbers of lines, so that an edit changes them.
    pub has_made_up_names: bool,
}
