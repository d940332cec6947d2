//! Measures a command on different numbers of processors.

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
use crate::launch::{SpawnProperties, launch};
use crate::machine::{allotment_environment, cores, cores_of, os_word, program, substituted};
use crate::process::exit_status;
use crate::{ExecuteError, Stop};

/// Options of a measurement.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// Allotments in the order of measurement.
    pub allotments: Vec<u32>,
    /// Number of runs at each allotment.
    pub repetitions: u32,
    /// Time limit of a run. Allotments with a longer run are omitted.
    pub timeout: Option<Duration>,
    /// Stop request, which another thread can make.
    pub stop: Stop,
}

impl MeasureOptions {
    /// Returns options for 1, 2, 4, .. and `processors` processors, with three runs each and without a time limit.
    pub fn up_to(processors: u32) -> Self {
        let mut allotments: Vec<u32> = (0..32).map(|power| 1 << power).take_while(|&p| p < processors).collect();
        allotments.push(processors.max(1));
        Self { allotments, repetitions: 3, timeout: None, stop: Stop::default() }
    }
}

/// Measured times of a command at one allotment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// Number of processors.
    pub processors: u32,
    /// The time of each run, in the order of the runs. The list is not empty.
    pub times: Vec<Time>,
}

impl Measurement {
    /// Returns the shortest time, which was disturbed the least by other processes.
    pub fn minimum(&self) -> Time {
        self.times.iter().copied().min().unwrap_or(Time::ZERO)
    }

    /// Returns the median time. For an even number of times, this is the mean of the two middle times.
    pub fn median(&self) -> Time {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        match (sorted.get(sorted.len().saturating_sub(1) / 2), sorted.get(sorted.len() / 2)) {
            (Some(&low), Some(&high)) => low + Time::from_ticks((high - low).ticks() / 2),
            _ => Time::ZERO,
        }
    }
}

/// An event of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureProgress {
    /// A run has begun.
    Started {
        /// Number of processors.
        processors: u32,
        /// Number of the run, counted from 1.
        repetition: u32,
    },
    /// A run ended.
    Timed {
        /// Number of processors.
        processors: u32,
        /// Time of the run.
        time: Time,
    },
    /// A run exceeded the time limit, so its allotment is omitted.
    TimedOut {
        /// Number of processors.
        processors: u32,
    },
}

/// The reason why a command could not be measured.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The command is empty.
    #[error("there is no command to measure; write it after `--`, such as -- ./solve --threads {{processors}}")]
    NoCommand,
    /// There is no allotment, no repetition, or an allotment without processors.
    #[error("state at least one number of cores (each at least 1) and at least one repetition")]
    Nothing,
    /// An allotment has more processors than there are cores that this process may use.
    #[error(
        "cannot measure on {}: this process may use only {}", counted(.processors, "processor"), counted(.cores, "core")
    )]
    TooFewCores {
        /// Number of processors.
        processors: u32,
        /// Number of cores that this process may use.
        cores: usize,
    },
    /// The cores of this machine cannot be determined.
    #[error(transparent)]
    Machine(#[from] ExecuteError),
    /// The command could not be started.
    #[error("{0}")]
    NotStarted(String),
    /// A run of the command failed.
    #[error(
        "the command failed on {} with exit status {status}{errors}; only successful runs can be measured",
        counted(.processors, "processor")
    )]
    Failed {
        /// Number of processors.
        processors: u32,
        /// Exit status, or 128 + the signal number.
        status: i32,
        /// The last line of the command's standard error, after a colon.
        errors: String,
    },
    /// The command exceeded the time limit on every allotment.
    #[error("the command took longer than {} s on every number of cores; raise --timeout", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The measurement was asked to stop.
    #[error("the measurement was stopped")]
    Stopped,
}

/// Measures a command at each allotment, pinned to the same number of cores. The placeholders and the environment
/// variables are the same as for jobs of [`crate::execute`]. The output of the command is discarded.
///
/// # Errors
/// [`MeasureError`]. A run that fails is an error, because its time has no meaning.
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

/// Returns the time of one run, or `None` if it exceeded the time limit.
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
        // Sending cannot fail, because the receiver exists until this function returns.
        let _ = exit.send(Instant::now());
    };
    let begun = Instant::now();
    let chosen = cores_of(&ProcSet::first(processors), cores);
    let mut child = launch(command, SpawnProperties { cores: chosen, ..SpawnProperties::default() }, |_| {}, on_exit)
        .map_err(fail)?;
    let ended = await_exit(&exited, begun, options);
    // The process group is always killed, so that no process disturbs the next run. Until the process is reaped, no
    // other process has its id.
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    let status = child.wait().map_or(-1, exit_status);
    match ended {
        None if options.stop.is_requested() => Err(MeasureError::Stopped),
        None => Ok(None),
        Some(_) if status != 0 => Err(MeasureError::Failed { processors, status, errors: last_words(&mut errors) }),
        Some(ended) => Ok(Some(ticks(ended.saturating_duration_since(begun)).max(Time::TICK))),
    }
}

/// Returns the instant at which the process ended by itself, or `None` if it must be killed.
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

/// Returns the last line of a text after a colon, or an empty text if there is none.
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
