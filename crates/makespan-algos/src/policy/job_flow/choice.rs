//! The plan of a job, and the check whether the places of its tasks are still free. A place is a processor and a
//! start.

use makespan_core::{FreeTime, Time};

use crate::free_time::Calendar;
use crate::kernel::chains::strategy::JobSchedule;
use crate::kernel::graph::TaskPlace;

/// The plan of a job.
#[derive(Clone, Debug)]
pub(super) struct FlowChoice {
    /// The strategy: the variants that end in time, sorted by the end of the job.
    pub variants: Vec<JobSchedule>,
    /// The index of the variant that the plan uses, or `None` if the plan uses HEFT's schedule.
    pub chosen: Option<usize>,
    /// The schedule that the plan uses.
    pub offer: JobSchedule,
    /// The instant until which each task holds its processor.
    pub until: Vec<i64>,
    /// Whether the plan ends in time.
    pub in_time: bool,
    /// Whether the job is cancelled. A cancelled job holds no processors.
    pub given_up: bool,
}

impl FlowChoice {
    /// Returns whether the plan still fits from `now` on.
    pub fn fits(&self, calendars: &[Calendar], now: i64) -> bool {
        fits(&self.offer, &self.until, calendars, now)
    }

    /// Returns the last instant at which the first task may start so that the job ends by `deadline`, if all tasks are
    /// delayed equally. Returns `None` if the plan ends after `deadline`.
    pub fn possible_until(&self, deadline: i64) -> Option<Time> {
        let first = self.offer.places.iter().map(|place| place.start).min()?;
        let slack = deadline.saturating_sub(self.offer.finish);
        (slack >= 0).then(|| Time::from_ticks(first.saturating_add(slack)))
    }

    /// Marks the processors of the plan as busy.
    pub fn occupy(&self, calendars: &mut [Calendar]) {
        if !self.given_up {
            for (place, &until) in self.offer.places.iter().zip(&self.until) {
                calendars[place.processor.index()].hold(1, place.start, until);
            }
        }
    }

    /// Marks the processors of the plan as free.
    pub fn vacate(&self, calendars: &mut [Calendar]) {
        if !self.given_up {
            for (place, &until) in self.offer.places.iter().zip(&self.until) {
                calendars[place.processor.index()].release(&(place.start, until));
            }
        }
    }
}

/// Returns whether all places of a schedule are free and no place starts before `now`.
pub(super) fn fits(offer: &JobSchedule, until: &[i64], calendars: &[Calendar], now: i64) -> bool {
    delay(offer, until, calendars, now) == 0
}

/// Returns the minimum delay of a schedule, in ticks, with which all its places are free and no place starts before
/// `now`. All places are delayed equally.
pub(super) fn delay(offer: &JobSchedule, until: &[i64], calendars: &[Calendar], now: i64) -> i64 {
    let mut delay = 0;
    loop {
        // The delay that each place needs by itself. The common delay is at least the largest of these delays.
        let own = |(place, &until): (&TaskPlace, &i64)| {
            let start = (place.start + delay).max(now);
            calendars[place.processor.index()].earliest_fit(1, until - place.start, start) - place.start
        };
        let needed = offer.places.iter().zip(until).map(own).max().unwrap_or(0);
        if needed <= delay {
            return delay;
        }
        delay = needed;
    }
}

/// Returns the schedule in which all places start `delay` ticks later.
pub(super) fn delayed(mut offer: JobSchedule, delay: i64) -> JobSchedule {
    offer.places.iter_mut().for_each(|place| place.start += delay);
    offer.reserves.iter_mut().for_each(|held| held.until += delay);
    for collision in &mut offer.collisions {
        collision.planned.start += delay;
        collision.resolved.start += delay;
    }
    offer.finish += delay;
    offer
}
