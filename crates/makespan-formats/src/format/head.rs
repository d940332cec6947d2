//! The beginning of a file. Readers recognise the format of a file by its beginning.

use std::path::Path;

/// Advice at the end of an error message about a file in an unknown format.
pub(crate) const WANTED: &str = "use a list of commands, a Makefile, an instance in JSON or TOML, a workflow, a \
                                 project, an SWF log or an ETC matrix";

/// Keys that only occur in workloads of Batsim, at the top level or in a job.
const WORKLOAD_KEYS: [&[u8]; 2] = [b"\"nb_res\"", b"\"subtime\""];

/// The beginning of a file, and its file extension.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    /// The first bytes, after leading white space.
    pub(crate) text: &'a [u8],
    /// The first byte, or 0 in an empty file.
    pub(crate) first: u8,
    /// The file extension, in lower case and without the dot.
    pub(crate) ending: Option<&'a str>,
    /// True if the file has an extension of the format that is being checked. False if the text begins like JSON,
    /// because only the content distinguishes the JSON formats.
    pub(crate) named: bool,
}

impl<'a> Head<'a> {
    /// Returns the beginning of a file with `named` set to false. Call `named_by` to set this field.
    pub(crate) fn new(text: &'a [u8], ending: Option<&'a str>) -> Self {
        Self { text, first: text.first().copied().unwrap_or_default(), ending, named: false }
    }

    /// Returns a copy with `named` set to whether the file has one of these file extensions.
    pub(crate) fn named_by(self, extensions: &[&str]) -> Self {
        let named = self.first != b'{' && self.ending.is_some_and(|ending| extensions.contains(&ending));
        Self { named, ..self }
    }

    /// Returns the first line, truncated if `text` ends within this line.
    pub(crate) fn first_line(&self) -> &'a [u8] {
        self.text.split(|&byte| byte == b'\n').next().unwrap_or_default()
    }

    /// Returns, for each occurrence of a JSON key, the text that follows the key and its colon.
    pub(crate) fn values_of(&self, key: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        let text = self.text;
        let places = text.windows(key.len()).enumerate().filter(move |(_, window)| *window == key);
        let behind = places.map(move |(at, _)| text[at + key.len()..].trim_ascii_start());
        behind.filter_map(|rest| rest.strip_prefix(b":")).map(<[u8]>::trim_ascii_start)
    }

    /// Returns whether a JSON text has at least one key that only occurs in Batsim workloads.
    pub(crate) fn is_workload(&self) -> bool {
        WORKLOAD_KEYS.iter().any(|key| self.values_of(key).next().is_some())
    }

    /// Returns whether the beginning of the file contains these bytes.
    pub(crate) fn has(&self, word: &[u8]) -> bool {
        has(self.text, word)
    }
}

/// Returns the file extension of a name, in lower case and without the dot. A suffix `.gz` or `.bz2` is removed first.
pub(crate) fn ending_of(name: &str) -> Option<String> {
    let stem = [".gz", ".bz2"].iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name));
    Path::new(stem).extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

/// Returns whether a text contains these bytes.
pub(crate) fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
