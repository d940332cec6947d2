//! Status files, in which shims record the outcomes of attempts.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::{Accounting, ProcSet, TaskId, Time};
use serde::{Deserialize, Serialize};

use crate::journal::seal::{seal, unseal};
use crate::storage::{Handle, Storage};

/// Bytes reserved for a status before its task runs, so that the status can be written even if the disk fills meanwhile.
const RESERVED: usize = 4096;

/// Offset of exit statuses that represent signals.
const SIGNALLED: i32 = 128;

/// Cause of the end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The task ended by itself, with an exit status that does not represent a signal.
    Itself,
    /// Makespan asked the task to end.
    Us,
    /// Another process sent a signal. That process may be ending all processes of the run.
    Signal,
}

/// Returns the cause of the end from a status file, or `None` if the file contains no complete status.
pub fn ended_by(path: &Path) -> Option<EndedBy> {
    Some(Status::parse(&std::fs::read(path).ok()?)?.ended_by())
}

/// Returns whether this file records the success of the attempt with this claim ([`crate::engine::Engine::go`]).
pub fn has_succeeded(path: &Path, claim: &str) -> bool {
    let status = std::fs::read(path).ok().and_then(|bytes| Status::parse(&bytes));
    let claim: Option<Claim> = serde_json::from_str(claim).ok();
    let of = |claim: Claim| (claim.run, claim.task, claim.attempt);
    status.is_some_and(|status| status.exit == 0 && Some(of(status.claim)) == claim.map(of))
}

/// Identity of an attempt: run, instance, task and number. The shim receives it when its task may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// Origin of the run, which distinguishes runs in the same folder.
    pub run: i64,
    /// Fingerprint of the instance.
    pub instance: String,
    #[serde(rename = "job")]
    pub task: TaskId,
    pub attempt: u32,
    pub at: Time,
    pub processors: ProcSet,
}

/// Outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status {
    pub claim: Claim,
    /// Exit status, or 128 plus the number of the signal.
    pub exit: i32,
    /// True if Makespan had asked the task to end.
    pub asked: bool,
    /// True if another process had sent the shim a signal that asks it to end.
    pub stopped: bool,
    /// Wall-clock time of the end, in nanoseconds since 1970.
    pub ended: i64,
    /// Accounting of the kernel. Shims of earlier versions did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
    /// True if background processes of the job were still running when its own process ended. They are killed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_background: bool,
    /// Reason for a failure that the job's own program did not cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Status {
    /// Parses a status that was written completely.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        // After a power failure, the content of a status may be on disk although the file length is not yet correct.
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

    /// Returns the wall-clock time of the end.
    pub fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(u64::try_from(self.ended).unwrap_or(0))
    }
}

/// Returns whether the content on disk is still empty.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0 | b' '))
}

/// Converts a wall-clock time to nanoseconds since 1970.
pub(crate) fn nanoseconds(wall: SystemTime) -> i64 {
    i64::try_from(wall.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or(i64::MAX)
}

/// Disk space reserved for a status.
#[derive(Debug)]
pub(crate) struct Slot {
    file: Box<dyn Handle>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Slot {
    /// Reserves the disk space.
    pub fn reserve(storage: &dyn Storage, path: &Path) -> io::Result<Self> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let mut file = storage.open(&temporary)?;
        file.write_at(0, &[b' '; RESERVED])?;
        Ok(Self { file, temporary, path: path.to_owned() })
    }

    /// Writes the status. The final file name always refers to a complete status, even if a process is killed. If `lasting` is
    /// true, the status and its name are on disk when this method returns. Otherwise the file may be blank after a power failure.
    pub fn fill(&mut self, storage: &dyn Storage, status: &Status, lasting: bool) -> io::Result<()> {
        let line = seal(&serde_json::to_string(status)?, 0);
        self.file.write_at(0, line.as_bytes())?;
        self.file.set_len(line.len() as u64)?;
        if lasting {
            self.file.sync()?;
        }
        storage.rename(&self.temporary, &self.path)?;
        if lasting { storage.sync_folder(self.path.parent().unwrap_or(Path::new("/"))) } else { Ok(()) }
    }

    /// Releases the disk space.
    pub fn release(self, storage: &dyn Storage) {
        // A leftover file is never read, and the next attempt overwrites it.
        let _ = storage.remove(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ended_an_attempt_is_told_by_its_status() {
        let by = |exit, asked, stopped| {
            let claim = Claim {
                run: 1,
                instance: String::new(),
                task: TaskId(0),
                attempt: 1,
                at: Time::ZERO,
                processors: ProcSet::first(1),
            };
            Status { claim, exit, asked, stopped, ended: 0, accounting: None, left_background: false, reason: None }
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
