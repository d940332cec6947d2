//! The amount of a resource that tasks can hold, as a function of time.

use crate::proof::CertificateError;

/// An amount that is constant between consecutive instants. The first instant is 0.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    /// The instants at which the amount changes, ascending.
    steps: Vec<SupplyStep>,
}

#[derive(Clone, Copy, Debug)]
struct SupplyStep {
    from: i64,
    amount: i128,
    /// Sum of the amounts of all units of time before `from`.
    before: i128,
}

impl Supply {
    /// Creates the supply of a resource. `used` contains the unavailable amounts, each with its first instant and its
    /// end.
    pub(super) fn new(total: i128, used: &[(i64, i64, i128)]) -> Result<Self, CertificateError> {
        let mut changes = vec![(0, 0)];
        for &(from, until, amount) in used.iter().filter(|(from, until, _)| from.max(&0) < until) {
            changes.extend([(from.max(0), amount), (until, -amount)]);
        }
        changes.sort_unstable();
        let mut steps: Vec<SupplyStep> = Vec::new();
        let mut left = total;
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            for (_, amount) in same {
                left = left.checked_sub(*amount).ok_or(CertificateError::Overflow)?;
            }
            steps.push(SupplyStep { from: same[0].0, amount: left.max(0), before: 0 });
        }
        Self { steps }.summed()
    }

    /// Returns the supply with each amount replaced by `change(amount)`.
    pub(super) fn mapped(&self, change: impl Fn(i128) -> i128) -> Result<Self, CertificateError> {
        let step = |step: &SupplyStep| SupplyStep { amount: change(step.amount), ..*step };
        Self { steps: self.steps.iter().map(step).collect() }.summed()
    }

    fn summed(mut self) -> Result<Self, CertificateError> {
        for at in 1..self.steps.len() {
            let SupplyStep { from, amount, before } = self.steps[at - 1];
            let length = i128::from(self.steps[at].from - from);
            let sum = amount.checked_mul(length).and_then(|area| area.checked_add(before));
            self.steps[at].before = sum.ok_or(CertificateError::Overflow)?;
        }
        Ok(self)
    }

    /// Returns true if the amount never changes.
    pub(super) fn is_constant(&self) -> bool {
        self.steps.iter().all(|step| step.amount == self.steps[0].amount)
    }

    /// Returns the last instant at which the amount changes.
    pub(super) fn last_change(&self) -> i64 {
        self.steps.last().map_or(0, |step| step.from)
    }

    /// Returns the largest amount at any instant.
    pub(super) fn most(&self) -> i128 {
        self.steps.iter().map(|step| step.amount).max().unwrap_or(0)
    }

    /// Returns the amount at an instant.
    pub(super) fn at(&self, instant: i64) -> i128 {
        self.step(instant).amount
    }

    /// Returns the sum of the amounts of all units of time from `from` to `until`.
    pub(super) fn within(&self, from: i64, until: i64) -> Result<i128, CertificateError> {
        let sum = |instant: i64| {
            let step = self.step(instant);
            step.amount.checked_mul(i128::from(instant) - i128::from(step.from))?.checked_add(step.before)
        };
        let area = sum(until).zip(sum(from)).and_then(|(until, from)| until.checked_sub(from));
        area.ok_or(CertificateError::Overflow)
    }

    fn step(&self, instant: i64) -> SupplyStep {
        let next = self.steps.partition_point(|step| step.from <= instant);
        self.steps[next.saturating_sub(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_amounts_are_subtracted() {
        let supply = Supply::new(5, &[(2, 4, 1), (3, 6, 3), (-9, 1, 2), (7, 7, 5), (8, 9, 9)]).unwrap();
        let amounts: Vec<i128> = (-1..10).map(|at| supply.at(at)).collect();
        assert_eq!(amounts, [3, 3, 5, 4, 1, 2, 2, 5, 5, 0, 5]);
        for from in -1..10 {
            for until in from..10 {
                let sum: i128 = (from..until).map(|at| supply.at(at)).sum();
                assert_eq!(supply.within(from, until), Ok(sum), "{from} {until}");
            }
        }
        assert!(!supply.is_constant() && supply.last_change() == 9);
        assert!(Supply::new(i128::MAX, &[]).unwrap().within(0, 2).is_err());
        assert_eq!(supply.mapped(|amount| 2 * amount).unwrap().within(0, 4), Ok(26));
    }
}
