//! The check of a submission, for a limited time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::Keeper;
use crate::prepare::{PreparedSubmission, prepare, refusal};
use crate::words::{Content, Refusal, RefusalKind, Submission};

/// How long the check of a submitted file may take.
const CHECK: Duration = Duration::from_secs(20);
/// The largest number of checks that go on. More are only there if some go on beyond their time.
const CHECKS: usize = 32;

impl Keeper {
    /// Prepares a submission on a thread of its own, for a limited time: a small file may describe much.
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
            return Err(refusal(RefusalKind::Closing, "", message, "submit it again in some seconds"));
        }
        let (reply, answer) = mpsc::channel();
        let checking = thread::Builder::new().name("check".into()).spawn(move || {
            // A check that panics, which is printed, counts no more either.
            let _counted = Counted(&shared.checks);
            let prepared = prepare(&submission, &shared.platform, &*shared.host);
            let _ = reply.send(prepared.map(|prepared| (submission, prepared)));
        });
        if let Err(error) = checking {
            self.shared.checks.fetch_sub(1, Ordering::Relaxed);
            return Err(refusal(
                RefusalKind::Closing,
                "",
                format!("no thread can be started: {error}"),
                "submit it again later",
            ));
        }
        answer.recv_timeout(CHECK).unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => {
                let message = format!("its check has not ended after {} s", CHECK.as_secs());
                Err(refusal(RefusalKind::BadInput, "content", message, "submit it in parts, or fewer nodes and tasks"))
            }
            RecvTimeoutError::Disconnected => {
                Err(refusal(RefusalKind::BadInput, "content", "its check has failed", "the service prints why"))
            }
        })
    }
}

/// Counts one check less when it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
