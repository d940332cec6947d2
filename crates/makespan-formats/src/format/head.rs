//! The beginning of a file, by which its format is recognised.

use std::path::Path;

/// The remedy in messages about files whose format is not recognised.
pub(crate) const WANTED: &str = "give a list of commands, a Makefile, an instance in JSON or TOML, a workflow, a project, an SWF log or an ETC matrix";

/// Keys that no other JSON has at its top or in its jobs.
const WORKLOAD_KEYS: [&[u8]; 2] = [b"\"nb_res\"", b"\"subtime\""];

/// The beginning of a file and the ending of its name.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    /// The first bytes, without white space before them.
    pub(crate) text: &'a [u8],
    /// The first byte, or 0 in an empty file.
    pub(crate) first: u8,
    /// The ending of the name, in lower case and without the dot.
    pub(crate) ending: Option<&'a str>,
    /// True if the ending belongs to the format that is being checked. It is false for a text that begins like JSON, because
    /// only the content decides the format of JSON.
    pub(crate) named: bool,
}

impl<'a> Head<'a> {
    /// Returns the beginning of a file. `named_by` sets the field `named`.
    pub(crate) fn new(text: &'a [u8], ending: Option<&'a str>) -> Self {
        Self { text, first: text.first().copied().unwrap_or_default(), ending, named: false }
    }

    /// Returns a copy for the check of a format with these extensions.
    pub(crate) fn named_by(self, extensions: &[&str]) -> Self {
        let named = self.first != b'{' && self.ending.is_some_and(|ending| extensions.contains(&ending));
        Self { named, ..self }
    }

    /// Returns the first line, or its part that lies within `text`.
    pub(crate) fn first_line(&self) -> &'a [u8] {
        self.text.split(|&byte| byte == b'\n').next().unwrap_or_default()
    }

    /// Returns the rest of the text after the colon of each occurrence of a JSON key.
    pub(crate) fn values_of(&self, key: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        let text = self.text;
        let places = text.windows(key.len()).enumerate().filter(move |(_, window)| *window == key);
        let behind = places.map(move |(at, _)| text[at + key.len()..].trim_ascii_start());
        behind.filter_map(|rest| rest.strip_prefix(b":")).map(<[u8]>::trim_ascii_start)
    }

    /// Returns whether a JSON text has keys of a Batsim workload.
    pub(crate) fn is_workload(&self) -> bool {
        WORKLOAD_KEYS.iter().any(|key| self.values_of(key).next().is_some())
    }

    /// Returns whether the beginning contains a sequence of bytes.
    pub(crate) fn has(&self, word: &[u8]) -> bool {
        has(self.text, word)
    }
}

/// Returns the ending of a file's name, in lower case and without the dot. Endings of compressed files are removed
/// first.
pub(crate) fn ending_of(name: &str) -> Option<String> {
    let stem = [".gz", ".bz2"].iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name));
    Path::new(stem).extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

/// Returns whether a text contains a sequence of bytes.
pub(crate) fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
