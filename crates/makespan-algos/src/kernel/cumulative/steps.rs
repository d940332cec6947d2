//! Free amounts as a step function: for long horizons, and times that share no large unit.

use super::free::{Base, Free};
use super::word::Word;

/// A sorted array of steps. A question finds its first step by bisection and walks from there; a demand moves the steps behind
/// it by at most two places.
#[derive(Clone, Debug)]
pub struct Steps<W> {
    /// From when on, and how much. The first is at 0, the last goes on for ever.
    free: Vec<(i64, W)>,
    base: Vec<(i64, W)>,
    guard: W,
}

impl<W: Word> Steps<W> {
    /// The step that is under way just before an instant, and at the instant 0 the first one.
    fn before(&self, at: i64) -> usize {
        self.free.partition_point(|step| step.0 < at).saturating_sub(1)
    }

    /// The step that begins at an instant, made if there is none; searched for from `from` on.
    fn beginning(&mut self, at: i64, from: usize) -> usize {
        let index = from + self.free[from..].partition_point(|step| step.0 < at);
        if self.free.get(index).is_none_or(|step| step.0 != at) {
            let free = self.free[index - 1].1;
            self.free.insert(index, (at, free));
        }
        index
    }

    /// Joins a step with the one before it if they are equal.
    fn join(&mut self, index: usize) {
        if index > 0 && self.free[index].1 == self.free[index - 1].1 {
            self.free.remove(index);
        }
    }
}

impl<W: Word> Free for Steps<W> {
    type Word = W;

    fn new(base: Base<W>) -> Self {
        Self { free: base.steps.clone(), base: base.steps, guard: base.guard }
    }

    fn clear(&mut self) {
        self.free.clone_from(&self.base);
    }

    #[inline]
    fn first_fit(&self, from: i64, time: i64, demand: W) -> i64 {
        let (steps, guard) = (&self.free[..], self.guard);
        let mut first = steps.partition_point(|step| step.0 <= from).saturating_sub(1);
        'start: loop {
            // The last step has room for every demand.
            while first + 1 < steps.len() && !steps[first].1.fits(demand, guard) {
                first += 1;
            }
            let start = steps[first].0.max(from);
            for (at, step) in steps.iter().enumerate().skip(first + 1) {
                if step.0 >= start + time {
                    break;
                }
                if !step.1.fits(demand, guard) {
                    first = at + 1;
                    continue 'start;
                }
            }
            return start;
        }
    }

    #[inline]
    fn last_fit(&self, from: i64, until: i64, time: i64, demand: W) -> Option<i64> {
        let (steps, guard) = (&self.free[..], self.guard);
        let mut end = until;
        let mut last = self.before(until);
        'end: while end - time >= from {
            let start = end - time;
            for at in (0..=last).rev() {
                if !steps[at].1.fits(demand, guard) {
                    (end, last) = (steps[at].0, at.saturating_sub(1));
                    continue 'end;
                }
                if steps[at].0 <= start {
                    break;
                }
            }
            return Some(start);
        }
        None
    }

    fn fits(&self, start: i64, time: i64, demand: W) -> bool {
        let first = self.free.partition_point(|step| step.0 <= start).saturating_sub(1);
        let mut within = self.free[first..].iter().take_while(|step| step.0 < start + time);
        within.all(|step| step.1.fits(demand, self.guard))
    }

    #[inline]
    fn hold(&mut self, start: i64, time: i64, demand: W) {
        let first = self.beginning(start, 0);
        let end = self.beginning(start + time, first);
        self.free[first..end].iter_mut().for_each(|step| step.1 = step.1.minus(demand));
        self.join(end);
        self.join(first);
    }
}
