//! The thread that prints during a run. If the output is read slowly, only this thread waits, so jobs start on time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use makespan_core::{Stop, TaskId};

use super::printed::{PrintedOutputs, PrintedSizes};
use super::prints::{ClosedOutput, Output, Prints, ReplacedAttempt};
use crate::output::{complain, shown};

/// Time between two checks for new output of running jobs.
const GLANCE: Duration = Duration::from_millis(50);

/// Time between two checks for a request to stop, while the last outputs are printed.
const PATIENCE: Duration = Duration::from_secs(1);

/// An event that the thread shows to the user.
pub enum Message {
    /// The session begins. The message contains the tasks with outputs that must still be printed, and the sizes of the
    /// outputs that earlier sessions printed.
    Open(Vec<TaskId>, PrintedSizes),
    /// These tasks have arrived during the run.
    Grown(Vec<TaskId>),
    /// An attempt at a job has started.
    Started(Output),
    /// A new attempt at a job replaces the output files of the previous attempt.
    Replaced(ReplacedAttempt),
    /// A job has ended.
    Ended(Output),
    /// A job was not started, so it has no output.
    Skipped(TaskId),
    /// A line for the user.
    Line(String),
    /// The number of jobs that have ended, and a text about the other jobs.
    Progress(u64, String),
}

/// The sender of messages to the thread.
pub struct Console {
    sender: Option<Sender<Message>>,
    /// The thread, which returns true if an error prevented an output from being printed.
    thread: Option<JoinHandle<bool>>,
    /// A channel that is disconnected after the thread has printed everything.
    done: Receiver<()>,
    /// True while a progress message is in the channel. Meanwhile, no further progress message is sent.
    has_progress: Arc<AtomicBool>,
    is_hidden: bool,
    stop: Stop,
}

impl Console {
    /// Starts the thread. The progress line counts up to `tasks`. If `tasks` is `None`, the line shows no total. When
    /// standard output is closed, the thread requests `stop`.
    pub fn start(
        tasks: Option<u64>,
        shows_progress: bool,
        (prints, printed): (Option<Prints>, PrintedOutputs),
        stop: Stop,
    ) -> Self {
        let target = if shows_progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(tasks, target);
        bar.set_style(style(match tasks {
            Some(_) => "{wide_bar} {pos}/{len} jobs, {elapsed} elapsed, {msg}",
            None => "{spinner} {pos} jobs ended, {elapsed} elapsed, {msg}",
        }));
        bar.set_message("starting");
        let is_hidden = bar.is_hidden();
        if !is_hidden {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        let ((sender, receiver), (printing, done)) = (mpsc::channel(), mpsc::channel());
        let has_progress = Arc::new(AtomicBool::new(false));
        let mut screen = Screen {
            bar,
            hides: prints.is_none(),
            prints,
            printed,
            has_progress: has_progress.clone(),
            has_failed: false,
            stop: stop.clone(),
        };
        let thread = thread::spawn(move || {
            screen.serve(&receiver);
            drop(printing);
            screen.has_failed
        });
        Self { sender: Some(sender), thread: Some(thread), done, has_progress, is_hidden, stop }
    }

    /// Returns true if no progress line is shown.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    pub fn send(&self, message: Message) {
        if let Some(sender) = &self.sender {
            // The receiver exists as long as this sender, so the send cannot fail.
            let _ = sender.send(message);
        }
    }

    /// Updates the progress line with the number of jobs that have ended and a text about the other jobs.
    pub fn progress(&self, ended: u64, words: impl FnOnce() -> String) {
        if !self.is_hidden && !self.has_progress.swap(true, Ordering::Relaxed) {
            self.send(Message::Progress(ended, words()));
        }
    }

