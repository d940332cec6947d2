//! What a node has left over time.

/// Amounts that change at instants. Below zero is as much more than there is as others hold.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    width: usize,
    /// When each step begins, ascending; the last one has no end.
    begins: Vec<i64>,
    /// For each step its amounts.
    amounts: Vec<i64>,
}

impl Steps {
    /// The same amounts for ever, from an instant on.
    pub fn new(from: i64, amounts: Vec<i64>) -> Self {
        Self { width: amounts.len(), begins: vec![from], amounts }
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.begins.len()
    }

    /// When it ends.
    pub fn ends(&self, step: usize) -> i64 {
        self.begins.get(step + 1).copied().unwrap_or(i64::MAX)
    }

    /// Its amounts.
    pub fn row(&self, step: usize) -> &[i64] {
        &self.amounts[step * self.width..][..self.width]
    }

    /// The step in which an instant is; the first one for what is before it.
    pub fn step_at(&self, at: i64) -> usize {
        self.begins.partition_point(|&begin| begin <= at).saturating_sub(1)
    }

    /// Adds `sign` times the amounts from one instant to another.
    pub fn add(&mut self, from: i64, until: i64, amounts: &[i64], sign: i64) {
        let from = from.max(self.begins[0]);
        if from >= until {
            return;
        }
        let first = self.begin(from);
        let end = if until == i64::MAX { self.len() } else { self.begin(until) };
        let changed = &mut self.amounts[first * self.width..end * self.width];
        for row in changed.chunks_exact_mut(self.width.max(1)) {
            row.iter_mut().zip(amounts).for_each(|(own, amount)| *own += sign * amount);
        }
        self.join(end);
        self.join(first);
    }

    /// The least of each amount from one instant to another.
    pub fn least(&self, from: i64, until: i64, least: &mut Vec<i64>) {
        let mut step = self.step_at(from);
        least.clear();
        least.extend_from_slice(self.row(step));
        while self.ends(step) < until {
            step += 1;
            least.iter_mut().zip(self.row(step)).for_each(|(least, &own)| *least = (*least).min(own));
        }
    }

    /// Forgets what is before an instant.
    pub fn forget(&mut self, before: i64) {
        let past = self.step_at(before);
        self.begins.drain(..past);
        self.amounts.drain(..past * self.width);
        self.begins[0] = self.begins[0].max(before);
    }

    /// The step that begins at an instant, which is not before the first.
    fn begin(&mut self, at: i64) -> usize {
        let step = self.step_at(at);
        if self.begins[step] == at {
            return step;
        }
        self.begins.insert(step + 1, at);
        let own = step * self.width..(step + 1) * self.width;
        let row: Vec<i64> = self.amounts[own.clone()].to_vec();
        self.amounts.splice(own.end..own.end, row);
        step + 1
    }

    /// Makes one of a step and the one before it where they are equal.
    fn join(&mut self, step: usize) {
        if step > 0 && step < self.len() && self.row(step - 1) == self.row(step) {
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
        /// Counted instant by instant.
        #[test]
        fn steps_are_what_counting_says(
            changes in prop::collection::vec((0_i64..40, 1_i64..20, 0_i64..4, 0_i64..4, any::<bool>()), 0..20),
            (from, length, before) in (0_i64..40, 1_i64..30, 0_i64..10),
        ) {
            let mut steps = Steps::new(0, vec![9, 5]);
            let mut counted = vec![[9, 5]; 100];
            for (start, length, a, b, back) in changes {
                let sign = if back { 1 } else { -1 };
                steps.add(start, start + length, &[a, b], sign);
                for row in &mut counted[start as usize..(start + length) as usize] {
                    row[0] += sign * a;
                    row[1] += sign * b;
                }
            }
            steps.forget(before);
            let from = from.max(before);
            let mut least = Vec::new();
            steps.least(from, from + length, &mut least);
            let window = &counted[from as usize..(from + length) as usize];
            let naive: Vec<i64> = (0..2).map(|at| window.iter().map(|row| row[at]).min().unwrap()).collect();
            prop_assert_eq!(least, naive);
        }
    }
}
