//! Jobs that arrive on standard input during the run.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use makespan_core::{Instance, Job, Stop, text_of_bytes};
use makespan_exec::Intake;
use makespan_formats::list::{
    ArgumentRules, ArgumentSource, Arguments, ListParts, Template, start_directly, start_in_shell, template_jobs,
};
use miette::{Result, miette};

use super::job_changes::{SLOTS, set_cores, with_slot};
use crate::args::SourceOptions;

/// Pause in the input after which the run begins with the lines that have arrived. The later lines are a stream.
const SETTLING: Duration = Duration::from_millis(20);

/// Number of digits of the number in a job's name.
pub const DIGITS: usize = 6;

/// Maximum number of lines that are added to the run at once.
const MAX_LINES: usize = 10_000;

/// Returns true if standard input is a regular file.
pub fn is_file() -> bool {
    let file = std::io::stdin().as_fd().try_clone_to_owned().map(File::from);
    file.and_then(|file| file.metadata()).is_ok_and(|metadata| metadata.is_file())
}

/// The lines of standard input. A thread reads the lines, so that the caller can wait for a line with a time limit.
pub struct InputLines {
    received: Receiver<std::io::Result<String>>,
    /// True if lines end with a NUL byte instead of a newline.
    null: bool,
    is_ended: bool,
}

