//! The list algorithm for platforms with reservations and outages.

use std::cmp::Reverse;

use makespan_core::{FreeTime, Instance, Reservation, Time, Timeline};

use super::AllottedTask;
use crate::kernel::leaves::{LeafMinimum, LeafRequest, Tree};

/// Applies Graham's rule to a platform with unavailable processors. At each instant, the list is read from its head. A
/// task starts if the timeline has enough free processors until the end of the task. Returns the reservations in the
/// order of the list.
///
/// The longer a task takes from a given instant on, the fewer processors are free until its end. Thus a group of tasks
/// is skipped if the processors of its narrowest task are not free for the time of its shortest task.
pub fn reserve_around(
    timeline: &mut Timeline,
    instance: &Instance,
    list: &[AllottedTask],
    from: Time,
) -> Vec<Reservation> {
    let release = |index: usize| instance.release(list[index].task);
    let mut arrivals: Vec<usize> = (0..list.len()).collect();
    arrivals.sort_unstable_by_key(|&index| Reverse((release(index), index)));
    let mut waiting = Tree::default();
    waiting.refill(0, list.len(), |_| LeafRequest::NONE);
    let mut reserved: Vec<Option<Reservation>> = vec![None; list.len()];
    let mut left = list.len();
    let mut now = from;
    while left > 0 {
        while let Some(index) = arrivals.pop_if(|index| release(*index) <= now) {
            waiting.set(index, LeafRequest { width: list[index].processors, time: list[index].time(instance) });
        }
        let mut next = 0;
        while let Some(index) = waiting.next(next, |asked| {
            asked.width <= timeline.free_at(now) && asked.width <= timeline.free_throughout(now, now + asked.time)
        }) {
            let LeafRequest { width, time } = waiting.get(index);
            reserved[index] = Some(timeline.hold(width, now, now + time));
            waiting.set(index, LeafRequest::NONE);
            left -= 1;
            next = index + 1;
        }
        let arrival = arrivals.last().map_or(Time::MAX, |&index| release(index));
        let change = timeline.next_change(now).map_or(Time::MAX, |change| match waiting.all() {
            LeafRequest::NONE => change,
            // `width` is the minimum number of processors over all waiting tasks, and `time` the minimum time. No
            // waiting task fits before `width` processors are free for `time`.
            LeafRequest { width, time } => timeline.earliest_fit(width, time, change),
        });
        now = arrival.min(change);
    }
    reserved.into_iter().flatten().collect()
}
