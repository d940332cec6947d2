//! Runs a command at several allotments.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use makespan_core::{ProcSet, Time, counted};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use thiserror::Error;

use crate::clock::ticks;
use crate::launch::{Birth, launch};
use crate::machine::{allotment_environment, cores, cores_of, os_word, program, substituted};
use crate::process::exit_status;
use crate::{ExecuteError, Stop};

/// How a command is measured.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// Numbers of processors, in the order of measurement.
    pub allotments: Vec<u32>,
    /// Runs at each allotment.
    pub repetitions: u32,
    /// An allotment on which the command takes longer is left out.
    pub timeout: Option<Duration>,
    /// Ends the measurement from another thread.
    pub stop: Stop,
}

impl MeasureOptions {
    /// 1, 2, 4 .. processors and all of them, three times each, without timeout.
    pub fn up_to(processors: u32) -> Self {
        let mut allotments: Vec<u32> = (0..32).map(|power| 1 << power).take_while(|&p| p < processors).collect();
        allotments.push(processors.max(1));
        Self { allotments, repetitions: 3, timeout: None, stop: Stop::default() }
    }
}

/// The times of a command at one allotment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The allotment.
    pub processors: u32,
    /// One time a repetition, in their order; at least one.
    pub times: Vec<Time>,
}

impl Measurement {
    /// The shortest time: the one least disturbed by everything else.
    pub fn minimum(&self) -> Time {
        self.times.iter().copied().min().unwrap_or(Time::ZERO)
    }

    /// The middle time, or the mean of the two middle ones.
    pub fn median(&self) -> Time {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        match (sorted.get(sorted.len().saturating_sub(1) / 2), sorted.get(sorted.len() / 2)) {
            (Some(&low), Some(&high)) => low + Time::from_ticks((high - low).ticks() / 2),
            _ => Time::ZERO,
        }
    }
}

/// What happens during a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureProgress {
    /// A run begins.
    Started {
        /// The allotment.
        processors: u32,
        /// Counted from 1.
        repetition: u32,
    },
    /// A run has ended.
    Timed {
        /// The allotment.
        processors: u32,
        /// How long it took.
        time: Time,
    },
    /// The allotment is left out.
    TimedOut {
        /// The allotment.
        processors: u32,
    },
}

/// Why a command could not be measured.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// No word at all.
    #[error("there is no command to measure; write it after `--`, such as -- ./solve --threads {{processors}}")]
    NoCommand,
    /// No allotment, no repetition, or an allotment without processors.
    #[error("give at least one allotment, each of at least 1 processor, and at least one repetition")]
    Nothing,
    /// More processors than cores.
    #[error("cannot measure on {}: this process may use {}", counted(.processors, "processor"), counted(.cores, "core"))]
    TooFewCores {
        /// The allotment.
        processors: u32,
        /// Of this machine.
        cores: usize,
    },
    /// The machine does not say which cores there are.
    #[error(transparent)]
    Machine(#[from] ExecuteError),
    /// It could not be started.
    #[error("{0}")]
    NotStarted(String),
    /// It failed.
    #[error(
        "the command failed on {} with exit status {status}{errors}; it must succeed to be timed",
        counted(.processors, "processor")
    )]
    Failed {
        /// The allotment.
        processors: u32,
        /// Exit status, 128 + signal.
        status: i32,
        /// The end of what it wrote to standard error, after a colon.
        errors: String,
    },
    /// It took longer than the timeout on every allotment.
    #[error("the command took longer than {} s on every allotment; raise the timeout", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It was asked to stop.
    #[error("the measurement was stopped")]
    Stopped,
}

