//! The place of a task in an order of which nothing else is known.

use std::cmp::Ordering;

/// A key of an order, of which the least comes first: places in a plan that was given, then figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key(pub u8, pub f64, pub f64);

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0).then(self.1.total_cmp(&other.1)).then(self.2.total_cmp(&other.2))
    }
}
