//! Reads a file of any size line by line.

use std::io::{BufRead, Read};

use crate::error::{FilePlace, FormatError};

/// Maximum length of a line of a log, in bytes.
const LONGEST: u64 = 1 << 16;

/// Calls `take` for each non-empty line, with the line number from 1. White space around the line and a byte order mark
/// are removed.
pub(crate) fn each(
    file: &str,
    input: &mut dyn BufRead,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut bytes = Vec::with_capacity(256);
    for line in 1.. {
        bytes.clear();
        let read = input.take(LONGEST).read_until(b'\n', &mut bytes);
        let read = read.map_err(|source| FormatError::io(file, "read", source))?;
        if read == 0 {
            break;
        }
        if read as u64 == LONGEST {
            let problem = format!("the line is longer than {LONGEST} bytes");
            return Err(FormatError::content(file, FilePlace::line(line), problem));
        }
        let content = if line == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) } else { &bytes };
        let content = content.trim_ascii();
        if !content.is_empty() {
            take(line, content)?;
        }
    }
    Ok(())
}
