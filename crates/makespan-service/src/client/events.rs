//! Reads a stream of server-sent events.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use crate::http::Latest;
use crate::words::Happening;

/// Most bytes of a line.
const MAX_LINE: u64 = 1 << 20;

/// A stream of what happens; it ends when the connection does.
pub struct Events {
    reader: Box<dyn BufRead + Send>,
    latest: u64,
}

impl Events {
    pub(super) fn new(reader: impl Read + Send + 'static) -> Self {
        Self { reader: Box::new(BufReader::new(reader)), latest: 0 }
    }

    /// The number of what was told last, after which another stream goes on.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// Waits for the event that a stream begins with; the number after which it tells all.
    ///
    /// # Errors
    /// Where the connection ends before.
    pub fn begin(&mut self) -> io::Result<u64> {
        let (_, data) = self.event()?;
        let begun: Latest = serde_json::from_str(&data)?;
        self.latest = begun.latest;
        Ok(begun.latest)
    }

    /// Waits for what happens next.
    ///
    /// # Errors
    /// Where the connection ends, or is silent for a minute.
    pub fn following(&mut self) -> io::Result<Happening> {
        loop {
            let (name, data) = self.event()?;
            if name.is_empty() {
                let happening: Happening = serde_json::from_str(&data)?;
                self.latest = happening.sequence;
                return Ok(happening);
            }
        }
    }

    /// The next event: its name, which may be empty, and its data.
    fn event(&mut self) -> io::Result<(String, String)> {
        let (mut name, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.reader.by_ref().take(MAX_LINE).read_line(&mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end_matches(['\r', '\n']);
            match line.split_once(':').map(|(field, value)| (field, value.strip_prefix(' ').unwrap_or(value))) {
                None if line.is_empty() && !data.is_empty() => return Ok((name, data)),
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("data", value)) => data += value,
                _ => {}
            }
        }
    }
}
