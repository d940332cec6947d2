//! Deductions from the time table, and from pairs of tasks that exclude each other. The time table contains, for each
//! instant, the minimum amount that tasks hold at this instant in all schedules that meet the deadline.

use super::state::{Cause, Conflict, DeductionKind, DeductionState};
use super::window::{DeductionWindow, WindowLimit};

/// Maximum number of times that one pass moves the start, or the end, of a task. Each move is a step of the
/// certificate.
const MAX_JUMPS: usize = 64;

/// The minimum amount `held` that tasks hold from `from` to `until` in all schedules that meet the deadline.
#[derive(Clone, Copy)]
struct Level {
    from: i64,
    until: i64,
    held: i64,
}

/// Buffers that are kept between calls to avoid allocation.
#[derive(Default)]
pub(super) struct TimeTable {
    events: Vec<(i64, i64)>,
    levels: Vec<Level>,
}

/// Repeats the deductions from edges, pairs and the time table until nothing changes, or until the search is over.
pub(super) fn settle(state: &mut DeductionState<'_>, table: &mut TimeTable) -> Result<(), Conflict> {
    loop {
        let entries = state.entries.len();
        state.edges()?;
        pairs(state)?;
        for thing in 0..state.problem.things.len() {
            if state.is_new(DeductionKind::TimeTable(thing), &state.problem.things[thing].is_member) {
                table.narrow(state, thing)?;
                state.edges()?;
            }
        }
        if state.entries.len() == entries || state.is_over() {
            return Ok(());
        }
    }
}

/// Considers pairs of tasks that exclude each other. If only one order of the two tasks is possible, narrows their
/// windows.
fn pairs(state: &mut DeductionState<'_>) -> Result<(), Conflict> {
    loop {
        match state.changes(DeductionKind::Pairs) {
            None => (0..state.problem.rows()).try_for_each(|row| pairs_of(state, row))?,
            Some(changes) if changes.is_empty() => return Ok(()),
            Some(changes) => {
                for at in changes {
                    pairs_of(state, state.entries[at].row as usize)?;
                }
            }
        }
        if state.is_over() {
            return Ok(());
        }
        state.edges()?;
    }
}

fn pairs_of(state: &mut DeductionState<'_>, row: usize) -> Result<(), Conflict> {
    let others = &state.problem.excluded[row];
    state.steps += others.len() as u64;
    for &other in others {
        let (one, two) = (state.windows[row], state.windows[other as usize]);
        if one.first_end > two.last_start {
            after(state, other, row as u32, two, one)?;
        }
        if two.first_end > one.last_start {
            after(state, row as u32, other, one, two)?;
        }
    }
    Ok(())
}

/// Narrows the windows of two tasks, because `first` must end before `second` starts.
fn after(
    state: &mut DeductionState<'_>,
    first: u32,
    second: u32,
    one: DeductionWindow,
    two: DeductionWindow,
) -> Result<(), Conflict> {
    if two.start < one.first_end {
        state.narrow(second, WindowLimit::Start(one.first_end), Cause::Pair(first))?;
    }
    if one.end > two.last_start {
        state.narrow(first, WindowLimit::End(two.last_start), Cause::Pair(second))?;
    }
    Ok(())
}

impl TimeTable {
    fn narrow(&mut self, state: &mut DeductionState<'_>, number: usize) -> Result<(), Conflict> {
        let problem = state.problem;
        let thing = &problem.things[number];
        self.events.clear();
        for &row in &thing.members {
            let window = state.windows[row as usize];
            if window.last_start < window.first_end {
                let each = window.least_amount(problem, row as usize, &thing.amounts);
                let amount = each * problem.counts[row as usize] as i64;
                self.events.extend([(window.last_start, amount), (window.first_end, -amount)]);
            }
        }
        for &(from, until, amount) in &thing.closed {
            self.events.extend([(from, amount), (until, -amount)]);
        }
        self.events.sort_unstable();
        self.levels.clear();
        let (mut held, mut at) = (0, 0);
        for &(instant, amount) in &self.events {
            if instant > at && held > 0 {
                if held > thing.capacity {
                    return Err(Conflict::Full(number as u32, at, at + 1));
                }
                self.levels.push(Level { from: at, until: instant, held });
            }
            (held, at) = (held + amount, instant);
        }
        state.steps += self.events.len() as u64 * 4 + thing.runs;
        for &row in &thing.members {
            let window = state.windows[row as usize];
            if window.is_fixed() {
                continue;
            }
            let amount = window.least_amount(problem, row as usize, &thing.amounts);
            if amount > 0 {
                self.start(state, number, row, window, amount)?;
                self.end(state, number, row, window, amount)?;
            }
        }
        Ok(())
    }

    /// Returns the minimum amount that all tasks except one hold in the period of `level`. `window` and `amount` belong
    /// to the omitted task.
    fn of_others(level: &Level, window: &DeductionWindow, amount: i64) -> i64 {
        let is_sure = window.last_start <= level.from && level.until <= window.first_end;
        if is_sure { level.held - amount } else { level.held }
    }

    fn start(
        &self,
        state: &mut DeductionState<'_>,
        number: usize,
        row: u32,
        before: DeductionWindow,
        amount: i64,
    ) -> Result<(), Conflict> {
        let most = state.problem.things[number].capacity - amount;
        let mut jumps = 0;
        let first = self.levels.partition_point(|level| level.until <= before.start);
        for level in &self.levels[first..] {
            state.steps += 1;
            loop {
                let DeductionWindow { start, first_end, .. } = state.windows[row as usize];
                if level.from >= first_end {
                    return Ok(());
                }
                if level.until <= start || jumps == MAX_JUMPS || Self::of_others(level, &before, amount) <= most {
                    break;
                }
                jumps += 1;
                let at = level.until.min(first_end) - 1;
                state.narrow(row, WindowLimit::Start(at + 1), Cause::Window(number as u32, at, at + 1))?;
            }
        }
        Ok(())
    }

    fn end(
        &self,
        state: &mut DeductionState<'_>,
        number: usize,
        row: u32,
        before: DeductionWindow,
        amount: i64,
    ) -> Result<(), Conflict> {
        let most = state.problem.things[number].capacity - amount;
        let mut jumps = 0;
        let last = self.levels.partition_point(|level| level.from < before.end);
        for level in self.levels[..last].iter().rev() {
            state.steps += 1;
            loop {
                let DeductionWindow { last_start, end, .. } = state.windows[row as usize];
                if level.until <= last_start {
                    return Ok(());
                }
                if level.from >= end || jumps == MAX_JUMPS || Self::of_others(level, &before, amount) <= most {
                    break;
                }
                jumps += 1;
                let at = level.from.max(last_start);
                state.narrow(row, WindowLimit::End(at), Cause::Window(number as u32, at, at + 1))?;
            }
        }
        Ok(())
    }
}
