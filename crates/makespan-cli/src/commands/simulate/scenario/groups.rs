//! Mean waits of groups of jobs: by user, by partition and by size.

use std::collections::BTreeMap;

use makespan_core::{Instance, Run, TaskId};
use serde_json::{Value, json};

use super::super::comparison::FigureFormat;

/// Maximum number of groups that are listed.
const LISTED: usize = 10;

/// The property by which jobs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupProperty {
    User,
    Partition,
    Size,
}

impl GroupProperty {
    pub const ALL: [Self; 3] = [Self::User, Self::Partition, Self::Size];

    /// Returns the column heading of a group.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Partition => "partition",
            Self::Size => "processors",
        }
    }
}

/// The number of jobs of a group, with the sums of their waits (seconds) and of their work (processor seconds).
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    jobs: usize,
    wait: f64,
    area: f64,
}

impl Sum {
    fn mean(self) -> Option<f64> {
        (self.jobs > 0).then(|| self.wait / self.jobs as f64)
    }
}

/// Mean waits of groups, with one column for each outcome.
pub struct Groups {
    pub by: GroupProperty,
    rows: Vec<(String, Vec<Sum>)>,
    /// Number of groups without a row of their own.
    others: usize,
}

impl Groups {
    /// Groups the jobs. Users and partitions are ordered by decreasing work, and sizes ascend. Returns `None` if there
    /// is only one group.
    pub fn of(by: GroupProperty, outcomes: &[(&Instance, Vec<&Run>)]) -> Option<Self> {
        let mut groups: BTreeMap<(u64, String), Vec<Sum>> = BTreeMap::new();
        for (column, (instance, runs)) in outcomes.iter().enumerate() {
            for run in runs {
                let key = key(by, instance, run.task, run.processors.len());
                let sums = groups.entry(key).or_insert_with(|| vec![Sum::default(); outcomes.len()]);
                let sum = &mut sums[column];
                sum.jobs += 1;
                sum.wait += (run.start - instance.release(run.task)).seconds();
                sum.area += (run.end - run.start).seconds() * f64::from(run.processors.len());
            }
        }
        if groups.len() < 2 {
            return None;
        }
        let mut rows: Vec<(String, Vec<Sum>)> = groups.into_iter().map(|((_, name), sums)| (name, sums)).collect();
        if by != GroupProperty::Size {
            let work = |sums: &[Sum]| sums.iter().map(|sum| sum.area).fold(0.0, f64::max);
            rows.sort_by(|a, b| work(&b.1).total_cmp(&work(&a.1)));
        }
        let others = rows.len().saturating_sub(LISTED);
        if by != GroupProperty::Size && others > 1 {
            let mut all = vec![Sum::default(); outcomes.len()];
            for (_, sums) in rows.drain(LISTED..) {
                for (all, sum) in all.iter_mut().zip(sums) {
                    *all = Sum { jobs: all.jobs + sum.jobs, wait: all.wait + sum.wait, area: all.area + sum.area };
                }
            }
            rows.push((format!("{others} others"), all));
        }
        Some(Self { by, rows, others })
    }

    /// Returns the title of the table, with the unit of its waits.
    pub fn title(&self) -> String {
        format!("mean wait by {}{}", self.by.word(), self.written().word)
    }

    fn written(&self) -> FigureFormat {
        let waits = self.rows.iter().flat_map(|(_, sums)| sums.iter().filter_map(|sum| sum.mean()));
        FigureFormat::on_page(waits.fold(0.0, f64::max), true)
    }

    /// Returns the cells of the table: the group, its largest number of jobs in any outcome, and its mean wait in each
    /// outcome.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let written = self.written();
        let row = |(name, sums): &(String, Vec<Sum>)| {
            let jobs = sums.iter().map(|sum| sum.jobs).max().unwrap_or(0);
            let waits = sums.iter().map(|sum| sum.mean().map_or("-".to_owned(), written.text));
            [name.clone(), jobs.to_string()].into_iter().chain(waits).collect()
        };
        self.rows.iter().map(row).collect()
    }

    /// Returns the groups as JSON.
    pub fn json(&self) -> Value {
        let row = |(name, sums): &(String, Vec<Sum>)| {
            let waits: Vec<Value> =
                sums.iter().map(|sum| json!({ "jobs": sum.jobs, "mean_wait": sum.mean() })).collect();
            json!({ "group": name, "outcomes": waits })
        };
        json!({
            "by": self.by.word(),
            "groups_not_listed": if self.by == GroupProperty::Size { 0 } else { self.others },
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

/// Returns the sort key of a job's group: a number, then the name of the group.
fn key(by: GroupProperty, instance: &Instance, task: TaskId, processors: u32) -> (u64, String) {
    let job = instance.job_of(task);
    let submission = job.submission.as_deref();
    let unknown = || "(none)".to_owned();
    match by {
        GroupProperty::User => {
            let name = submission.and_then(|own| own.user.as_deref().map(str::to_owned));
            (0, name.or_else(|| job.user.map(|user| user.to_string())).unwrap_or_else(unknown))
        }
        GroupProperty::Partition => {
            let names = submission.map(|own| own.partitions.join(",")).filter(|names| !names.is_empty());
            (0, names.unwrap_or_else(unknown))
        }
        GroupProperty::Size => {
            let top = u64::from(processors).next_power_of_two();
            let name = if top <= 2 { top.to_string() } else { format!("{}-{top}", top / 2 + 1) };
            (top, name)
        }
    }
}
