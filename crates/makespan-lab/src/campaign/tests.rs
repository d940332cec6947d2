//! Helpers for the tests of campaigns.

use std::path::Path;

use super::{Campaign, Silent, Summary, reproduce};

/// Runs a campaign and returns its summary and its runs.
pub(crate) fn played<C: Campaign>(campaign: &C, folder: &Path) -> (Summary, Vec<C::Run>) {
    reproduce(campaign, folder, &mut Silent).unwrap()
}

/// Checks that the campaign fails with an error message that contains `part`.
pub(crate) fn refused<C: Campaign>(campaign: &C, folder: &Path, part: &str) {
    let error = reproduce(campaign, folder, &mut Silent).err().expect("it is refused").to_string();
    assert!(error.contains(part), "{error}");
}

/// Checks that the campaign fails if its output folder is a file, and that the file does not change.
pub(crate) fn refuses_a_file<C: Campaign>(campaign: &C, folder: &Path) {
    let file = folder.join("file");
    std::fs::write(&file, "mine").unwrap();
    refused(campaign, &file, "file` is a file");
    refused(campaign, &file, "name a folder");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

/// Returns a table without its last column, which contains the measured times.
pub(crate) fn without_times(folder: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n").collect()
}
