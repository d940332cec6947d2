//! For the tests of campaigns: every option is refused with its name.

use std::path::Path;

use super::{Campaign, Silent, reproduce};

/// The error of a campaign that is not played.
pub(crate) fn refused<C: Campaign>(campaign: &C, folder: &Path, part: &str) {
    let error = reproduce(campaign, folder, &mut Silent).err().expect("it is refused").to_string();
    assert!(error.contains(part), "{error}");
}

/// Results go to a folder, and a file of that name is called one.
pub(crate) fn refuses_a_file<C: Campaign>(campaign: &C, folder: &Path) {
    let file = folder.join("file");
    std::fs::write(&file, "mine").unwrap();
    let error = reproduce(campaign, &file, &mut Silent).err().expect("it is refused").to_string();
    assert!(error.contains("file` is a file") && error.contains("name another one"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}
