//! Sends and receives messages as lines of JSON.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum length of a message in bytes.
const LONGEST: u64 = 64 << 20;

/// Reads the next message. Returns `None` at the end of the input, or if the message is incomplete.
///
/// # Errors
/// The message is not one of this version.
pub(super) fn receive<T: DeserializeOwned>(reader: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    reader.take(LONGEST).read_line(&mut line)?;
    let Some(line) = line.strip_suffix('\n') else { return Ok(None) };
    Ok(Some(serde_json::from_str(line)?))
}

/// Writes a message.
pub(super) fn send(writer: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line)?;
    writer.flush()
}

/// Sends messages from a separate thread, so that a stalled connection does not stop the caller.
#[derive(Debug)]
pub(super) struct FrameSender<T> {
    messages: Sender<T>,
    thread: JoinHandle<()>,
}

impl<T: Serialize + Send + 'static> FrameSender<T> {
    /// Sends messages to `writer` until this value is dropped or an error occurs. Then drops `writer`.
    pub fn new(mut writer: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, messages) = mpsc::channel::<T>();
        let thread = thread::Builder::new().name("send".into()).stack_size(128 * 1024).spawn(move || {
            while let Ok(message) = messages.recv() {
                if send(&mut writer, &message).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { messages: sender, thread })
    }

    /// Sends a message. If the connection is broken, its reader reports this.
    pub fn send(&self, message: T) {
        let _ = self.messages.send(message);
    }

    /// Waits until all messages were sent or the connection is broken.
    pub fn finish(self) {
        drop(self.messages);
        let _ = self.thread.join();
    }
}
