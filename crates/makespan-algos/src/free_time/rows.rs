//! Amounts of processors and resources over time, on a node or on the platform: either the free amounts, or the
//! amounts in use.

/// Several amounts, each of which is a step function of time. The steps are stored in two flat arrays, sorted by time.
/// The first step also describes all earlier instants, and the last step never ends. After a change, neighbouring
/// steps with equal amounts are merged.
///
/// Let n be the number of steps, and k the number of steps in the period of a query. The query takes O(k + log n). A
/// change also moves all later steps in the arrays.
#[derive(Debug, Default)]
pub(crate) struct Rows<A> {
    width: usize,
    /// The instant at which each step begins, in ascending order.
    begins: Vec<i64>,
    /// The amounts of all steps. Each step has a row of `width` amounts.
    amounts: Vec<A>,
    /// The first `cells` amounts of a row are numbers of free processors. Every query asks for at least one processor.
    cells: usize,
    /// The first step in which one of the first `cells` amounts may be positive. In all earlier steps, these amounts
    /// are zero.
    head: usize,
}

impl<A: Clone> Clone for Rows<A> {
    fn clone(&self) -> Self {
        let mut clone = Self { width: 0, begins: Vec::new(), amounts: Vec::new(), cells: 0, head: 0 };
        clone.clone_from(self);
        clone
    }

    /// Copies the rows of `source` into the buffers of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.begins.clone_from(&source.begins);
        self.amounts.clone_from(&source.amounts);
        (self.width, self.cells, self.head) = (source.width, source.cells, source.head);
    }
}

impl<A: Copy + Default + Ord> Rows<A> {
    /// Returns rows with one step, which begins at the instant `from` and has the amounts `amounts`. The first `cells`
    /// amounts are numbers of free processors. If they are all zero in a row, the function `serves` of
    /// [`Rows::earliest`] must always reject the row.
    pub fn new(from: i64, amounts: Vec<A>, cells: usize) -> Self {
        Self { width: amounts.len(), begins: vec![from], amounts, cells, head: 0 }
    }

