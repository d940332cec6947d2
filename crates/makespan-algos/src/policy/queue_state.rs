//! The state that all policies with a queue store: the queue and the held processors. Each event updates the state.

use makespan_core::{Decision, Event, Instance, TaskId, Time, Unsupported, View};

use super::held::{HeldProcessors, counts_suffice};
use super::order::{QueuePlace, QueueReading};
use super::queue::Queue;
use super::space::{ClosedSlot, Space, next_opening};

/// The waiting tasks in order, and the held processors.
#[derive(Debug)]
pub(super) struct QueueState {
    pub queue: Queue,
    pub held: HeldProcessors,
    /// Whether the number of free processors determines whether a task fits. If it does not, the choice of processors
    /// also matters.
    pub counted: bool,
}

/// The effect of the events of an instant on the state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// Tasks arrived, and no task ended.
    Arrivals,
    /// A task ended at an unexpected instant or was interrupted, or the order of the queue changed.
    Surprise,
    /// Every task that ended, if any, ended at its expected instant.
    AsBelieved,
    /// The state was read from the view again. Processors failed or returned, run times changed, or the state differed
    /// from the view.
    Anew,
}

impl QueueState {
    /// Returns the state that the view shows.
    pub(super) fn of(view: &View<'_>, reading: QueueReading) -> Self {
        let mut queue = Queue::new(view.instance, reading);
        queue.advance(view.instance, view.now);
        queue.reset(view.instance, view.waiting);
        let counted = counts_suffice(view.instance);
        Self { queue, held: HeldProcessors::of(view, !counted), counted }
    }

    /// Returns the state that the view shows, without the tasks that `events` submit.
    pub(super) fn before(events: &[Event], view: &View<'_>, reading: QueueReading) -> Self {
        let mut state = Self::of(view, reading);
        for event in events {
            if let Event::Submitted(task) = *event
                && view.instance.release(task) == view.now
                && let Some(place) = state.queue.place(view.instance, task)
            {
                state.queue.remove(place);
            }
        }
        state
    }

    /// Processes the events of an instant. Reads the state from the view if processors failed or returned, if run times
    /// changed, or if the state differs from the view. For example, the state differs if the events refer to tasks of
    /// an earlier session.
    pub(super) fn hear(state: &mut Option<Self>, reading: QueueReading, events: &[Event], view: &View<'_>) -> Update {
        let Some(known) = state.as_mut() else {
            *state = Some(Self::of(view, reading));
            return Update::Anew;
        };
        let moved = known.queue.advance(view.instance, view.now);
        let mut heard = if moved { Update::Surprise } else { Update::Arrivals };
        for event in events {
            heard = match (known.take_in(event, view), heard) {
                (Update::Arrivals, before) => before,
                (now, Update::Arrivals) => now,
                (Update::AsBelieved, before) => before,
                (now, _) => now,
            };
        }
        let restated = known.restate(events, view);
        if known.agrees(view) && heard != Update::Anew && !restated {
            return heard;
        }
        known.queue.reset(view.instance, view.waiting);
        known.held = HeldProcessors::of(view, !known.counted);
        Update::Anew
    }

    /// Processes one event.
    pub(super) fn take_in(&mut self, event: &Event, view: &View<'_>) -> Update {
        match *event {
            Event::Submitted(task) => self.arrive(task, view),
            Event::Finished(task) | Event::Failed(task) => self.end(task, view.now),
            Event::Interrupted(task) => {
                self.end(task, view.now);
                self.arrive(task, view);
                Update::Surprise
            }
            Event::NodeUp(_) | Event::NodeDown(_) => Update::Anew,
            Event::Wake | Event::Estimated(_) => Update::AsBelieved,
        }
    }

    /// Applies changed run times. Returns whether a waiting or running task has a new run time.
    fn restate(&mut self, events: &[Event], view: &View<'_>) -> bool {
        let restated = Event::estimated(events, view.instance);
        if restated.is_empty() {
            return false;
        }
        let runs = view.running.iter().any(|run| restated.contains(run.task));
        self.queue.restate(view.instance, &restated) || runs
    }

    fn arrive(&mut self, task: TaskId, view: &View<'_>) -> Update {
        if view.waiting.contains(task) {
            self.queue.insert(view.instance, task);
        }
        Update::Arrivals
    }

