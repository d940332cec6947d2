//! Shaving: suppose that a task runs early, or late, in its window. If the supposition leads to a contradiction, the
//! window becomes narrower.

use super::energy::Energy;
use super::state::{Cause, Conflict, DeductionKind, DeductionState, RefutedSupposition};
use super::time_table::{TimeTable, settle};
use super::window::WindowLimit;

/// The range of possible starts (or ends) of a task is divided into this number of parts. In the first supposition, the
/// task starts within the first part (or ends within the last part).
const PARTS: i64 = 64;

/// The deductions that a search uses. Each level includes all earlier levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeductionLevel {
    TimeTable,
    Energy,
    Shaving,
    /// Shaving, with energy in windows under each supposition.
    Deep,
}

#[derive(Default)]
pub(super) struct ShavingTools {
    table: TimeTable,
    energy: Energy,
    /// The tasks in the order in which their windows are shaved.
    order: Vec<u32>,
}

/// Narrows windows until nothing changes, or until the limit of steps or the time limit is reached.
pub(super) fn narrow(
    state: &mut DeductionState<'_>,
    tools: &mut ShavingTools,
    level: DeductionLevel,
) -> Result<(), Conflict> {
    loop {
        let entries = state.entries.len();
        settle(state, &mut tools.table)?;
        if level >= DeductionLevel::Energy {
            energies(state, tools)?;
        }
        if level >= DeductionLevel::Shaving {
            shave_all(state, tools, level)?;
        }
        if state.entries.len() == entries || state.is_over() {
            return Ok(());
        }
    }
}

fn energies(state: &mut DeductionState<'_>, tools: &mut ShavingTools) -> Result<(), Conflict> {
    loop {
        let entries = state.entries.len();
        for thing in 0..state.problem.things.len() {
            if !state.is_new(DeductionKind::Energy(thing), &state.problem.things[thing].is_member) {
                continue;
            }
            let before = state.entries.len();
            tools.energy.narrow(state, thing)?;
            if state.entries.len() > before {
                settle(state, &mut tools.table)?;
            }
        }
        if state.entries.len() == entries || state.is_over() {
            return Ok(());
        }
    }
}

/// Shaves the windows of all tasks from both sides. Ignores bags. At the level [`DeductionLevel::Deep`], suppositions
/// take long. Then the narrowest windows come first, because they need the fewest suppositions.
fn shave_all(state: &mut DeductionState<'_>, tools: &mut ShavingTools, level: DeductionLevel) -> Result<(), Conflict> {
    let problem = state.problem;
    let mut order = std::mem::take(&mut tools.order);
    order.clear();
    order.extend(problem.order.iter().filter(|&&row| problem.counts[row as usize] == 1));
    if level >= DeductionLevel::Deep {
        let width = |row: u32| state.windows[row as usize].last_start - state.windows[row as usize].start;
        order.sort_by_key(|&row| width(row));
    }
    let shaved = order.iter().try_for_each(|&row| {
        shave(state, tools, row, true, level)?;
        shave(state, tools, row, false, level)
    });
    tools.order = order;
    shaved
}

/// Shaves a window from its start or from its end. Supposes that the task starts (or ends) within a part of the window
/// at this side. If the supposition leads to a contradiction, removes the part and tries a part twice as large.
/// Otherwise, tries the smallest part again. Stops if the smallest part leads to no contradiction.
fn shave(
    state: &mut DeductionState<'_>,
    tools: &mut ShavingTools,
    row: u32,
    from_start: bool,
    level: DeductionLevel,
) -> Result<(), Conflict> {
    let window = state.windows[row as usize];
    let width = if from_start { window.last_start - window.start } else { window.end - window.first_end };
    let least = (width / PARTS).max(1);
    let mut part = least;
    while !state.is_over() {
        let window = state.windows[row as usize];
        if window.is_fixed() {
            return Ok(());
        }
        let (supposed, concluded) = if from_start {
            (WindowLimit::LastStart(window.start + part - 1), WindowLimit::Start(window.start + part))
        } else {
            (WindowLimit::FirstEnd(window.end - part + 1), WindowLimit::End(window.end - part))
        };
        let mark = state.mark();
        let conflict = suppose(state, tools, row, supposed, level).err();
        let entries = state.take_back(mark);
        match conflict {
            Some(conflict) => {
                let refuted = Box::new(RefutedSupposition { entries, conflict });
                state.narrow(row, concluded, Cause::Refuted(refuted))?;
                settle(state, &mut tools.table)?;
                part = part.saturating_mul(2);
            }
            None if part > least => part = least,
            None => return Ok(()),
        }
    }
    Ok(())
}

fn suppose(
    state: &mut DeductionState<'_>,
    tools: &mut ShavingTools,
    row: u32,
    limit: WindowLimit,
    level: DeductionLevel,
) -> Result<(), Conflict> {
    state.narrow(row, limit, Cause::Supposed)?;
    settle(state, &mut tools.table)?;
    if level >= DeductionLevel::Deep { energies(state, tools) } else { Ok(()) }
}
