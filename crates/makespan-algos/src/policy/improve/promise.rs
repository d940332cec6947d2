//! The promised latest start of a task. New plans must not start the task later.

use makespan_core::{TaskId, Time, View};

use super::KeptStart;

/// The promised latest start of the task that has waited longest. `W` is additional data about the planned slot of this
/// task.
#[derive(Debug)]
pub(super) struct PromisedStart<W> {
    keep: KeptStart,
    given: Option<(TaskId, Time, W)>,
}

impl<W: Copy> PromisedStart<W> {
    pub fn new(keep: KeptStart) -> Self {
        Self { keep, given: None }
    }

    /// Returns whether the policy makes promises.
    pub fn is_meant(&self) -> bool {
        self.keep != KeptStart::None
    }

    /// Returns the promise: the task, its promised latest start, and the additional data.
    pub fn given(&self) -> Option<(TaskId, Time, W)> {
        self.given
    }

    /// Cancels the promise.
    pub fn forget(&mut self) {
        self.given = None;
    }

    /// Promises a latest start to the task that has waited longest. In the current plan, the task begins at `start`.
    /// With the promise, it waits at most twice as long as in the current plan. A promised latest start is never
    /// postponed.
    pub fn renew(&mut self, oldest: TaskId, start: Time, with: W, view: &View<'_>) {
        let latest = start + start.saturating_since(view.instance.release(oldest));
        if self.given.is_none_or(|(task, before, _)| task != oldest || latest < before) {
            self.given = Some((oldest, latest, with));
        }
    }
}
