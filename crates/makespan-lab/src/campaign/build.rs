//! Which program measured.

use std::hash::{DefaultHasher, Hasher};

use crate::LabError;

/// A fingerprint of the running program.
pub(crate) fn build() -> Result<u64, LabError> {
    let path = std::env::current_exe().map_err(LabError::file("the running program".as_ref()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&std::fs::read(&path).map_err(LabError::file(&path))?);
    Ok(hasher.finish())
}
