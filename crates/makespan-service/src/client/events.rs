//! Reads a stream of server-sent events of the service.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use crate::http::Latest;
use crate::words::Happening;

/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// A stream of events, which ends with its connection.
pub struct Events {
    reader: Box<dyn BufRead + Send>,
    latest: u64,
}

impl Events {
    pub(super) fn new(reader: impl Read + Send + 'static) -> Self {
        Self { reader: Box::new(BufReader::new(reader)), latest: 0 }
    }

    /// Returns the number of the latest received event. A new stream can continue after this number.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// Waits for the first event of the stream, and returns its number. The stream sends all events with higher
    /// numbers.
    ///
    /// # Errors
    /// The connection ended before this event, or the event is malformed.
    pub fn begin(&mut self) -> io::Result<u64> {
        let (_, data) = self.event()?;
        let begun: Latest = serde_json::from_str(&data)?;
        self.latest = begun.latest;
        Ok(begun.latest)
    }

    /// Waits for the next event of a job.
    ///
    /// # Errors
    /// The connection ended, was silent for a minute, or sent a malformed event.
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

    /// Reads the next server-sent event. Returns the name of the event, which may be empty, and the data.
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
