//! Status files. The shim of a task writes how the task ended into its status file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::{Accounting, ProcSet, TaskId, Time};
use serde::{Deserialize, Serialize};

use crate::journal::seal::{seal, unseal};
use crate::storage::{Handle, Storage};

/// Number of bytes that are reserved for the status before the task runs, so that the status can be written even if
/// the disk becomes full.
const RESERVED: usize = 4096;

/// Exit statuses above this value denote signals: the status is this value plus the signal number.
const SIGNALLED: i32 = 128;

/// The cause of the end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The task itself: it finished, or returned a status that does not denote a signal.
    Itself,
    /// Makespan asked the task to end.
    Us,
    /// A signal from another program, which may be ending all processes on this machine.
    Signal,
}

/// Returns why the attempt of this status file ended. Returns `None` if the file contains no complete status.
pub fn ended_by(path: &Path) -> Option<EndedBy> {
    Some(AttemptStatus::parse(&std::fs::read(path).ok()?)?.ended_by())
}

/// Returns whether this file states that the attempt with this claim succeeded. [`crate::engine::Engine::go`] gave the
/// claim to the attempt.
pub fn has_succeeded(path: &Path, claim: &str) -> bool {
    let status = std::fs::read(path).ok().and_then(|bytes| AttemptStatus::parse(&bytes));
    let claim: Option<AttemptClaim> = serde_json::from_str(claim).ok();
    let of = |claim: AttemptClaim| (claim.run, claim.task, claim.attempt);
    status.is_some_and(|status| status.exit == 0 && Some(of(status.claim)) == claim.map(of))
}

/// Identifies an attempt at a task in a run. A shim receives the claim when its task may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttemptClaim {
    /// The origin of the run, which distinguishes this run from an earlier run in the same folder.
    pub run: i64,
    /// The fingerprint of the instance.
    pub instance: String,
    #[serde(rename = "job")]
    pub task: TaskId,
    pub attempt: u32,
    pub at: Time,
    pub processors: ProcSet,
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttemptStatus {
    pub claim: AttemptClaim,
    /// The exit status, or 128 + the signal number.
    pub exit: i32,
    /// True if Makespan had asked the task to end.
    pub asked: bool,
    /// True if another program had sent the shim a signal that asks processes to end.
    pub stopped: bool,
    /// Wall clock time of the end, in nanoseconds since 1970.
    pub ended: i64,
    /// Resource use of the attempt. Shims of earlier versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
    /// True if background processes of the job were still running when its main process ended. Such processes are
    /// killed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_background: bool,
    /// The reason for the failure, if it was not a failure of the job's own program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl AttemptStatus {
    /// Parses these bytes, if they are a complete status.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        // After a power failure, the file may contain the status but still have the reserved length.
        let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let (line, rest) = bytes.split_at(end);
        let (_, body) = unseal(line).ok().filter(|_| is_blank(rest))?;
        serde_json::from_str(&body).ok()
    }

    /// Returns the cause of the end.
    pub fn ended_by(&self) -> EndedBy {
        match self.exit {
            0 => EndedBy::Itself,
            _ if self.stopped => EndedBy::Signal,
            _ if self.asked => EndedBy::Us,
            exit if exit > SIGNALLED => EndedBy::Signal,
            _ => EndedBy::Itself,
        }
    }

    /// Returns the instant of the end by the wall clock.
    pub fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(u64::try_from(self.ended).unwrap_or(0))
    }
}

/// Returns whether the bytes on disk are only reserved space.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0 | b' '))
}

/// Returns the nanoseconds since 1970.
pub(crate) fn nanoseconds(wall: SystemTime) -> i64 {
    i64::try_from(wall.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or(i64::MAX)
}

/// Reserved disk space for a status.
#[derive(Debug)]
pub(crate) struct StatusSlot {
    file: Box<dyn Handle>,
    temporary: PathBuf,
    path: PathBuf,
}

impl StatusSlot {
    /// Reserves the space.
    pub fn reserve(storage: &dyn Storage, path: &Path) -> io::Result<Self> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let mut file = storage.open(&temporary)?;
        file.write_at(0, &[b' '; RESERVED])?;
        Ok(Self { file, temporary, path: path.to_owned() })
    }

    /// Writes the status. The file with the final name is always complete, even if a process is killed. If `lasting`
    /// is true, the file and its name are synced to disk before the function returns. Otherwise, the file may be blank
    /// after a power failure.
    pub fn fill(&mut self, storage: &dyn Storage, status: &AttemptStatus, lasting: bool) -> io::Result<()> {
        let line = seal(&serde_json::to_string(status)?, 0);
        self.file.write_at(0, line.as_bytes())?;
        self.file.set_len(line.len() as u64)?;
        if lasting {
            self.file.sync()?;
        }
        storage.rename(&self.temporary, &self.path)?;
        if lasting { storage.sync_folder(self.path.parent().unwrap_or(Path::new("/"))) } else { Ok(()) }
    }

    /// Releases the space.
    pub fn release(self, storage: &dyn Storage) {
        // If the file remains, it is never read, and the next attempt overwrites it.
        let _ = storage.remove(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ended_an_attempt_is_told_by_its_status() {
        let by = |exit, asked, stopped| {
            let claim = AttemptClaim {
                run: 1,
                instance: String::new(),
                task: TaskId(0),
                attempt: 1,
                at: Time::ZERO,
                processors: ProcSet::first(1),
            };
            AttemptStatus {
                claim,
                exit,
                asked,
                stopped,
                ended: 0,
                accounting: None,
                left_background: false,
                reason: None,
            }
            .ended_by()
        };
        for (asked, stopped) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(by(0, asked, stopped), EndedBy::Itself, "what is done is done");
            let unasked = if stopped { EndedBy::Signal } else { EndedBy::Itself };
            assert_eq!(by(3, asked, stopped), if asked && !stopped { EndedBy::Us } else { unasked });
            let signalled = if asked && !stopped { EndedBy::Us } else { EndedBy::Signal };
            assert_eq!(by(137, asked, stopped), signalled);
        }
    }
}
