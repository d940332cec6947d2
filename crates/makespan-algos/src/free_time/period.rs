//! A stretch of time.

use makespan_core::Time;

/// The instants from `from` on that are before `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first instant.
    pub from: Time,
    /// The first instant after it.
    pub until: Time,
}

impl Period {
    /// From an instant on, without an end.
    pub const fn since(from: Time) -> Self {
        Self { from, until: Time::MAX }
    }

    /// The smallest period that holds both; `other` where there is only that.
    #[must_use]
    pub fn hull(one: Option<Self>, other: Self) -> Self {
        one.map_or(other, |one| Self { from: one.from.min(other.from), until: one.until.max(other.until) })
    }
}
