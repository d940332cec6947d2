//! Deductions from energy (amount times time). Within a span of time, the energy of all tasks must not exceed the
//! capacity times the length of the span.

use super::problem::CapacityResource;
use super::state::{Cause, Conflict, DeductionState};
use super::window::{DeductionWindow, WindowLimit};

/// Buffers that are kept between calls to avoid allocation.
#[derive(Default)]
pub(super) struct Energy {
    begins: Vec<i64>,
    /// The energy that tasks must hold between `from` and an instant is a piecewise linear function of the instant.
    /// Each pair contains an instant at which the slope changes, and the change of the slope.
    slopes: Vec<(i64, i64)>,
    /// The slopes of an upper limit on the energy that tasks with several runs must hold, in the same form as
    /// `slopes`.
    above: Vec<(i64, i64)>,
    /// The ends of the spans that are examined.
    ends: Vec<i64>,
    /// The tasks with several runs.
    several: Vec<u32>,
}

impl Energy {
    /// Examines spans of time that begin at the earliest or latest start of a task, or at the beginning of an
    /// unavailable period. Consider the energy that tasks must hold within a span, as a function of the end of the
    /// span. Only ends at which this function may begin to grow more slowly are examined. Other ends are unnecessary:
    /// between two consecutive examined ends, the remaining capacity is at least its minimum at the two ends.
    ///
    /// Complexity: O(n^2 log n), where n is the number of tasks that may hold some of the capacity. A span with little
    /// remaining capacity takes O(r) more, where r is the number of runs of these tasks.
    pub(super) fn narrow(&mut self, state: &mut DeductionState<'_>, number: usize) -> Result<(), Conflict> {
        let problem = state.problem;
        let thing = &problem.things[number];
        self.begins.clear();
        for &row in &thing.members {
            let window = state.windows[row as usize];
            self.begins.extend([window.start, window.last_start]);
        }
        self.begins.extend(thing.closed.iter().map(|&(from, _, _)| from));
        self.begins.sort_unstable();
        self.begins.dedup();
        for at in 0..self.begins.len() {
            if state.is_over() {
                return Ok(());
            }
            self.from(state, number, thing, self.begins[at])?;
        }
        Ok(())
    }

    /// Examines all spans that begin at `from`.
    fn from(
        &mut self,
        state: &mut DeductionState<'_>,
        number: usize,
        thing: &CapacityResource,
        from: i64,
    ) -> Result<(), Conflict> {
        let problem = state.problem;
        self.slopes.clear();
        self.above.clear();
        self.ends.clear();
        self.several.clear();
        // An upper limit, valid for every task, on the energy that the task can hold minus the energy that it must
        // hold.
        let mut gain = 0;
        for &row in &thing.members {
            let window = state.windows[row as usize];
            if window.end <= from {
                continue;
            }
            if !problem.only[row as usize] {
                self.several.push(row);
                self.ends.extend([window.end, window.first_end]);
                let most = |at: usize| thing.amounts[at] * problem.times[at];
                gain = gain.max(problem.runs(row as usize).map(most).max().unwrap_or(0));
                if let Some((begin, most, amount)) = window.slope(problem, row as usize, &thing.amounts, from) {
                    self.above.extend([(begin, amount), (begin + most, -amount)]);
                }
                continue;
            }
            let run = problem.runs(row as usize).start;
            let amount = thing.amounts[run];
            if !window.is_fixed() {
                gain = gain.max(amount * problem.times[run]);
            }
            let most = problem.times[run].min(window.first_end - from);
            if most > 0 {
                let begin = window.last_start.max(from);
                let amount = amount * problem.counts[row as usize] as i64;
                self.slopes.extend([(begin, amount), (begin + most, -amount)]);
            }
        }
        for &(start, end, amount) in &thing.closed {
            if end > from {
                self.slopes.extend([(start.max(from), amount), (end, -amount)]);
            }
        }
        self.slopes.sort_unstable();
        self.above.sort_unstable();
        self.ends.extend(self.slopes.iter().filter(|(_, slope)| *slope < 0).map(|(at, _)| *at));
        self.ends.sort_unstable();
        self.ends.dedup();
        state.steps += ((self.slopes.len() + self.above.len()) * 6 + self.ends.len()) as u64;
        let several: u64 = self.several.iter().map(|&row| problem.runs(row as usize).len() as u64).sum();
        let (mut sure, mut above) = (Sweep::from(from), Sweep::from(from));
        for index in 0..self.ends.len() {
            let until = self.ends[index];
            if until <= from {
                continue;
            }
            let there = thing.capacity * (until - from);
            let energy = sure.until(&self.slopes, until);
            if there - energy - above.until(&self.above, until) >= gain {
                continue;
            }
            if state.is_over() {
                return Ok(());
            }
            let of_several = |&row: &u32| {
                state.windows[row as usize].least_of_all(problem, row as usize, &thing.amounts, from, until)
            };
            let all = energy + self.several.iter().map(of_several).sum::<i64>();
            let left = there - all;
            state.steps += several * 8;
            if left < 0 {
                return Err(Conflict::Full(number as u32, from, until));
            }
            if left < gain {
                within(state, number, thing, (from, until), left)?;
            }
        }
        Ok(())
    }
}