    /// Returns the number of amounts in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns whether there are no steps. The default value has no steps.
    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.begins.len()
    }

    /// Returns the instant at which a step begins.
    pub fn begins(&self, step: usize) -> i64 {
        self.begins[step]
    }

    /// Returns the instant at which a step ends: `i64::MAX` for the last step.
    #[inline]
    pub fn until(&self, step: usize) -> i64 {
        self.begins.get(step + 1).copied().unwrap_or(i64::MAX)
    }

    /// Returns the amounts of a step.
    #[inline]
    pub fn row(&self, step: usize) -> &[A] {
        &self.amounts[step * self.width..(step + 1) * self.width]
    }

    /// Returns the index of the step that contains an instant.
    #[inline]
    pub fn step_at(&self, at: i64) -> usize {
        // Check the step `head` first, because most queries begin in the first step with free processors.
        if self.begins.get(self.head + 1).is_none_or(|&next| at < next) && self.begins[self.head] <= at {
            return self.head;
        }
        self.begins.partition_point(|&begin| begin <= at).saturating_sub(1)
    }

    /// Returns the index of the step that contains an instant, or `head` if that step is before `head`.
    #[inline]
    pub fn begin(&self, at: i64) -> usize {
        if at < self.begins[self.head] { self.head } else { self.step_at(at) }
    }

    /// Returns the instants after `after` at which steps begin.
    pub fn instants(&self, after: i64) -> impl Iterator<Item = i64> {
        self.begins[self.begins.partition_point(|&begin| begin <= after)..].iter().copied()
    }

    /// Returns the rows of `step` and of all later steps that begin before `until`.
    #[inline]
    pub fn rows(&self, step: usize, until: i64) -> impl Iterator<Item = &[A]> {
        let rows = self.amounts[(step + 1) * self.width..].chunks_exact(self.width.max(1));
        let later = self.begins[step + 1..].iter().zip(rows);
        std::iter::once(self.row(step)).chain(later.take_while(move |later| *later.0 < until).map(|later| later.1))
    }

    /// For each amount, computes the minimum over `step` and all later steps that begin before `until`. Writes these
    /// minima into `least`.
    #[inline]
    pub fn least(&self, step: usize, until: i64, least: &mut Vec<A>) {
        least.clear();
        least.extend_from_slice(self.row(step));
        self.rows(step, until).for_each(|row| {
            least.iter_mut().zip(row).for_each(|(least, &own)| *least = own.min(*least));
        });
    }

    /// Returns the first instant T from `at` to `latest` such that `serves` accepts all rows from T to T + `duration`.
    #[inline]
    pub fn earliest(&self, at: i64, duration: i64, latest: i64, serves: impl Fn(&[A]) -> bool) -> Option<i64> {
        let first = self.begin(at);
        let mut start = at.max(self.begins[first]);
        if start > latest {
            return None;
        }
        let rows = self.amounts[first * self.width..].chunks_exact(self.width.max(1));
        for (&until, row) in self.begins[first + 1..].iter().zip(rows) {
            if !serves(row) {
                start = until;
            } else if until >= start.saturating_add(duration) {
                return Some(start);
            }
            if start > latest {
                return None;
            }
        }
        // The last step never ends.
        serves(self.row(self.len() - 1)).then_some(start)
    }

    /// Applies `change` to the rows from the instant `from` to the instant `until`. If `until` is `i64::MAX`, changes
    /// all rows from `from` on.
    pub fn change(&mut self, from: i64, until: i64, change: impl FnMut(&mut [A])) {
        let from = from.max(self.begins[0]);
        if from >= until {
            return;
        }
        let first = self.cut(self.step_at(from), from);
        let mut end = first + 1;
        while self.begins.get(end).is_some_and(|&begin| begin < until) {
            end += 1;
        }
        if until < i64::MAX {
            end = self.cut(end - usize::from(self.begins.get(end) != Some(&until)), until);
        }
        self.amounts[first * self.width..end * self.width].chunks_exact_mut(self.width.max(1)).for_each(change);
        self.head = self.head.min(first.saturating_sub(1));
        self.join(end);
        self.join(first);
        let cells = self.cells;
        while cells > 0
            && self.head + 1 < self.len()
            && self.row(self.head)[..cells].iter().all(|&it| it == A::default())
        {
            self.head += 1;
        }
    }

    /// Removes the steps that end at the instant `before` or earlier.
    pub fn forget(&mut self, before: i64) {
        let past = self.step_at(before);
        self.begins.drain(..past);
        self.amounts.drain(..past * self.width);
        self.begins[0] = self.begins[0].max(before);
        self.head = self.head.saturating_sub(past);
    }

    /// Splits `step` at the instant `at`, unless `step` begins there. Returns the index of the step that begins at
    /// `at`.
    fn cut(&mut self, step: usize, at: i64) -> usize {
        if self.begins[step] == at {
            return step;
        }
        self.begins.insert(step + 1, at);
        let (row, end) = (step * self.width..(step + 1) * self.width, self.amounts.len());
        self.amounts.extend_from_within(row.clone());
        // Move all later rows at once, because inserting the amounts one by one is slower.
        self.amounts.copy_within(row.start..end, row.end);
        step + 1
    }

    /// Merges a step with the previous step if their rows are equal.
    fn join(&mut self, step: usize) {
        if 0 < step && step < self.len() && self.row(step - 1) == self.row(step) {
            self.begins.remove(step);
            self.amounts.drain(step * self.width..(step + 1) * self.width);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the results of all queries with results from an array that stores the amounts at each tick.
        #[test]
        fn rows_agree_with_amounts_at_each_tick(
            changes in prop::collection::vec((0_i64..40, 1_i64..20, 0_i64..4, 0_i64..4, any::<bool>()), 0..20),
            (at, duration, latest, before) in (0_i64..45, 1_i64..30, 0_i64..60, 0_i64..10),
            asked in (1_i64..5, 0_i64..5),
            cells in 0_usize..2,
        ) {
            let mut rows = Rows::new(0, vec![4, 5], cells);
            let mut plain = vec![[4_i64, 5]; 128];
            for (from, length, a, b, gives) in changes {
                let sign = if gives { 1 } else { -1 };
                let ticks = &mut plain[from as usize..(from + length) as usize];
                // The search skips steps if their first amounts are zero. So the test must not let these amounts fall
                // below zero.
                let a = if gives { a } else { ticks.iter().map(|row| row[0]).fold(a, i64::min).max(0) };
                let change = |row: &mut [i64]| (row[0], row[1]) = (row[0] + sign * a, row[1] + sign * b);
                rows.change(from, from + length, change);
                ticks.iter_mut().for_each(|row| change(row));
            }
            prop_assert!((1..rows.len()).all(|step| rows.row(step - 1) != rows.row(step)));
            rows.forget(before);
            let (at, latest) = (at.max(before), latest.max(before));
            let serves = |row: &[i64]| row[0] >= asked.0 && row[1] >= asked.1;
            let window = |start: i64| &plain[start as usize..(start + duration) as usize];
            let first = (at..=latest).find(|&start| window(start).iter().all(|row| serves(row)));
            prop_assert_eq!(rows.earliest(at, duration, latest, serves), first);
            let mut least = Vec::new();
            rows.least(rows.step_at(at), at + duration, &mut least);
            let column = |of: usize| window(at).iter().map(|row| row[of]).min().unwrap();
            prop_assert_eq!(least, [column(0), column(1)]);
            prop_assert_eq!(rows.row(rows.step_at(at)), plain[at as usize]);
            let changes = (at + 1..100).filter(|&at| plain[at as usize] != plain[at as usize - 1]);
            prop_assert_eq!(rows.instants(at).collect::<Vec<_>>(), changes.collect::<Vec<_>>());
        }
    }
}
