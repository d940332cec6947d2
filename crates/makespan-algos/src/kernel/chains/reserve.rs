//! The time reserve of tasks that nothing leads to or from.

use super::criterion::Criterion;
use super::draft::Draft;
use super::windows::{Room, Span};
use crate::kernel::graph::Place;

/// For how long an isolated task holds its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolated {
    /// For as long as it runs.
    #[default]
    Run,
    /// From its start until another task needs the processor, or the job must end.
    Reserve,
}

/// A processor that is held for a task longer than it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// The task, as numbered in its job.
    pub task: u32,
    /// Until when, in ticks.
    pub until: i64,
}

/// Gives each isolated task of a draft, in which all are placed, as much of the time until `end` as the others leave:
/// longest tasks first, each on the processor where it costs least (criterion cost), then where it holds the most, then
/// where it runs longest. The draft's calendars are then busy for the whole reserves. No other task is moved, so that
/// every isolated one finds at least its old place.
///
/// Source: A. Tselishchev and V. V. Toporkov, 54th IWK, Ilmenau 2009, section 3.2, step 4: "the whole planning scale
/// (time reserve) becomes its time execution estimate". A placement of a schedule is as long as its task runs, so the
/// reserve is held beside the schedule. O(n log n + n m k) for n such tasks, m processors and k busy periods of one.
pub fn reserve(draft: &mut Draft, end: i64, criterion: Criterion) -> Vec<Reserve> {
    let frame = draft.frame();
    let alone = |&task: &u32| frame.incoming(task).next().is_none() && frame.outgoing(task).next().is_none();
    let mut tasks: Vec<u32> = (0..frame.tasks() as u32).filter(alone).collect();
    tasks.sort_by_key(|&task| (-frame.chart.times[task as usize], task));
    let mut reserves = Vec::new();
    for task in tasks {
        draft.lift(task);
        let span = Span { end, room: Room::Least, run: &[task] };
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
        let place = Place { processor: frame.machines()[machine as usize], start: first + time };
        draft.put_on(task, place);
        draft.hold(place.processor, first, until);
        reserves.push(Reserve { task, until });
    }
    reserves
}
