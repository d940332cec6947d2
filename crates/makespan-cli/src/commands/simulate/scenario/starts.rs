//! The start of each job of a cluster's queue in each scenario.

use std::collections::HashMap;

use makespan_core::{Instance, Run, Time};
use makespan_formats::Clock;
use serde_json::{Value, json};

use super::listed::NamedJobs;
use crate::output::shown;

/// Formats an instant: the time if it is less than a day away, otherwise month, day and time. The year is left out,
/// because few queues reach into another year.
fn shown_by(clock: &Clock, at: Time) -> String {
    let part = if at < Time::from_seconds(86_400) { 11..19 } else { 5..16 };
    clock.shows(at).get(part).unwrap_or_default().to_owned()
}

/// The starts of jobs by name, with one column for each outcome.
pub struct OutcomeStarts<'a> {
    /// Name, user and number of processors of each job, in the order of the starts in the first outcome.
    jobs: Vec<(String, String, u32)>,
    columns: Vec<HashMap<String, Time>>,
    clock: Option<&'a Clock>,
    named: &'a NamedJobs,
}

impl<'a> OutcomeStarts<'a> {
    /// Collects the starts of the given runs in each outcome.
    pub fn of(outcomes: &[(&Instance, Vec<&Run>)], clock: Option<&'a Clock>, named: &'a NamedJobs) -> Self {
        let column = |(instance, runs): &(&Instance, Vec<&Run>)| {
            runs.iter().map(|run| (instance.name(run.task).into_owned(), run.start)).collect()
        };
        let columns: Vec<HashMap<String, Time>> = outcomes.iter().map(column).collect();
        let mut jobs: HashMap<String, (String, u32)> = HashMap::new();
        for (instance, runs) in outcomes {
            for run in runs {
                let submission = instance.job_of(run.task).submission.as_deref();
                let user = submission.and_then(|own| own.user.as_deref()).unwrap_or_default();
                jobs.entry(instance.name(run.task).into_owned())
                    .or_insert_with(|| (user.to_owned(), run.processors.len()));
            }
        }
        let mut jobs: Vec<_> = jobs.into_iter().map(|(name, (user, width))| (name, user, width)).collect();
        let start = |name: &str| columns.first().and_then(|first| first.get(name)).copied().unwrap_or(Time::MAX);
        jobs.sort_by(|a, b| start(&a.0).cmp(&start(&b.0)).then_with(|| a.0.cmp(&b.0)));
        Self { jobs, columns, clock, named }
    }

    /// Returns the number of jobs that are not listed.
    pub fn more(&self) -> usize {
        self.jobs.len() - self.listed().len()
    }

    /// Returns the first jobs, and the jobs that scenarios name.
    fn listed(&self) -> Vec<&(String, String, u32)> {
        self.named.listed(&self.jobs, |job| &job.0)
    }

    /// Returns the cells of the listed jobs: name, user, processors, and the start in each outcome.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let row = |(name, user, width): &(String, String, u32)| {
            let starts = self.columns.iter().map(|column| match (column.get(name), self.clock) {
                (None, _) => "-".to_owned(),
                (Some(&Time::ZERO), _) => "now".to_owned(),
                (Some(&start), Some(clock)) => shown_by(clock, start),
                (Some(start), None) => crate::summary::figure(start.seconds()),
            });
            [shown(name).into_owned(), shown(user).into_owned(), width.to_string()].into_iter().chain(starts).collect()
        };
        self.listed().into_iter().map(row).collect()
    }

    /// Returns the starts of all jobs as JSON.
    pub fn json(&self) -> Value {
        let row = |(name, user, width): &(String, String, u32)| {
            let starts = self.columns.iter().map(|column| column.get(name).map(|start| start.seconds()));
            json!({ "job": name, "user": user, "processors": width, "starts": starts.collect::<Vec<_>>() })
        };
        self.jobs.iter().map(row).collect()
    }
}
