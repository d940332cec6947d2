//! Reservations with processors.

use std::collections::BTreeMap;

use makespan_core::{FreeTime, Time, View};

use super::plan::ReservationSpace;
use crate::free_time::{Period, Strips};
use crate::policy::held::{disjoint, interchangeable};
use crate::policy::order::QueuePlace;
use crate::policy::space::{ClosedSlot, Space, running};

/// The free processors for reservations. This type is used if processors differ by speed, by node or by unavailable
/// periods.
///
/// A reservation guarantees a start, not certain processors. Suppose that processors differ only by unavailable
/// periods. At each instant of a new reservation, enough processors may be free, but not the same processors at all
/// instants. In this case, all reservations get new processors, in the order of their starts, to make the new
/// reservation possible. The starts of the old reservations do not change. So an unavailable period that affects no
/// task does not change any start.
pub(super) struct Sets<'a, 'b> {
    view: View<'a>,
    /// The running tasks and the reservations.
    space: Space<'a>,
    /// The number of free processors over time, or `None` if processors are not interchangeable.
    free: Option<Strips>,
    /// The reservations, by place in the queue.
    places: &'b mut BTreeMap<QueuePlace, ClosedSlot>,
}

impl<'a, 'b> Sets<'a, 'b> {
    /// Returns the free processors, without the processors of existing reservations.
    pub(super) fn new(view: &View<'a>, places: &'b mut BTreeMap<QueuePlace, ClosedSlot>) -> Self {
        let mut space = Space::of(view);
        let mut free = interchangeable(view.instance).then(|| free_processors(view));
        for slot in places.values() {
            space.hold(slot.clone());
            if let Some(free) = &mut free {
                free.hold(slot.processors.len(), slot.start, slot.end);
            }
        }
        Self { view: *view, space, free, places }
    }

    /// Returns the first slot for a task. The slot must begin in `period`.
    fn search(&mut self, place: QueuePlace, period: Period) -> Option<ClosedSlot> {
        let QueuePlace { task, asked, .. } = place;
        let Some(free) = &self.free else {
            let found = self.space.earliest(task, asked.width, period.from);
            return found.filter(|slot| slot.start < period.until);
        };
        let openings = self.space.openings(period.from);
        let mut from = period.from;
        loop {
            let start = free.earliest_fit_in(asked.width, asked.time, Period { from, ..period })?;
            if let Some(slot) = self.space.place(task, asked.width, start) {
                return Some(slot);
            }
            if let Some((space, places, slot)) = self.placed_anew(place, start) {
                (self.space, *self.places) = (space, places);
                return Some(slot);
            }
            from = *openings.get(openings.partition_point(|&opening| opening <= start))?;
        }
    }

    /// Assigns new processors to all reservations, so that an additional reservation at `start` fits. Returns the new
    /// space, its reservations, and the additional slot.
    fn placed_anew(
        &self,
        more: QueuePlace,
        start: Time,
    ) -> Option<(Space<'a>, BTreeMap<QueuePlace, ClosedSlot>, ClosedSlot)> {
        let mut order: Vec<(Time, QueuePlace)> = self.places.iter().map(|(&place, slot)| (slot.start, place)).collect();
        order.push((start, more));
        order.sort_unstable();
        let (mut space, mut places) = (Space::of(&self.view), BTreeMap::new());
        for (start, place) in order {
            let slot = space.place(place.task, place.asked.width, start)?;
            space.hold(slot.clone());
            places.insert(place, slot);
        }
        let slot = places.remove(&more)?;
        space.release(&slot);
        Some((space, places, slot))
    }
}

/// Returns the number of processors that are neither busy nor closed, over time. A processor that is both busy and
/// closed is subtracted only once.
fn free_processors(view: &View<'_>) -> Strips {
    let mut free = Strips::constant(view.instance.processors());
    for slot in running(view) {
        free.hold(slot.processors.len(), slot.start, slot.end);
    }
    let down = disjoint(view.down);
    for class in view.instance.availability().classes() {
        let closed = || class.closed.iter().copied().filter(|period| period.1 > view.now);
        for (start, end) in closed() {
            free.hold(class.processors.len(), start, end);
        }
        for failure in &down {
            let width = failure.processors.intersection(&class.processors).len();
            // Subtract a failed processor only outside its closed periods, because the loop above has subtracted it in
            // these periods.
            let mut from = failure.start;
            for (start, end) in closed().chain([(failure.end, failure.end)]) {
                if from < start.min(failure.end) {
                    free.hold(width, from, start.min(failure.end));
                }
                from = from.max(end);
            }
        }
    }
    free
}

impl ReservationSpace<ClosedSlot> for Sets<'_, '_> {
    fn earliest(&mut self, place: QueuePlace, after: Time) -> Option<ClosedSlot> {
        self.search(place, Period::since(after))
    }

    fn hold(&mut self, place: QueuePlace, slot: &ClosedSlot) {
        self.space.hold(slot.clone());
        if let Some(free) = &mut self.free {
            free.hold(slot.processors.len(), slot.start, slot.end);
        }
        self.places.insert(place, slot.clone());
    }

    fn release(&mut self, place: QueuePlace, _: &ClosedSlot) {
        let Some(slot) = self.places.remove(&place) else { return };
        self.space.release(&slot);
        if let Some(free) = &mut self.free {
            free.release(&(slot.processors.len(), slot.start, slot.end));
        }
    }

    fn earlier(&mut self, place: QueuePlace, old: &ClosedSlot, now: Time, _opened: Period) -> Option<ClosedSlot> {
        // Use the current slot of the reservation, because reservations may have exchanged their processors.
        let slot = self.places.get(&place).unwrap_or(old).clone();
        self.release(place, &slot);
        let new = self.search(place, Period { from: now, until: old.start });
        // Other reservations may hold processors of the old slot by now. These processors are then held twice, but
        // only until the old reservation is released.
        self.hold(place, &slot);
        new
    }
}
