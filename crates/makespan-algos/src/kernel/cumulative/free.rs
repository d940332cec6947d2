//! The interface of data structures for free amounts over time.

use super::word::Word;

/// The free amounts of an empty schedule, as steps of words with guard bits. Each step begins at an instant, and the
/// steps are in ascending order. The first instant is 0, and the last step never ends.
#[derive(Clone, Debug)]
pub struct Base<W> {
    pub steps: Vec<(i64, W)>,
    pub guard: W,
}

/// Free amounts of all resources over time. Instants are counted from 0, in the unit of time of the problem.
pub trait Free: Clone {
    type Word: Word;

    /// Returns the free amounts of an empty schedule.
    fn new(base: Base<Self::Word>) -> Self;

    /// Removes all placed demands.
    fn clear(&mut self);

    /// Returns the first start at or after `from` at which a demand fits for `time`. The demand must fit into the last
    /// step, which never ends.
    fn first_fit(&self, from: i64, time: i64, demand: Self::Word) -> i64;

    /// Returns the last start at or after `from` at which a demand fits for `time` and ends by `until`. Returns `None`
    /// if no such start exists.
    fn last_fit(&self, from: i64, until: i64, time: i64, demand: Self::Word) -> Option<i64>;

    /// Returns whether a demand fits from `start` to `start + time`.
    fn fits(&self, start: i64, time: i64, demand: Self::Word) -> bool;

    /// Places a demand from `start` to `start + time`. The demand must fit there.
    fn hold(&mut self, start: i64, time: i64, demand: Self::Word);
}
