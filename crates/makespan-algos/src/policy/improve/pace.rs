//! The pace of searches at the events of a run.

use std::time::Instant;

/// Minimum time between the begins of two searches at events, as a multiple of the duration of the first search. Tasks that
/// could start wait for such a search.
const REST: u32 = 50;

/// Decides at which events a search begins. Without a limit, these are all events that change the plan.
#[derive(Debug, Default)]
pub(super) struct SearchPace {
    is_limited: bool,
    /// The instant from which a search is possible again.
    rested: Option<Instant>,
}

impl SearchPace {
    /// Returns a pace with a pause after each search ([`REST`]).
    pub fn limited() -> Self {
        Self { is_limited: true, rested: None }
    }

    /// Returns the begin of a search, or `None` if none begins at this event. `changed` states whether the event changes
    /// the plan.
    pub fn begin(&self, changed: bool) -> Option<Instant> {
        let now = changed.then(Instant::now)?;
        self.rested.is_none_or(|rested| rested <= now).then_some(now)
    }

    /// Records that a search has just ended, if one began at `begin`.
    pub fn end(&mut self, begin: Option<Instant>) {
        if let Some(begin) = begin.filter(|_| self.is_limited) {
            self.rested = Some(begin + begin.elapsed() * REST);
        }
    }
}