    fn end(&mut self, task: TaskId, now: Time) -> Update {
        match self.held.end(task, now) {
            Some(end) if end == now => Update::AsBelieved,
            _ => Update::Surprise,
        }
    }

    /// Returns whether the numbers of waiting tasks and of running tasks equal the numbers in the view.
    pub(super) fn agrees(&self, view: &View<'_>) -> bool {
        self.queue.len() == view.waiting.len() && self.held.agrees(view)
    }

    /// Returns the maximum run time over all waiting tasks and all their allotments.
    pub(super) fn longest(&self, instance: &Instance) -> Time {
        let slowest = instance.platform().nodes().iter().filter(|node| node.processors > 0).map(|node| node.speed);
        let slowest = slowest.fold(f64::INFINITY, f64::min);
        let time = |place: QueuePlace| instance.profile(place.task).slowest().divided_by(slowest);
        self.queue.iter().map(time).max().unwrap_or(Time::ZERO)
    }

    /// Starts tasks from the head of the queue while they fit. Returns the first task that does not fit. This function
    /// is for platforms on which the choice of processors matters.
    pub(super) fn start_heads(&mut self, space: &mut Space<'_>, decisions: &mut Vec<Decision>) -> Option<QueuePlace> {
        while let Some(place) = self.queue.first() {
            let Some(slot) = space.place(place.task, place.asked.width, space.now()) else { return Some(place) };
            self.start_in(space, place, slot, decisions);
        }
        None
    }

    /// Starts the waiting task with the queue position `place`, on the processors of `slot`.
    pub(super) fn start_in(
        &mut self,
        space: &mut Space<'_>,
        place: QueuePlace,
        slot: ClosedSlot,
        decisions: &mut Vec<Decision>,
    ) {
        let task = place.task;
        self.queue.remove(place);
        self.held.begin(task, &slot.processors, slot.start, slot.end);
        decisions.push(Decision::Start { task, processors: slot.processors.clone() });
        space.hold(slot);
    }
}

/// The free processors on which tasks start, if only the number of processors matters.
pub(super) struct ProcessorStarts<'a, 'b> {
    view: &'a View<'b>,
    /// The processors that are still free, or `None` before the first start.
    free: Option<makespan_core::ProcSet>,
}

impl<'a, 'b> ProcessorStarts<'a, 'b> {
    pub(super) fn new(view: &'a View<'b>) -> Self {
        Self { view, free: None }
    }

    /// Returns the current instant.
    pub(super) fn now(&self) -> Time {
        self.view.now
    }

    /// Starts the waiting task with the queue position `place`. Returns `false` if too few processors are free.
    pub(super) fn start(&mut self, state: &mut QueueState, place: QueuePlace, decisions: &mut Vec<Decision>) -> bool {
        let QueuePlace { task, asked, .. } = place;
        let free = self.free.get_or_insert_with(|| self.view.free.clone());
        let Some(processors) = free.take(asked.width) else { return false };
        state.queue.remove(place);
        state.held.begin(task, &processors, self.view.now, self.view.now + asked.time);
        decisions.push(Decision::Start { task, processors });
        true
    }
}

/// Returns a request for a wake-up at the earliest end of an unavailable period that has begun, or begins before a
/// waiting task could end. The wake-up is needed because no event reports the end of a period.
pub(super) fn wait_for(queue: &Queue, view: &View<'_>) -> Option<Decision> {
    if queue.len() == 0 {
        return None;
    }
    let instance = view.instance;
    let next = instance.unavailable().iter().filter(|period| period.end > view.now).map(|period| period.start).min()?;
    let slowest = instance.platform().nodes().iter().filter(|node| node.processors > 0).map(|node| node.speed);
    let slowest = slowest.fold(f64::INFINITY, f64::min);
    let reach = |place: QueuePlace| view.now + instance.profile(place.task).slowest().divided_by(slowest);
    // Check that a waiting task could run into the period. Usually the first task can.
    if next > view.now && !queue.iter().any(|place| reach(place) > next) {
        return None;
    }
    let reached = queue.iter().map(reach).max()?;
    next_opening(view, reached).map(Decision::WakeAt)
}

/// Checks that transfers between nodes take no time. Policies that do not support transfers use this check.
pub(super) fn without_transfers(instance: &Instance) -> Result<(), Unsupported> {
    if instance.has_transfers() {
        return Err(Unsupported(
            "it does not support data that take time to move between nodes; use follow or job-flow".into(),
        ));
    }
    Ok(())
}
