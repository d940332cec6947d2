//! Jobs with steps of the calling program before and after their command. The shim executes these steps itself, because a
//! process of their own would take longer than a short command.

use std::ffi::OsString;
use std::path::Path;

use super::{Shim, ShimOrder};

/// Exit status of a job if a step before or after its command failed.
const STEP_FAILED: i32 = 1;

/// A job with steps around its command. The steps before the command are complete.
pub struct WrappedJob {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// The steps after the command has succeeded. Returns an error if a step failed.
    pub end: Box<dyn FnOnce() -> Result<(), String>>,
}

/// Executes the steps before the command of a job. Receives the words of the job and the folder of the run. Returns `None`
/// if the job has no steps, and an error if a step failed.
pub type WrapJob = fn(&[OsString], &Path) -> Option<Result<WrappedJob, String>>;

impl Shim {
    /// Runs a job, with the steps before and after its command if there are any. `folder` is the folder of the run.
    pub(super) fn run_wrapped(&mut self, order: &ShimOrder, folder: &Path) -> i32 {
        let Some(wrapped) = self.wrap.and_then(|wrap| wrap(&order.command, folder)) else {
            return self.run(order, None);
        };
        let ended = wrapped.and_then(|WrappedJob { command, end }| {
            let status = self.run(&ShimOrder { command, ..order.clone() }, None);
            if status == 0 { end().map(|()| 0) } else { Ok(status) }
        });
        ended.unwrap_or_else(|error| {
            self.say(&error);
            STEP_FAILED
        })
    }
}