/// Times a command at each allotment, pinned to that many cores, with the substitution and the environment that a job
/// gets from [`crate::execute`]. Its output is thrown away.
///
/// # Errors
/// [`MeasureError`]; a run that fails is an error, since its time says nothing.
pub fn measure(
    command: &[String],
    options: &MeasureOptions,
    progress: &mut dyn FnMut(&MeasureProgress),
) -> Result<Vec<Measurement>, MeasureError> {
    if command.is_empty() {
        return Err(MeasureError::NoCommand);
    }
    if options.allotments.is_empty() || options.allotments.contains(&0) || options.repetitions == 0 {
        return Err(MeasureError::Nothing);
    }
    let cores = cores()?;
    if let Some(&processors) = options.allotments.iter().find(|&&processors| processors as usize > cores.len()) {
        return Err(MeasureError::TooFewCores { processors, cores: cores.len() });
    }
    let mut measurements = Vec::with_capacity(options.allotments.len());
    for &processors in &options.allotments {
        let mut times = Vec::new();
        for repetition in 1..=options.repetitions {
            progress(&MeasureProgress::Started { processors, repetition });
            let Some(time) = run_once(command, processors, &cores, options)? else {
                progress(&MeasureProgress::TimedOut { processors });
                times.clear();
                break;
            };
            progress(&MeasureProgress::Timed { processors, time });
            times.push(time);
        }
        if !times.is_empty() {
            measurements.push(Measurement { processors, times });
        }
    }
    match (measurements.is_empty(), options.timeout) {
        (true, Some(timeout)) => Err(MeasureError::TimedOut(timeout)),
        _ => Ok(measurements),
    }
}

/// The time of one run; `None` when it exceeded the timeout.
fn run_once(
    words: &[String],
    processors: u32,
    cores: &[usize],
    options: &MeasureOptions,
) -> Result<Option<Time>, MeasureError> {
    let words = substituted(words, processors, None);
    let fail = |error: io::Error| MeasureError::NotStarted(format!("cannot start `{}`: {error}", words[0]));
    let mut errors = tempfile::tempfile().map_err(fail)?;
    let mut command = Command::new(program(&words[0]).map_err(MeasureError::NotStarted)?);
    command
        .args(words[1..].iter().map(|word| os_word(word)))
        .envs(allotment_environment(processors, Some(processors)))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.stderr(errors.try_clone().map_err(fail)?).process_group(0);
    let (exit, exited) = mpsc::channel();
    let on_exit = move |_| {
        // The receiver lives until this function returns.
        let _ = exit.send(Instant::now());
    };
    let begun = Instant::now();
    let chosen = cores_of(&ProcSet::first(processors), cores);
    let mut child = launch(command, Birth { cores: chosen, ..Birth::default() }, |_| {}, on_exit).map_err(fail)?;
    let ended = await_exit(&exited, begun, options);
    // The group is ended in any case, so that nothing disturbs the next run; until it is reaped its id is ours.
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    let status = child.wait().map_or(-1, exit_status);
    match ended {
        None if options.stop.is_requested() => Err(MeasureError::Stopped),
        None => Ok(None),
        Some(_) if status != 0 => Err(MeasureError::Failed { processors, status, errors: last_words(&mut errors) }),
        Some(ended) => Ok(Some(ticks(ended.saturating_duration_since(begun)).max(Time::TICK))),
    }
}

/// When the process ended by itself; `None` when it is time to end it.
fn await_exit(exited: &Receiver<Instant>, begun: Instant, options: &MeasureOptions) -> Option<Instant> {
    const GLANCE: Duration = Duration::from_millis(100);
    loop {
        let left = options.timeout.map_or(GLANCE, |timeout| timeout.saturating_sub(begun.elapsed()).min(GLANCE));
        match exited.recv_timeout(left) {
            Ok(ended) => return Some(ended),
            Err(RecvTimeoutError::Disconnected) => return Some(Instant::now()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if options.stop.is_requested() || options.timeout.is_some_and(|timeout| begun.elapsed() >= timeout) {
            return None;
        }
    }
}

/// The last line of a text, after a colon; empty when there is none.
fn last_words(errors: &mut File) -> String {
    const MAX: i64 = 1000;
    let mut bytes = Vec::new();
    let length = errors.metadata().map_or(0, |metadata| metadata.len() as i64);
    let read =
        errors.seek(io::SeekFrom::Start((length - MAX).max(0) as u64)).and_then(|_| errors.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    match (read, text.trim().lines().last()) {
        (Ok(_), Some(line)) => format!(": {line}"),
        _ => String::new(),
    }
}
