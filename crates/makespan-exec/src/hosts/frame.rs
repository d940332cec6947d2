//! Sends and receives messages as lines of JSON. The bytes of a file follow their line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender, TryRecvError};
use std::thread::{self, JoinHandle};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Maximum length of a message in bytes.
const LONGEST: u64 = 64 << 20;

/// Maximum length of a part of a file in bytes.
const PART: u64 = 1 << 18;

/// A part of a file of an attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FilePart {
    /// The id of the attempt.
    pub id: String,
    /// The position of the file in the list of files that both sides know.
    pub file: usize,
    /// The permissions of the file, with its first part.
    pub mode: Option<u32>,
    length: u64,
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// A message that may contain a part of a file.
pub(super) trait FileMessage: Serialize + DeserializeOwned + Send + 'static {
    /// Returns the part of a file.
    fn part(&mut self) -> Option<&mut FilePart>;

    /// Creates the message for a part.
    fn of_part(part: FilePart) -> Self;
}

/// Reads the next message. Returns `None` at the end of the input, or if the message is incomplete.
///
/// # Errors
/// The message is not one of this version.
pub(super) fn receive<T: FileMessage>(reader: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    reader.take(LONGEST).read_line(&mut line)?;
    let Some(line) = line.strip_suffix('\n') else { return Ok(None) };
    let mut message: T = serde_json::from_str(line)?;
    if let Some(part) = message.part() {
        reader.take(part.length.min(PART)).read_to_end(&mut part.bytes)?;
        if part.bytes.len() as u64 != part.length {
            return Ok(None);
        }
    }
    Ok(Some(message))
}

/// Writes a message.
pub(super) fn send<T: FileMessage>(writer: &mut impl Write, message: &mut T) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    if let Some(part) = message.part() {
        line.append(&mut part.bytes);
    }
    writer.write_all(&line)?;
    writer.flush()
}

/// Files of an attempt, and the message that follows them.
#[derive(Debug)]
struct SentFiles<T> {
    id: String,
    files: Vec<PathBuf>,
    /// The position of the current file, and the file after its first part.
    at: usize,
    open: Option<File>,
    last: T,
}

impl<T> SentFiles<T> {
    /// Returns the next part, or `None` after the last file. A file that cannot be read is left out.
    fn next(&mut self) -> Option<FilePart> {
        loop {
            let path = self.files.get(self.at)?;
            let (file, mode) = match self.open.take() {
                Some(file) => (Some(file), None),
                None => {
                    let file = File::open(path).ok();
                    let mode = file.as_ref().and_then(|file| Some(file.metadata().ok()?.permissions().mode() & 0o777));
                    (file, mode)
                }
            };
            let mut bytes = Vec::new();
            if let Some(file) = file {
                let is_read = (&file).take(PART).read_to_end(&mut bytes).is_ok();
                if is_read && (mode.is_some() || !bytes.is_empty()) {
                    self.open = Some(file);
                    let (id, file, length) = (self.id.clone(), self.at, bytes.len() as u64);
                    return Some(FilePart { id, file, mode, length, bytes });
                }
            }
            self.at += 1;
        }
    }
}

/// A message or files to send.
enum Outgoing<T> {
    Message(T),
    Files(SentFiles<T>),
}

/// Sends messages from a separate thread, so that a stalled connection does not stop the caller. Messages overtake
/// files, so that long files delay no beat.
#[derive(Debug)]
pub(super) struct FrameSender<T> {
    outgoing: Sender<Outgoing<T>>,
    thread: JoinHandle<()>,
}

impl<T: FileMessage> FrameSender<T> {
    /// Sends messages to `writer` until this value is dropped or an error occurs. Then drops `writer`.
    pub fn new(mut writer: impl Write + Send + 'static) -> io::Result<Self> {
        let (outgoing, received) = mpsc::channel::<Outgoing<T>>();
        let run = move || {
            let mut files = VecDeque::new();
            loop {
                let next = if files.is_empty() {
                    received.recv().map_err(|_| TryRecvError::Disconnected)
                } else {
                    received.try_recv()
                };
                let message = match next {
                    Ok(Outgoing::Message(message)) => Some(message),
                    Ok(Outgoing::Files(sent)) => {
                        files.push_back(sent);
                        continue;
                    }
                    Err(TryRecvError::Disconnected) if files.is_empty() => return,
                    Err(_) => None,
                };
                let message = message.or_else(|| match files.front_mut()?.next() {
                    Some(part) => Some(T::of_part(part)),
                    None => Some(files.pop_front()?.last),
                });
                if message.is_some_and(|mut message| send(&mut writer, &mut message).is_err()) {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("send".into()).stack_size(128 * 1024).spawn(run)?;
        Ok(Self { outgoing, thread })
    }

    /// Sends a message. If the connection is broken, its reader reports this.
    pub fn send(&self, message: T) {
        let _ = self.outgoing.send(Outgoing::Message(message));
    }

    /// Sends files of an attempt, and then a message.
    pub fn send_files(&self, id: &str, files: Vec<PathBuf>, last: T) {
        let sent = SentFiles { id: id.to_owned(), files, at: 0, open: None, last };
        let _ = self.outgoing.send(Outgoing::Files(sent));
    }

    /// Waits until all messages were sent or the connection is broken.
    pub fn finish(self) {
        drop(self.outgoing);
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::message::HostMessage;

    #[test]
    fn files_arrive_before_the_message_that_follows_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let long: Vec<u8> = (0..PART * 2 + 7).map(|at| at as u8).collect();
        std::fs::write(path("long"), &long).unwrap();
        std::fs::write(path("empty"), "").unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let sender = FrameSender::new(writer).unwrap();
        let files = ["long", "missing", "empty"].map(path).to_vec();
        sender.send_files("a.1", files, HostMessage::Beat(1));
        let reading = thread::spawn(move || {
            let mut reader = io::BufReader::new(reader);
            let (mut got, mut firsts) = (vec![Vec::new(); 3], vec![]);
            loop {
                match receive(&mut reader).unwrap().unwrap() {
                    HostMessage::File(part) => {
                        firsts.extend(part.mode.map(|_| part.file));
                        got[part.file].extend(part.bytes);
                    }
                    HostMessage::Beat(1) => return (got, firsts),
                    other => panic!("{other:?}"),
                }
            }
        });
        let (got, firsts) = reading.join().unwrap();
        assert_eq!(firsts, [0, 2]);
        assert!(got[0] == long && got[1].is_empty() && got[2].is_empty());
        sender.finish();
    }
}
