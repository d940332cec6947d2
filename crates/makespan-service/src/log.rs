//! The log of a service: one line for each event, on standard error and in a file.
//!
//! Under systemd, standard error is a connection to the journal. Each line then begins with its priority, as in
//! `<4>`, and the journal adds the time. Otherwise a line begins with the time and the name of the priority.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Zoned;
use makespan_core::shown;

/// Maximum number of lines that wait to be written. Further lines are dropped and counted.
const WAITING: usize = 10_000;
/// Maximum number of refused requests in the log for each interval of [`REFUSALS_PER`].
const REFUSALS: u64 = 20;
/// Interval for [`REFUSALS`].
const REFUSALS_PER: Duration = Duration::from_secs(10);
/// Maximum length of a line, in characters.
const LONGEST: usize = 2000;
/// Maximum wait for the last lines when the service ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// The priority of a line, with the numbers of syslog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// The service cannot do a part of its work.
    Error = 3,
    /// A job failed, a request was refused, or a part of the service needs attention.
    Warning = 4,
    /// The service or an admin changed the state of the service.
    Notice = 5,
    /// A user or a job acted as usual.
    Info = 6,
}

impl Priority {
    const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
            Self::Info => "info",
        }
    }
}

/// The log of a service. Copies write to the same log. The default log drops every line.
///
/// A thread writes the lines, so that a slow disk or a stopped terminal never delays the service.
#[derive(Clone, Debug, Default)]
pub struct Log(Option<Arc<LogSender>>);

#[derive(Debug)]
struct LogSender {
    lines: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
    refusals: Arc<Mutex<RefusalCount>>,
}

#[derive(Debug)]
enum Message {
    Line(Priority, String),
    Flush(mpsc::Sender<()>),
}

/// The number of refused requests in the current interval.
#[derive(Debug)]
struct RefusalCount {
    since: Instant,
    count: u64,
}

