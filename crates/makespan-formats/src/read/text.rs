//! Reads the whole text of a file, and limits the length of its lines.

use std::io::BufRead;

use makespan_core::text_of_bytes;

use crate::Format;
use crate::encoding::{DecodedText, decoded, line_of};
use crate::error::{FilePlace, FormatError};
use crate::input::{Input, MARK, without_mark};

/// Reads a whole file into one text. If a line exceeds the limit of the format, stops immediately with an error.
pub(super) fn text(input: &mut Input<'_>, name: &str, format: Format) -> Result<String, FormatError> {
    let bytes = bytes(input, name, format)?;
    if format == Format::List {
        // Commands may contain file names that are not UTF-8.
        return Ok(text_of_bytes(bytes));
    }
    String::from_utf8(bytes)
        .map_err(|error| FormatError::content(name, FilePlace::line(line_of(&error)), "the text is not UTF-8"))
}

/// Reads the text of a document, with a warning if its encoding is unknown. With `strict`, this warning is an error.
/// JSON and TOML must be UTF-8.
pub(super) fn text_in_any_encoding(
    input: &mut Input<'_>,
    name: &str,
    format: Format,
    strict: bool,
) -> Result<(String, Option<String>), FormatError> {
    if matches!(format, Format::Json | Format::Toml | Format::MoldableSet | Format::WfFormat) {
        return Ok((text(input, name, format)?, None));
    }
    let DecodedText { text, remark } = decoded(bytes(input, name, format)?);
    match remark {
        Some(remark) if strict => {
            Err(FormatError::content(name, FilePlace::default(), format!("{remark}; --strict does not allow this")))
        }
        remark => Ok((text, remark)),
    }
}

/// Reads all bytes of a file, without the byte order mark.
fn bytes(input: &mut Input<'_>, name: &str, format: Format) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let mut lines = format.row().longest_line.map(|most| Lines { most, line: 1, length: 0 });
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
    Ok(bytes)
}

/// Line lengths, for detecting lines that are too long.
struct Lines {
    most: usize,
    line: usize,
    /// Number of bytes read of the current line.
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
        FormatError::content(name, FilePlace::line(self.line), problem)
    }
}
