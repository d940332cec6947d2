//! Reports the jobs that the rules of a cluster affect. The report is for policies that ignore these rules.

use makespan_core::{FairShares, Instance, SiteReservation, Submission, TaskId};

use super::cluster::PlatformNodes;
use super::requests::{RequestTables, TaskRequests};
use super::task::WaitingTask;
use crate::policy::order::{Request, Widths};
use crate::slurm::{ClusterModel, PartitionRequest};

/// The jobs that the rules of a cluster affect, for a policy that ignores these rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredRules {
    /// Tasks that could never start on the cluster. Such tasks are held, request more than the rules allow, or request
    /// something that no node has.
    pub never: Vec<TaskId>,
    /// Number of other jobs that at least one ignored rule affects.
    pub jobs: usize,
    /// Each ignored rule, and the number of jobs that it affects.
    pub rules: Vec<(&'static str, usize)>,
}

/// Returns the rules that the policy `slurm` would apply to some tasks. If the cluster has no rules, the result is
/// empty.
pub fn unheeded(instance: &Instance, tasks: impl Iterator<Item = TaskId>) -> IgnoredRules {
    let Some(site) = instance.platform().site() else { return IgnoredRules::default() };
    if super::supports(instance).is_err() {
        return IgnoredRules::default();
    }
    let nodes = PlatformNodes::new(instance, None);
    let mut model = nodes.model(instance);
    let mut shares = FairShares::new(&site.associations, super::SlurmRules::default().priority.half_life);
    let mut requests = TaskRequests::new(Widths::new(Request::default(), instance), false);
    let mut found = IgnoredRules::default();
    let mut counts = [0; RULES.len()];
    for task in tasks {
        let mut tables = RequestTables { nodes: &nodes, model: &mut model, shares: &mut shares, now: 0 };
        let Some(waiting) = requests.add_waiting(instance, task, &mut tables) else {
            found.never.push(task);
            continue;
        };
        let nothing = Submission::default();
        let submission = instance.job_of(task).submission.as_deref().unwrap_or(&nothing);
        let own = rules_of(&waiting, &model, submission, instance);
        found.jobs += usize::from(own.contains(&true));
        counts.iter_mut().zip(own).for_each(|(count, has)| *count += usize::from(has));
    }
    found.rules = RULES.into_iter().zip(counts).filter(|rule| rule.1 > 0).collect();
    found
}

const RULES: [&str; 7] = [
    "limits on tasks of an array",
    "limits of users, accounts and QOS",
    "reservations",
    "partitions, features and named nodes",
    "whole nodes, numbers of nodes, and processors per node",
    "deadlines",
    "limits that may be shortened (--time-min)",
];

/// Returns which of the rules apply to a waiting task.
fn rules_of(
    waiting: &WaitingTask,
    model: &ClusterModel,
    submission: &Submission,
    instance: &Instance,
) -> [bool; RULES.len()] {
    let bids = &model.jobs[waiting.job].bids;
    let all: Vec<&PartitionRequest> = bids.iter().map(|&bid| &model.shapes[model.bids[bid as usize].shape]).collect();
    let is_throttled = matches!(submission.array, Some((_, Some(_))));
    let reservations = instance.platform().site().map_or(&[][..], |site| &site.reservations);
    // A policy that ignores reservations still respects unavailable periods.
    let is_closed = |kept: &SiteReservation| {
        instance.unavailable().iter().any(|period| (period.start, period.end) == (kept.start, kept.end))
    };
    let open: Vec<bool> = reservations.iter().map(|kept| !is_closed(kept)).collect();
    let is_open = |site: usize| {
        let mut kept = model.sites[site].closed.iter().filter_map(|period| period.reservation);
        kept.any(|reservation| open[reservation])
    };
    [
        is_throttled,
        waiting.limits > usize::from(is_throttled),
        all.iter().any(|shape| shape.reservation.is_some() || model.sets[shape.set].iter().any(is_open)),
        all.iter().all(|shape| shape.counted.is_some() || model.sets[shape.set].count() < model.sites.len()),
        all.iter().any(|shape| shape.whole || shape.min_nodes > 1 || shape.per_node > 1),
        submission.deadline.is_some(),
        all.iter().any(|shape| shape.lasts < waiting.whole_limit),
    ]
}
