//! Free amounts in slots of one unit of time, for short horizons.

use super::free::{Base, Free};
use super::word::Word;

/// One word of free amounts for each slot. A query reads each slot at most twice. Placing a demand writes one word for
/// each unit of its time.
#[derive(Clone, Debug)]
pub struct Slots<W> {
    free: Vec<W>,
    /// The index of a slot. From this slot on, the free amounts are as in the last step of the base.
    top: usize,
    /// The slots of the base before `top`.
    first: Vec<W>,
    /// The free amounts in all slots from `top` on.
    rest: W,
    guard: W,
}

impl<W: Word> Free for Slots<W> {
    type Word = W;

    fn new(base: Base<W>) -> Self {
        let mut first = Vec::new();
        for pair in base.steps.windows(2) {
            first.resize(pair[1].0 as usize, pair[0].1);
        }
        let rest = base.steps[base.steps.len() - 1].1;
        Self { free: first.clone(), top: first.len(), first, rest, guard: base.guard }
    }

    fn clear(&mut self) {
        let kept = self.first.len();
        self.free[..kept].copy_from_slice(&self.first);
        self.free[kept..self.top].fill(self.rest);
        self.top = kept;
    }

    #[inline]
    fn first_fit(&self, from: i64, time: i64, demand: W) -> i64 {
        let (free, guard, time) = (&self.free[..self.top], self.guard, time as usize);
        let mut start = from as usize;
        // The demand fits in all slots from `start` to `known`.
        let mut known = start;
        'start: loop {
            let end = (start + time).min(free.len());
            let mut slot = end;
            while slot > known {
                slot -= 1;
                if !free[slot].fits(demand, guard) {
                    (start, known) = (slot + 1, end);
                    continue 'start;
                }
            }
            return start as i64;
        }
    }

    #[inline]
    fn last_fit(&self, from: i64, until: i64, time: i64, demand: W) -> Option<i64> {
        let (free, guard) = (&self.free[..self.top], self.guard);
        let mut start = until - time;
        // The demand fits in all slots from `known` to the end of the period.
        let mut known = (until as usize).min(free.len());
        while start >= from {
            let first = start as usize;
            let window = free.get(first..known).unwrap_or_default();
            let Some(full) = window.iter().position(|free| !free.fits(demand, guard)) else { return Some(start) };
            (start, known) = ((first + full) as i64 - time, first);
        }
        None
    }

    fn fits(&self, start: i64, time: i64, demand: W) -> bool {
        let (first, end) = ((start as usize).min(self.top), ((start + time) as usize).min(self.top));
        self.free[first..end].iter().all(|free| free.fits(demand, self.guard))
    }

    #[inline]
    fn hold(&mut self, start: i64, time: i64, demand: W) {
        let end = (start + time) as usize;
        if end > self.top {
            if end > self.free.len() {
                self.free.resize(end, self.rest);
            }
            self.top = end;
        }
        self.free[start as usize..end].iter_mut().for_each(|free| *free = free.minus(demand));
    }
}
