//! The start that new plans may not put off further.

use makespan_core::{TaskId, Time, View};

use super::Keep;

/// The latest start of the task that has waited longest, with further data of its planned slot.
#[derive(Debug)]
pub(super) struct Promise<W> {
    keep: Keep,
    given: Option<(TaskId, Time, W)>,
}

impl<W: Copy> Promise<W> {
    pub fn new(keep: Keep) -> Self {
        Self { keep, given: None }
    }

    /// Returns whether promises are given.
    pub fn is_meant(&self) -> bool {
        self.keep != Keep::None
    }

    /// Returns the task of the promise, its latest start, and the further data of its planned slot.
    pub fn given(&self) -> Option<(TaskId, Time, W)> {
        self.given
    }

    /// Forgets the promise.
    pub fn forget(&mut self) {
        self.given = None;
    }

    /// Promises the task that has waited longest that it waits at most twice as long as in this plan. A promise to a
    /// task is never replaced by a later start.
    pub fn renew(&mut self, oldest: TaskId, start: Time, with: W, view: &View<'_>) {
        let latest = start + start.saturating_since(view.instance.release(oldest));
        if self.given.is_none_or(|(task, before, _)| task != oldest || latest < before) {
            self.given = Some((oldest, latest, with));
        }
    }
}