impl InputLines {
    /// Starts to read standard input. Returns `None` if standard input is a regular file, which can be read at once.
    pub fn open(null: bool) -> Option<Self> {
        if is_file() {
            return None;
        }
        let file = File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
        let (sender, received) = mpsc::channel();
        thread::spawn(move || {
            let mut input = BufReader::new(file);
            loop {
                let mut line = Vec::new();
                let read = input.read_until(if null { 0 } else { b'\n' }, &mut line);
                let sent = match read {
                    Ok(0) => return,
                    Ok(_) => sender.send(Ok(text_of_bytes(line))),
                    Err(error) => sender.send(Err(error)),
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        Some(Self { received, null, is_ended: false })
    }

    /// Returns the lines up to the first pause at which `is_enough` is true, or up to the end of the input. At each
    /// pause, `is_enough` receives the lines since the previous pause.
    fn first(&mut self, mut is_enough: impl FnMut(&str) -> bool) -> Result<String> {
        let (mut text, mut seen, mut patience) = (String::new(), 0, Duration::MAX);
        while !self.is_ended {
            if let Some(line) = self.next(patience)? {
                text += &line;
                patience = SETTLING;
            } else if !self.is_ended {
                if is_enough(&text[seen..]) {
                    break;
                }
                (seen, patience) = (text.len(), Duration::MAX);
            }
        }
        Ok(text)
    }

    /// Returns the rest of the input.
    fn rest(&mut self) -> Result<String> {
        self.first(|_| false)
    }

    /// Returns the lines that have arrived, up to [`MAX_LINES`]. Blocks until a line arrives or the input ends.
    fn some(&mut self) -> Result<String> {
        let mut text = self.next(Duration::MAX)?.unwrap_or_default();
        for _ in 1..MAX_LINES {
            let Some(line) = self.next(Duration::ZERO)? else { break };
            text += &line;
        }
        Ok(text)
    }

    /// Returns the next line. Returns `None` at the end of the input, or if no line arrives within `patience`.
    fn next(&mut self, patience: Duration) -> Result<Option<String>> {
        match self.received.recv_timeout(patience) {
            Ok(line) => line.map(Some).map_err(|error| miette!("standard input: cannot read: {error}")),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                self.is_ended = true;
                Ok(None)
            }
        }
    }
}

/// The first part of standard input.
pub enum InputStart {
    /// All of standard input. No more lines follow.
    Whole(String),
    /// The lines that arrived so far. More lines may follow. If the lines are a list, `ListParts` contains their
    /// commands.
    Part(String, InputLines, ListParts),
}

impl InputStart {
    /// Reads standard input until its end, or until the input pauses after at least `jobs` jobs. `is_list` is true if
    /// the lines are a list, and false if the lines are arguments.
    pub fn read(lines: InputLines, is_list: bool, jobs: usize) -> Result<Self> {
        Self::extended(String::new(), lines, ListParts::new("standard input", DIGITS), is_list, jobs)
    }

    /// Adds lines to `text`, until the end of the input, or until the input pauses after at least `jobs` more jobs.
    fn extended(
        mut text: String,
        mut lines: InputLines,
        mut parts: ListParts,
        is_list: bool,
        jobs: usize,
    ) -> Result<Self> {
        let (mut count, null) = (0, lines.null);
        text += &lines.first(|new| {
            if !is_list {
                count += arguments(new, null).len();
                return count >= jobs;
            }
            // An invalid line is reported later, when the whole text is parsed.
            let Ok(more) = parts.add(new) else { return true };
            count += more.len();
            count >= jobs && parts.is_complete()
        })?;
        Ok(if lines.is_ended { Self::Whole(text) } else { Self::Part(text, lines, parts) })
    }

    /// Returns the lines that arrived so far.
    pub fn text(&self) -> &str {
        match self {
            Self::Whole(text) | Self::Part(text, ..) => text,
        }
    }

    /// Reads the rest of standard input, and returns the whole input.
    pub fn into_whole(self) -> Result<String> {
        match self {
            Self::Whole(text) => Ok(text),
            Self::Part(text, mut lines, _) => Ok(text + &lines.rest()?),
        }
    }
}

/// Makes jobs from lines of standard input.
enum JobMaker {
    /// Each line is a command of a list.
    List(ListParts),
    /// Each line is an argument of a template.
    Template {
        template: Template,
        rules: ArgumentRules,
        /// The number of the next command.
        next: usize,
        null: bool,
        /// True if the template consists of several words, which are a program and its arguments.
        is_program: bool,
    },
}

/// The rest of standard input, from which jobs are made during the run.
pub struct Stream {
    lines: InputLines,
    maker: JobMaker,
    shell: Option<String>,
    cores_per_job: Option<u32>,
    /// True if each task holds one licence [`SLOTS`].
    has_slots: bool,
}

impl Stream {
    /// Returns the stream of a list. `parts` contains its first commands.
    pub fn of_list(lines: InputLines, parts: ListParts, options: &SourceOptions) -> Self {
        Self::new(lines, JobMaker::List(parts), options)
    }

    /// Returns the stream of the next arguments of a template. The earlier arguments made `commands` commands.
    pub fn of_template(
        lines: InputLines,
        commands: usize,
        options: &SourceOptions,
        rules: ArgumentRules,
    ) -> Result<Self> {
        let words = options.template.command();
        let template = Template::of_words(words).map_err(|error| miette!("{error}"))?;
        let (null, is_program) = (lines.null, words.len() > 1);
        Ok(Self::new(lines, JobMaker::Template { template, rules, next: commands + 1, null, is_program }, options))
    }

    fn new(lines: InputLines, maker: JobMaker, options: &SourceOptions) -> Self {
        let (shell, cores_per_job) = (options.shell.clone(), options.cores_per_job);
        Self { lines, maker, shell, cores_per_job, has_slots: false }
    }

    /// Waits until more jobs arrive, and returns standard input from its beginning. `text` contains the earlier lines.
    pub fn more(self, text: String) -> Result<InputStart> {
        let (parts, is_list) = match self.maker {
            JobMaker::List(parts) => (parts, true),
            JobMaker::Template { .. } => (ListParts::new("standard input", DIGITS), false),
        };
        InputStart::extended(text, self.lines, parts, is_list, 1)
    }

    /// Gives the later jobs a licence [`SLOTS`] if the instance has this licence.
    pub fn fit(&mut self, instance: &Instance) {
        self.has_slots = instance.platform().licences().iter().any(|(name, _)| name == SLOTS);
    }

    /// Returns the next jobs with their arguments. Returns `None` at the end of the input. Blocks until a job arrives.
    fn next(&mut self) -> Result<Option<Arrival>> {
        loop {
            let text = self.lines.some()?;
            let arrival = self.made(&text)?;
            if !arrival.jobs.is_empty() {
                return Ok(Some(arrival));
            }
            if text.is_empty() {
                return Ok(None);
            }
        }
    }

    fn made(&mut self, text: &str) -> Result<Arrival> {
        let (mut jobs, arguments) = match &mut self.maker {
            JobMaker::List(parts) => {
                let jobs = if text.is_empty() { parts.end() } else { parts.add(text) };
                (jobs.map_err(|error| miette!("{error}"))?, Vec::new())
            }
            JobMaker::Template { template, rules, next, null, is_program } => {
                let new = arguments(text, *null);
                let source = ArgumentSource { arguments: new.clone(), is_linked: false };
                let all = Arguments::new(vec![source], rules.clone());
                let lines = template.lines_from(*next, &all).map_err(|error| miette!("{error}"))?;
                let mut jobs = template_jobs(&lines, *next, DIGITS).map_err(|error| miette!("{error}"))?;
                *next += lines.len();
                if *is_program && self.shell.is_none() {
                    start_directly(&mut jobs);
                }
                (jobs, new)
            }
        };
        if let Some(shell) = &self.shell {
            start_in_shell(&mut jobs, shell);
        }
        if let Some(cores) = self.cores_per_job {
            set_cores(&mut jobs, cores)?;
        }
        if self.has_slots {
            jobs = jobs.into_iter().map(with_slot).collect::<Result<_>>()?;
        }
        Ok(Arrival { jobs, arguments })
    }

    /// Sends the jobs to a run as their lines arrive. `feed` receives these jobs in this order. The end of the input
    /// ends the stream, except after a request to `stop`: Ctrl-C also ends the program that writes the lines.
    pub fn send(mut self, intake: Intake, feed: Arc<Feed>, stop: Stop) {
        thread::spawn(move || {
            loop {
                match self.next() {
                    Ok(Some(arrival)) if !feed.has_failed() => {
                        let jobs = arrival.jobs.clone();
                        feed.push(arrival);
                        intake.append(jobs);
                    }
                    Ok(_) => break,
                    Err(error) => {
                        feed.fail(format!("{error}"));
                        break;
                    }
                }
            }
            if !stop.is_requested() {
                feed.end();
                intake.close();
            }
        });
    }
}

/// Returns the arguments in a text: its nonempty lines or, with `null`, all its parts that end with a NUL byte or at the
/// end of the text.
pub fn arguments(text: &str, null: bool) -> Vec<String> {
    if null {
        return text.split_terminator('\0').map(str::to_owned).collect();
    }
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Jobs that were sent to a run together, with the arguments of their commands.
pub struct Arrival {
    pub jobs: Vec<Job>,
    pub arguments: Vec<String>,
}

/// The jobs that were sent to a run, for its observer.
#[derive(Default)]
pub struct Feed(Mutex<FeedState>);

#[derive(Default)]
struct FeedState {
    arrivals: VecDeque<Arrival>,
    is_ended: bool,
    error: Option<String>,
}

impl Feed {
    fn fed(&self) -> std::sync::MutexGuard<'_, FeedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, arrival: Arrival) {
        self.fed().arrivals.push_back(arrival);
    }

    fn end(&self) {
        self.fed().is_ended = true;
    }

    /// Removes and returns the jobs that were sent first. Returns `None` if there are none.
    pub fn take(&self) -> Option<Arrival> {
        self.fed().arrivals.pop_front()
    }

    /// Ends the stream with an error. Jobs of later lines are not run.
    pub fn fail(&self, error: String) {
        self.fed().error.get_or_insert(error);
    }

    fn has_failed(&self) -> bool {
        self.fed().error.is_some()
    }

    /// Returns the error that ended the stream, if there is one.
    pub fn error(&self) -> Option<String> {
        self.fed().error.clone()
    }

    /// Returns true if more jobs may arrive.
    pub fn is_open(&self) -> bool {
        !self.fed().is_ended
    }
}
