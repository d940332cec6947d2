//! Which program measured.

use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use crate::LabError;

/// A fingerprint of the running program.
///
/// # Errors
/// [`LabError::File`] when it cannot be read.
pub fn build() -> Result<u64, LabError> {
    static BUILD: OnceLock<u64> = OnceLock::new();
    if let Some(&build) = BUILD.get() {
        return Ok(build);
    }
    let path = std::env::current_exe().map_err(LabError::file("the running program".as_ref()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&std::fs::read(&path).map_err(LabError::file(&path))?);
    Ok(*BUILD.get_or_init(|| hasher.finish()))
}
