//! The interface of data structures for free amounts over time.

use super::word::Word;

/// The free amounts before anything is placed: one step for each instant from which they apply, in ascending order and with guard
/// bits. The first instant is 0, and the last step never ends.
#[derive(Clone, Debug)]
pub struct Base<W> {
    pub steps: Vec<(i64, W)>,
    pub guard: W,
}

/// Free amounts of all resources over time, in units of time from 0 on.
pub trait Free: Clone {
    type Word: Word;

    /// Returns the free amounts before anything is placed.
    fn new(base: Base<Self::Word>) -> Self;

    /// Removes everything that was placed.
    fn clear(&mut self);

    /// Returns the first start, not before `from`, at which a demand fits for `time`. The demand must fit into the last step, which
    /// never ends.
    fn first_fit(&self, from: i64, time: i64, demand: Self::Word) -> i64;

    /// Returns the last start, not before `from`, at which a demand fits for `time` and ends by `until`, or `None` if there is
    /// none.
    fn last_fit(&self, from: i64, until: i64, time: i64, demand: Self::Word) -> Option<i64>;

    /// Returns whether a demand fits from `start` on for `time`.
    fn fits(&self, start: i64, time: i64, demand: Self::Word) -> bool;

    /// Places a demand that fits.
    fn hold(&mut self, start: i64, time: i64, demand: Self::Word);
}
