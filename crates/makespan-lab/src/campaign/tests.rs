//! For the tests of campaigns: every option is refused with its name.

use std::path::Path;

use super::{Campaign, Silent, reproduce};

/// The error of a campaign that is not played.
pub(crate) fn refused<C: Campaign>(campaign: &C, folder: &Path, part: &str) {
    let error = reproduce(campaign, folder, &mut Silent).err().expect("it is refused").to_string();
    assert!(error.contains(part), "{error}");
}
