//! Refutation of deadlines by a sequence of deductions. The deductions use time tables, pairs of tasks that exclude
//! each other, energy in windows, and suppositions.

mod certificate;
mod energy;
mod problem;
mod shave;
mod state;
mod time_table;
mod window;

use makespan_core::{Instance, Time};
use makespan_verify::proof::{Deductions, NodeKinds, Step};

use crate::Clock;
use certificate::Pruning;
use problem::Problem;
use shave::{DeductionLevel, ShavingTools};
use state::{Conflict, DeductionState};

/// Maximum number of distinct tasks. For larger instances, the search makes no deductions.
const MAX_TASKS: usize = 2048;
/// Maximum number of runs of all distinct tasks. For larger instances, the search makes no deductions.
const MAX_RUNS: usize = 1 << 15;
/// Maximum number of steps in a certificate.
const MAX_STEPS: usize = 1 << 16;
/// Maximum product of the number of steps of a certificate and the number of runs. At this maximum, the check of the
/// certificate takes some tenths of a second.
const MAX_CHECKED: usize = 1 << 25;
/// The time that a check takes for each step and run, in nanoseconds.
const CHECKED_IN: u128 = 10;
/// The search stops when the difference between a refuted deadline and a deadline that is not refuted is less than
/// 2^-`NEAR` of the deadline.
const NEAR: u32 = 14;

/// Searches for the latest deadline that deductions can refute, in about `work` elementary steps. Returns the
/// deductions that refute this deadline. `known` is a bound that is already proved.
///
/// There are four searches, one after another. The first one uses only the time table and pairs of tasks that exclude
/// each other. The second one also uses energy in windows. The third one also uses suppositions, and the fourth one
/// uses energy under these suppositions. Each search increases the deadline in steps that double, and then bisects.
/// `work` limits the number of steps, not the time. So the result is deterministic unless the clock expires.
pub(super) fn latest(
    instance: &Instance,
    places: &NodeKinds<'_>,
    known: i128,
    work: u64,
    clock: &Clock,
) -> Option<Deductions> {
    let small = instance.different_tasks() <= MAX_TASKS;
    let runs = || instance.in_order().map(|task| instance.profile(task).max_processors() as usize).sum::<usize>();
    if !small || work == 0 || clock.is_over() || runs() > MAX_RUNS * 64 {
        return None;
    }
    let problem = Problem::new(instance, places)?;
    if problem.times.len() > MAX_RUNS || problem.things.is_empty() {
        return None;
    }
    // The known bound refutes all earlier deadlines. Deadlines are rounded down to whole units.
    let first = i64::try_from((known - 1).div_euclid(i128::from(problem.unit))).ok()?;
    let mut search =
        Search { problem: &problem, tools: ShavingTools::default(), steps: 0, limit: work, clock, found: None };
    let mut best = first;
    for level in [DeductionLevel::TimeTable, DeductionLevel::Energy, DeductionLevel::Shaving, DeductionLevel::Deep] {
        best = search.climb(best, level);
    }
    let (deadline, steps) = search.found?;
    let held = problem.things.iter().map(|thing| thing.held.clone()).collect();
    let deadline = Time::from_ticks(deadline * problem.unit + problem.unit - 1);
    Some(Deductions { deadline, unit: problem.unit, held, steps })
}

struct Search<'a> {
    problem: &'a Problem,
    tools: ShavingTools,
    steps: u64,
    limit: u64,
    clock: &'a Clock,
    /// The latest refuted deadline and the steps of its refutation.
    found: Option<(i64, Vec<Step>)>,
}

impl Search<'_> {
    /// Returns the latest refuted deadline after a search with deductions of the level `level`. `best` is the latest
    /// refuted deadline before this search.
    fn climb(&mut self, mut best: i64, level: DeductionLevel) -> i64 {
        let near = (best >> NEAR).max(1);
        let mut step = near;
        let mut high = loop {
            let Some(next) = best.checked_add(step).filter(|&next| next < i64::MAX / 8) else { return best };
            if !self.refute(next, level) {
                break next;
            }
            (best, step) = (next, 2 * step);
        };
        while high - best > near && self.steps < self.limit && !self.clock.is_over() {
            let middle = best + (high - best) / 2;
            if self.refute(middle, level) { best = middle } else { high = middle }
        }
        best
    }

    fn refute(&mut self, deadline: i64, level: DeductionLevel) -> bool {
        let mut state = DeductionState::new(self.problem, self.steps, self.limit, self.clock);
        let (root, entries, conflict) = if state.begin(deadline) {
            let root = state.windows.clone();
            match shave::narrow(&mut state, &mut self.tools, level) {
                Ok(()) => (root, Vec::new(), None),
                Err(conflict) => (root, std::mem::take(&mut state.entries), Some(conflict)),
            }
        } else {
            self.steps = state.steps;
            self.found = Some((deadline, Vec::new()));
            return true;
        };
        self.steps = state.steps;
        let Some(conflict) = conflict else { return false };
        match self.certificate(&root, state.windows, &entries, &conflict) {
            Some(steps) => {
                self.found = Some((deadline, steps));
                true
            }
            None => false,
        }
    }

    fn certificate(
        &self,
        root: &[window::DeductionWindow],
        windows: Vec<window::DeductionWindow>,
        entries: &[state::WindowChange],
        conflict: &Conflict,
    ) -> Option<Vec<Step>> {
        let mut pruning = Pruning::new(self.problem, root, windows);
        let steps = pruning.steps(entries, conflict);
        // The check examines all runs for each step. Keep the certificate only if the clock leaves enough time for the
        // check.
        let checked = pruning.kept.saturating_mul(self.problem.times.len());
        let in_time = self.clock.left().is_none_or(|left| checked as u128 * CHECKED_IN <= left.as_nanos());
        (pruning.kept <= MAX_STEPS && checked <= MAX_CHECKED && in_time).then_some(steps)
    }
}
