//! What is left of several amounts over time.

use std::ops::Range;

/// Amounts that change step by step, in flat arrays sorted by time. The last step goes on for ever.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// How many amounts there are.
    width: usize,
    /// When each step begins.
    from: Vec<i64>,
    /// The amounts of each step, one step after another.
    left: Vec<u64>,
    /// No step before this one has anything left of the first `cells` amounts, of which every task takes some.
    head: usize,
    cells: usize,
}

impl Clone for Steps {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Copies into the buffers that are there.
    fn clone_from(&mut self, source: &Self) {
        self.from.clone_from(&source.from);
        self.left.clone_from(&source.left);
        (self.width, self.head, self.cells) = (source.width, source.head, source.cells);
    }
}

impl Steps {
    /// These amounts from an instant on. The first `cells` of them are such that every task takes some of one.
    pub fn new(from: i64, amounts: Vec<u64>, cells: usize) -> Self {
        Self { width: amounts.len(), from: vec![from], left: amounts, head: 0, cells }
    }

    /// How many amounts there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// When a step begins.
    pub fn begins(&self, step: usize) -> i64 {
        self.from[step]
    }

    /// When a step ends; never, for the last one.
    #[inline]
    pub fn until(&self, step: usize) -> i64 {
        self.from.get(step + 1).copied().unwrap_or(i64::MAX)
    }

    /// The amounts of a step.
    #[inline]
    pub fn row(&self, step: usize) -> &[u64] {
        &self.left[step * self.width..(step + 1) * self.width]
    }

    /// The step in which an instant lies that is not before the first one.
    #[inline]
    pub fn step_at(&self, at: i64) -> usize {
        // Most tasks wait for nothing: this is the first step with anything left.
        if self.from.get(self.head + 1).is_none_or(|&next| at < next) && self.from[self.head] <= at {
            return self.head;
        }
        self.from.partition_point(|&from| from <= at) - 1
    }

    /// The first step at or after which anything may be found, not before an instant.
    #[inline]
    pub fn begin(&self, at: i64) -> usize {
        if at < self.from[self.head] { self.head } else { self.step_at(at) }
    }

    /// The earliest instant, from `at` to `latest`, from which at least what is asked of each amount is left for so long. Each step
    /// from there on is looked at once.
    pub fn earliest(&self, at: i64, duration: i64, asked: &[u64], latest: i64) -> Option<i64> {
        let mut step = self.begin(at);
        let mut start = at.max(self.from[step]);
        loop {
            if start > latest {
                return None;
            }
            if self.row(step).iter().zip(asked).any(|(left, asked)| left < asked) {
                start = self.until(step);
                if start == i64::MAX {
                    return None;
                }
            } else if self.until(step) >= start.saturating_add(duration) {
                return Some(start);
            }
            step += 1;
        }
    }

    /// The least of each amount from an instant that lies in `step` until another.
    #[inline]
    pub fn least(&self, step: usize, until: i64, least: &mut Vec<u64>) {
        least.clear();
        least.extend_from_slice(self.row(step));
        for (&from, row) in
            self.from[step + 1..].iter().zip(self.left[(step + 1) * self.width..].chunks_exact(self.width))
        {
            if from >= until {
                break;
            }
            least.iter_mut().zip(row).for_each(|(least, &left)| *least = left.min(*least));
        }
    }

    /// Takes so much of each amount in a period.
    pub fn take(&mut self, from: i64, until: i64, amounts: &[u64]) {
        if from >= until {
            return;
        }
        let steps = self.cut(from)..self.cut(until);
        self.change(steps, |left, taken| *left -= taken, amounts);
        let cells = self.cells;
        while cells > 0 && self.head + 1 < self.from.len() && self.row(self.head)[..cells].iter().all(|&left| left == 0)
        {
            self.head += 1;
        }
    }

    /// Takes so much of one amount in a period, or all that is left of it.
    pub fn take_at_most(&mut self, from: i64, until: i64, amount: usize, most: u64) {
        let from = from.max(self.from[0]);
        if from < until {
            for step in self.cut(from)..self.cut(until) {
                let left = &mut self.left[step * self.width + amount];
                *left = left.saturating_sub(most);
            }
        }
    }

    /// Sets one amount to its least in a period and `most`.
    pub fn limit(&mut self, from: i64, until: i64, amount: usize, most: u64) {
        let from = from.max(self.from[0]);
        if from < until {
            for step in self.cut(from)..self.cut(until) {
                let left = &mut self.left[step * self.width + amount];
                *left = most.min(*left);
            }
        }
    }

    fn change(&mut self, steps: Range<usize>, change: impl Fn(&mut u64, u64), amounts: &[u64]) {
        for row in self.left[steps.start * self.width..steps.end * self.width].chunks_exact_mut(self.width) {
            row.iter_mut().zip(amounts).for_each(|(left, &amount)| change(left, amount));
        }
    }

    /// The step that begins at an instant, which is made where there is none; the end of time is after all steps.
    fn cut(&mut self, at: i64) -> usize {
        if at == i64::MAX {
            return self.from.len();
        }
        let step = self.step_at(at);
        if self.from[step] == at {
            return step;
        }
        self.from.insert(step + 1, at);
        let (row, end) = (step * self.width..(step + 1) * self.width, self.left.len());
        self.left.extend_from_within(row.clone());
        // Makes room behind the step: cheaper than one insertion for each amount.
        self.left.copy_within(row.start..end, row.end);
        step + 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is asked at every instant by a walk gives the same start.
        #[test]
        fn the_earliest_start_is_the_first_that_fits(
            holds in proptest::collection::vec((0_i64..20, 1_i64..9, 0_u64..3, 0_u64..3), 0..10),
            at in 0_i64..25, duration in 1_i64..8, asked in (1_u64..5, 0_u64..5), latest in 0_i64..40,
        ) {
            let mut steps = Steps::new(0, vec![4, 4], 1);
            let mut left = vec![[4_u64, 4]; 64];
            for (from, length, first, second) in holds {
                let until = from + length;
                let fits = left[from as usize..until as usize].iter().all(|left| left[0] >= first && left[1] >= second);
                if fits {
                    steps.take(from, until, &[first, second]);
                    left[from as usize..until as usize].iter_mut().for_each(|left| {
                        left[0] -= first;
                        left[1] -= second;
                    });
                }
            }
            let enough = |start: i64| {
                let mut each = left[start as usize..(start + duration) as usize].iter();
                each.all(|left| left[0] >= asked.0 && left[1] >= asked.1)
            };
            let found = steps.earliest(at, duration, &[asked.0, asked.1], latest);
            prop_assert_eq!(found, (at..=latest).find(|&start| enough(start)));
            let mut least = Vec::new();
            steps.least(steps.step_at(at), at + duration, &mut least);
            let walked = |of: usize| left[at as usize..(at + duration) as usize].iter().map(|left| left[of]).min();
            prop_assert_eq!(Some(least[0]), walked(0));
            prop_assert_eq!(Some(least[1]), walked(1));
        }
    }
}
