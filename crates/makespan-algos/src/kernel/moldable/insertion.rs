//! Serial insertion. Tasks are placed one by one, each at its earliest fit after its predecessors.

use std::cell::Cell;

use super::given::{EvaluationInput, StartsAndEnds};
use super::measure::PartialValue;
use crate::kernel::serial::{EvaluationLimit, SerialInsertion, SerialRequest};

/// Evaluates a list by serial insertion. Returns whether the value is at most `limit`. `present` contains the current
/// schedule and a position `from`. Tasks before this position keep their places in the current schedule.
pub(super) fn insert(
    serial: &mut SerialInsertion,
    given: &EvaluationInput<'_>,
    present: Option<(&StartsAndEnds, usize)>,
    times: &mut StartsAndEnds,
    tally: &mut PartialValue,
    limit: f64,
) -> bool {
    let EvaluationInput { problem, measure, list, tails, .. } = *given;
    measure.reset(tally);
    let mut from = 0;
    if let Some((present, place)) = present {
        from = place;
        for &task in &list.order[..serial.begin(from)] {
            let (start, end) = (present.starts[task as usize], present.ends[task as usize]);
            times.set(task, start, end);
            measure.add(tally, task, end, tails.of(task));
        }
    }
    let StartsAndEnds { starts, ends } = times;
    let ends = Cell::from_mut(&mut ends[..]).as_slice_of_cells();
    let request = |place: usize| {
        let task = list.order[place];
        let choice = problem.choice(list.chosen[task as usize]);
        let before = problem.before(task).iter().map(|&before| ends[before as usize].get());
        let release = before.fold(problem.release(task), i64::max);
        SerialRequest { processors: choice.processors, duration: choice.time, release }
    };
    let fold = |_: f64, place: usize, start: i64, request: &SerialRequest| {
        let task = list.order[place];
        let end = start + request.duration;
        starts[task as usize] = start;
        ends[task as usize].set(end);
        measure.add(tally, task, end, tails.of(task))
    };
    // The value never decreases when a task is placed. So the evaluation can stop when the value exceeds the limit.
    serial.evaluate(from..list.order.len(), EvaluationLimit::at(limit), request, fold) <= limit
}
