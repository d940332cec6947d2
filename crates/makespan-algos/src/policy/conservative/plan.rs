//! Reservations for all that wait.

use std::collections::BTreeSet;

use makespan_core::{Event, Instance, Time, View};

use crate::policy::held::hull;
use crate::policy::queue::Queue;
use crate::policy::queue_state::Update;

/// When a reservation begins.
pub(super) trait Start: Clone {
    fn start(&self) -> Time;
}

/// From when to when.
pub(super) type Period = (Time, Time);

/// Where reservations of kind `S` are held, for the job at a place of the queue.
pub(super) trait Room<S> {
    /// The earliest fit from an instant on; `None` if it never fits.
    fn earliest(&mut self, queue: &Queue, rank: usize, after: Time) -> Option<S>;
    fn hold(&mut self, queue: &Queue, rank: usize, reservation: &S);
    fn release(&mut self, queue: &Queue, rank: usize, reservation: &S);
    /// The earliest fit from an instant on, were the reservation given back, if that is earlier. It may be looked for only
    /// where the job would run in a period: elsewhere nothing was opened since it was last looked for.
    fn earlier(&mut self, queue: &Queue, rank: usize, reservation: &S, from: (Time, Period)) -> Option<S>;
}

/// A reservation for every job that waits.
#[derive(Debug)]
pub(super) struct Plan<S> {
    /// By place in the queue.
    reserved: Vec<Option<S>>,
    /// All of them, by start.
    upcoming: BTreeSet<(Time, usize)>,
    /// What was given back by moves after those that wait were asked whether they fit there.
    opened: Option<Period>,
}

impl<S> Default for Plan<S> {
    fn default() -> Self {
        Self { reserved: Vec::new(), upcoming: BTreeSet::new(), opened: None }
    }
}

impl<S: Start> Plan<S> {
    /// Forgets all reservations.
    fn clear(&mut self, instance: &Instance) {
        self.reserved.clear();
        self.reserved.resize(instance.jobs().len(), None);
        self.upcoming.clear();
        self.opened = None;
    }

    /// Something was given back that nobody has been asked about.
    pub(super) fn moved(&mut self, start: Time, end: Time) {
        self.opened = Some(hull(self.opened, (start, end)));
    }

    pub(super) fn put(&mut self, rank: usize, reservation: S) {
        self.upcoming.insert((reservation.start(), rank));
        self.reserved[rank] = Some(reservation);
    }

    fn take(&mut self, rank: usize) -> Option<S> {
        let reservation = self.reserved[rank].take()?;
        self.upcoming.remove(&(reservation.start(), rank));
        Some(reservation)
    }

    /// Takes out a reservation that begins now, or should have.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(usize, S)> {
        let &(start, rank) = self.upcoming.first()?;
        if start > now {
            return None;
        }
        self.take(rank).map(|reservation| (rank, reservation))
    }

    /// When the next reservation begins.
    pub(super) fn next_start(&self) -> Option<Time> {
        self.upcoming.first().map(|&(start, _)| start)
    }

    /// Takes in what happened, with what the state makes of it and whether something takes longer than was believed; in
    /// `opened` jobs that ended early gave processors back.
    pub(super) fn take_in(
        &mut self,
        queue: &Queue,
        room: &mut impl Room<S>,
        (update, late): (Update, bool),
        (events, view, opened): (&[Event], &View<'_>, Option<Period>),
    ) {
        let now = view.now;
        if update == Update::Anew {
            // What was held is gone, and the reservations with it.
            self.clear(view.instance);
        } else if late {
            self.release_all(queue, room);
        } else if update == Update::Surprise {
            self.compress(queue, room, (now, opened.unwrap_or((now, now))));
        }
        self.reserve_arrivals(queue, room, events, now);
    }

    /// Gives all reservations back.
    fn release_all(&mut self, queue: &Queue, room: &mut impl Room<S>) {
        self.opened = None;
        while let Some((_, rank)) = self.upcoming.pop_first() {
            if let Some(reservation) = self.reserved[rank].take() {
                room.release(queue, rank, &reservation);
            }
        }
    }

    /// In the order of the queue, each job takes its earliest fit: the reservation that it has, or an earlier one.
    /// Processors were given back in the period `opened`. Who could not start earlier when last asked, when it was placed
    /// or at the last compression, can only where processors were given back since.
    fn compress(&mut self, queue: &Queue, room: &mut impl Room<S>, (now, opened): (Time, Period)) {
        let mut opened = hull(self.opened.take(), opened);
        let mut from = 0;
        while let Some(rank) = queue.next(from) {
            from = rank + 1;
            let Some(old) = &self.reserved[rank] else { continue };
            if let Some(new) = room.earlier(queue, rank, old, (now, opened)) {
                let left = (old.start(), old.start() + queue.asked(rank).time);
                opened = hull(Some(opened), left);
                room.release(queue, rank, old);
                room.hold(queue, rank, &new);
                self.take(rank);
                self.put(rank, new);
                self.moved(left.0, left.1);
            }
        }
    }

    /// Reserves for all that wait without: the arrivals, or everybody when the reservations were forgotten.
    fn reserve_arrivals(&mut self, queue: &Queue, room: &mut impl Room<S>, events: &[Event], now: Time) {
        let arrived = events.iter().filter_map(|event| match *event {
            Event::Submitted(job) | Event::Interrupted(job) => Some(queue.rank(job)),
            _ => None,
        });
        let mut ranks: Vec<usize> = arrived.filter(|&rank| queue.contains(queue.job(rank))).collect();
        if self.upcoming.len() + ranks.len() != queue.len() {
            ranks = std::iter::successors(queue.first(), |rank| queue.next(rank + 1)).collect();
        }
        ranks.sort_unstable();
        for rank in ranks {
            if self.reserved[rank].is_none()
                && let Some(reservation) = room.earliest(queue, rank, now)
            {
                room.hold(queue, rank, &reservation);
                self.put(rank, reservation);
            }
        }
    }
}
