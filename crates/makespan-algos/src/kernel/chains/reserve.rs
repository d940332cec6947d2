//! Reserves of isolated tasks. An isolated task has neither predecessors nor successors. The reserve of such a task is
//! additional time for which the task holds its processor.

use super::criterion::Criterion;
use super::draft::Draft;
use super::windows::{PlanningLimits, TransferRoom};
use crate::kernel::graph::TaskPlace;

/// The time for which an isolated task holds its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolated {
    /// The run time of the task.
    #[default]
    Run,
    /// The time from the start of the task until another task needs the processor, or until the job must end.
    Reserve,
}

/// The reserve of an isolated task, which holds its processor for longer than the task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// The index of the task in its job.
    pub task: u32,
    /// The end of the reserve, in ticks.
    pub until: i64,
}

/// Holds the processor of each isolated task of a complete draft for as long as possible: until another task needs the
/// processor, or until `end`. The longest tasks come first. With the criterion cost, each isolated task moves to the
/// processor with the lowest cost. Among equal costs, the longest reserve wins, and then the longest run time. The
/// reserves become busy periods in the calendars of the draft. No other task moves, so an isolated task can always
/// keep its old place.
///
/// Source: A. Tselishchev and V. V. Toporkov, 54th IWK, Ilmenau 2009, section 3.2, step 4: "the whole planning scale
/// (time reserve) becomes its time execution estimate". The function returns the reserves, because the placements of a
/// schedule do not contain them. Complexity: O(n log n + n m k) for n isolated tasks, m processors and k busy periods
/// of a processor.
pub fn reserve(draft: &mut Draft, end: i64, criterion: Criterion) -> Vec<Reserve> {
    let frame = draft.frame();
    let alone = |&task: &u32| frame.incoming(task).next().is_none() && frame.outgoing(task).next().is_none();
    let mut tasks: Vec<u32> = (0..frame.tasks() as u32).filter(alone).collect();
    tasks.sort_by_key(|&task| (-frame.chart.times[task as usize], task));
    let mut reserves = Vec::new();
    for task in tasks {
        draft.lift(task);
        let span = PlanningLimits { end, room: TransferRoom::Least, run: &[task] };
        let windows = draft.windows(&[task], &span);
        let option = |machine: u32| {
            let time = draft.time(task, machine);
            let cost = if criterion == Criterion::Cost { draft.weight(task, machine, criterion) } else { 0 };
            let free = draft.ends(task, machine, &windows, &span).into_iter();
            free.map(move |(first, until)| (cost, first - time - until, -time, first, machine, until)).min()
        };
        let Some((.., time, first, machine, until)) = (0..draft.processors() as u32).filter_map(option).min() else {
            continue;
        };
        let place = TaskPlace { processor: frame.machines()[machine as usize], start: first + time };
        draft.put_on(task, place);
        draft.hold(place.processor, first, until);
        reserves.push(Reserve { task, until });
    }
    reserves
}
