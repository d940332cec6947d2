//! The number of free processors over time, on any platform and for any number of placements.

mod steps;

use std::collections::VecDeque;

use steps::Steps;

use crate::model::{Instance, Time};
use crate::schedule::FreeTime;

/// Number of instants at which a query examines the classes one by one. If no reservation fits at these instants, a
/// single walk over the changes of all classes finds the result.
const FEW: usize = 8;

/// The number of free processors over time, by class. A class contains the processors that are available at exactly
/// the same times. With n placements, a query takes O(g log n), where g is the number of earlier periods that have
/// enough free processors, but are too short. If there are reservations or outages, a query examines each class at
/// some instants and takes O(n log n).
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Number of free processors of all classes together.
    total: Steps,
    /// Number of free processors of each class. Empty if there is only one class, which `total` describes.
    classes: Vec<Steps>,
}

/// A reservation of processors from `start` to `end`. The ids of the processors are assigned when the schedule is
/// complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Start of the reservation.
    pub start: Time,
    /// End of the reservation: the first instant at which the processors are free again.
    pub end: Time,
    /// Number of reserved processors.
    pub width: u32,
    /// Number of reserved processors of each class, if there are several classes.
    pub(crate) parts: Option<Box<[u32]>>,
}

impl Reservation {
    /// Creates a reservation without a timeline. The processors of the platform must always be open.
    pub fn on_open_platform(width: u32, start: Time, end: Time) -> Self {
        Self { start, end, width, parts: None }
    }

    /// Returns the number of reserved processors of each class, or of each pool of
    /// [`ScheduleBuilder::finish_from`](crate::ScheduleBuilder). Returns `None` if there is only one class.
    pub fn parts(&self) -> Option<&[u32]> {
        self.parts.as_deref()
    }

    /// Creates a reservation with a number of processors of each pool of
    /// [`ScheduleBuilder::finish_from`](crate::ScheduleBuilder).
    pub fn of_parts(parts: Box<[u32]>, start: Time, end: Time) -> Self {
        Self { start, end, width: parts.iter().sum(), parts: Some(parts) }
    }
}

impl Timeline {
    /// Creates the timeline of an instance without placements: only reservations and outages hold processors.
    pub fn new(instance: &Instance) -> Self {
        let availability = instance.availability();
        let mut total = Steps::constant(i64::from(instance.processors()));
        let mut classes = Vec::new();
        for class in availability.classes() {
            let size = i64::from(class.processors.len());
            let mut steps = Steps::constant(size);
            for &(start, end) in &class.closed {
                total.add(start, end, -size);
                steps.add(start, end, -size);
            }
            classes.push(steps);
        }
        if classes.len() == 1 {
            classes.clear();
        }
        Self { total, classes }
    }

    /// Returns the number of free processors at an instant.
    pub fn free_at(&self, instant: Time) -> u32 {
        self.total.at(instant) as u32
    }

    /// Returns the maximum number of processors that one job could hold from `start` to `end`. A later `end` never
    /// increases the result.
    pub fn free_throughout(&self, start: Time, end: Time) -> u32 {
        let least = |steps: &Steps| steps.min_within(start, end);
        let free = if self.classes.is_empty() { least(&self.total) } else { self.classes.iter().map(least).sum() };
        free.max(0) as u32
    }

    /// Returns the first instant after `after` at which processors become free or are taken, even if the number of free
    /// processors does not change.
    pub fn next_change(&self, after: Time) -> Option<Time> {
        let each = self.classes.iter().chain([&self.total]);
        each.filter_map(|steps| steps.next_breakpoint(after)).min()
    }

    fn change(&mut self, reservation: &Reservation, sign: i64) {
        let Reservation { start, end, width, parts } = reservation;
        self.total.add(*start, *end, sign * i64::from(*width));
        for (steps, &part) in self.classes.iter_mut().zip(parts.iter().flatten()) {
            steps.add(*start, *end, sign * i64::from(part));
        }
    }

