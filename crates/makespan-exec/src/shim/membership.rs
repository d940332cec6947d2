//! The control group of a job, and whether its shim is in it.
//!
//! A process is born in the group of its parent, so the shim is in that group when it starts the command. To move there takes the
//! kernel some milliseconds: the shim does so before it knows its job. It leaves some time after the start, or never, since
//! what is short has ended by then.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::group::Group;

/// How long a shim stays in the group of its job.
pub(super) const STAY: Duration = Duration::from_millis(100);

/// A shim in the group of its job.
#[derive(Debug)]
pub(super) struct Membership {
    group: Option<Group>,
    inside: bool,
    /// When it is to leave.
    until: Option<Instant>,
}

impl Membership {
    /// Makes the group of this path and enters it, where that is possible.
    pub fn of(path: &Path) -> Self {
        let made = Some(path).filter(|path| !path.as_os_str().is_empty()).and_then(Group::make);
        let group = made.filter(|group| {
            let entered = group.enter().is_ok();
            if !entered {
                group.remove();
            }
            entered
        });
        Self { inside: group.is_some(), group, until: None }
    }

    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// The command has started. Where all in the group may be killed for its memory, this process leaves at once.
    pub fn started(&mut self, limited: bool) {
        if limited {
            self.step_out();
        } else {
            self.until = Some(Instant::now() + STAY);
        }
    }

    /// How long it stays from now on; `None` when it is to stay, or is out.
    pub fn stay(&self) -> Option<Duration> {
        self.until.filter(|_| self.inside).map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Leaves. Whether this process is out of the group.
    pub fn step_out(&mut self) -> bool {
        if self.inside {
            self.inside = self.group.as_ref().is_some_and(|group| group.leave().is_err());
            // What failed is not tried at every turn.
            self.until = None;
        }
        !self.inside
    }

    /// Returns whether another job can be born in the group, or there is no group.
    pub fn is_usable(&self) -> bool {
        self.inside || self.group.is_none()
    }

    /// Kills all that is in the group.
    pub fn kill(&mut self) {
        if self.step_out() {
            self.group.as_ref().map(Group::kill);
        }
    }

    /// Removes the group, and that of the run if this was the last in it, when the session is gone that else does so.
    pub fn remove(&mut self) {
        self.step_out();
        if let Some(group) = &self.group {
            group.remove();
            group.remove_run();
        }
    }
}
