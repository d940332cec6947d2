//! The available amount of a resource over time.

/// The available amount of a resource as a step function of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Supply {
    steps: Vec<(i64, i64)>,
}

impl Supply {
    pub(super) fn new(total: i64, used: &[(i64, i64, i64)]) -> Self {
        let mut changes = vec![(0, 0)];
        for &(from, until, amount) in used.iter().filter(|used| used.0.max(0) < used.1) {
            changes.extend([(from.max(0), amount), (until, -amount)]);
        }
        changes.sort_unstable();
        let (mut steps, mut left): (Vec<(i64, i64)>, i64) = (Vec::new(), total);
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            left -= same.iter().map(|change| change.1).sum::<i64>();
            steps.push((same[0].0, left.max(0)));
        }
        Self { steps }
    }

    /// Returns a supply in which each amount is replaced by `change(amount)`.
    pub(super) fn mapped(&self, change: impl Fn(i64) -> i64) -> Self {
        Self { steps: self.steps.iter().map(|&(from, amount)| (from, change(amount))).collect() }
    }

    /// Returns the amount that is available at `instant`.
    pub(super) fn at(&self, instant: i64) -> i64 {
        let next = self.steps.partition_point(|step| step.0 <= instant);
        self.steps[next.saturating_sub(1)].1
    }

    /// Returns the sum of the amounts over the units of time from `from` to `until`.
    pub(super) fn within(&self, from: i64, until: i64) -> i64 {
        let mut sum = 0;
        for (at, &(start, amount)) in self.steps.iter().enumerate() {
            let start = if at == 0 { from } else { start.max(from) };
            let end = self.steps.get(at + 1).map_or(until, |next| next.0.min(until));
            sum += amount * (end - start).max(0);
        }
        sum
    }

    pub(super) fn is_constant(&self) -> bool {
        self.steps.len() == 1
    }

    pub(super) fn least(&self) -> i64 {
        self.steps.iter().map(|step| step.1).min().unwrap_or(0)
    }

    pub(super) fn most(&self) -> i64 {
        self.steps.iter().map(|step| step.1).max().unwrap_or(0)
    }

    /// Returns the instants at which the amount changes.
    pub(super) fn changes(&self) -> impl Iterator<Item = i64> + '_ {
        self.steps.iter().skip(1).map(|step| step.0)
    }
}
