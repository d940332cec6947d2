//! The status files, in which a shim leaves how its task ended.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::{Accounting, ProcSet, TaskId, Time};
use serde::{Deserialize, Serialize};

use crate::journal::seal::{seal, unseal};
use crate::storage::{Handle, Storage};

/// Bytes that are reserved for a status before its task runs, so that a disk that fills meanwhile has room for it.
const RESERVED: usize = 4096;

/// Above it, an exit status is that of a signal.
const SIGNALLED: i32 = 128;

/// Who ended an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// Itself: it was done, or returned a status that no signal leaves.
    Itself,
    /// Whoever runs it, by asking it to end.
    Us,
    /// A signal that we did not send. Whoever sent it may be ending all that runs here.
    Signal,
}

/// Who ended the attempt that left its status in this file; `None` where there is no whole status.
pub fn ended_by(path: &Path) -> Option<EndedBy> {
    Some(Status::parse(&std::fs::read(path).ok()?)?.ended_by())
}

/// Whether the attempt that was let run with this claim ([`crate::engine::Engine::go`]) has left in this file that it succeeded.
pub fn has_succeeded(path: &Path, claim: &str) -> bool {
    let status = std::fs::read(path).ok().and_then(|bytes| Status::parse(&bytes));
    let claim: Option<Claim> = serde_json::from_str(claim).ok();
    let of = |claim: Claim| (claim.run, claim.task, claim.attempt);
    status.is_some_and(|status| status.exit == 0 && Some(of(status.claim)) == claim.map(of))
}

/// Which attempt of which task in which run: what a shim is told when its task may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The origin of the run, which tells it from an earlier one in the same folder.
    pub run: i64,
    /// The fingerprint of its instance.
    pub instance: String,
    #[serde(rename = "job")]
    pub task: TaskId,
    pub attempt: u32,
    pub at: Time,
    pub processors: ProcSet,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status {
    pub claim: Claim,
    /// The exit status, 128 + signal.
    pub exit: i32,
    /// Whether we had asked the task to end.
    pub asked: bool,
    /// Whether somebody else had sent the shim a signal that asks processes to end.
    pub stopped: bool,
    /// The wall clock, nanoseconds after 1970.
    pub ended: i64,
    /// What the kernel counted; a shim of an earlier version left nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
    /// Whether processes that the job had started in the background still ran when its own process ended. They are ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_background: bool,
    /// Why it failed, where its own program is not what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Status {
    /// Of these bytes, if they are a status that was written whole.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        // When the power was lost, a status may be there and its length not yet.
        let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let (line, rest) = bytes.split_at(end);
        let (_, body) = unseal(line).ok().filter(|_| is_blank(rest))?;
        serde_json::from_str(&body).ok()
    }

    /// Who ended the attempt.
    pub fn ended_by(&self) -> EndedBy {
        match self.exit {
            0 => EndedBy::Itself,
            _ if self.stopped => EndedBy::Signal,
            _ if self.asked => EndedBy::Us,
            exit if exit > SIGNALLED => EndedBy::Signal,
            _ => EndedBy::Itself,
        }
    }

    /// When it ended, by the wall clock.
    pub fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(u64::try_from(self.ended).unwrap_or(0))
    }
}

/// Whether nothing was written there yet, as far as the disk knows.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0 | b' '))
}

/// Nanoseconds after 1970.
pub(crate) fn nanoseconds(wall: SystemTime) -> i64 {
    i64::try_from(wall.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or(i64::MAX)
}

/// Room on the disk for a status.
#[derive(Debug)]
pub(crate) struct Slot {
    file: Box<dyn Handle>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Slot {
    /// Takes the room.
    pub fn reserve(storage: &dyn Storage, path: &Path) -> io::Result<Self> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let mut file = storage.open(&temporary)?;
        file.write_at(0, &[b' '; RESERVED])?;
        Ok(Self { file, temporary, path: path.to_owned() })
    }

    /// Writes the status: under its name it is whole, whoever is killed. Where it is to be `lasting`, it is on disk with its name when
    /// this returns; else it may be blank after the power was lost.
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

    /// Gives the room back.
    pub fn release(self, storage: &dyn Storage) {
        // What is left is overwritten by the next attempt and read by nobody.
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
