//! Reads an instance file of any format.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use makespan_core::Instance;

use crate::error::{FormatError, Place};
use crate::input::{Input, filled, open};
use crate::replay::{Replay, ReplayOptions, given, replay};
use crate::swf::{self, Lines, read_swf};
use crate::{SpeedupSpec, instance, moldable_set};

/// The formats of instance files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Native, JSON.
    Json,
    /// Native, TOML.
    Toml,
    /// A log in the Standard Workload Format.
    Swf,
    /// A published set of moldable jobs.
    MoldableSet,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "native JSON",
            Self::Toml => "native TOML",
            Self::Swf => "SWF",
            Self::MoldableSet => "moldable set",
        })
    }
}

/// How an instance file is read. The options of logs are refused for files that are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOptions {
    /// Processors of a log's platform, instead of the header's.
    pub processors: Option<u32>,
    /// Makes the jobs of a log moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Of `downey:random`.
    pub seed: u64,
    /// Refuses a log of which any record would be skipped; other formats never skip anything.
    pub strict: bool,
    /// Most decompressed bytes.
    pub max_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { processors: None, speedup: None, seed: 0, strict: false, max_bytes: 4 << 30 }
    }
}

/// What was read.
#[derive(Clone, Debug)]
pub struct ReadInstance {
    /// Machines and jobs.
    pub instance: Instance,
    /// How they were written.
    pub format: Format,
    /// What the user should know about the reading, such as skipped records.
    pub remarks: Vec<String>,
}

/// Reads an instance file, plain or compressed with gzip or bzip2; the format is known by its content first.
///
/// # Errors
/// [`FormatError`] names the file, the place, what is wrong and what would be right.
pub fn read_instance(path: &Path, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    read_from(file, &name, options)
}

/// Reads an instance from the bytes of a file, as [`read_instance`] does.
///
/// # Errors
/// As [`read_instance`].
pub fn parse_instance(bytes: &[u8], file_name: &str, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    read_from(bytes, file_name, options)
}

fn read_from(raw: impl Read, name: &str, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    let unreadable = |source: io::Error| FormatError::io(name, "read", source);
    let mut input = open(raw, options.max_bytes).map_err(unreadable)?;
    let head = filled(&mut input).map_err(unreadable)?;
    let format = detect(head, name)?;
    if format == Format::Swf {
        return log(input, name, options);
    }
    let number = options.processors.map(|_| "a number of processors");
    refuse_options(options.speedup.map(|_| "a speed-up").or(number), format, name)?;
    Ok(ReadInstance { instance: document(input, format, name)?, format, remarks: Vec::new() })
}

/// Reads for replay, as [`crate::read_replay`] does.
pub(crate) fn read_replay_from(raw: impl Read, name: &str, options: &ReplayOptions) -> Result<Replay, FormatError> {
    let unreadable = |source: io::Error| FormatError::io(name, "read", source);
    let mut input = open(raw, options.max_bytes).map_err(unreadable)?;
    let format = detect(filled(&mut input).map_err(unreadable)?, name)?;
    match format {
        Format::Swf => replay(name, format, swf::records(name, &mut input, Lines::Short)?, options),
        Format::Json | Format::Toml | Format::MoldableSet => {
            let platform = options.platform.as_ref().map(|_| "a platform");
            refuse_options(options.speedup.map(|_| "a speed-up").or(platform), format, name)?;
            Ok(given(document(input, format, name)?, format))
        }
    }
}

/// Refuses what is stated for logs only.
fn refuse_options(stated: Option<&str>, format: Format, name: &str) -> Result<(), FormatError> {
    match stated {
        Some(option) => {
            let problem = format!("{option} is stated for reading SWF logs only, and this file is {format}");
            Err(FormatError::content(name, Place::default(), problem))
        }
        None => Ok(()),
    }
}

/// Reads an instance that is one document.
fn document(mut input: Input<'_>, format: Format, name: &str) -> Result<Instance, FormatError> {
    let unreadable = |source: io::Error| FormatError::io(name, "read", source);
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(unreadable)?;
    let bytes = without_mark(&bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
        FormatError::content(name, Place::line(line), "the text is not UTF-8")
    })?;
    match format {
        Format::Json => instance::read_json(name, bytes),
        Format::MoldableSet => moldable_set::read_moldable_set(name, bytes),
        Format::Toml | Format::Swf => instance::read_toml(name, text),
    }
}

fn log(mut input: Input<'_>, name: &str, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    let ReadOptions { processors, speedup, seed, strict, .. } = *options;
    let log = read_swf(name, &mut input, &swf::Options { processors, speedup, seed, strict })?;
    let remarks = log.report.remarks().collect();
    Ok(ReadInstance { instance: log.instance, format: Format::Swf, remarks })
}

/// Knows the format by the first bytes, or else by the ending of the name.
fn detect(head: &[u8], name: &str) -> Result<Format, FormatError> {
    let text = without_mark(head).trim_ascii_start();
    let stem = [".gz", ".bz2"].iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name));
    let ending = Path::new(stem).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match (text.first(), ending.as_deref()) {
        (None, _) => {
            let problem = "the file is empty; give an instance in JSON or TOML, or an SWF log";
            Err(FormatError::content(name, Place::default(), problem))
        }
        (Some(b'{'), _) => {
            let key = text[1..].trim_ascii_start().strip_prefix(b"\"").unwrap_or_default();
            let set = moldable_set::KEYS
                .iter()
                .any(|known| key.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'"')));
            Ok(if set { Format::MoldableSet } else { Format::Json })
        }
        (Some(b';' | b'-' | b'0'..=b'9'), _) | (_, Some("swf")) => Ok(Format::Swf),
        (_, Some("json")) => Ok(Format::Json),
        (_, Some("toml")) => Ok(Format::Toml),
        (Some(_), _) if text.iter().any(|byte| matches!(byte, b'=' | b'[')) => Ok(Format::Toml),
        _ => {
            let problem = "the format is not known; instances are written in JSON, TOML or SWF";
            Err(FormatError::content(name, Place::default(), problem))
        }
    }
}

/// Without the byte order mark that some editors write.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests;
