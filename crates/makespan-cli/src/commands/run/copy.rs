//! Copies the output of jobs to standard output and standard error, with a bounded amount of memory.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use makespan_core::bytes_of_text;
use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

/// Maximum length, in bytes, of a line with a tag or a line of a running job. Longer lines are split.
const LONGEST_LINE: usize = 1 << 20;

/// Number of bytes to read at once if lines may be split.
const CHUNK: usize = 1 << 16;

/// Standard output or standard error of this process.
pub struct Stream {
    file: Unbuffered,
    is_terminal: bool,
    /// Number of bytes written since the last newline.
    column: usize,
}

/// Returns standard output and standard error.
pub fn streams() -> io::Result<[Stream; 2]> {
    let stream = |fd: BorrowedFd<'_>| fd.try_clone_to_owned().map(|fd| Stream::of(fd.into()));
    Ok([stream(io::stdout().as_fd())?, stream(io::stderr().as_fd())?])
}

/// A file with writes that wait for a slow reader, even if another program has made the file non-blocking.
struct Unbuffered(File);

impl Write for Unbuffered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(Duration::from_millis(5)),
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    /// Returns a stream that writes to a file or a terminal.
    pub fn of(file: File) -> Self {
        Self { is_terminal: file.is_terminal(), file: Unbuffered(file), column: 0 }
    }

    /// Writes bytes without change.
    fn copy(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.column = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => bytes.len() - last - 1,
            None => self.column + bytes.len(),
        };
        self.file.write_all(bytes)
    }

    /// Writes bytes with a tag at the beginning of each line, and splits lines that are too long.
    fn copy_lines(&mut self, mut bytes: &[u8], tag: &str) -> io::Result<()> {
        // A tag may contain file names that are not UTF-8.
        let tag = bytes_of_text(tag);
        let mut out = BufWriter::with_capacity(CHUNK, &mut self.file);
        while !bytes.is_empty() {
            if self.column == 0 {
                out.write_all(&tag)?;
            }
            let room = bytes.len().min(LONGEST_LINE - self.column);
            let newline = bytes[..room].iter().position(|&byte| byte == b'\n');
            let end = newline.map_or(room, |at| at + 1);
            out.write_all(&bytes[..end])?;
            self.column = if newline.is_some() { 0 } else { self.column + end };
            if self.column == LONGEST_LINE {
                out.write_all(b"\n")?;
                self.column = 0;
            }
            bytes = &bytes[end..];
        }
        out.flush()
    }

    /// Ends an unfinished line if `always` is true or if the stream is a terminal. On a terminal, the progress line
    /// would otherwise overwrite the unfinished line.
    pub fn end_line(&mut self, always: bool) -> io::Result<()> {
        if self.column == 0 || !(always || self.is_terminal) {
            return Ok(());
        }
        self.column = 0;
        self.file.write_all(b"\n")
    }
}

/// Options for writing the output of a job.
#[derive(Clone, Copy)]
pub struct Style<'a> {
    /// Text before each line.
    pub tag: Option<&'a str>,
    /// True if only complete lines are written before the job has ended.
    pub lines: bool,
    /// True if the job has ended.
    pub ended: bool,
}

/// The reason why a copy failed.
pub enum CopyError {
    /// The file of the job cannot be read.
    Read(io::Error),
    /// The stream of this process cannot be written.
    Write(io::Error),
}

/// Copies the bytes of a file from position `from`. Returns the position after the last copied byte.
pub fn copy(file: &File, from: u64, style: Style<'_>, to: &mut Stream) -> Result<u64, CopyError> {
    let length = file.metadata().map_err(CopyError::Read)?.len();
    // If the file is shorter than `from`, the job has emptied it.
    let mut at = if from > length { 0 } else { from };
    if at == length {
        return Ok(at);
    }
    let splits = style.lines || style.tag.is_some();
    let tag = style.tag.map_or_else(String::new, |tag| format!("{tag}\t"));
    let mut buffer = vec![0; if style.lines { LONGEST_LINE } else { CHUNK }];
    while at < length {
        let wanted = buffer.len().min(usize::try_from(length - at).unwrap_or(usize::MAX));
        let read = read_at(file, &mut buffer[..wanted], at).map_err(CopyError::Read)?;
        let mut part = &buffer[..read];
        if style.lines {
            let whole = part.iter().rposition(|&byte| byte == b'\n').map(|last| last + 1);
            let may_go_on = !style.ended && read < LONGEST_LINE;
            part = &part[..whole.unwrap_or(if may_go_on { 0 } else { read })];
        }
        if part.is_empty() {
            break;
        }
        if splits { to.copy_lines(part, &tag) } else { to.copy(part) }.map_err(CopyError::Write)?;
        at += part.len() as u64;
    }
    to.end_line(splits).map_err(CopyError::Write)?;
    Ok(at)
}

/// Opens a regular file. Returns an error for a link or a pipe that a job put in place of the file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Fills the buffer from a position in the file, up to the end of the file. Returns the number of bytes read.
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies a growing file in the given style, once for each state of the file, and returns the written bytes.
    fn copied(states: &[&[u8]], tag: Option<&str>, lines: bool) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let mut stream = Stream::of(File::create(&to).unwrap());
        let mut at = 0;
        for (index, state) in states.iter().enumerate() {
            std::fs::write(&from, state).unwrap();
            let style = Style { tag, lines, ended: index + 1 == states.len() };
            at = copy(&open(&from).unwrap(), at, style, &mut stream).ok().unwrap();
        }
        std::fs::read(&to).unwrap()
    }

    #[test]
    fn only_tags_and_lines_change_an_output() {
        let odd = b"a\0\xff\r\n\n\x1b[31mb";
        assert_eq!(copied(&[odd], None, false), odd);
        assert_eq!(copied(&[odd], None, true), [odd.as_slice(), b"\n"].concat());
        assert_eq!(copied(&[b"a\n\nb"], Some("t"), false), b"t\ta\nt\t\nt\tb\n");
        assert_eq!(copied(&[b""], Some("t"), true), b"");
        let large = b"0123456789\n".repeat(20_000);
        assert_eq!(copied(&[&large], None, false), large);
        assert_eq!(copied(&[&large], None, true), large);
    }

    #[test]
    fn lines_that_are_printed_as_they_come_are_whole() {
        assert_eq!(copied(&[b"one\ntw"], None, true), b"one\ntw\n");
        assert_eq!(
            copied(&[b"one\ntw", b"one\ntwo\n", b"one\ntwo\nthree"], Some("t"), true),
            b"t\tone\nt\ttwo\nt\tthree\n"
        );
        // A new attempt writes from the beginning.
        assert_eq!(copied(&[b"a long line\n", b"b\n"], None, true), b"a long line\nb\n");
    }

    #[test]
    fn long_lines_are_split() {
        let long = vec![b'x'; LONGEST_LINE + 10];
        let split = [&long[..LONGEST_LINE], b"\n", &long[LONGEST_LINE..], b"\n"].concat();
        assert_eq!(copied(&[&long], None, true), split);
        assert_eq!(copied(&[&long], None, false), long);
        assert_eq!(copied(&[&long], Some(""), false).len(), split.len() + 2);
    }
}
