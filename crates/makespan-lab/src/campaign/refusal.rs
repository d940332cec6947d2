//! Errors for invalid values of options.

use crate::error::LabError;

/// Returns an error that rejects the value of an option.
pub(crate) fn refuse(name: &'static str, value: impl Into<String>, expected: &'static str) -> Result<(), LabError> {
    Err(LabError::Option { name, value: value.into(), expected })
}

/// Returns an error for the first option that is 0.
pub(crate) fn positive(counts: &[(&'static str, usize)]) -> Result<(), LabError> {
    counts.iter().filter(|(_, count)| *count == 0).try_for_each(|(name, _)| refuse(name, "0", "it must be at least 1"))
}
