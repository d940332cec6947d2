//! The plan of a job, and whether its places can be kept.

use makespan_core::FreeTime;

use crate::free_time::Calendar;
use crate::kernel::chains::strategy::Offer;
use crate::kernel::graph::Place;

/// The plan of a job.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Its strategy: what ends in time, by finish.
    pub variants: Vec<Offer>,
    /// Which one is taken; HEFT's places without it.
    pub chosen: Option<usize>,
    /// What is taken.
    pub offer: Offer,
    /// Until when each task holds its processor.
    pub until: Vec<i64>,
    /// Whether it ends in time.
    pub in_time: bool,
    /// Whether the job is given up: it holds nothing.
    pub given_up: bool,
}

impl Choice {
    /// Whether a variant of a strategy, with its tasks held until these instants, still fits from `now` on.
    pub fn fits(&self, calendars: &[Calendar], now: i64) -> bool {
        fits(&self.offer, &self.until, calendars, now)
    }

    /// Makes processors busy for it.
    pub fn occupy(&self, calendars: &mut [Calendar]) {
        if !self.given_up {
            for (place, &until) in self.offer.places.iter().zip(&self.until) {
                calendars[place.processor.index()].hold(1, place.start, until);
            }
        }
    }

    /// Makes its processors free again.
    pub fn vacate(&self, calendars: &mut [Calendar]) {
        if !self.given_up {
            for (place, &until) in self.offer.places.iter().zip(&self.until) {
                calendars[place.processor.index()].release(&(place.start, until));
            }
        }
    }
}

/// Whether the places of an offer are free, and none is in the past.
pub(super) fn fits(offer: &Offer, until: &[i64], calendars: &[Calendar], now: i64) -> bool {
    delay(offer, until, calendars, now) == 0
}

/// By how much all places of an offer together have to be later for them to be free, and none in the past: the least such time.
pub(super) fn delay(offer: &Offer, until: &[i64], calendars: &[Calendar], now: i64) -> i64 {
    let mut delay = 0;
    loop {
        // Each place alone needs at least this; a common delay may be more.
        let own = |(place, &until): (&Place, &i64)| {
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

/// An offer with all its places later by some time, and until when each task holds its processor then.
pub(super) fn delayed(mut offer: Offer, delay: i64) -> Offer {
    offer.places.iter_mut().for_each(|place| place.start += delay);
    offer.reserves.iter_mut().for_each(|held| held.until += delay);
    for collision in &mut offer.collisions {
        collision.planned.start += delay;
        collision.resolved.start += delay;
    }
    offer.finish += delay;
    offer
}
