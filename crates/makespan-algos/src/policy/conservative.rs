//! Conservative backfilling.

mod plan;
mod sets;

use std::collections::BTreeMap;

use makespan_core::{Decision, Event, FreeTime, Policy, TaskId, Time, View};
use rustc_hash::FxHashMap;

use self::plan::{InstantEvents, ReservationPlan, ReservationSpace, ReservationStart};
use self::sets::Sets;
use super::held::HeldProcessors;
use super::order::{QueuePlace, QueueReading};
use super::queue_state::{ProcessorStarts, QueueState, Update};
use super::space::ClosedSlot;
use crate::free_time::Period;

/// When a task arrives, gives it a reservation: its earliest fit, given all running tasks and all reservations. No
/// reservation is moved to a later instant while tasks end by their estimates. Thus a task backfills only if it delays
/// no other task.
///
/// If a task ends early, the reservations are compressed. In the order of the queue, each task releases its
/// reservation and takes its earliest fit, which is never later than the released reservation. A task that arrives at
/// the instant of the early end gets its reservation after the compression. So the order of the queue determines only
/// which task may use the released processors first. No task can take the reservation of another task. If a task runs
/// longer than its estimate, reservations that relied on this estimate cannot be kept. Then all reservations are made
/// again in the order of the queue.
///
/// Source: A. Mu'alem and D. Feitelson, IEEE Trans. Parallel Distrib. Syst. 12(6), 2001, DOI 10.1109/71.932708, section
/// 2, including the compression in the order of the queue. Complexity for n tasks: O(log n) for an arrival, and for the
/// end of a task at its expected end. For an early end, the policy checks for each waiting task whether enough
/// processors are free before its reservation. If processors are not interchangeable, each reservation includes its
/// processors, and each search for a fit visits all reservations.
///
/// ```
/// let policy = makespan_algos::policy::policy("conservative[order=saf]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct Conservative {
    reading: QueueReading,
    state: Option<QueueState>,
    /// The reservations if the number of free processors determines whether a task fits. Each reservation consists of
    /// a start.
    starts: ReservationPlan<Time>,
    /// The reservations if the choice of processors matters. Each reservation consists of a start, an end and
    /// processors.
    slots: ReservationPlan<ClosedSlot>,
    /// The current slot of each reservation, by place in the queue. A slot in `slots` may be out of date, because
    /// reservations may exchange their processors.
    places: BTreeMap<QueuePlace, ClosedSlot>,
}

impl Conservative {
    /// Returns a policy with a queue that follows the rules in `reading`.
    pub fn new(reading: QueueReading) -> Self {
        Self { reading, ..Self::default() }
    }

    fn by_counts(&mut self, news: InstantEvents<'_>, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let Some(state) = self.state.as_mut() else { return };
        let (plan, now) = (&mut self.starts, view.now);
        plan.take_in(&state.queue, &mut Counts { held: &mut state.held }, news, view);
        let mut starts = ProcessorStarts::new(view);
        while let Some((place, start)) = plan.take_due(now) {
            Counts { held: &mut state.held }.release(place, &start);
            if !starts.start(state, place, decisions) {
                // A task that was expected to end by now still holds the processors. Try to start the waiting task at
                // the next instant.
                plan.put(place, now + Time::TICK);
                plan.moved(start, Time::MAX);
                Counts { held: &mut state.held }.hold(place, &(now + Time::TICK));
            }
        }
    }

    fn by_sets(&mut self, news: InstantEvents<'_>, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let Some(QueueState { queue, held, .. }) = self.state.as_mut() else { return };
        let (plan, now) = (&mut self.slots, view.now);
        if news.update == Update::Anew {
            self.places.clear();
        }
        let mut room = Sets::new(view, &mut self.places);
        plan.take_in(queue, &mut room, news, view);
        let mut free = view.free.clone();
        while let Some((place, slot)) = plan.take_due(now) {
            let slot = self.places.remove(&place).unwrap_or(slot);
            if slot.processors.is_subset(&free) {
                free = free.difference(&slot.processors);
                queue.remove(place);
                held.begin(place.task, &slot.processors, slot.start, slot.end);
                decisions.push(Decision::Start { task: place.task, processors: slot.processors });
            } else {
                let slot = ClosedSlot { start: now + Time::TICK, end: slot.end + Time::TICK, ..slot };
                self.places.insert(place, slot.clone());
                plan.put(place, slot);
            }
        }
    }
}

impl Policy for Conservative {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let update = QueueState::hear(&mut self.state, self.reading, events, view);
        let Some(state) = self.state.as_mut() else { return };
        if self.reading.order.moves() {
            self.starts.see_order(&state.queue);
            self.slots.see_order(&state.queue);
            let mut slots: FxHashMap<TaskId, ClosedSlot> =
                std::mem::take(&mut self.places).into_iter().map(|(place, slot)| (place.task, slot)).collect();
            let now = state.queue.iter().filter_map(|place| Some((place, slots.remove(&place.task)?)));
            self.places = now.collect();
        }
        let late = state.held.extend(view, &[]);
        let news = InstantEvents { events, update, late, opened: state.held.take_opened() };
        let next = if state.counted {
            self.by_counts(news, view, decisions);
            self.starts.next_start()
        } else {
            self.by_sets(news, view, decisions);
            self.slots.next_start()
        };
        // Request a wake-up at the start of the next reservation. A compression visits each task once, so a
        // reservation may begin at an instant at which no task ends and no other event occurs.
        decisions.extend(next.map(|start| Decision::WakeAt(start.max(view.now + Time::TICK))));
    }
}

/// The free processors for reservations. This type is used if the number of free processors determines whether a task
/// fits.
struct Counts<'a> {
    held: &'a mut HeldProcessors,
}

impl ReservationStart for Time {
    fn start(&self) -> Time {
        *self
    }
}

impl ReservationStart for ClosedSlot {
    fn start(&self) -> Time {
        self.start
    }
}

impl ReservationSpace<Time> for Counts<'_> {
    fn earliest(&mut self, place: QueuePlace, after: Time) -> Option<Time> {
        let asked = place.asked;
        self.held.timeline.earliest_fit_in(asked.width, asked.time, Period::since(after))
    }

    fn hold(&mut self, place: QueuePlace, start: &Time) {
        let asked = place.asked;
        self.held.timeline.hold(asked.width, *start, *start + asked.time);
    }

    fn release(&mut self, place: QueuePlace, start: &Time) {
        let asked = place.asked;
        self.held.timeline.release(&(asked.width, *start, *start + asked.time));
    }

    fn earlier(&mut self, place: QueuePlace, start: &Time, now: Time, opened: Period) -> Option<Time> {
        let asked = place.asked;
        // A fit that is earlier than the reservation must overlap the period in which processors were released.
        let from = now.max(Time::from_ticks(opened.from.ticks() - asked.time.ticks() + 1));
        let period = Period { from, until: opened.until.min(*start) };
        self.held.timeline.earliest_fit_of_owner(asked.width, asked.time, period, *start)
    }
}
