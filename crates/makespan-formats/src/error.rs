//! What can be wrong with a file, and where.

use std::fmt;
use std::io;

use thiserror::Error;

/// Why machines that are stated twice are refused.
pub(crate) const BOTH_STATED: &str = "both a platform and a number of processors are stated; state one";

/// Longest problem that is shown in full; what is quoted from a broken file can be megabytes.
const LONGEST: usize = 400;

/// Why a file was not read or written: always one line that names the file.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The operating system refused, or compressed data are damaged.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// Which file.
        file: String,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The content is wrong.
    #[error("{file}{place}: {problem}")]
    Content {
        /// Which file.
        file: String,
        /// Where in it.
        place: Place,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// A place in a file, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column, from 1.
    pub column: Option<usize>,
    /// The field, such as `jobs[3].time[0]`.
    pub field: Option<String>,
}

impl Place {
    /// A line.
    pub fn line(line: usize) -> Self {
        Self { line: Some(line), ..Self::default() }
    }

    /// A field.
    pub fn field(field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::default() }
    }

    /// This place with a field.
    pub fn with_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }
}

/// Written behind the file's name, such as `:3:14: jobs[3].time[0]`.
impl fmt::Display for Place {
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
    /// Something wrong in the content of `file`.
    pub fn content(file: &str, place: Place, problem: impl fmt::Display) -> Self {
        Self::Content { file: one_line(file), place, problem: one_line(&problem.to_string()) }
    }

    /// A refusal of the operating system.
    pub fn io(file: &str, action: &'static str, source: io::Error) -> Self {
        Self::Io { file: one_line(file), action, source }
    }
}

/// Shows quoted input on one line of bearable length. What is escaped counts as it is shown: a control character takes six.
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
        let place = Place { line: Some(3), column: Some(14), field: Some("jobs[0]".into()) };
        let error = FormatError::content("a.json", place, format!("`x\ny` {}", "z".repeat(1000)));
        let text = error.to_string();
        assert!(text.starts_with("a.json:3:14: jobs[0]: `x\\ny` zzz"), "{text}");
        assert!(text.ends_with("z ..") && text.len() < 500);
        // Each of its parts is, also where it is escaped.
        let long = "\u{7f}".repeat(1000);
        let text = FormatError::content(&long, Place::field(&*long), &long).to_string();
        assert!(text.len() < 1300, "{}: {text}", text.len());
    }
}
