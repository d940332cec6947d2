//! Dependencies between jobs.

use crate::queue::{Condition, Dependency, DependencyTargets, Queue};

/// The knowledge about the instant at which the dependencies of a job are satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    /// The dependencies are satisfied from this instant on.
    At(i64),
    /// The instant is unknown, because it depends on a future event such as the end of a job.
    Later,
}

/// A dependency, with the jobs of the queue to which it refers.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub condition: Condition,
    pub jobs: Vec<usize>,
    pub any: bool,
}

impl Link {
    /// Returns the instant at which this dependency is satisfied. Returns `None` if a required event has not occurred.
    pub(super) fn instant(
        &self,
        started: &[Option<i64>],
        ended: &[Option<i64>],
        expired: &[Option<i64>],
    ) -> Option<i64> {
        let at = |&other: &usize| match self.condition {
            Condition::Started(delay) => started[other].map(|at| at.saturating_add(delay)),
            Condition::Ended | Condition::Singleton => ended[other].or(expired[other]),
            _ => ended[other],
        };
        let all: Option<Vec<i64>> = self.jobs.iter().map(at).collect();
        all.map(|all| all.into_iter().max().unwrap_or(i64::MIN))
    }
}

/// The dependencies of all jobs.
#[derive(Debug)]
pub(super) struct Links {
    of: Vec<Vec<Link>>,
    /// For each job, the jobs that depend on it.
    pub behind: Vec<Vec<usize>>,
    /// For each job with a dependency that can never be satisfied, this dependency.
    pub hopeless: Vec<Option<Dependency>>,
}

impl Links {
    pub(super) fn of(queue: &Queue) -> Self {
        let targets = DependencyTargets::of(queue);
        let mut links = Self {
            of: vec![Vec::new(); queue.jobs.len()],
            behind: vec![Vec::new(); queue.jobs.len()],
            hopeless: vec![None; queue.jobs.len()],
        };
        for index in (0..queue.jobs.len()).filter(|&index| queue.jobs[index].run.is_none()) {
            let mut impossible = None;
            for dependency in &queue.jobs[index].waits_for {
                let jobs = targets.jobs(index, dependency);
                let fails = dependency.has_failed || dependency.condition == Condition::Failed;
                let unseen = jobs.is_empty() && dependency.condition != Condition::Singleton;
                if fails || unseen {
                    impossible = Some(dependency);
                    continue;
                }
                for &job in &jobs {
                    links.behind[job].push(index);
                }
                links.of[index].push(Link { condition: dependency.condition, jobs, any: dependency.any });
            }
            // If one of several alternatives is sufficient, impossible alternatives are left out.
            let is_decisive = |own: &&Dependency| !own.any || links.of[index].is_empty();
            links.hopeless[index] = impossible.filter(is_decisive).cloned();
        }
        links
    }

    pub(super) fn of_job(&self, job: usize) -> &[Link] {
        &self.of[job]
    }

    /// Returns the instant at which the dependencies of a job are satisfied. `expired` contains the instants at which
    /// jobs were cancelled because of their deadlines. For a dependency, such a cancellation is an end.
    pub(super) fn ready(
        &self,
        job: usize,
        started: &[Option<i64>],
        ended: &[Option<i64>],
        expired: &[Option<i64>],
    ) -> Ready {
        let links = self.of[job].iter();
        let when: Vec<_> = links.map(|link| (link.any, link.instant(started, ended, expired))).collect();
        let any = when.iter().any(|one| one.0);
        let instant = if any {
            when.iter().filter_map(|one| one.1).min()
        } else {
            when.iter().try_fold(i64::MIN, |latest, one| Some(latest.max(one.1?)))
        };
        instant.map_or(Ready::Later, Ready::At)
    }
}
