//! Reads the whole text of a file, with a limit on the length of its lines.

use std::io::BufRead;

use makespan_core::text_of_bytes;

use crate::Format;
use crate::error::{FormatError, Place};
use crate::input::Input;

use super::{MARK, without_mark};

/// Maximum length of a line in a list, in bytes. A command has at most 131,071 bytes, and a comment may follow it.
const LIST: usize = 1 << 20;
/// Maximum length of a line in a graph or an XML file, in bytes.
const GRAPH: usize = 64 << 20;

/// Returns the maximum line length of a format whose readers need many times the memory of a line.
fn longest_line(format: Format) -> Option<usize> {
    match format {
        Format::List => Some(LIST),
        Format::Dax | Format::CompoundXml | Format::Stg | Format::Dot | Format::ProGen | Format::Patterson => {
            Some(GRAPH)
        }
        _ => None,
    }
}

/// Reads a whole file into one text. If a line is too long, the reading stops before it keeps the line.
pub(super) fn text(input: &mut Input<'_>, name: &str, format: Format) -> Result<String, FormatError> {
    let mut bytes = Vec::new();
    let mut lines = longest_line(format).map(|most| Lines { most, line: 1, length: 0 });
    loop {
        let part = match input.fill_buf() {
            Ok([]) => break,
            Ok(part) => part,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(FormatError::io(name, "read", source)),
        };
        if let Some(lines) = &mut lines {
            lines.pass(part).map_err(|()| lines.too_long(name, format))?;
        }
        bytes.extend_from_slice(part);
        let read = part.len();
        input.consume(read);
    }
    if without_mark(&bytes).len() < bytes.len() {
        bytes.drain(..MARK.len());
    }
    if format == Format::List {
        // File names in commands need not be UTF-8.
        return Ok(text_of_bytes(bytes));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|&byte| byte == b'\n').count();
        FormatError::content(name, Place::line(line), "the text is not UTF-8")
    })
}

/// Checks for lines that are too long.
struct Lines {
    most: usize,
    line: usize,
    /// Bytes of the current line so far.
    length: usize,
}

impl Lines {
    fn pass(&mut self, part: &[u8]) -> Result<(), ()> {
        for piece in part.split_inclusive(|&byte| byte == b'\n') {
            self.length += piece.len();
            if self.length > self.most {
                return Err(());
            }
            if piece.ends_with(b"\n") {
                (self.line, self.length) = (self.line + 1, 0);
            }
        }
        Ok(())
    }

    fn too_long(&self, name: &str, format: Format) -> FormatError {
        let most = self.most;
        let problem = format!(
            "a line of {format} may have at most {most} bytes, and this line is longer; break it into several lines"
        );
        FormatError::content(name, Place::line(self.line), problem)
    }
}
