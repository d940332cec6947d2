//! Time-table propagation. If the earliest end of a task is after its latest start, the task runs at all instants
//! between them in every solution. At these instants, other tasks can hold only the remaining amount.

use super::engine::{Engine, Literal, Propagated, Step};

/// Maximum number of steps that move the start of a task past one period. Each step moves the start by at most the time
/// of the task, and has its own premises. If more steps would be necessary, the start is not moved. The search is
/// complete without these steps: when all starts are fixed, the check for overloads detects each instant at which tasks
/// hold too much.
const MAX_PUSHES: i64 = 1000;

/// A period in which `held` and `supply` are constant. `held` is the sum of the amounts of the tasks that run in this
/// period in every solution.
#[derive(Clone, Copy)]
struct Segment {
    from: i64,
    until: i64,
    held: i64,
    supply: i64,
}

/// A task, the minimum amount of a supply that the task holds, and the shortest time of the task.
#[derive(Clone, Copy)]
struct Row {
    supply: usize,
    task: usize,
    amount: i64,
    time: i64,
}

impl Engine {
    /// Returns premises that imply that tasks other than `except` hold at least `needed` of the supply at the instant
    /// `at`.
    fn held_at(&self, supply: usize, at: i64, except: Option<usize>, needed: i64) -> Vec<Literal> {
        let runs = |&task: &usize| {
            Some(task) != except && self.latest(task) <= at && at < self.earliest(task) + self.shortest(task)
        };
        let mut held: Vec<(i64, usize)> =
            (0..self.tasks()).filter(runs).map(|task| (self.amount(supply, task), task)).collect();
        held.sort_unstable();
        let mut spare = held.iter().map(|one| one.0).sum::<i64>() - needed;
        let mut premises = Vec::new();
        for (amount, task) in held {
            if amount <= spare {
                spare -= amount;
                continue;
            }
            premises.push(Literal::start_at_most(task, at));
            premises.push(Literal::start_at_least(task, at + 1 - self.shortest(task)));
            premises.extend(self.mode_literals(task));
        }
        premises
    }

    /// Returns true if tasks that hold too much of a supply at an instant may hold only permitted amounts of all other
    /// supplies. This is not the case for scales, except for lifted scales if there are several nodes.
    pub(super) fn has_table(&self, supply: usize) -> bool {
        supply < self.model.own || supply >= self.model.lifted && !self.model.nodes.is_empty()
    }

    pub(super) fn by_table(&mut self, supply: usize) -> Propagated {
        let segments = self.segments(supply);
        if let Some(full) = segments.iter().find(|segment| segment.held > segment.supply) {
            let premises = self.held_at(supply, full.from, None, full.supply + 1);
            return self.fail(premises, Step::Overload { supply: supply as u8, at: full.from });
        }
        let Some(least) = segments.iter().map(|segment| segment.supply - segment.held).min() else { return Ok(()) };
        for task in 0..self.tasks() {
            let row = Row { supply, task, amount: self.amount(supply, task), time: self.shortest(task) };
            if row.time == 0 {
                continue;
            }
            let before = self.trail.len();
            self.cut_modes(row, &segments)?;
            if self.trail.len() > before {
                return Ok(());
            }
            if row.amount > least && self.earliest(task) < self.latest(task) {
                let own = (self.latest(task), self.earliest(task) + row.time);
                self.push_later(row, own, &segments)?;
                self.push_earlier(row, own, &segments)?;
            }
        }
        Ok(())
    }

    fn segments(&self, supply: usize) -> Vec<Segment> {
        let mut changes: Vec<(i64, i64)> = Vec::new();
        for task in 0..self.tasks() {
            let (start, end) = (self.latest(task), self.earliest(task) + self.shortest(task));
            let amount = if start < end { self.amount(supply, task) } else { 0 };
            if amount > 0 {
                changes.extend([(start, amount), (end, -amount)]);
            }
        }
        let available = &self.model.supplies[supply];
        let is_constant = available.is_constant();
        if !is_constant {
            changes.extend(available.changes().chain([0, self.model.last_end()]).map(|at| (at, 0)));
        }
        changes.sort_unstable();
        let (mut segments, mut held) = (Vec::new(), 0);
        let mut at = 0;
        while at < changes.len() {
            let from = changes[at].0;
            while at < changes.len() && changes[at].0 == from {
                held += changes[at].1;
                at += 1;
            }
            if let Some(&(until, _)) = changes.get(at)
                && (held > 0 || !is_constant)
            {
                segments.push(Segment { from, until, held, supply: available.at(from) });
            }
        }
        segments
    }

