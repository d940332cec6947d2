//! The records of an output: the valid records without duplicates, and messages about invalid records.

use std::collections::HashSet;

use crate::cluster::{read_all, shown};
use crate::text::{Kind, Record, records};

use super::doubts;

/// The records of an output.
pub(super) struct OutputRecords<T> {
    pub items: Vec<T>,
    /// A message for each record that cannot be parsed.
    pub problems: Vec<String>,
    /// Number of all records, valid or invalid.
    pub of: usize,
    /// A message about lines that belong to no record.
    pub strange: Option<String>,
}

impl<T> OutputRecords<T> {
    /// Parses the output of `scontrol -o show`.
    pub fn of_text(kind: Kind, text: &str, read: impl Fn(Record) -> Result<T, String>) -> Self {
        let (found, strange) = records(kind, text);
        let head = kind.head();
        let strange = match &strange[..] {
            [] => None,
            [line] => Some(format!("the output has a line that does not begin with {head}: `{}`", shown(line))),
            [line, ..] => Some(format!("{} lines do not begin with {head}, such as `{}`", strange.len(), shown(line))),
        };
        Self { strange, ..Self::of_records(found, read) }
    }

    /// Parses records.
    pub fn of_records(records: Vec<Record>, read: impl Fn(Record) -> Result<T, String>) -> Self {
        let of = records.len();
        let (items, problems) = read_all(records, read);
        Self { items, problems, of, strange: None }
    }

    /// Returns messages about records and lines that cannot be parsed.
    pub fn remarks(&self) -> Vec<String> {
        doubts::unread(&self.problems, self.of).into_iter().chain(self.strange.clone()).collect()
    }
}

/// Removes each item if its name has occurred before. `key` returns the name of an item. Returns a message about the
/// removed items.
pub(super) fn once<T>(items: &mut Vec<T>, what: &str, key: impl Fn(&T) -> String) -> Option<String> {
    let mut known = HashSet::new();
    let (mut count, mut first) = (0, None);
    items.retain(|item| {
        let name = key(item);
        let is_new = known.insert(name.clone());
        if !is_new {
            count += 1;
            first.get_or_insert(name);
        }
        is_new
    });
    let first = first?;
    Some(format!("repeated records of {what}s are ignored: {count}, such as {what} {first}"))
}
