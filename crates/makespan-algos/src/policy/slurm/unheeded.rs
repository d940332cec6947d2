//! Reports the jobs that the rules of a cluster affect. The report is for policies that ignore these rules.

use makespan_core::{FairShares, Instance, SiteReservation, Submission, TaskId};

use super::asked::JobRequest;
use super::asking::{Asking, RequestTables};
use super::board::AvailabilityBoard;
use super::limits::AllLimits;
use crate::policy::order::{Request, Widths};

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
    let board = AvailabilityBoard::new(instance, 0);
    let (mut limits, mut shares) =
        (AllLimits::default(), FairShares::new(&site.associations, super::SlurmRules::default().priority.half_life));
    let mut asking = Asking::new(Widths::new(Request::default(), instance), false);
    let mut found = IgnoredRules::default();
    let mut counts = [0; RULES.len()];
    for task in tasks {
        let mut tables = RequestTables { board: &board, limits: &mut limits, shares: &mut shares };
        let asked = asking.of_waiting(instance, task, &mut tables);
        let Some(first) = asked.first() else {
            found.never.push(task);
            continue;
        };
        let nothing = Submission::default();
        let submission = instance.job_of(task).submission.as_deref().unwrap_or(&nothing);
        let own = rules_of(first, &asked, submission, instance);
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

/// Returns which of the rules apply to a job with the requests `all`. The first of these requests is `asked`.
fn rules_of(
    asked: &JobRequest,
    all: &[JobRequest],
    submission: &Submission,
    instance: &Instance,
) -> [bool; RULES.len()] {
    let is_throttled = matches!(submission.array, Some((_, Some(_))));
    let nodes = instance.platform().kinds().filter(|kind| kind.0.processors > 0).map(|kind| kind.1).sum::<usize>();
    let reservations = instance.platform().site().map_or(&[][..], |site| &site.reservations);
    // A policy that ignores reservations still respects unavailable periods.
    let is_closed = |kept: &SiteReservation| {
        instance.unavailable().iter().any(|period| (period.start, period.end) == (kept.start, kept.end))
    };
    let open: Vec<&SiteReservation> = reservations.iter().filter(|kept| !is_closed(kept)).collect();
    let meets = |number: &u32| open.iter().any(|kept| kept.nodes.contains(&(*number as usize)));
    [
        is_throttled,
        all.iter().any(|asked| asked.place.limits.len() > usize::from(is_throttled)),
        asked.reservation.is_some() || all.iter().any(|asked| asked.place.nodes.iter().any(meets)),
        all.iter().all(|asked| asked.place.nodes.len() < nodes),
        asked.exclusive || asked.nodes.0 > 1 || asked.least_per_node > 1,
        submission.deadline.is_some(),
        asked.limit < asked.whole_limit,
    ]
}
