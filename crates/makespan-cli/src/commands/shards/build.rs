//! A fingerprint that identifies the build of the running program.

use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::sync::OnceLock;

/// Returns a hash of the executable of this process. Comparisons and campaigns use this hash to avoid reusing shards
/// that another build computed.
///
/// # Errors
/// The executable cannot be read.
pub fn build() -> io::Result<u64> {
    static BUILD: OnceLock<u64> = OnceLock::new();
    if let Some(&build) = BUILD.get() {
        return Ok(build);
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&std::fs::read(std::env::current_exe()?)?);
    Ok(*BUILD.get_or_init(|| hasher.finish()))
}
