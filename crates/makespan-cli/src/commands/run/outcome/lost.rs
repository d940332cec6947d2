//! Where the time of a run went.

use std::collections::BTreeMap;

use makespan_core::{Outcome, Run, TaskId, Time};

use super::Outcomes;
use crate::output::shown;
use crate::summary::figure;

/// Jobs that took longer than planned and are named.
const NAMED: usize = 3;

impl Outcomes<'_> {
    /// Shares of the processors' time, and the jobs that took longest beyond their plan; nothing where nothing ran.
    pub(super) fn lost(&self) -> Vec<String> {
        let ran = || self.trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted);
        let (Some(first), Some(last)) = (ran().map(|run| run.start).min(), ran().map(|run| run.end).max()) else {
            return Vec::new();
        };
        let whole = (last - first).area(self.instance.processors());
        if whole == 0 {
            return Vec::new();
        }
        let area = |run: &Run| (run.end - run.start).area(run.processors.len());
        let of = |which: &dyn Fn(&Run) -> bool| ran().filter(|run| which(run)).map(area).sum::<i128>();
        let good = of(&|run| run.outcome == Outcome::Succeeded);
        let bad = of(&|run| run.outcome != Outcome::Succeeded);
        let share = |part: i128| format!("{:.1} %", 100.0 * part as f64 / whole as f64);
        let mut lines = vec![format!(
            "of the time of {} processors over {} s: jobs that succeeded {}, attempts that did not {}, idle {}",
            self.instance.processors(),
            figure((last - first).seconds()),
            share(good),
            share(bad),
            share((whole - good - bad).max(0))
        )];
        let longer = self.longer();
        if !longer.is_empty() {
            lines.push(format!("longer than planned: {}", longer.join(", ")));
        }
        lines
    }

    /// The jobs that took longest beyond what was planned for them, and at least a tenth of that.
    fn longer(&self) -> Vec<String> {
        let planned: BTreeMap<TaskId, Time> =
            self.plan.placements().iter().map(|placement| (placement.task, placement.end - placement.start)).collect();
        let over = |(&task, run): (&TaskId, &&Run)| {
            let (planned, took) = (*planned.get(&task)?, run.end - run.start);
            let late = run.outcome == Outcome::Succeeded && took > planned + Time::from_ticks(planned.ticks() / 10);
            late.then_some((took - planned, task, took, planned))
        };
        let mut all: Vec<(Time, TaskId, Time, Time)> = self.last.iter().filter_map(over).collect();
        all.sort_by_key(|&(over, task, ..)| (std::cmp::Reverse(over), task));
        let words = |&(_, task, took, planned): &(Time, TaskId, Time, Time)| {
            let name = self.instance.name(task);
            format!("`{}` {} s, planned {} s", shown(&name), figure(took.seconds()), figure(planned.seconds()))
        };
        all.iter().take(NAMED).map(words).collect()
    }
}
