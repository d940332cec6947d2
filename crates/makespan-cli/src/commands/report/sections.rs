//! The jobs of a log, grouped by period and by a property.

use std::collections::BTreeMap;

use makespan_core::Time;
use makespan_formats::{JobLog, LoggedJob};

use super::periods::{Period, at};
use super::tally::Tally;
use crate::args::ReportProperty;

/// A part of a report: a month, the whole log, or the jobs without a known date.
pub struct Section {
    /// `None` for jobs without a known date.
    pub period: Option<Period>,
    pub total: Tally,
    /// The groups by each property, by descending core time and then by name.
    pub groups: Vec<Vec<(Option<String>, Tally)>>,
}

/// Returns the name of the group of a job, or `None` if the log states no name.
pub fn name(job: &LoggedJob, by: ReportProperty) -> Option<String> {
    let own = job.submission.as_deref()?;
    let name = match by {
        ReportProperty::Account => own.account.as_deref()?.to_owned(),
        ReportProperty::User => own.user.as_deref()?.to_owned(),
        ReportProperty::Qos => own.qos.as_deref()?.to_owned(),
        ReportProperty::Partition => own.partitions.join(","),
    };
    Some(name).filter(|name| !name.is_empty())
}

/// The tallies of a section while jobs are added.
#[derive(Clone)]
struct Tallies {
    total: Tally,
    groups: Vec<BTreeMap<Option<String>, Tally>>,
}

impl Tallies {
    fn new(by: &[ReportProperty]) -> Self {
        Self { total: Tally::default(), groups: vec![BTreeMap::new(); by.len()] }
    }

    /// Changes the total and the tallies of the groups to which a job belongs.
    fn add(&mut self, by: &[ReportProperty], job: &LoggedJob, change: impl Fn(&mut Tally)) {
        change(&mut self.total);
        for (groups, &by) in self.groups.iter_mut().zip(by) {
            change(groups.entry(name(job, by)).or_default());
        }
    }

    fn section(self, period: Option<Period>) -> Section {
        let sorted = |groups: BTreeMap<Option<String>, Tally>| {
            let mut groups: Vec<_> = groups.into_iter().collect();
            groups.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.used()));
            groups
        };
        Section { period, total: self.total, groups: self.groups.into_iter().map(sorted).collect() }
    }
}

/// Groups the jobs of a log. The result contains a section for each month, a section for jobs without a known date if
/// there are months and such jobs, and a section for the whole log.
///
/// The core time of a job is divided among the months in which the job ran. All other figures of a job belong to the
/// month in which the job ended.
pub fn sections(log: &JobLog, by: &[ReportProperty], whole: Period, months: Vec<Period>) -> Vec<Section> {
    let mut all = Tallies::new(by);
    let mut undated = Tallies::new(by);
    let mut monthly = vec![Tallies::new(by); months.len()];
    for job in &log.jobs {
        let held = job.run.map_or(0, Time::ticks);
        let ends_in = |tallies: &mut Tallies| {
            if !job.is_running {
                tallies.add(by, job, |tally| tally.add_job(job));
            }
        };
        all.add(by, job, |tally| tally.add_time(job, held));
        ends_in(&mut all);
        if months.is_empty() {
            continue;
        }
        let Some((begin, end)) = job.period() else {
            undated.add(by, job, |tally| tally.add_time(job, held));
            ends_in(&mut undated);
            continue;
        };
        let last = at(&months, end);
        for index in at(&months, begin)..=last {
            let part = end.min(months[index].end) - begin.max(months[index].begin);
            if part > Time::ZERO {
                monthly[index].add(by, job, |tally| tally.add_time(job, part.ticks()));
            }
        }
        ends_in(&mut monthly[last]);
    }
    let has_undated = undated.total != Tally::default();
    let mut sections: Vec<Section> =
        months.into_iter().zip(monthly).map(|(month, tallies)| tallies.section(Some(month))).collect();
    sections.extend(has_undated.then(|| undated.section(None)));
    sections.push(all.section(Some(whole)));
    sections
}