impl Log {
    /// Opens a log on standard error, and also in `file` if it is given. Lines are appended to an existing file. A new
    /// file can be read only by its owner. If the file is renamed or removed, the log makes a new file.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn open(file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(LogFile::open).transpose()?;
        let is_journal = is_journal();
        let print = move |priority, text: &str| {
            let line = if is_journal { journal_line(priority, text) } else { line(priority, text) };
            let _ = io::stderr().write_all(line.as_bytes());
        };
        Self::with(file, print)
    }

    /// Opens a log that calls `print` for each line, in a thread of its own.
    fn with(mut file: Option<LogFile>, print: impl Fn(Priority, &str) + Send + 'static) -> io::Result<Self> {
        let (lines, received) = mpsc::sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let lost = Arc::clone(&dropped);
        let write = move |priority: Priority, text: &str| {
            print(priority, text);
            if let Some(file) = &mut file {
                file.write(priority, text);
            }
        };
        let refusals = Arc::new(Mutex::new(RefusalCount { since: Instant::now(), count: 0 }));
        let counted = Arc::clone(&refusals);
        thread::Builder::new().name("log".into()).spawn(move || run(&received, &lost, &counted, write))?;
        Ok(Self(Some(Arc::new(LogSender { lines, dropped, refusals }))))
    }

    /// Adds a line. Control characters are escaped, so that a name cannot forge a line.
    pub fn add(&self, priority: Priority, text: &str) {
        let Some(sender) = &self.0 else { return };
        let part: String = text.chars().take(LONGEST).collect();
        if sender.lines.try_send(Message::Line(priority, shown(&part).into_owned())).is_err() {
            sender.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Adds a line about an error of the service.
    pub fn error(&self, text: &str) {
        self.add(Priority::Error, text);
    }

    /// Adds a line that needs attention.
    pub fn warning(&self, text: &str) {
        self.add(Priority::Warning, text);
    }

    /// Adds a line about a change of the service.
    pub fn notice(&self, text: &str) {
        self.add(Priority::Notice, text);
    }

    /// Adds a line about a usual event.
    pub fn info(&self, text: &str) {
        self.add(Priority::Info, text);
    }

    /// Adds a line about a refused request. If a client sends many such requests, the log contains the first ones and
    /// the number of further ones.
    pub fn refused(&self, text: &str) {
        let Some(sender) = &self.0 else { return };
        let mut refusals = sender.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.since.elapsed() > REFUSALS_PER
            && let Some(line) = refusals.take()
        {
            self.warning(&line);
        }
        refusals.count += 1;
        if refusals.count <= REFUSALS {
            self.warning(text);
        }
    }

    /// Blocks until all earlier lines are written, or for at most two seconds.
    pub fn flush(&self) {
        let Some(sender) = &self.0 else { return };
        let (done, written) = mpsc::channel();
        let end = Instant::now() + PATIENCE;
        let mut message = Message::Flush(done);
        while let Err(mpsc::TrySendError::Full(again)) = sender.lines.try_send(message) {
            if Instant::now() > end {
                return;
            }
            message = again;
            thread::sleep(PATIENCE / 100);
        }
        let _ = written.recv_timeout(end.saturating_duration_since(Instant::now()));
    }
}

/// Writes a line about a service that cannot start to the file of its log and, under systemd, to the journal. The caller
/// prints the error on a terminal.
pub fn report_failed_start(file: Option<&Path>, text: &str) {
    let text = shown(text);
    if is_journal() {
        let _ = io::stderr().write_all(journal_line(Priority::Error, &text).as_bytes());
    }
    if let Some(Ok(mut file)) = file.map(LogFile::open) {
        file.write(Priority::Error, &text);
    }
}

impl RefusalCount {
    /// Begins a new interval. Returns a line with the number of refused requests that are not in the log, if there are
    /// any.
    fn take(&mut self) -> Option<String> {
        let more = self.count.saturating_sub(REFUSALS);
        *self = Self { since: Instant::now(), count: 0 };
        (more > 0).then(|| format!("{more} more requests were refused"))
    }
}

/// Writes lines until the log is dropped.
fn run(
    messages: &Receiver<Message>,
    dropped: &AtomicU64,
    refusals: &Mutex<RefusalCount>,
    mut write: impl FnMut(Priority, &str),
) {
    loop {
        let message = messages.recv_timeout(REFUSALS_PER);
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            write(
                Priority::Warning,
                &format!("{lost} lines of the log were dropped, because too many lines came at once"),
            );
        }
        let is_line = matches!(message, Ok(Message::Line(..)));
        let refused = {
            let mut refusals = refusals.lock().unwrap_or_else(PoisonError::into_inner);
            if is_line && refusals.since.elapsed() <= REFUSALS_PER { None } else { refusals.take() }
        };
        refused.iter().for_each(|line| write(Priority::Warning, line));
        match message {
            Ok(Message::Line(priority, text)) => write(priority, &text),
            Ok(Message::Flush(done)) => _ = done.send(()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The file of a log.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a line. A line that cannot be written, for example because the disk is full, is still on standard error.
    fn write(&mut self, priority: Priority, text: &str) {
        let own = self.file.metadata().map(|file| (file.dev(), file.ino())).ok();
        let there = fs::metadata(&self.path).map(|file| (file.dev(), file.ino())).ok();
        if own != there
            && let Ok(new) = Self::open(&self.path)
        {
            *self = new;
        }
        let _ = self.file.write_all(line(priority, text).as_bytes());
    }
}

fn line(priority: Priority, text: &str) -> String {
    format!("{} {} {text}\n", Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z"), priority.name())
}

fn journal_line(priority: Priority, text: &str) -> String {
    format!("<{}>{text}\n", priority as u8)
}

/// Returns true if standard error is a connection to the journal of systemd. The variable `JOURNAL_STREAM` contains the
/// device and the inode of this connection.
fn is_journal() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    fs::metadata("/proc/self/fd/2").is_ok_and(|file| stream == format!("{}:{}", file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a log that sends its lines to the returned channel.
    fn heard() -> (Log, Receiver<String>) {
        let (send, lines) = mpsc::channel();
        let log = Log::with(None, move |priority, text| drop(send.send(journal_line(priority, text)))).unwrap();
        (log, lines)
    }

    #[test]
    fn a_line_has_its_priority_and_cannot_be_forged() {
        let (log, lines) = heard();
        log.error("one\n<3>two\u{1b}[31m");
        log.info("three");
        log.flush();
        let all: Vec<String> = lines.try_iter().collect();
        assert_eq!(all, ["<3>one\\n<3>two\\u{1b}[31m\n", "<6>three\n"]);
        Log::default().error("this line is not read");
    }

    #[test]
    fn many_refusals_are_counted() {
        let (log, lines) = heard();
        for at in 0..500 {
            log.refused(&format!("request {at}"));
        }
        log.flush();
        let lines: Vec<String> = lines.try_iter().collect();
        assert_eq!(lines.len() as u64, REFUSALS + 1);
        assert_eq!(lines.last().unwrap(), &format!("<4>{} more requests were refused\n", 500 - REFUSALS));
    }

    #[test]
    fn a_failed_start_leaves_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        report_failed_start(Some(&path), "the service cannot start: two\nlines");
        report_failed_start(None, "this line is not written");
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.ends_with(" error the service cannot start: two\\nlines\n") && text.lines().count() == 1,
            "{text}"
        );
    }

    #[test]
    fn a_file_keeps_its_lines_and_is_made_again_after_a_rename() {
        let folder = tempfile::tempdir().unwrap();
        let [path, old] = ["log", "log.1"].map(|name| folder.path().join(name));
        for text in ["first", "second"] {
            let log = Log::with(Some(LogFile::open(&path).unwrap()), |_, _| ()).unwrap();
            log.notice(text);
            log.flush();
        }
        let log = Log::with(Some(LogFile::open(&path).unwrap()), |_, _| ()).unwrap();
        fs::rename(&path, &old).unwrap();
        log.warning("third");
        log.flush();
        let [new, old] = [path, old].map(|path| (fs::read_to_string(&path).unwrap(), fs::metadata(&path).unwrap()));
        assert!(old.0.lines().count() == 2 && old.0.contains(" notice first\n"), "{}", old.0);
        assert!(new.0.lines().count() == 1 && new.0.ends_with(" warning third\n"), "{}", new.0);
        assert_eq!(new.1.mode() & 0o777, 0o600);
    }
}
