//! The key of a matrix.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Class, FILES};

/// Which matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// This one of the benchmark's [`FILES`].
    File(usize),
    /// A drawn one.
    Drawn {
        /// How.
        class: Class,
        /// Which repetition, from 0.
        run: u32,
    },
}

/// `u_c_hihi.0`, or `c_hihi, run 0`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => f.pad(FILES[*file].file),
            Self::Drawn { class, run } => f.pad(&format!("{class}, run {run}")),
        }
    }
}
