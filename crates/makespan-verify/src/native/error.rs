//! Errors in reading and writing files, with their place.

use std::fmt;
use std::io;

use thiserror::Error;

/// Maximum number of characters of a file name or a message in an error. The number is limited because quotations from
/// a broken file can be megabytes long.
const LONGEST: usize = 400;

/// Error in reading or writing a file. The error is always displayed on one line that names the file.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The operating system reports an error, or compressed data are damaged.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The name of the file.
        file: String,
        /// The action that failed, such as "read".
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The content of the file is wrong.
    #[error("{file}{place}: {problem}")]
    Content {
        /// The name of the file.
        file: String,
        /// The place in the file.
        place: FilePlace,
        /// The problem and its remedy.
        problem: String,
    },
}

/// Place in a file. Unknown parts of the place are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePlace {
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column, from 1.
    pub column: Option<usize>,
    /// Path of the field, such as `jobs[3].time[0]`.
    pub field: Option<String>,
}

impl FilePlace {
    /// Returns the place of a line.
    pub fn line(line: usize) -> Self {
        Self { line: Some(line), ..Self::default() }
    }

    /// Returns the place of a field.
    pub fn field(field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::default() }
    }

    /// Returns this place with the given field.
    pub fn with_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }
}

/// Formats the place as a suffix of the file name, such as `:3:14: jobs[3].time[0]`.
impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        match &self.field {
            Some(field) => write!(f, ": {}", one_line(field)),
            None => Ok(()),
        }
    }
}

impl FormatError {
    /// Returns an error in the content of `file`.
    pub fn content(file: &str, place: FilePlace, problem: impl fmt::Display) -> Self {
        Self::Content { file: one_line(file), place, problem: one_line(&problem.to_string()) }
    }

    /// Returns an error of the operating system.
    pub fn io(file: &str, action: &'static str, source: io::Error) -> Self {
        Self::Io { file: one_line(file), action, source }
    }
}

/// Returns the text on one line of at most [`LONGEST`] characters. Control characters are escaped first, so the limit
/// is a number of characters after escaping.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST));
    let mut count = 0;
    for c in text.trim().chars() {
        let shown = if c.is_control() { c.escape_default().count() } else { 1 };
        if count + shown > LONGEST {
            line.push_str(" ..");
            break;
        }
        count += shown;
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_of_bearable_length() {
        let place = FilePlace { line: Some(3), column: Some(14), field: Some("jobs[0]".into()) };
        let error = FormatError::content("a.json", place, format!("`x\ny` {}", "z".repeat(1000)));
        let text = error.to_string();
        assert!(text.starts_with("a.json:3:14: jobs[0]: `x\\ny` zzz"), "{text}");
        assert!(text.ends_with("z ..") && text.len() < 500);
        // The length limit counts the characters after escaping.
        let long = "\u{7f}".repeat(1000);
        let text = FormatError::content(&long, FilePlace::field(&*long), &long).to_string();
        assert!(text.len() < 1300, "{}: {text}", text.len());
    }
}
