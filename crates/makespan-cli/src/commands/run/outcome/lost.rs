//! The use of the processors' time during a run, and the jobs that took longer than planned.

use std::collections::BTreeMap;

use makespan_core::{Outcome, Run, TaskId, Time, counted};
use makespan_formats::gantt::duration;
use makespan_formats::report::Section;

use super::Outcomes;
use crate::output::{Line, shortened, table};
use crate::summary::{column, figure};

/// Maximum number of named jobs on a terminal.
const NAMED: usize = 3;
/// Maximum number of named jobs on a page.
const NAMED_ON_PAGE: usize = 10;
/// Maximum width of a name on a terminal, in columns.
const NAME: usize = 48;
const LONGER: [&str; 3] = ["longer than planned", "took (s)", "planned (s)"];

impl Outcomes<'_> {
    /// Returns a sentence with three shares of the processors' time: successful jobs, failed attempts, and idle time.
    /// The utilisation on the page is the sum of the first two shares. Returns `None` if no job ran.
    pub(super) fn lost(&self) -> Option<String> {
        self.lost_as(&|time| format!("{} s", figure(time.seconds())))
    }

    /// Returns the sentence of [`Outcomes::lost`] with times in the format of a page.
    pub(super) fn lost_on_page(&self) -> Option<String> {
        self.lost_as(&|time| duration(time.seconds()))
    }

    fn lost_as(&self, written: &dyn Fn(Time) -> String) -> Option<String> {
        let ran = || self.trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted);
        let last = ran().map(|run| run.end).max()?;
        let first = self.instance.first_release();
        let whole = self.instance.availability().open_area(first, last);
        if whole <= 0 {
            return None;
        }
        let area = |run: &Run| (run.end - run.start).area(run.processors.len());
        let of = |which: &dyn Fn(&Run) -> bool| ran().filter(|run| which(run)).map(area).sum::<i128>();
        let good = of(&|run| run.outcome == Outcome::Succeeded);
        let bad = of(&|run| run.outcome != Outcome::Succeeded);
        let share = |part: i128| format!("{:.1} %", 100.0 * part as f64 / whole as f64);
        let failed =
            if bad > 0 { format!(", {} in attempts that failed or were ended", share(bad)) } else { String::new() };
        Some(format!(
            "the {} spent {} of {} in jobs that succeeded{failed}, and {} idle",
            counted(self.instance.processors(), "processor"),
            share(good),
            written(last - first),
            share((whole - good - bad).max(0))
        ))
    }

    /// Returns the table of [`Self::longer`] for the terminal.
    pub(super) fn longer_table(&self) -> Vec<Line> {
        let mut rows = self.longer(NAMED);
        rows.iter_mut().for_each(|row| row[0] = shortened(&row[0], NAME));
        if rows.is_empty() {
            return Vec::new();
        }
        let text = format!("\n{}", table(&LONGER, 1, rows));
        text.lines().map(|line| Line::plain(line.to_owned())).collect()
    }

    /// Returns a table of the jobs that exceeded their planned times the most, for a page.
    pub fn longer_section(&self) -> Option<Section> {
        let rows = self.longer(NAMED_ON_PAGE);
        let [_, took, planned] = LONGER.map(str::to_owned);
        let columns = vec!["job".to_owned(), took, planned];
        (self.has_plan && !rows.is_empty()).then(|| Section {
            title: "Longer than planned".into(),
            text: "The jobs that exceeded their planned times the most, and by more than 10 %.".into(),
            columns,
            rows: crate::summary::grouped_rows(rows),
            ..Section::default()
        })
    }

    /// Returns the name, actual time and planned time of up to `most` jobs. These jobs exceeded their planned times
    /// the most, and by more than 10 %.
    fn longer(&self, most: usize) -> Vec<Vec<String>> {
        let planned: BTreeMap<TaskId, Time> =
            self.plan.placements().iter().map(|placement| (placement.task, placement.end - placement.start)).collect();
        let over = |(&task, run): (&TaskId, &&Run)| {
            let (planned, took) = (*planned.get(&task)?, run.end - run.start);
            let late = run.outcome == Outcome::Succeeded && took > planned + Time::from_ticks(planned.ticks() / 10);
            late.then_some((took - planned, task, took, planned))
        };
        let mut all: Vec<(Time, TaskId, Time, Time)> = self.last.iter().filter_map(over).collect();
        all.sort_by_key(|&(over, task, ..)| (std::cmp::Reverse(over), task));
        all.truncate(most);
        let times = all.iter().flat_map(|(_, _, took, planned)| [took.seconds(), planned.seconds()]);
        let times = column(&times.collect::<Vec<f64>>());
        let row = |(one, times): (&(Time, TaskId, Time, Time), &[String])| {
            std::iter::once(self.instance.name(one.1).into_owned()).chain(times.iter().cloned()).collect()
        };
        all.iter().zip(times.chunks(2)).map(row).collect()
    }
}