    /// Returns the first instant at or after `from` from which `width` processors are free for `duration`. One walk
    /// over all changes of all classes takes O(n log n). A separate query for each of the n changes would take n times
    /// as long.
    fn first_by_class(&self, width: u32, duration: Time, from: Time) -> Time {
        let (mut free, mut changes) = (0, Vec::new());
        for steps in &self.classes {
            free += least_ahead(steps, duration, from, &mut changes);
        }
        changes.sort_unstable();
        let level = i64::from(width);
        let mut at = from;
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            if free >= level {
                break;
            }
            at = same[0].0;
            free += same.iter().map(|&(_, change)| change).sum::<i64>();
        }
        assert!(free >= level, "after the last change of any class all processors are free throughout");
        at
    }

    fn fits_by_class(&self, width: u32, start: Time, end: Time) -> bool {
        self.classes.is_empty()
            || self.classes.iter().map(|steps| steps.min_within(start, end)).sum::<i64>() >= i64::from(width)
    }

    /// Distributes the processors over the classes, in order. Processors that are never closed come last.
    fn parts(&self, width: u32, start: Time, end: Time) -> Box<[u32]> {
        let mut missing = width;
        let parts = self.classes.iter().map(|steps| {
            let part = missing.min(steps.min_within(start, end) as u32);
            missing -= part;
            part
        });
        let parts = parts.collect();
        assert_eq!(missing, 0, "processors are held only if they are free");
        parts
    }
}

impl FreeTime for Timeline {
    type Instant = Time;
    type Held = Reservation;

    fn earliest_fit(&self, width: u32, duration: Time, after: Time) -> Time {
        let level = i64::from(width);
        let mut start = after;
        let mut missed = 0;
        loop {
            start =
                self.total.next_reaching(start, level).expect("the platform has the requested number of processors");
            match self.total.next_below(start, level) {
                Some(blocked) if blocked < start + duration => start = blocked,
                _ if self.fits_by_class(width, start, start + duration) => return start,
                // At `start`, enough processors are free in all classes together, but too few stay free for the whole
                // duration. The next start to try is the next change of a class.
                _ if missed >= FEW => return self.first_by_class(width, duration, start),
                _ => {
                    missed += 1;
                    start = self
                        .next_change(start)
                        .expect("after the last change of any class all processors are free throughout");
                }
            }
        }
    }

    fn fits(&self, width: u32, start: Time, duration: Time) -> bool {
        self.total.next_below(start, i64::from(width)).is_none_or(|blocked| blocked >= start + duration)
            && self.fits_by_class(width, start, start + duration)
    }

    /// # Panics
    /// Panics if the processors are not free.
    fn hold(&mut self, width: u32, start: Time, end: Time) -> Reservation {
        let parts = (!self.classes.is_empty()).then(|| self.parts(width, start, end));
        let reservation = Reservation { start, end, width, parts };
        self.change(&reservation, -1);
        reservation
    }

    fn release(&mut self, held: &Reservation) {
        self.change(held, 1);
    }
}

/// Moves a window of length `duration` over a step function. Returns the minimum within the window at `from`, and
/// appends the later changes of the minimum.
fn least_ahead(steps: &Steps, duration: Time, from: Time, changes: &mut Vec<(Time, i64)>) -> i64 {
    let mut pieces: Vec<(Time, i64)> = Vec::new();
    steps.each_from(from, &mut |at, value| pieces.push((at, value)));
    // A piece is a period in which the function is constant. `ahead` contains the pieces in the window that may become
    // the minimum: a piece is omitted if a later piece has at most its value. So the values increase, and the first
    // piece has the minimum. A piece enters when the end of the window reaches the start of the piece. A piece leaves
    // when the start of the window reaches the end of the piece.
    let mut ahead: VecDeque<(i64, Time)> = VecDeque::new();
    let enters = |at: Time| Time::from_ticks(at.ticks().saturating_sub(duration.ticks()).saturating_add(1)).max(from);
    let ends = |index: usize| pieces.get(index + 1).map_or(Time::MAX, |next| next.0);
    let (mut index, mut least, mut first) = (0, 0, None);
    loop {
        let enter = pieces.get(index).map_or(Time::MAX, |&(at, _)| enters(at));
        let leave = ahead.front().map_or(Time::MAX, |&(_, end)| end);
        let at = enter.min(leave);
        if at == Time::MAX {
            return first.unwrap_or(0);
        }
        while pieces.get(index).is_some_and(|piece| enters(piece.0) == at) {
            let value = pieces[index].1;
            while ahead.back().is_some_and(|last| last.0 >= value) {
                ahead.pop_back();
            }
            ahead.push_back((value, ends(index)));
            index += 1;
        }
        while ahead.front().is_some_and(|next| next.1 <= at) {
            ahead.pop_front();
        }
        let now = ahead.front().map_or(0, |&(value, _)| value);
        if first.is_none() {
            first = Some(now);
        } else if now != least {
            changes.push((at, now - least));
        }
        least = now;
    }
}

#[cfg(test)]
mod tests;
