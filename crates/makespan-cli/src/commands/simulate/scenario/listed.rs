//! The jobs that the tables of scenarios list.

use makespan_slurm::queue::QueueChange;

use super::parse::{Scenario, ScenarioChange};

/// Number of jobs that are listed even if no scenario names them.
const LISTED: usize = 20;

/// Names of jobs, from words such as `job=5 limit=1h`.
#[derive(Default)]
pub struct NamedJobs(Vec<String>);

impl NamedJobs {
    /// Collects the names in the scenarios.
    pub fn of(scenarios: &[Scenario]) -> Self {
        let name = |change: &ScenarioChange| match change {
            ScenarioChange::Queue(QueueChange::Limit { job, .. } | QueueChange::Top { job }) => Some(job.clone()),
            _ => None,
        };
        Self(scenarios.iter().flat_map(|scenario| &scenario.changes).filter_map(name).collect())
    }

    /// Returns true if a scenario names a job, or the array of which the job is a task.
    fn has(&self, job: &str) -> bool {
        let array = job.split_once('_').map(|parts| parts.0);
        self.0.iter().any(|name| name == job || array == Some(name))
    }

    /// Returns the first `LISTED` jobs, and all later jobs that a scenario names.
    pub fn listed<'a, T>(&self, jobs: &'a [T], name: impl Fn(&T) -> &str) -> Vec<&'a T> {
        let is_listed = |&(at, job): &(usize, &T)| at < LISTED || self.has(name(job));
        jobs.iter().enumerate().filter(is_listed).map(|one| one.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_jobs_are_always_listed() {
        let jobs: Vec<String> = (0..30).map(|at| format!("{at}")).chain(["7_1", "70_1"].map(str::to_owned)).collect();
        let listed = |names: &[&str]| {
            let named = NamedJobs(names.iter().map(|&name| name.to_owned()).collect());
            named.listed(&jobs, String::as_str)[20..].iter().map(|name| (*name).clone()).collect::<Vec<_>>()
        };
        assert!(listed(&[]).is_empty());
        assert_eq!(listed(&["25", "7"]), ["25", "7_1"]);
    }
}
