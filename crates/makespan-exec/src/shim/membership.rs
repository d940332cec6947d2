//! The control group of a job, and the membership of its shim in this group.
//!
//! A new process is in the group of its parent, so the shim must be in the group when it starts the command. Moving to
//! the group takes some milliseconds, so the shim moves before it receives its job. The shim leaves the group some
//! time after the start of the command, unless the job ends before.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::group::ControlGroup;

/// Time that a shim stays in the group of its job.
pub(super) const STAY: Duration = Duration::from_millis(100);

/// A shim and the group of its job.
#[derive(Debug)]
pub(super) struct Membership {
    group: Option<ControlGroup>,
    inside: bool,
    /// Instant at which the shim leaves.
    until: Option<Instant>,
}

impl Membership {
    /// Creates the group at this path and enters it, if possible.
    pub fn of(path: &Path) -> Self {
        let made = Some(path).filter(|path| !path.as_os_str().is_empty()).and_then(ControlGroup::make);
        let group = made.filter(|group| {
            let entered = group.enter().is_ok();
            if !entered {
                group.remove();
            }
            entered
        });
        Self { inside: group.is_some(), group, until: None }
    }

    pub fn group(&self) -> Option<&ControlGroup> {
        self.group.as_ref()
    }

    /// Records that the command has started. If the memory of the group is limited, this process leaves the group at
    /// once, because the kernel may kill all processes in the group.
    pub fn started(&mut self, limited: bool) {
        if limited {
            self.step_out();
        } else {
            self.until = Some(Instant::now() + STAY);
        }
    }

    /// Returns the remaining time until the shim leaves the group, or `None` if it stays or has left.
    pub fn stay(&self) -> Option<Duration> {
        self.until.filter(|_| self.inside).map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Leaves the group. Returns whether this process is outside the group afterwards.
    pub fn step_out(&mut self) -> bool {
        if self.inside {
            self.inside = self.group.as_ref().is_some_and(|group| group.leave().is_err());
            // A failed attempt to leave is not repeated at every step.
            self.until = None;
        }
        !self.inside
    }

    /// Returns whether another job can be started in the group, or true if there is no group.
    pub fn is_usable(&self) -> bool {
        self.inside || self.group.is_none()
    }

    /// Kills all processes in the group.
    pub fn kill(&mut self) {
        if self.step_out() {
            self.group.as_ref().map(ControlGroup::kill);
        }
    }

    /// Removes the group of the job, and the group of the run if it is then empty. Shims call this function after their
    /// session has died. A living session removes these groups itself.
    pub fn remove(&mut self) {
        self.step_out();
        if let Some(group) = &self.group {
            group.remove();
            group.remove_run();
        }
    }
}
