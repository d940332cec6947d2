//! Checks submissions within a time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::Keeper;
use crate::prepare::{PreparedSubmission, prepare, refusal};
use crate::words::{Content, Refusal, RefusalKind, Submission};

/// Time limit for the check of a submitted file.
const CHECK: Duration = Duration::from_secs(20);
/// Maximum number of simultaneous checks. A check that has exceeded its time limit is counted until its thread ends.
const CHECKS: usize = 32;

impl Keeper {
    /// Prepares a submission on a separate thread within a time limit, because a small file may describe a huge
    /// instance.
    pub(super) fn checked(&self, submission: Submission) -> Result<(Submission, PreparedSubmission), Refusal> {
        let quick = matches!(&submission.content, Content::Command { .. });
        let shared = Arc::clone(&self.shared);
        if quick {
            let prepared = prepare(&submission, &shared.platform, &*shared.host)?;
            return Ok((submission, prepared));
        }
        if shared.checks.fetch_add(1, Ordering::Relaxed) >= CHECKS {
            shared.checks.fetch_sub(1, Ordering::Relaxed);
            let message = "many files are being checked";
            return Err(refusal(RefusalKind::Closing, "", message, "submit the file again in some seconds"));
        }
        let (reply, answer) = mpsc::channel();
        let checking = thread::Builder::new().name("check".into()).spawn(move || {
            // The guard decreases the count even if the check panics.
            let _counted = RunningCheck(&shared.checks);
            let prepared = prepare(&submission, &shared.platform, &*shared.host);
            let _ = reply.send(prepared.map(|prepared| (submission, prepared)));
        });
        if let Err(error) = checking {
            self.shared.checks.fetch_sub(1, Ordering::Relaxed);
            return Err(refusal(
                RefusalKind::Closing,
                "",
                format!("cannot start a thread: {error}"),
                "submit the file again later",
            ));
        }
        answer.recv_timeout(CHECK).unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => {
                let message = format!("the check of the file did not end within {} s", CHECK.as_secs());
                Err(refusal(
                    RefusalKind::BadInput,
                    "content",
                    message,
                    "split the file, or describe fewer nodes and tasks",
                ))
            }
            RecvTimeoutError::Disconnected => Err(refusal(
                RefusalKind::BadInput,
                "content",
                "the check of the file failed",
                "see the standard error of the service",
            )),
        })
    }
}

/// A guard that decreases the number of running checks when it is dropped.
struct RunningCheck<'a>(&'a AtomicUsize);

impl Drop for RunningCheck<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