    /// Removes the progress line and waits until everything is printed. After a request to stop, waits at most two
    /// seconds, because the program that reads the output may have stopped reading. Returns false if an error
    /// prevented an output from being printed.
    pub fn finish(&mut self) -> bool {
        self.sender = None;
        let Some(thread) = self.thread.take() else { return true };
        let mut stopped = false;
        while let Err(RecvTimeoutError::Timeout) = self.done.recv_timeout(PATIENCE) {
            if stopped {
                complain(
                    "note: no program reads standard output, so some outputs are not printed; these outputs are in \
                     the folder of the run",
                );
                return true;
            }
            stopped = self.stop.is_requested();
        }
        match thread.join() {
            Ok(has_failed) => !has_failed,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Returns the style that a template describes, or the default style if the template is invalid.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The state of the thread.
struct Screen {
    bar: ProgressBar,
    /// The printer of outputs; `None` after standard output was closed.
    prints: Option<Prints>,
    /// True if the user does not want outputs to be printed.
    hides: bool,
    printed: PrintedOutputs,
    has_progress: Arc<AtomicBool>,
    /// True if an error prevented an output from being printed.
    has_failed: bool,
    stop: Stop,
}

impl Screen {
    /// Prints until the sender is dropped.
    fn serve(&mut self, messages: &Receiver<Message>) {
        let mut looked = Instant::now();
        loop {
            let follows = self.prints.as_ref().is_some_and(Prints::follows);
            let message = match messages.recv_timeout(if follows { GLANCE } else { Duration::MAX }) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Some(message) = message {
                self.show(message);
            }
            if follows && looked.elapsed() >= GLANCE {
                self.print(Prints::follow);
                looked = Instant::now();
            }
        }
        let stopped = self.stop.is_requested();
        self.print(|prints| prints.finish(stopped));
        self.prints.iter_mut().for_each(Prints::end_line);
        self.bar.finish_and_clear();
    }

    fn show(&mut self, message: Message) {
        match message {
            Message::Open(tasks, printed) => {
                if let Err(error) = self.printed.replace(&printed) {
                    let text = format!("note: cannot record which outputs are printed: {error}");
                    self.bar.suspend(|| complain(&shown(&text)));
                }
                self.print(|prints| {
                    prints.open(tasks);
                    Ok(())
                });
            }
            Message::Grown(tasks) => self.print(|prints| {
                prints.open(tasks);
                Ok(())
            }),
            Message::Started(output) => self.print(|prints| {
                prints.start(output);
                Ok(())
            }),
            Message::Replaced(attempt) => self.print(|prints| prints.replace(attempt)),
            Message::Ended(output) if self.hides => {
                let size = |path: &PathBuf| path.symlink_metadata().map_or(0, |metadata| metadata.len());
                self.printed.add(&output.stem, output.files.each_ref().map(size));
            }
            Message::Ended(output) => self.print(|prints| prints.end(output)),
            Message::Skipped(task) => self.print(|prints| prints.skip(task)),
            Message::Line(line) => self.bar.suspend(|| {
                self.prints.iter_mut().for_each(Prints::end_line);
                complain(&line);
            }),
            Message::Progress(ended, words) => {
                self.has_progress.store(false, Ordering::Relaxed);
                self.bar.set_position(ended);
                self.bar.set_message(words);
            }
        }
    }

    /// Prints outputs above the progress line. If standard output is closed, the run ends.
    fn print(&mut self, print: impl FnOnce(&mut Prints) -> Result<(), ClosedOutput>) {
        let Some(prints) = &mut self.prints else { return };
        let printed = self.bar.suspend(|| print(prints));
        prints.take_printed().iter().for_each(|(stem, sizes)| self.printed.add(stem, *sizes));
        let Err(closed) = printed else { return };
        self.prints = None;
        if let ClosedOutput::ByError(error) = closed {
            self.has_failed = true;
            let text = format!("error: cannot write to standard output: {error}; the run is stopped");
            self.bar.suspend(|| complain(&shown(&text)));
        }
        self.stop.request();
    }
}
