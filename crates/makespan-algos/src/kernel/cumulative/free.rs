//! What a form of the free amounts over time can be asked.

use super::word::Word;

/// The free amounts when nothing is placed: from each instant on, ascending, with guard bits. The first is 0, and the last goes on
/// for ever.
#[derive(Clone, Debug)]
pub struct Base<W> {
    pub steps: Vec<(i64, W)>,
    pub guard: W,
}

/// Free amounts of all resources over time, in units of time from 0 on.
pub trait Free: Clone {
    type Word: Word;

    /// Where nothing is placed.
    fn new(base: Base<Self::Word>) -> Self;

    /// Takes back all that was placed.
    fn clear(&mut self);

    /// The first start, not before `from`, at which a demand fits for `time`. The demand must fit from some instant on for ever.
    fn first_fit(&self, from: i64, time: i64, demand: Self::Word) -> i64;

    /// The last start, not before `from`, at which a demand fits for `time` and ends by `until`; `None` where there is none.
    fn last_fit(&self, from: i64, until: i64, time: i64, demand: Self::Word) -> Option<i64>;

    /// Whether a demand fits from `start` on for `time`.
    fn fits(&self, start: i64, time: i64, demand: Self::Word) -> bool;

    /// Places a demand that fits.
    fn hold(&mut self, start: i64, time: i64, demand: Self::Word);
}
