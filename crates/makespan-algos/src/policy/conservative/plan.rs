//! Reservations for all that wait.

use std::collections::BTreeSet;

use makespan_core::{Event, TaskId, Time, View};
use rustc_hash::FxHashMap;

use crate::free_time::Period;
use crate::policy::order::Place;
use crate::policy::queue::Queue;
use crate::policy::queue_state::Update;

/// When a reservation begins.
pub(super) trait Start: Clone {
    fn start(&self) -> Time;
}

/// Where reservations of kind `S` are held, for the task at a place of the queue.
pub(super) trait Room<S> {
    /// The earliest fit from an instant on; `None` if it never fits.
    fn earliest(&mut self, place: Place, after: Time) -> Option<S>;
    fn hold(&mut self, place: Place, reservation: &S);
    fn release(&mut self, place: Place, reservation: &S);
    /// The earliest fit from `now` on, were the reservation given back, if that is earlier. It may be looked for only where
    /// the task would run in the period `opened`: elsewhere nothing was given back since it was last looked for.
    fn earlier(&mut self, place: Place, reservation: &S, now: Time, opened: Period) -> Option<S>;
}

/// What happened at an instant.
#[derive(Clone, Copy)]
pub(super) struct News<'a> {
    pub events: &'a [Event],
    /// What the state makes of the events.
    pub update: Update,
    /// Whether something takes longer than was believed.
    pub late: bool,
    /// Where tasks that ended early gave processors back.
    pub opened: Option<Period>,
}

/// A reservation for every task that waits.
#[derive(Debug)]
pub(super) struct Plan<S> {
    /// By task.
    reserved: FxHashMap<TaskId, S>,
    /// All of them, by start.
    upcoming: BTreeSet<(Time, Place)>,
    /// What was given back by moves after those that wait were asked whether they fit there.
    opened: Option<Period>,
}

impl<S> Default for Plan<S> {
    fn default() -> Self {
        Self { reserved: FxHashMap::default(), upcoming: BTreeSet::new(), opened: None }
    }
}

impl<S: Start> Plan<S> {
    /// Forgets all reservations.
    fn clear(&mut self) {
        self.reserved.clear();
        self.upcoming.clear();
        self.opened = None;
    }

    /// The order of the queue has changed.
    pub(super) fn see_order(&mut self, queue: &Queue) {
        let start = |place: Place| Some((self.reserved.get(&place.task)?.start(), place));
        self.upcoming = queue.iter().filter_map(start).collect();
    }

    /// Something was given back that nobody has been asked about.
    pub(super) fn moved(&mut self, start: Time, end: Time) {
        self.opened = Some(Period::hull(self.opened, Period { from: start, until: end }));
    }

    pub(super) fn put(&mut self, place: Place, reservation: S) {
        self.upcoming.insert((reservation.start(), place));
        self.reserved.insert(place.task, reservation);
    }

    fn take(&mut self, place: Place) -> Option<S> {
        let reservation = self.reserved.remove(&place.task)?;
        self.upcoming.remove(&(reservation.start(), place));
        Some(reservation)
    }

    /// Takes out a reservation that begins now, or should have.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(Place, S)> {
        let &(start, place) = self.upcoming.first()?;
        if start > now {
            return None;
        }
        self.take(place).map(|reservation| (place, reservation))
    }

    /// When the next reservation begins.
    pub(super) fn next_start(&self) -> Option<Time> {
        self.upcoming.first().map(|&(start, _)| start)
    }

    /// Takes in what happened.
    pub(super) fn take_in(&mut self, queue: &Queue, room: &mut impl Room<S>, news: News<'_>, view: &View<'_>) {
        let now = view.now;
        if news.update == Update::Anew {
            // What was held is gone, and the reservations with it.
            self.clear();
        } else if news.late {
            self.release_all(room);
        } else if news.update == Update::Surprise {
            self.compress(queue, room, now, news.opened.unwrap_or(Period { from: now, until: now }));
        }
        self.reserve_arrivals(queue, room, news.events, view);
    }

    /// Gives all reservations back.
    fn release_all(&mut self, room: &mut impl Room<S>) {
        self.opened = None;
        while let Some((_, place)) = self.upcoming.pop_first() {
            if let Some(reservation) = self.reserved.remove(&place.task) {
                room.release(place, &reservation);
            }
        }
    }

    /// In the order of the queue, each task takes its earliest fit: the reservation that it has, or an earlier one.
    /// Processors were given back in the period `opened`. Who could not start earlier when last asked, when it was placed
    /// or at the last compression, can only where processors were given back since.
    fn compress(&mut self, queue: &Queue, room: &mut impl Room<S>, now: Time, opened: Period) {
        let mut opened = Period::hull(self.opened.take(), opened);
        for place in queue.iter() {
            let Some(old) = self.reserved.get(&place.task) else { continue };
            if let Some(new) = room.earlier(place, old, now, opened) {
                let left = Period { from: old.start(), until: old.start() + place.asked.time };
                opened = Period::hull(Some(opened), left);
                room.release(place, old);
                room.hold(place, &new);
                self.take(place);
                self.put(place, new);
                self.moved(left.from, left.until);
            }
        }
    }

    /// Reserves for all that wait without: the arrivals, or everybody when the reservations were forgotten.
    fn reserve_arrivals(&mut self, queue: &Queue, room: &mut impl Room<S>, events: &[Event], view: &View<'_>) {
        let arrived = events.iter().filter_map(|event| match *event {
            Event::Submitted(task) | Event::Interrupted(task) => queue.place(view.instance, task),
            _ => None,
        });
        let mut places: Vec<Place> = arrived.collect();
        if self.upcoming.len() + places.len() == queue.len() {
            places.sort_unstable();
        } else {
            places = queue.iter().collect();
        }
        for place in places {
            if !self.reserved.contains_key(&place.task)
                && let Some(reservation) = room.earliest(place, view.now)
            {
                room.hold(place, &reservation);
                self.put(place, reservation);
            }
        }
    }
}
