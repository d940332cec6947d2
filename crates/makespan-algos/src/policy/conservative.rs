//! Conservative backfilling.

mod plan;
mod sets;

use std::collections::BTreeMap;

use makespan_core::{Decision, Event, FreeTime, Policy, TaskId, Time, View};
use rustc_hash::FxHashMap;

use self::plan::{News, Plan, Room, Start};
use self::sets::Sets;
use super::held::Held;
use super::order::{Place, Reading};
use super::queue_state::{QueueState, Starts, Update};
use super::space::Slot;
use crate::free_time::Period;

/// Gives every task a reservation when it arrives: its earliest fit beside all that run and wait. No reservation is ever
/// moved to a later instant while tasks end by their estimates, so a task backfills only where it delays nobody.
///
/// When a task ends early, the reservations are compressed: in the order of the queue each task gives its reservation
/// back and takes its earliest fit, which is the same one or an earlier one. Tasks that arrive at that instant come after.
/// The order of the queue therefore says who is first to use what became free; it gives no right to what others already
/// have. When a task outlives its estimate, reservations that relied on it cannot be kept: all are made anew in the order of
/// the queue.
///
/// Source: A. Mu'alem and D. Feitelson, IEEE Trans. Parallel Distrib. Syst. 12(6), 2001, DOI 10.1109/71.932708, section 2;
/// compression in the order of the queue, as there. Complexity: O(log n) for an arrival or an end that was foreseen; an early
/// end asks each waiting task whether anything before its reservation is wide enough. Where it matters which processors a
/// task gets, reservations have their processors, and each question is a walk over all of them.
///
/// ```
/// let policy = makespan_algos::policy::policy("conservative[order=saf]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct Conservative {
    reading: Reading,
    state: Option<QueueState>,
    /// Where counts describe the platform, a reservation is its start.
    starts: Plan<Time>,
    /// Elsewhere it has its processors,
    slots: Plan<Slot>,
    /// which may be exchanged for others: those that each has now, by place in the queue.
    places: BTreeMap<Place, Slot>,
}

impl Conservative {
    /// With this queue.
    pub fn new(reading: Reading) -> Self {
        Self { reading, ..Self::default() }
    }

    fn by_counts(&mut self, news: News<'_>, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let Some(state) = self.state.as_mut() else { return };
        let (plan, now) = (&mut self.starts, view.now);
        plan.take_in(&state.queue, &mut Counts { held: &mut state.held }, news, view);
        let mut starts = Starts::new(view);
        while let Some((place, start)) = plan.take_due(now) {
            Counts { held: &mut state.held }.release(place, &start);
            if !starts.start(state, place, decisions) {
                // Something holds processors that no event told of: the task comes back at the next one.
                plan.put(place, now + Time::TICK);
                plan.moved(start, Time::MAX);
                Counts { held: &mut state.held }.hold(place, &(now + Time::TICK));
            }
        }
    }

    fn by_sets(&mut self, news: News<'_>, view: &View<'_>, decisions: &mut Vec<Decision>) {
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
                let slot = Slot { start: now + Time::TICK, end: slot.end + Time::TICK, ..slot };
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
            let mut slots: FxHashMap<TaskId, Slot> =
                std::mem::take(&mut self.places).into_iter().map(|(place, slot)| (place.task, slot)).collect();
            let now = state.queue.iter().filter_map(|place| Some((place, slots.remove(&place.task)?)));
            self.places = now.collect();
        }
        let late = state.held.extend(view, &[]);
        let news = News { events, update, late, opened: state.held.take_opened() };
        let next = if state.counted {
            self.by_counts(news, view, decisions);
            self.starts.next_start()
        } else {
            self.by_sets(news, view, decisions);
            self.slots.next_start()
        };
        // Compression in one walk may leave a reservation that begins when nothing ends.
        decisions.extend(next.map(|start| Decision::WakeAt(start.max(view.now + Time::TICK))));
    }
}

/// Reservations among what is held, by counts.
struct Counts<'a> {
    held: &'a mut Held,
}

impl Start for Time {
    fn start(&self) -> Time {
        *self
    }
}

impl Start for Slot {
    fn start(&self) -> Time {
        self.start
    }
}

impl Room<Time> for Counts<'_> {
    fn earliest(&mut self, place: Place, after: Time) -> Option<Time> {
        let asked = place.asked;
        self.held.timeline.earliest_fit_in(asked.width, asked.time, Period::since(after))
    }

    fn hold(&mut self, place: Place, start: &Time) {
        let asked = place.asked;
        self.held.timeline.hold(asked.width, *start, *start + asked.time);
    }

    fn release(&mut self, place: Place, start: &Time) {
        let asked = place.asked;
        self.held.timeline.release(&(asked.width, *start, *start + asked.time));
    }

    fn earlier(&mut self, place: Place, start: &Time, now: Time, opened: Period) -> Option<Time> {
        let asked = place.asked;
        // It has to run while something was opened.
        let from = now.max(Time::from_ticks(opened.from.ticks() - asked.time.ticks() + 1));
        let period = Period { from, until: opened.until.min(*start) };
        self.held.timeline.earliest_fit_of_owner(asked.width, asked.time, period, *start)
    }
}
