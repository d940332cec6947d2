//! The reservations of all waiting tasks.

use std::collections::BTreeSet;

use makespan_core::{Event, TaskId, Time, View};
use rustc_hash::FxHashMap;

use crate::free_time::Period;
use crate::policy::order::QueuePlace;
use crate::policy::queue::Queue;
use crate::policy::queue_state::Update;

/// A reservation that has a start.
pub(super) trait ReservationStart: Clone {
    fn start(&self) -> Time;
}

/// The free processors that reservations of kind `S` use.
pub(super) trait ReservationSpace<S> {
    /// Returns the earliest fit from `after` on, or `None` if the task never fits.
    fn earliest(&mut self, place: QueuePlace, after: Time) -> Option<S>;
    fn hold(&mut self, place: QueuePlace, reservation: &S);
    fn release(&mut self, place: QueuePlace, reservation: &S);
    /// Returns the earliest fit from `now` on, or `None` if this fit is not earlier than `reservation`. The processors
    /// of `reservation` are treated as free. Since the last search, processors were released only in the period
    /// `opened`. So an implementation need only search fits that overlap this period.
    fn earlier(&mut self, place: QueuePlace, reservation: &S, now: Time, opened: Period) -> Option<S>;
}

/// The events of an instant, and their consequences.
#[derive(Clone, Copy)]
pub(super) struct InstantEvents<'a> {
    pub events: &'a [Event],
    /// The effect of the events on the state of the queue.
    pub update: Update,
    /// Whether a task has exceeded its expected end.
    pub late: bool,
    /// The period in which processors are free because tasks ended early.
    pub opened: Option<Period>,
}

/// A reservation for every waiting task.
#[derive(Debug)]
pub(super) struct ReservationPlan<S> {
    /// The reservation of each waiting task.
    reserved: FxHashMap<TaskId, S>,
    /// All reservations, by start.
    upcoming: BTreeSet<(Time, QueuePlace)>,
    /// The period in which processors became free because reservations moved. Includes only the moves after the
    /// waiting tasks were last checked for earlier starts.
    opened: Option<Period>,
}

impl<S> Default for ReservationPlan<S> {
    fn default() -> Self {
        Self { reserved: FxHashMap::default(), upcoming: BTreeSet::new(), opened: None }
    }
}

impl<S: ReservationStart> ReservationPlan<S> {
    /// Removes all reservations.
    fn clear(&mut self) {
        self.reserved.clear();
        self.upcoming.clear();
        self.opened = None;
    }

    /// Updates the places of the reservations after the order of the queue has changed.
    pub(super) fn see_order(&mut self, queue: &Queue) {
        let start = |place: QueuePlace| Some((self.reserved.get(&place.task)?.start(), place));
        self.upcoming = queue.iter().filter_map(start).collect();
    }

    /// Adds a period in which processors became free, and for which the waiting tasks have not been checked yet.
    pub(super) fn moved(&mut self, start: Time, end: Time) {
        self.opened = Some(Period::hull(self.opened, Period { from: start, until: end }));
    }

    pub(super) fn put(&mut self, place: QueuePlace, reservation: S) {
        self.upcoming.insert((reservation.start(), place));
        self.reserved.insert(place.task, reservation);
    }

    fn take(&mut self, place: QueuePlace) -> Option<S> {
        let reservation = self.reserved.remove(&place.task)?;
        self.upcoming.remove(&(reservation.start(), place));
        Some(reservation)
    }

    /// Removes and returns the first reservation, if its start is now or has passed.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(QueuePlace, S)> {
        let &(start, place) = self.upcoming.first()?;
        if start > now {
            return None;
        }
        self.take(place).map(|reservation| (place, reservation))
    }

    /// Returns the start of the next reservation.
    pub(super) fn next_start(&self) -> Option<Time> {
        self.upcoming.first().map(|&(start, _)| start)
    }

    /// Updates the reservations after the events of an instant.
    pub(super) fn take_in(
        &mut self,
        queue: &Queue,
        room: &mut impl ReservationSpace<S>,
        news: InstantEvents<'_>,
        view: &View<'_>,
    ) {
        let now = view.now;
        if news.update == Update::Anew {
            // The state was read from the view again, so discard all reservations.
            self.clear();
        } else if news.late {
            self.release_all(room);
        } else if news.update == Update::Surprise {
            self.compress(queue, room, now, news.opened.unwrap_or(Period { from: now, until: now }));
        }
        self.reserve_arrivals(queue, room, news.events, view);
    }

    /// Releases the processors of all reservations.
    fn release_all(&mut self, room: &mut impl ReservationSpace<S>) {
        self.opened = None;
        while let Some((_, place)) = self.upcoming.pop_first() {
            if let Some(reservation) = self.reserved.remove(&place.task) {
                room.release(place, &reservation);
            }
        }
    }

    /// In the order of the queue, moves each reservation to the earliest fit of its task. This fit may be the old
    /// reservation. Processors became free in the period `opened`. At the last check, no task could start earlier than
    /// reserved. So a task can start earlier than reserved only if its fit overlaps a period in which processors have
    /// become free since the last check.
    fn compress(&mut self, queue: &Queue, room: &mut impl ReservationSpace<S>, now: Time, opened: Period) {
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

    /// Makes reservations for all waiting tasks without one. These are new tasks or, if the reservations were
    /// discarded, all tasks.
    fn reserve_arrivals(
        &mut self,
        queue: &Queue,
        room: &mut impl ReservationSpace<S>,
        events: &[Event],
        view: &View<'_>,
    ) {
        let arrived = events.iter().filter_map(|event| match *event {
            Event::Submitted(task) | Event::Interrupted(task) => queue.place(view.instance, task),
            _ => None,
        });
        let mut places: Vec<QueuePlace> = arrived.collect();
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
