//! Facts about a run for its page: values at the head, and columns for the table of jobs.

use makespan_core::counted;

use super::Report;
use super::cards::ReportCard;
use super::pack::{Distinct, PackedBytes};
use crate::gantt::summary::grouped;
use crate::gantt::ticks::duration;

/// Facts about a run. The first schedule of the report contains the actual runs, and the second schedule, if any, is
/// the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDetails {
    /// Facts for the line below the title, such as the folder.
    pub origin: Vec<String>,
    /// Number of jobs that succeeded.
    pub succeeded: usize,
    /// Numbers of jobs that did not succeed, by outcome, such as `2 failed`. May be empty.
    pub others: String,
    /// Command of each distinct task, in the order of the instance. `{task}` is the number of a task of a bag.
    pub commands: Vec<String>,
    /// One entry for each placement of the first schedule, in the order of the placements.
    pub attempts: Vec<Attempt>,
}

/// One execution of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Exit status, or another reason why the execution ended.
    pub ended: String,
    /// Path of the output files without their extensions, relative to the page. Empty if a later execution replaced
    /// these files.
    pub stem: String,
    /// True if STEM.out is not empty.
    pub has_output: bool,
    /// True if STEM.err is not empty.
    pub has_errors: bool,
}

/// Columns of the attempts, for the script.
pub(super) struct AttemptColumns<'a> {
    pub ended: Distinct<&'a str>,
    pub stems: PackedBytes,
    pub written: Distinct<u8>,
}

impl RunDetails {
    pub(super) fn columns(&self) -> AttemptColumns<'_> {
        let attempts = || self.attempts.iter();
        let written = |one: &Attempt| u8::from(one.has_output) + 2 * u8::from(one.has_errors);
        AttemptColumns {
            ended: Distinct::of(attempts().map(|one| one.ended.as_str()), |text| text),
            stems: PackedBytes::names(attempts().map(|one| &one.stem)),
            written: Distinct::of(attempts().map(written), |bits| bits),
        }
    }

    /// Returns the first values at the head of the page.
    pub(super) fn cards(&self, report: &Report<'_>) -> Vec<ReportCard> {
        let [ran, planned @ ..] = report.schedules else { return Vec::new() };
        let card = |label: &str, value: String, line: String| ReportCard {
            label: label.to_owned(),
            value,
            badge: None,
            lines: Some(line).filter(|line| !line.is_empty()).into_iter().collect(),
        };
        let jobs = grouped(report.instance.jobs().len() as f64);
        let others = if self.others.is_empty() { String::new() } else { self.others.clone() };
        let mut cards = vec![card("succeeded", format!("{} of {jobs}", grouped(self.succeeded as f64)), others)];
        let wall = ran.schedule.makespan().seconds();
        if planned.is_empty() {
            let cores = format!("on {}", counted(grouped(f64::from(report.instance.processors())), "processor"));
            cards.push(card("time", duration(wall), cores));
        }
        let busy: f64 = ran.schedule.placements().iter().map(|one| (one.end - one.start).seconds()).sum();
        let at_once = if wall > 0.0 { format!("{:.1} jobs at once on average", busy / wall) } else { String::new() };
        cards.push(card("sum of run times", duration(busy), at_once));
        cards
    }
}