/// A sum that grows linearly between given instants, at which the slope changes. The instants are read in ascending
/// order.
struct Sweep {
    sum: i64,
    slope: i64,
    at: i64,
    next: usize,
}

impl Sweep {
    fn from(at: i64) -> Self {
        Self { sum: 0, slope: 0, at, next: 0 }
    }

    /// Returns the sum at the instant `until`. This instant must not be earlier than in the previous call.
    fn until(&mut self, slopes: &[(i64, i64)], until: i64) -> i64 {
        while let Some(&(instant, change)) = slopes.get(self.next).filter(|(instant, _)| *instant <= until) {
            self.sum += self.slope * (instant - self.at);
            (self.slope, self.at, self.next) = (self.slope + change, instant, self.next + 1);
        }
        self.sum += self.slope * (until - self.at);
        self.at = until;
        self.sum
    }
}

/// Narrows windows of tasks if the energy within a span requires it. Consider a task that starts as early, or ends as
/// late, as its window allows. If all tasks together then hold more than the capacity within the span, the window
/// becomes narrower. `left` is the capacity of the span minus the minimum energy of all tasks.
fn within(
    state: &mut DeductionState<'_>,
    number: usize,
    thing: &CapacityResource,
    (from, until): (i64, i64),
    left: i64,
) -> Result<(), Conflict> {
    let problem = state.problem;
    state.steps += thing.runs;
    for &row in &thing.members {
        let window = state.windows[row as usize];
        let starts_in = window.start < until && window.first_end > from;
        let ends_in = window.end > from && window.last_start < until;
        if window.is_fixed() || !(starts_in || ends_in) {
            continue;
        }
        let room = left + window.least(problem, row as usize, &thing.amounts, from, until);
        let (mut start, mut end) = (i64::MAX, i64::MIN);
        for run in problem.runs(row as usize).filter(|&run| window.fits(problem.times[run])) {
            let (time, amount) = (problem.times[run], thing.amounts[run]);
            let most = if amount > 0 { room / amount } else { i64::MAX };
            let early = (window.start + time).min(until) - window.start.max(from);
            let late = window.end.min(until) - (window.end - time).max(from);
            start = start.min(if early > most { until - most } else { window.start });
            end = end.max(if late > most { from + most } else { window.end });
        }
        let DeductionWindow { start: old_start, end: old_end, .. } = window;
        let cause = || Cause::Window(number as u32, from, until);
        if start > old_start {
            state.narrow(row, WindowLimit::Start(start), cause())?;
        }
        if end < old_end {
            state.narrow(row, WindowLimit::End(end), cause())?;
        }
    }
    Ok(())
}
