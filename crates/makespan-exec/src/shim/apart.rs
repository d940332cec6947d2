//! Runs a job in a separate folder on its node.

use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::staging::{Scratch, StagingFailure};
use super::{JobFiles, Shim, ShimOrder, job};
use crate::engine::Staging;

/// Exit status of a job if its files could not be copied (`EX_IOERR`).
const NOT_COPIED: i32 = 74;

impl Shim {
    /// Runs the command in a separate folder on this node, with copies of the input and output files.
    pub(super) fn run_apart<'a>(
        &mut self,
        order: &ShimOrder,
        staging: &'a Staging,
        kept: &mut Option<Scratch<'a>>,
    ) -> i32 {
        let scratch = match Scratch::fill(staging, &mut || self.goes_on()) {
            Ok(scratch) => kept.insert(scratch),
            Err(failure) => return self.not_copied(failure),
        };
        let status = self.run(order, Some((scratch.folder(), staging)));
        if status != 0 {
            return status;
        }
        match scratch.give_out(&mut || self.goes_on()) {
            Ok(()) => status,
            Err(failure) => self.not_copied(failure),
        }
    }

    /// Returns whether the job may continue, because no request to end it has arrived.
    fn goes_on(&mut self) -> bool {
        self.heed(0);
        !self.asked && !self.killing
    }

    fn not_copied(&mut self, failure: StagingFailure) -> i32 {
        match failure {
            StagingFailure::Stopped => {
                let status = 128 + Signal::SIGTERM as i32;
                self.status = Some((status, true));
                status
            }
            StagingFailure::Wrong(reason) => {
                self.say(&reason);
                self.reason = Some(reason);
                NOT_COPIED
            }
        }
    }
}

/// Starts a command in this folder. A relative path of a program refers to the original folder.
pub(super) fn spawn(order: &ShimOrder, files: &JobFiles, folder: &Path, staging: &Staging) -> Result<Pid, Errno> {
    let mut command = order.command.clone();
    if let Some(program) = command.first_mut() {
        *program = PathBuf::from(&staging.home).join(&*program).into_os_string();
    }
    let order = ShimOrder { command, ..order.clone() };
    let fail = |error: std::io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(0));
    std::env::set_current_dir(folder).map_err(fail)?;
    let started = job::spawn(&order, files, Some(folder));
    // The current folder will be removed. This is safe because this process uses absolute paths for everything else.
    let _ = std::env::set_current_dir("/");
    started
}
