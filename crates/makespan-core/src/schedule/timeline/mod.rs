//! Free processors over time, on any platform and for any number of placements.

mod steps;

use std::collections::VecDeque;

use steps::Steps;

use crate::model::{Instance, Time};
use crate::schedule::FreeTime;

/// How often a question is asked of each class at one instant before a walk over all of them answers it.
const FEW: usize = 8;

/// Free processors over time, by class of equally available processors.
///
/// A question takes O(g log n) time, with n placements and g the gaps that are wide enough but too short and lie
/// before the answer. With reservations or outages it is asked of each class of processors, at some instants, and then takes
/// O(n log n).
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Free processors of all classes together.
    total: Steps,
    /// Free processors of each class; empty when there is one class, which `total` then describes.
    classes: Vec<Steps>,
}

/// Processors held from `start` to `end`. Ids are assigned when a schedule is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// First instant.
    pub start: Time,
    /// First instant at which they are free again.
    pub end: Time,
    /// How many.
    pub width: u32,
    /// How many of each class, where there are several.
    pub(crate) parts: Option<Box<[u32]>>,
}

impl Reservation {
    /// A reservation on a platform whose processors are always open, made without asking a timeline.
    pub fn on_open_platform(width: u32, start: Time, end: Time) -> Self {
        Self { start, end, width, parts: None }
    }

    /// How many of each class, or of each pool of [`ScheduleBuilder::finish_from`](crate::ScheduleBuilder), where there
    /// are several.
    pub fn parts(&self) -> Option<&[u32]> {
        self.parts.as_deref()
    }

    /// A reservation of so many processors of each pool of [`ScheduleBuilder::finish_from`](crate::ScheduleBuilder).
    pub fn of_parts(parts: Box<[u32]>, start: Time, end: Time) -> Self {
        Self { start, end, width: parts.iter().sum(), parts: Some(parts) }
    }
}

impl Timeline {
    /// The platform of the instance, empty but for its reservations and outages.
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

    /// Free processors at an instant.
    pub fn free_at(&self, instant: Time) -> u32 {
        self.total.at(instant) as u32
    }

    /// The most processors that one job could hold from `start` to `end`: free throughout, never growing with `end`.
    pub fn free_throughout(&self, start: Time, end: Time) -> u32 {
        let least = |steps: &Steps| steps.min_within(start, end);
        let free = if self.classes.is_empty() { least(&self.total) } else { self.classes.iter().map(least).sum() };
        free.max(0) as u32
    }

    /// The first instant after `after` at which something becomes free or is taken, even where as much becomes free as
    /// is taken.
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

    /// The first instant, not before `from`, from which `width` processors are free for `duration`, by one walk over all
    /// changes of all classes: O(n log n), where asking at each change takes as long for each of them.
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

    /// Takes from the most constrained classes first.
    fn parts(&self, width: u32, start: Time, end: Time) -> Box<[u32]> {
        let mut missing = width;
        let parts = self.classes.iter().map(|steps| {
            let part = missing.min(steps.min_within(start, end) as u32);
            missing -= part;
            part
        });
        let parts = parts.collect();
        assert_eq!(missing, 0, "processors are held only where they are free");
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
                self.total.next_reaching(start, level).expect("the platform has as many processors as are asked for");
            match self.total.next_below(start, level) {
                Some(blocked) if blocked < start + duration => start = blocked,
                _ if self.fits_by_class(width, start, start + duration) => return start,
                // Enough are free in number, but not the same ones throughout: another class has to open or close.
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
    /// When they are not free.
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

/// The smallest value of a step function from an instant on for `duration`, and all later changes of that as the instant moves.
fn least_ahead(steps: &Steps, duration: Time, from: Time, changes: &mut Vec<(Time, i64)>) -> i64 {
    let mut pieces: Vec<(Time, i64)> = Vec::new();
    steps.each_from(from, &mut |at, value| pieces.push((at, value)));
    // A piece is ahead from the first instant whose duration reaches into it until its end. Those that are ahead and have no
    // smaller one behind them, by their values: the first is the smallest.
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
