//! A period of time.

use makespan_core::Time;

/// The instants from `from` (included) to `until` (excluded).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first instant of the period.
    pub from: Time,
    /// The first instant after the period.
    pub until: Time,
}

impl Period {
    /// Returns the period that begins at an instant and has no end.
    pub const fn since(from: Time) -> Self {
        Self { from, until: Time::MAX }
    }

    /// Returns the smallest period that contains both `one` and `other`. If `one` is `None`, returns `other`.
    #[must_use]
    pub fn hull(one: Option<Self>, other: Self) -> Self {
        one.map_or(other, |one| Self { from: one.from.min(other.from), until: one.until.max(other.until) })
    }
}
