//! Finds the input files that a command line names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::words::{WordKind, unquoted};
use super::{Command, CommandPart};

/// Maximum number of words that are examined. Files among later words are ignored.
const MAX_WORDS: usize = 1000;

impl Command {
    /// Returns the total size in bytes of the files that the arguments name. Relative names start at `folder`. Returns
    /// `None` if no argument is a file. Includes the files in `--option=FILE` and `name=FILE`, but not programs or
    /// files that the shell writes.
    pub fn input_bytes(&self, folder: &Path) -> Option<u64> {
        let by_shell = self.shell_line().is_some();
        let parts = self.parts();
        let arguments =
            parts.iter().filter(|part| matches!(part.role, WordKind::Argument | WordKind::Input)).take(MAX_WORDS);
        let mut files = BTreeSet::new();
        for CommandPart { text, .. } in arguments {
            let word = if by_shell { unquoted(text) } else { (*text).to_owned() };
            let value = word.split_once('=').map(|(_, value)| value.to_owned());
            files.extend([Some(word), value].into_iter().flatten().filter(|name| !name.is_empty()).map(PathBuf::from));
        }
        let length =
            |file: PathBuf| folder.join(file).metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
        files
            .into_iter()
            .filter_map(length)
            .fold(None, |sum: Option<u64>, bytes| Some(sum.unwrap_or(0).saturating_add(bytes)))
    }
}
