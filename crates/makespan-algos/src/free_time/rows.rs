//! Several amounts over time: free or held, of one node or of a platform.

/// Amounts that change at instants, in two flat arrays sorted by time. The first step also stands for the time before it, and the last
/// one never ends. A change joins neighbouring steps that it made equal.
///
/// A question takes O(log n + steps that it meets) for n steps. A change also moves the steps behind it.
#[derive(Debug, Default)]
pub(crate) struct Rows<A> {
    width: usize,
    /// The beginning of each step, ascending.
    begins: Vec<i64>,
    /// The row of each step, one row after another.
    amounts: Vec<A>,
    /// The number of leading amounts of which every question asks for at least one.
    cells: usize,
    /// The first step that may have one of these: all before it have none.
    head: usize,
}

impl<A: Clone> Clone for Rows<A> {
    fn clone(&self) -> Self {
        let mut clone = Self { width: 0, begins: Vec::new(), amounts: Vec::new(), cells: 0, head: 0 };
        clone.clone_from(self);
        clone
    }

    /// Copies into the buffers of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.begins.clone_from(&source.begins);
        self.amounts.clone_from(&source.amounts);
        (self.width, self.cells, self.head) = (source.width, source.cells, source.head);
    }
}

impl<A: Copy + Default + Ord> Rows<A> {
    /// Returns constant amounts from an instant on. `cells`: how many leading ones are such that every question of
    /// [`Rows::earliest`] asks for some of one.
    pub fn new(from: i64, amounts: Vec<A>, cells: usize) -> Self {
        Self { width: amounts.len(), begins: vec![from], amounts, cells, head: 0 }
    }

    /// Number of amounts in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns if there is no step at all, as in a default value.
    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.begins.len()
    }

    /// Returns the first instant of a step.
    pub fn begins(&self, step: usize) -> i64 {
        self.begins[step]
    }

    /// Returns the first instant after a step; `i64::MAX` for the last one.
    #[inline]
    pub fn until(&self, step: usize) -> i64 {
        self.begins.get(step + 1).copied().unwrap_or(i64::MAX)
    }

    /// Returns the amounts of a step.
    #[inline]
    pub fn row(&self, step: usize) -> &[A] {
        &self.amounts[step * self.width..(step + 1) * self.width]
    }

    /// Returns the step at an instant.
    #[inline]
    pub fn step_at(&self, at: i64) -> usize {
        // Most questions are about the first step that has anything left.
        if self.begins.get(self.head + 1).is_none_or(|&next| at < next) && self.begins[self.head] <= at {
            return self.head;
        }
        self.begins.partition_point(|&begin| begin <= at).saturating_sub(1)
    }

    /// Returns the first step, not before the one at an instant, that may have anything left.
    #[inline]
    pub fn begin(&self, at: i64) -> usize {
        if at < self.begins[self.head] { self.head } else { self.step_at(at) }
    }

    /// Returns the instants after one at which a step begins.
    pub fn instants(&self, after: i64) -> impl Iterator<Item = i64> {
        self.begins[self.begins.partition_point(|&begin| begin <= after)..].iter().copied()
    }

    /// Returns the rows of `step` and of those after it that begin before `until`.
    #[inline]
    pub fn rows(&self, step: usize, until: i64) -> impl Iterator<Item = &[A]> {
        let rows = self.amounts[(step + 1) * self.width..].chunks_exact(self.width.max(1));
        let later = self.begins[step + 1..].iter().zip(rows);
        std::iter::once(self.row(step)).chain(later.take_while(move |later| *later.0 < until).map(|later| later.1))
    }

    /// Writes the least of each amount from an instant in `step` to `until`.
    #[inline]
    pub fn least(&self, step: usize, until: i64, least: &mut Vec<A>) {
        least.clear();
        least.extend_from_slice(self.row(step));
        self.rows(step, until).for_each(|row| {
            least.iter_mut().zip(row).for_each(|(least, &own)| *least = own.min(*least));
        });
    }

    /// Returns the first instant, from `at` to `latest`, from which all rows serve for `duration`.
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
        // The last step goes on for ever.
        serves(self.row(self.len() - 1)).then_some(start)
    }

    /// Changes the rows from one instant to another; an `until` of `i64::MAX` means for ever.
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

    /// Forgets the time before an instant.
    pub fn forget(&mut self, before: i64) {
        let past = self.step_at(before);
        self.begins.drain(..past);
        self.amounts.drain(..past * self.width);
        self.begins[0] = self.begins[0].max(before);
        self.head = self.head.saturating_sub(past);
    }

    /// Returns the step that begins at an instant, which lies in `step`. Makes it if necessary.
    fn cut(&mut self, step: usize, at: i64) -> usize {
        if self.begins[step] == at {
            return step;
        }
        self.begins.insert(step + 1, at);
        let (row, end) = (step * self.width..(step + 1) * self.width, self.amounts.len());
        self.amounts.extend_from_within(row.clone());
        // Makes room behind the step: cheaper than one insertion for each amount.
        self.amounts.copy_within(row.start..end, row.end);
        step + 1
    }

    /// Drops a step that equals the one before it.
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
        /// An array of the amounts at each tick gives the same answers.
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
                // Leading amounts that let the search skip steps do not fall below zero.
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
