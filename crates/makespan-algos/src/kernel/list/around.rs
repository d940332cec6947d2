//! The list algorithm around reservations and outages.

use std::cmp::Reverse;

use makespan_core::{FreeTime, Instance, Reservation, Time, Timeline};

use super::Allotted;
use crate::kernel::leaves;

/// Graham's rule around unavailable processors: at each instant the list is read from its head, and a task starts when the
/// timeline has room for it until its end. Returns what was reserved, in the order of the list.
///
/// How many processors a task could hold from now on falls with its duration, so a whole part of the list is passed over
/// when its narrowest task would not even fit for the duration of its shortest.
pub fn reserve_around(timeline: &mut Timeline, instance: &Instance, list: &[Allotted], from: Time) -> Vec<Reservation> {
    let release = |index: usize| instance.release(list[index].task);
    let mut arrivals: Vec<usize> = (0..list.len()).collect();
    arrivals.sort_unstable_by_key(|&index| Reverse((release(index), index)));
    let mut waiting = SizeTree::new(list.len());
    let mut reserved: Vec<Option<Reservation>> = vec![None; list.len()];
    let mut left = list.len();
    let mut now = from;
    while left > 0 {
        while let Some(index) = arrivals.pop_if(|index| release(*index) <= now) {
            waiting.update(index, Size { width: list[index].processors, duration: list[index].time(instance) });
        }
        let mut next = 0;
        while let Some(index) = waiting.first(next, |size| {
            size.width <= timeline.free_at(now) && size.width <= timeline.free_throughout(now, now + size.duration)
        }) {
            let Size { width, duration } = waiting.size(index);
            reserved[index] = Some(timeline.hold(width, now, now + duration));
            waiting.update(index, Size::NONE);
            left -= 1;
            next = index + 1;
        }
        let arrival = arrivals.last().map_or(Time::MAX, |&index| release(index));
        let change = timeline.next_change(now).map_or(Time::MAX, |change| match waiting.least() {
            Size::NONE => change,
            // Until the narrowest of those that wait would fit for the shortest time of them, none does.
            Size { width, duration } => timeline.earliest_fit(width, duration, change),
        });
        now = arrival.min(change);
    }
    reserved.into_iter().flatten().collect()
}

/// What a task takes, or less than any task of a part of the list takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    width: u32,
    duration: Time,
}

impl Size {
    /// Of nobody: wider than any platform.
    const NONE: Self = Self { width: u32::MAX, duration: Time::MAX };

    fn least(self, other: Self) -> Self {
        Self { width: self.width.min(other.width), duration: self.duration.min(other.duration) }
    }
}

/// The smallest width and the shortest duration below each node of a binary tree over the list.
struct SizeTree {
    least: Vec<Size>,
    leaves: usize,
}

impl SizeTree {
    fn new(tasks: usize) -> Self {
        let leaves = tasks.next_power_of_two();
        Self { least: vec![Size::NONE; 2 * leaves], leaves }
    }

    /// The smallest width and the shortest duration of all that wait.
    fn least(&self) -> Size {
        self.least[1]
    }

    fn size(&self, index: usize) -> Size {
        self.least[self.leaves + index]
    }

    fn update(&mut self, index: usize, size: Size) {
        let mut node = self.leaves + index;
        self.least[node] = size;
        while node > 1 {
            node /= 2;
            self.least[node] = self.least[2 * node].least(self.least[2 * node + 1]);
        }
    }

    /// The first task of the list, not before `from`, whose size is admitted. What is not admitted for a part of the
    /// list is admitted for none of its tasks.
    fn first(&self, from: usize, admits: impl Fn(Size) -> bool) -> Option<usize> {
        leaves::first(self.leaves, from, |node| admits(self.least[node]))
    }
}
