//! The check that tasks never hold more of a resource than the platform has. For each resource, the check sums the
//! held amounts over the starts and ends of tasks in order of time.

use std::collections::BTreeMap;

use super::{Violation, name};
use crate::model::{Instance, Need, ResourceId, ResourceKind, Shortage, Time};
use crate::schedule::Schedule;

/// An instant at which a task takes or returns an amount.
struct Change {
    at: Time,
    /// True if the task starts, false if it ends. At one instant, ends come before starts, because false sorts first.
    starts: bool,
    /// Position of the placement in the schedule.
    placement: usize,
    amount: u128,
}

/// Returns a violation for each resource of which tasks hold more than the platform has. Every task must be placed
/// exactly once.
pub(super) fn check(instance: &Instance, schedule: &Schedule) -> Vec<Violation> {
    if !instance.has_demands() {
        return Vec::new();
    }
    let mut changes: BTreeMap<(ResourceId, Option<usize>), Vec<Change>> = BTreeMap::new();
    for (index, placement) in schedule.placements().iter().enumerate() {
        let allotment = placement.processors.len();
        for demand in instance.demands(placement.task) {
            let mut take = |node: Option<usize>, amount: u128| {
                let of = changes.entry((demand.resource, node)).or_default();
                of.push(Change { at: placement.start, starts: true, placement: index, amount });
                if demand.kind != ResourceKind::Consumable {
                    of.push(Change { at: placement.end, starts: false, placement: index, amount });
                }
            };
            if demand.kind != ResourceKind::OfNodes {
                take(None, amount(&demand.need, allotment, allotment));
                continue;
            }
            let mut here: BTreeMap<usize, u32> = BTreeMap::new();
            for id in placement.processors.iter() {
                *here.entry(instance.platform().node_of(id)).or_default() += 1;
            }
            for (node, processors) in here {
                take(Some(node), amount(&demand.need, processors, allotment));
            }
        }
    }
    changes
        .into_iter()
        .filter_map(|((resource, node), changes)| sweep(instance, schedule, resource, node, changes))
        .collect()
}

/// Returns the amount that a task holds on a node that has `here` of the task's `of` processors.
fn amount(need: &Need, here: u32, of: u32) -> u128 {
    let (here, of) = (u128::from(here), u128::from(of));
    match need {
        Need::Linear { whole, per_processor } => {
            (u128::from(*whole) * here).div_ceil(of) + u128::from(*per_processor) * here
        }
        Need::ByAllotment(amounts) => {
            let listed = amounts.get(of as usize - 1).or(amounts.last()).copied().unwrap_or(0);
            (u128::from(listed) * here).div_ceil(of)
        }
    }
}

/// Returns a violation for the first instant at which tasks hold more than the available amount.
fn sweep(
    instance: &Instance,
    schedule: &Schedule,
    resource: ResourceId,
    node: Option<usize>,
    mut changes: Vec<Change>,
) -> Option<Violation> {
    let platform = instance.platform();
    let there = match node {
        Some(node) => u128::from(platform.amount(node, resource)),
        None => platform.total(resource),
    };
    changes.sort_unstable_by_key(|change| (change.at, change.starts, change.placement));
    let mut held = 0_u128;
    for Change { at, starts, placement, amount } in changes {
        if !starts {
            held -= amount;
            continue;
        }
        if held + amount > there {
            let [needs, held, there] = [amount, held, there].map(|amount| u64::try_from(amount).unwrap_or(u64::MAX));
            return Some(Violation::Resource(Box::new(Shortage {
                job: name(instance, &schedule.placements()[placement]),
                resource: platform.resource_of(resource).clone(),
                node: node.map(|node| platform.nodes()[node].name.clone()),
                at,
                needs,
                held,
                there,
            })));
        }
        held += amount;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Needs, Platform, ProcSet, Profile, Resources, TaskId};
    use crate::schedule::{Placement, validate};

    /// Validates placements of tasks that take 2 processors for 5 ticks. The platform has two nodes with 2 processors
    /// and 10 bytes of memory each, 2 licences, and a consumable budget of 3.
    fn check(needs: &[(&'static str, u64)], placements: &[(i64, &str)], expect: &str) {
        let amounts = |amounts: &[(&str, u64)]| Resources::new(amounts.iter().copied()).unwrap();
        let platform = Platform::cluster(2, 2).unwrap().with_node_resources(&amounts(&[("memory", 10)])).unwrap();
        let platform = platform.with_licences(amounts(&[("solver", 2)])).unwrap();
        let platform = platform.with_consumables(amounts(&[("budget", 3)])).unwrap();
        let ticks = Time::from_ticks;
        // On one processor, the tasks would use up nothing, so the instance itself is valid.
        let need = |&(name, amount): &(&'static str, u64)| match name {
            "budget" => (name, Need::ByAllotment([0, amount].into())),
            _ => (name, Need::whole(amount)),
        };
        let needs = Needs::new(needs.iter().map(need)).unwrap();
        let profile = Profile::table(vec![ticks(9), ticks(5)]).unwrap();
        let job = |at: usize| Job::new(at.to_string(), profile.clone()).with_needs(needs.clone());
        let instance = Instance::new(platform, (0..placements.len()).map(job).collect(), vec![]).unwrap();
        let place = |(task, &(start, processors)): (usize, &(i64, &str))| Placement {
            task: TaskId::at(task),
            start: ticks(start),
            end: ticks(start + 5),
            processors: processors.parse::<ProcSet>().unwrap(),
        };
        let schedule = Schedule::new(placements.iter().enumerate().map(place).collect());
        match validate(&instance, &schedule) {
            Ok(()) => assert!(expect.is_empty(), "accepted, expected: {expect}"),
            Err(violations) => {
                let told = violations.iter().any(|violation| violation.to_string().contains(expect));
                assert!(!expect.is_empty() && told, "{violations:?}");
            }
        }
    }

    #[test]
    fn amounts_are_kept_node_by_node_and_instant_by_instant() {
        check(&[("memory", 10)], &[(0, "0-1"), (0, "2-3"), (5, "0-1")], "");
        // Each task holds half of its memory on each of the two nodes, while another task holds its half there.
        check(&[("memory", 10)], &[(0, "0,2"), (4, "1,3")], "");
        check(&[("memory", 11)], &[(0, "0,2")], "");
        let both = "job `1` needs 6 bytes of `memory` on node `n0` at 0.000000004 s, but other jobs hold 6 bytes of \
                    the total of 10 bytes";
        check(&[("memory", 11)], &[(0, "0,2"), (4, "1,3")], both);
        check(&[("memory", 11)], &[(0, "0-1")], "needs 11 bytes of `memory` on node `n0`");
        check(&[("solver", 1)], &[(0, "0-1"), (0, "2-3"), (5, "0-1")], "");
        check(
            &[("solver", 2)],
            &[(0, "0-1"), (4, "2-3")],
            "needs 2 of `solver` at 0.000000004 s, but other jobs hold 2 of the total of 2",
        );
        check(&[("budget", 1)], &[(0, "0-1"), (5, "0-1"), (10, "0-1")], "");
        check(
            &[("budget", 2)],
            &[(0, "0-1"), (50, "0-1")],
            "needs 2 of `budget` at 0.00000005 s, but other jobs hold 2 of the total of 3",
        );
    }
}