    /// Considers the instants at which a task runs in every solution. Removes the modes in which the task would hold
    /// more than the remaining amount at such an instant.
    fn cut_modes(&mut self, row: Row, segments: &[Segment]) -> Propagated {
        let Row { supply, task, amount, time } = row;
        let (first, last) = (self.first_mode(task), self.last_mode(task));
        let (from, until) = (self.latest(task), self.earliest(task) + time);
        if first == last || from >= until {
            return Ok(());
        }
        for segment in segments.iter().filter(|segment| segment.from >= from && segment.until <= until) {
            let free = segment.supply - (segment.held - amount);
            let amounts = &self.model.tasks[task].amounts[supply];
            let wide = amounts[first..=last].iter().rev().take_while(|&&amount| amount > free).count();
            if wide == 0 {
                continue;
            }
            let least = amounts[last + 1 - wide..=last].iter().copied().min().unwrap_or(0);
            let mut premises = self.held_at(supply, segment.from, Some(task), segment.supply - least + 1);
            premises.push(Literal::start_at_most(task, segment.from));
            premises.push(Literal::start_at_least(task, segment.from + 1 - time));
            premises.extend(self.last_mode_literal(task));
            let step = Step::ModesAt { supply: supply as u8, at: segment.from, task: task as u32 };
            return self.set(Literal::mode_at_most(task, last as i64 - wide as i64), &premises, step);
        }
        Ok(())
    }

    /// Moves the earliest start of a task past each period in which the task does not fit. `own` is the period in which
    /// the task runs in every solution. In `own`, the held amount of a segment includes the amount of the task itself.
    fn push_later(&mut self, row: Row, own: (i64, i64), segments: &[Segment]) -> Propagated {
        let Row { supply, task, amount, time } = row;
        let first = segments.partition_point(|segment| segment.until <= self.earliest(task));
        for segment in &segments[first..] {
            if segment.from >= self.earliest(task) + time {
                break;
            }
            let is_own = segment.from >= own.0 && segment.until <= own.1;
            if segment.held + amount <= segment.supply || is_own || segment.until <= self.earliest(task) {
                continue;
            }
            if (segment.until - self.earliest(task)) / time > MAX_PUSHES {
                return Ok(());
            }
            loop {
                let at = (segment.until - 1).min(self.earliest(task) + time - 1);
                let mut premises = self.held_at(supply, at, Some(task), segment.supply - amount + 1);
                premises.push(Literal::start_at_least(task, at + 1 - time));
                premises.extend(self.mode_literals(task));
                let step = Step::Table { supply: supply as u8, at, task: task as u32, is_back: false };
                self.set(Literal::start_at_least(task, at + 1), &premises, step)?;
                if at >= segment.until - 1 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Moves the latest start of a task back until the task ends before each period in which the task does not fit.
    fn push_earlier(&mut self, row: Row, own: (i64, i64), segments: &[Segment]) -> Propagated {
        let Row { supply, task, amount, time } = row;
        let end = segments.partition_point(|segment| segment.from < self.latest(task) + time);
        for segment in segments[..end].iter().rev() {
            if segment.until <= self.latest(task) {
                break;
            }
            let is_own = segment.from >= own.0 && segment.until <= own.1;
            if segment.held + amount <= segment.supply || is_own || segment.from >= self.latest(task) + time {
                continue;
            }
            if (self.latest(task) + time - segment.from) / time > MAX_PUSHES {
                return Ok(());
            }
            loop {
                let at = segment.from.max(self.latest(task));
                let mut premises = self.held_at(supply, at, Some(task), segment.supply - amount + 1);
                premises.push(Literal::start_at_most(task, at));
                premises.extend(self.mode_literals(task));
                let step = Step::Table { supply: supply as u8, at, task: task as u32, is_back: true };
                self.set(Literal::start_at_most(task, at - time), &premises, step)?;
                if at <= segment.from {
                    break;
                }
            }
        }
        Ok(())
    }
}
