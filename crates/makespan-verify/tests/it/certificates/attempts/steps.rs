//! Random deductions.

use makespan_core::{Instance, ResourceKind, Time};
use makespan_verify::proof::{Deductions, LimitedAmount, Reason, Step};

use super::Reader;

/// Maximum nesting depth of the steps of a deduction.
const DEEP: usize = 2;

/// The unit of time in ticks, the number of distinct tasks, and the number of limited amounts that steps may name.
struct Names {
    unit: i64,
    rows: i64,
    held: i64,
}

impl Reader<'_> {
    /// Returns deductions, usually with one or two steps. The last step claims that tasks hold more of a resource than
    /// is available.
    pub(super) fn deductions(&mut self, instance: &Instance, deadline: Time) -> Deductions {
        let unit = match self.below(12) {
            0 => self.unit.saturating_mul(2),
            1 => self.unit.saturating_mul(self.any(4).saturating_add(1)),
            2 => self.any(4),
            3..=6 => self.unit,
            _ => 1,
        };
        let names = Names { unit, rows: instance.different_tasks() as i64, held: 1 + self.below(2) };
        let held = (0..names.held).map(|_| self.held(instance, names.rows)).collect();
        let steps = self.steps(&names, 0);
        Deductions { deadline, unit, held, steps }
    }

    fn held(&mut self, instance: &Instance, rows: i64) -> LimitedAmount {
        let nodes = instance.platform().nodes().len();
        match self.below(5) {
            0 => LimitedAmount::Processors(self.prices(nodes, 7).into_iter().map(i64::cast_unsigned).collect()),
            1 => LimitedAmount::OneAtATime((0..rows as u32).filter(|_| self.below(3) > 0).collect()),
            2 => LimitedAmount::OneAtATime((0..=self.below(3)).map(|_| self.any(rows) as u32).collect()),
            _ => {
                let resources = instance.platform().resources().iter();
                let held = resources.filter(|of| of.kind != ResourceKind::Consumable || self.wild);
                let names: Vec<String> = held.map(|resource| resource.name.to_string()).collect();
                match names.get(self.below(names.len() as i64 + 1) as usize) {
                    Some(name) => LimitedAmount::Resource(name.clone()),
                    None => LimitedAmount::Processors(vec![1; nodes]),
                }
            }
        }
    }

    fn steps(&mut self, names: &Names, depth: usize) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..self.below(3)).map(|_| self.step(names, depth)).collect();
        if self.below(4) > 0 {
            steps.push(Step::Full(self.any(names.held) as u32, self.instant(names), self.instant(names)));
        }
        steps
    }

    fn step(&mut self, names: &Names, depth: usize) -> Step {
        let (is_start, task, at) = (self.below(2) == 0, self.any(names.rows) as u32, self.instant(names));
        let reason = match self.below(if depth < DEEP { 6 } else { 4 }) {
            0 | 1 => Reason::Pair(self.any(names.rows) as u32),
            2 | 3 => Reason::Window(self.any(names.held) as u32, self.instant(names), self.instant(names)),
            _ => Reason::Steps(self.steps(names, depth + 1)),
        };
        if is_start { Step::Start(task, at, reason) } else { Step::End(task, at, reason) }
    }

    /// Returns a random instant in the time unit of the instance.
    fn instant(&mut self, names: &Names) -> i64 {
        self.time(0, 12).ticks().checked_div(names.unit).unwrap_or(i64::MAX)
    }
}
