//! Reads JSON texts into typed documents. Each error states its place in the text.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::marker::PhantomData;

use rustc_hash::{FxHashMap, FxHasher};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, SeqAccess, Visitor};

use crate::native::error::{FilePlace, FormatError};
use crate::native::scalar::{InList, message_of, offset_of};
use crate::native::suggest::explain;

/// Entry of a list in which names are unique.
pub trait UniquelyNamed {
    /// Noun for an entry, such as "job".
    const KIND: &'static str;

    /// Returns the name of the entry.
    fn name(&self) -> &str;
}

/// List of entries with unique names. Reading stops at the first repeated name. So a compressed file that repeats one
/// entry a million times is refused before the entries fill the memory.
pub struct Unique<T>(pub Vec<T>);

impl<T> Default for Unique<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: UniquelyNamed + Deserialize<'de>> Deserialize<'de> for Unique<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(UniqueVisitor(PhantomData))
    }
}

struct UniqueVisitor<T>(PhantomData<T>);

impl<'de, T: UniquelyNamed + Deserialize<'de>> Visitor<'de> for UniqueVisitor<T> {
    type Value = Unique<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}s", T::KIND)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Unique<T>, A::Error> {
        // Only hashes of names are stored here, because the entries already contain the names. If two different names
        // have the same hash, only the first name is stored. So each reported repetition is real, but a repetition of
        // the second name is not detected here.
        let mut seen: FxHashMap<u64, u32> = FxHashMap::default();
        let hashes: BuildHasherDefault<FxHasher> = BuildHasherDefault::default();
        let mut entries: Vec<T> = Vec::new();
        while let Some(entry) = list.next_element::<T>()? {
            let first = *seen.entry(hashes.hash_one(entry.name())).or_insert(entries.len() as u32);
            if entries.get(first as usize).is_some_and(|first| first.name() == entry.name()) {
                let (kind, name) = (T::KIND, entry.name());
                return Err(Error::custom(format_args!("two {kind}s are named `{name}`; names must be unique")));
            }
            entries.push(entry);
        }
        Ok(Unique(entries))
    }
}

/// Maximum size, in bytes, of a document that is read again after an error. The second reading finds the field with
/// the error.
const READ_TWICE: usize = 4 << 20;

/// Reads a JSON document.
pub fn from_json<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, FormatError> {
    match serde_json::from_slice(bytes) {
        Ok(value) => return Ok(value),
        Err(error) if bytes.len() > READ_TWICE => return Err(json_error(file, bytes, None, &error)),
        // The first reading does not record the path of each value, because recording takes time. After an error, a
        // small document is read again with paths, to name the field with the error. For a large document, the error
        // states only the line and column.
        Err(_) => {}
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| json_error(file, bytes, field(error.path()), error.inner()))?;
    deserializer.end().map_err(|error| json_error(file, bytes, None, &error))?;
    Ok(value)
}

fn json_error(file: &str, bytes: &[u8], field: Option<String>, error: &serde_json::Error) -> FormatError {
    let message = message_of(error);
    let (message, in_list) = InList::split(&message);
    let known = error.line() > 0;
    let mut place = FilePlace { line: known.then(|| error.line()), column: known.then(|| error.column()), field };
    if let Some(in_list) = in_list {
        // The reported position is after the list. Between the list and this position, there can be only blanks and a
        // brace. So the last `]` before the position ends the list.
        let read = offset_of(bytes, error).map(|offset| &bytes[..offset]);
        let end = read.and_then(|read| read.iter().rposition(|&byte| byte == b']'));
        if let Some(before) = end.and_then(|end| bytes.get(..(end + 1).checked_sub(in_list.back)?)) {
            let lines = before.split(|byte| *byte == b'\n');
            place.column = lines.clone().next_back().map(<[u8]>::len);
            place.line = Some(lines.count());
        }
        place.field = place.field.map(|field| field + &in_list.entry);
    }
    FormatError::content(file, place, explain(message))
}

/// Returns a path as the name of a field, without the private keys of `serde_json`.
pub fn field(path: &serde_path_to_error::Path) -> Option<String> {
    let text = path.to_string();
    let hidden = [crate::native::scalar::NUMBER_KEY, crate::native::scalar::RAW_KEY].map(|key| format!(".{key}"));
    let text = hidden.iter().fold(text, |text, key| text.replace(key, ""));
    let text = text.trim_end_matches(".?");
    (text != "." && text != "?" && !text.is_empty()).then(|| text.to_owned())
}
