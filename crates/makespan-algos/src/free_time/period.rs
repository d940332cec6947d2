//! A period of time.

use makespan_core::Time;

/// The instants from `from` on and before `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first instant.
    pub from: Time,
    /// The end, which is not part of the period.
    pub until: Time,
}

impl Period {
    /// Returns the period that begins at an instant and has no end.
    pub const fn since(from: Time) -> Self {
        Self { from, until: Time::MAX }
    }

    /// Returns the smallest period that contains `one` and `other`, or `other` if `one` is `None`.
    #[must_use]
    pub fn hull(one: Option<Self>, other: Self) -> Self {
        one.map_or(other, |one| Self { from: one.from.min(other.from), until: one.until.max(other.until) })
    }
}
