//! The files that a command reads, as far as its text names them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::words::{Role, unquoted};
use super::{Command, Part};

/// Words that are looked up; a command of more names files that are counted in part.
const MAX_WORDS: usize = 1000;

impl Command {
    /// The bytes of the files that arguments name, seen from a folder; `None` where no argument is a file. Programs and what the
    /// shell writes do not count. `--option=FILE` and `name=FILE` do.
    pub fn input_bytes(&self, folder: &Path) -> Option<u64> {
        let by_shell = self.shell_line().is_some();
        let parts = self.parts();
        let arguments = parts.iter().filter(|part| matches!(part.role, Role::Argument | Role::Input)).take(MAX_WORDS);
        let mut files = BTreeSet::new();
        for Part { text, .. } in arguments {
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
