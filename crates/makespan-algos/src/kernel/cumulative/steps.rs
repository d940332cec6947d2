//! Free amounts as a step function, for long horizons and for times without a large common unit.

use super::free::{Base, Free};
use super::word::Word;
use crate::free_time::Rows;

/// The steps, as rows of one word each. A new demand inserts at most two steps. So later steps move by at most two
/// positions in the array.
#[derive(Clone, Debug)]
pub struct Steps<W> {
    free: Rows<W>,
    base: Rows<W>,
    guard: W,
}

impl<W: Word> Free for Steps<W> {
    type Word = W;

    fn new(Base { steps, guard }: Base<W>) -> Self {
        let mut base = Rows::new(0, vec![steps[0].1], 0);
        steps.iter().for_each(|&(from, free)| base.change(from, i64::MAX, |row| row[0] = free));
        Self { free: base.clone(), base, guard }
    }

    fn clear(&mut self) {
        self.free.clone_from(&self.base);
    }

    #[inline]
    fn first_fit(&self, from: i64, time: i64, demand: W) -> i64 {
        let start = self.free.earliest(from, time, i64::MAX, |row| row[0].fits(demand, self.guard));
        start.expect("every demand fits into the last step, in which all amounts are free")
    }

    #[inline]
    fn last_fit(&self, from: i64, until: i64, time: i64, demand: W) -> Option<i64> {
        let mut end = until;
        let mut last = self.free.step_at(until - 1);
        'end: while end - time >= from {
            let start = end - time;
            for at in (0..=last).rev() {
                let begin = self.free.begins(at);
                if !self.free.row(at)[0].fits(demand, self.guard) {
                    (end, last) = (begin, at.saturating_sub(1));
                    continue 'end;
                }
                if begin <= start {
                    break;
                }
            }
            return Some(start);
        }
        None
    }

    fn fits(&self, start: i64, time: i64, demand: W) -> bool {
        let mut within = self.free.rows(self.free.step_at(start), start + time);
        within.all(|row| row[0].fits(demand, self.guard))
    }

    #[inline]
    fn hold(&mut self, start: i64, time: i64, demand: W) {
        self.free.change(start, start + time, |row| row[0] = row[0].minus(demand));
    }
}
