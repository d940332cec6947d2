//! The log of jobs in the format of GNU parallel.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::{Instance, Outcome, Run, TaskId, bytes_of_text};
use makespan_exec::{OutputFiles, SessionBegin};
use miette::{Result, miette};

use super::command::command_line;
use super::outcome::ended_before;
use crate::output::{complain, shown};

const HEADER: &str = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

/// `Exitval` of a job that reached its time limit, as in GNU parallel.
const TIMED_OUT: i32 = -1;

/// `Signal` of a job that reached its time limit: SIGTERM.
const TERMINATED: i32 = 15;

/// A file with one line for each job that has ended.
pub struct JobLog {
    path: PathBuf,
    file: File,
    /// The date and time of instant 0 of the run.
    origin: SystemTime,
    has_failed: bool,
}

impl JobLog {
    /// Opens the file. [`JobLog::begin`] replaces its content later.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(path);
        let file = file.map_err(|error| miette!("--joblog {}: cannot write: {error}", shown(&name)))?;
        Ok(Self { path: path.to_owned(), file, origin: UNIX_EPOCH, has_failed: false })
    }

    /// Replaces the content of the file by the jobs that ended in earlier sessions of the run.
    pub fn begin(&mut self, instance: &Instance, begin: &SessionBegin<'_>) {
        self.origin = begin.origin;
        let mut text = HEADER.as_bytes().to_vec();
        for run in ended_before(begin) {
            text.extend(self.line(instance, begin.outputs, run));
        }
        let written = self.clear().and_then(|()| self.file.write_all(&text));
        self.write(written);
    }

    /// Adds a line for a job that has ended. Ignores jobs that were not started.
    pub fn add(&mut self, instance: &Instance, outputs: &OutputFiles, run: &Run) {
        if run.outcome != Outcome::NotStarted && !run.processors.is_empty() {
            let line = self.line(instance, outputs, run);
            let written = self.file.write_all(&line);
            self.write(written);
        }
    }

    /// Returns true if a line could not be written.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Empties the file, unless it is a pipe or a device.
    fn clear(&mut self) -> io::Result<()> {
        if !self.file.metadata()?.is_file() {
            return Ok(());
        }
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0)).map(drop)
    }

    fn line(&self, instance: &Instance, outputs: &OutputFiles, run: &Run) -> Vec<u8> {
        let [out, _] = outputs.of(instance, run.task);
        let received = out.symlink_metadata().map_or(0, |metadata| metadata.len());
        line(instance, run, self.origin, received)
    }

    /// Prints the error of the first failed write. Later errors are not printed.
    fn write(&mut self, written: io::Result<()>) {
        if let Err(error) = written
            && !std::mem::replace(&mut self.has_failed, true)
        {
            let name = self.path.display().to_string();
            complain(&format!("error: --joblog {}: cannot write: {error}", shown(&name)));
        }
    }
}

fn line(instance: &Instance, run: &Run, origin: SystemTime, received: u64) -> Vec<u8> {
    let start = origin + Duration::from_nanos(u64::try_from(run.start.ticks()).unwrap_or(0));
    let start = start.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let runtime = (run.end - run.start).seconds();
    let (exit, signal) = match (run.outcome, run.outcome.signal()) {
        (Outcome::TimedOut, _) => (TIMED_OUT, TERMINATED),
        (_, Some(signal)) => (0, signal),
        (Outcome::Failed { status }, None) => (status, 0),
        _ => (0, 0),
    };
    let TaskId(number) = run.task;
    let columns = format!("{}\t:\t{start:.3}\t{runtime:10.3}\t0\t{received}\t{exit}\t{signal}\t", number + 1);
    let command = command_line(&instance.command(run.task));
    let mut line = columns.into_bytes();
    line.extend(bytes_of_text(&command).iter().map(|&byte| if byte == b'\n' { 0 } else { byte }));
    line.push(b'\n');
    line
}
