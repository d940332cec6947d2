//! The multifactor priority.

use makespan_core::{FairShares, Platform, Time};

use super::limits::position;
use super::rules::PriorityRules;
use super::task::WaitingTask;
use super::terms::computing_nodes;

/// Computes priorities of jobs.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    rules: PriorityRules,
    /// For each weighted amount, its index, its weight, and the total of the platform.
    tres: Vec<(usize, f64, f64)>,
    /// Whether stated priorities lack the fair share.
    adds_fair_share: bool,
}

impl Priorities {
    /// Returns the priorities for a platform. Ignores weights of resources that the platform does not have.
    pub fn new(rules: PriorityRules, platform: &Platform) -> Self {
        let tres = rules.tres.iter().filter_map(|(name, weight)| {
            let at = position(platform, name)?;
            let all = match at {
                1 => f64::from(platform.processors()),
                2 => computing_nodes(platform),
                _ => platform.total(platform.resource(name)?) as f64,
            };
            (all > 0.0).then_some((at, f64::from(*weight), all))
        });
        let adds_fair_share = platform.site().is_some_and(|site| site.adds_fair_share);
        Self { tres: tres.collect(), adds_fair_share, rules }
    }

    /// Returns the current priority of a job in a partition with the factor `partition`, for the fair shares as last
    /// computed.
    pub fn of(&self, asked: &WaitingTask, partition: f64, shares: &FairShares, now: Time) -> u64 {
        if let Some(fixed) = asked.fixed {
            let weight = if self.adds_fair_share { self.rules.fairshare } else { 0 };
            return u64::from(fixed) + (f64::from(weight) * shares.factor(asked.user)) as u64;
        }
        let rules = &self.rules;
        let age = ((now - asked.submitted).seconds() / rules.max_age.seconds()).clamp(0.0, 1.0);
        let tres = self.tres.iter().map(|&(at, weight, all)| weight * (asked.amounts[at] as f64 / all).min(1.0));
        let sum = f64::from(rules.age) * age
            + f64::from(rules.fairshare) * shares.factor(asked.user)
            + f64::from(rules.size) * asked.size
            + f64::from(rules.partition) * partition
            + f64::from(rules.qos) * asked.qos_factor
            + tres.sum::<f64>();
        (sum - asked.nice as f64).clamp(1.0, f64::from(u32::MAX)) as u64
    }
}
