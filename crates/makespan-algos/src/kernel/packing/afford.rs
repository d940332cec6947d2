//! Decides whether there are allotments that use up at most the available amount of each consumable.

use makespan_core::ResourceKind;

use super::{Packing, Row};

/// Maximum number of ways that the search keeps. A way is a combination of used amounts. If there are more ways, the
/// result is unknown.
const WAYS: usize = 4096;

/// The result of the search for allotments for which the consumables suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AffordableAllotments {
    /// The allotment of each row. A row is a task or the equal tasks of a bag.
    Choices(Vec<u32>),
    /// The consumables suffice for no combination of allotments.
    Never,
    /// The search would have to keep more than `WAYS` ways.
    Unknown,
}

/// A choice of allotments for the first rows of equal tasks, with the amounts that these rows use up.
struct Way {
    used: Vec<u64>,
    /// The index of the way for all rows of equal tasks before the last row.
    before: u32,
    /// The allotment of the last row of equal tasks.
    choice: u32,
}

impl Packing<'_> {
    /// Finds an allotment for each row of equal tasks, such that all tasks together use up at most the available
    /// amounts. A dynamic programme over the rows keeps every way that is not dominated. Takes at most O(rows *
    /// ways^2).
    pub fn affordable(&self) -> AffordableAllotments {
        let consumables: Vec<_> = self.consumables().collect();
        let there: Vec<u64> = consumables.iter().map(|&resource| self.machines.ever_left(resource)).collect();
        let uses = |row: &Row| self.demands_of(*row).iter().any(|demand| demand.kind == ResourceKind::Consumable);
        let rows: Vec<Row> = self.rows().filter(uses).collect();
        let used_by = |row: Row, choice: u32| -> Vec<u64> {
            let amount = |resource| {
                let demand = self.demands_of(row).iter().find(|demand| demand.resource == resource);
                let total = demand.map_or(0, |demand| demand.need.total(self.choice(choice).processors));
                total.saturating_mul(self.count_of(row).into())
            };
            consumables.iter().map(|&resource| amount(resource)).collect()
        };
        // The minimum amount of each consumable that the later rows of equal tasks use up together. Each consumable is
        // minimised separately.
        let mut behind = vec![vec![0_u64; there.len()]; rows.len()];
        for at in (1..rows.len()).rev() {
            let (before, own) = behind.split_at_mut(at);
            for (amount, (before, own)) in before[at - 1].iter_mut().zip(&own[0]).enumerate() {
                let least = self.choices_of(rows[at]).map(|choice| used_by(rows[at], choice)[amount]).min();
                *before = own.saturating_add(least.unwrap_or(0));
            }
        }
        let mut layers: Vec<Vec<Way>> = vec![vec![Way { used: vec![0; there.len()], before: 0, choice: 0 }]];
        for (&row, behind) in rows.iter().zip(&behind) {
            let mut ways = Vec::new();
            for choice in self.choices_of(row) {
                let own = used_by(row, choice);
                for (before, way) in (0..).zip(&layers[layers.len() - 1]) {
                    let used: Vec<u64> = way.used.iter().zip(&own).map(|(all, own)| all.saturating_add(*own)).collect();
                    let fits = |((used, behind), there): ((&u64, &u64), &u64)| used.saturating_add(*behind) <= *there;
                    if used.iter().zip(behind).zip(&there).all(fits) {
                        ways.push(Way { used, before, choice });
                    }
                }
            }
            let ways = undominated(ways);
            if ways.is_empty() {
                return AffordableAllotments::Never;
            }
            if ways.len() > WAYS {
                return AffordableAllotments::Unknown;
            }
            layers.push(ways);
        }
        let mut choices = self.fewest();
        let mut at = 0;
        for (layer, &row) in layers[1..].iter().zip(&rows).rev() {
            let way = &layer[at];
            choices[row.index()] = way.choice;
            at = way.before as usize;
        }
        AffordableAllotments::Choices(choices)
    }
}

/// Returns the ways that are not dominated. A way is dominated if another way uses up at most as much of every
/// consumable.
fn undominated(mut ways: Vec<Way>) -> Vec<Way> {
    ways.sort_by(|a, b| a.used.cmp(&b.used));
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        if kept.len() > WAYS {
            break;
        }
        let covers = |other: &Way| other.used.iter().zip(&way.used).all(|(other, own)| other <= own);
        if !kept.iter().any(covers) {
            kept.push(way);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use makespan_core::{Instance, Job, Need, Needs, Platform, Profile, Resources, Time};
    use proptest::prelude::*;

    use super::{AffordableAllotments, Packing};

    /// The amounts of both consumables for each allotment, and the number of tasks.
    type Row = (Vec<(u64, u64)>, u64);

    proptest! {
        /// Tries every combination of allotments.
        #[test]
        fn what_can_be_afforded_is_found(
            jobs in prop::collection::vec((prop::collection::vec((0_u64..6, 0_u64..6), 1..4), 1_u64..3), 1..6),
            (money, water) in (0_u64..25, 0_u64..25),
        ) {
            let consumables = Resources::new([("money", money), ("water", water)]).unwrap();
            let platform = Platform::flat(4).unwrap().with_consumables(consumables).unwrap();
            let job = |(at, (amounts, count)): (usize, &Row)| {
                let times = (0..amounts.len()).map(|at| Time::from_seconds(9 - at as i64)).collect();
                let listed = |of: fn(&(u64, u64)) -> u64| Need::ByAllotment(amounts.iter().map(of).collect());
                let needs = Needs::new([("money", listed(|one| one.0)), ("water", listed(|one| one.1))]).unwrap();
                let job = Job::new(at.to_string(), Profile::table(times).unwrap()).with_needs(needs);
                job.with_count((*count).try_into().unwrap())
            };
            let jobs_of = jobs.iter().enumerate().map(job).collect();
            // The instance is rejected if a single task needs more than the available amount.
            let Ok(instance) = Instance::new(platform, jobs_of, vec![]) else { return Ok(()) };
            let mut sums = vec![(0, 0)];
            for (amounts, count) in &jobs {
                let with = |&(a, b): &(u64, u64)| amounts.iter().map(move |one| (a + one.0 * count, b + one.1 * count));
                sums = sums.iter().flat_map(with).collect();
            }
            let possible = sums.iter().any(|&(a, b)| a <= money && b <= water);
            let packing = Packing::new(&instance).unwrap();
            match packing.affordable() {
                AffordableAllotments::Choices(choices) => {
                    prop_assert!(possible);
                    prop_assert!(packing.repair(&mut choices.clone()), "nothing is left to repair");
                }
                AffordableAllotments::Never => prop_assert!(!possible),
                AffordableAllotments::Unknown => prop_assert!(false, "so few ways"),
            }
        }
    }
}
