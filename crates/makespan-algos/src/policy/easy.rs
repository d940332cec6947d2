//! EASY backfilling.

use makespan_core::{Decision, Event, Policy, TaskId, Time, View};

use super::nodes_now::{NodesNow, UnfitTasks};
use super::order::{QueuePlace, QueueReading};
use super::queue::Gap;
use super::queue_state::{ProcessorStarts, QueueState, Update, wait_for};
use super::space::Space;
use crate::free_time::Period;

/// Starts tasks in the order of the queue while they fit. The first task that does not fit gets a reservation at the
/// earliest instant at which enough processors are free according to the estimates of running tasks. A later task
/// starts if it fits now and does not delay this reservation. There is no delay if the later task ends before the
/// reserved start, or takes processors that the task with the reservation leaves free.
///
/// Source: D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, DOI 10.1007/3-540-60153-8_35, as described by A.
/// Mu'alem and D. Feitelson, IEEE Trans. Parallel Distrib. Syst. 12(6), 2001, DOI 10.1109/71.932708. Assumptions: none.
/// If run times are at most the estimates, the head of the queue starts no later than its first reservation.
///
/// Complexity for n tasks on equal processors that are always open: O(log n) for each event and each start. In
/// addition, the policy searches a tree over the queue for the tasks to start. On all other platforms, a walk over the
/// running tasks for each waiting task that needs no more than the free processors. On these platforms, no task runs
/// into a closed period of its processors. If tasks need resources, the queue is visited once at each instant, and each
/// visited task costs a walk over the nodes. The reservation then includes all resources of the head.
///
/// The processors of the head are chosen when the head starts. The reservation has processors only if best placement
/// is required. If a later task fits only with another placement of the head, the head gets this placement.
///
/// ```
/// let policy = makespan_algos::policy::policy("easy[order=saf]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct Easy {
    reading: QueueReading,
    passes: Passes,
    state: Option<QueueState>,
    /// The reservation that the last pass made, if no task has ended since that pass.
    reserved: Option<Reserved>,
    /// The nodes if tasks need resources, otherwise `None`.
    nodes: Option<NodesNow>,
}

/// The instants at which the queue is visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// Once at each instant, after all events of the instant have been processed.
    Instant,
    /// After every event, as in simulators that process events one at a time. Arrivals are processed before ends.
    /// Until the end of a task is processed, the policy expects the task to run until its estimate. This variant
    /// reproduces the results of É. Gaussier, D. Glesser, V. Reis and D. Trystram, SC 2015, DOI
    /// 10.1145/2807591.2807646. If processors fail or return, or estimates change at an instant, the queue is visited
    /// only once.
    #[default]
    Event,
}

named!(Passes { "instant" => Instant, "event" => Event });

#[derive(Clone, Copy, Debug)]
struct Reserved {
    /// The head of the queue.
    head: QueuePlace,
    /// The reserved start.
    start: Time,
    /// Number of processors that stay free when the head starts.
    beside: u32,
}

impl Easy {
    /// Returns a policy with a queue that follows the rules in `reading`.
    pub fn new(reading: QueueReading) -> Self {
        Self { reading, ..Self::default() }
    }

    /// Sets the instants at which the queue is visited.
    #[must_use]
    pub fn looking(self, passes: Passes) -> Self {
        Self { passes, ..self }
    }

    /// Returns the task that got a reservation at the last visit of the queue, and its reserved start. Returns `None`
    /// if the number of free processors does not determine whether a task fits.
    pub fn reservation(&self) -> Option<(TaskId, Time)> {
        self.reserved.map(|reserved| (reserved.head.task, reserved.start))
    }

    /// Processes all events of the instant, and then visits the queue once.
    fn by_instant(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let heard = QueueState::hear(&mut self.state, self.reading, events, view);
        let Some(state) = self.state.as_mut() else { return };
        let late = state.held.extend(view, &[]);
        if let Some(nodes) = &mut self.nodes {
            on_nodes(state, nodes, view, decisions);
            decisions.extend(wait_for(&state.queue, view));
            return;
        }
        if !state.counted {
            by_sets(state, &mut Space::of(view), view, decisions);
            decisions.extend(wait_for(&state.queue, view));
            return;
        }
        let mut starts = ProcessorStarts::new(view);
        let unchanged = heard == Update::Arrivals && !late;
        if let Some(reserved) = self.reserved.as_mut().filter(|_| unchanged) {
            // Visit only the new tasks. The other waiting tasks did not fit at the last visit. Since then, no
            // processors were released, and the reservation has come closer.
            let mut places: Vec<QueuePlace> =
                arrivals(events).filter_map(|task| state.queue.place(view.instance, task)).collect();
            places.sort_unstable();
            if places.first().is_none_or(|&first| first > reserved.head) {
                backfill(state, reserved, &mut starts, Some(&places), decisions);
                return;
            }
        }
        self.reserved = pass(state, &mut starts, decisions);
    }

    /// Visits the queue after each event. Arrivals come first, then ends in the order of the starts.
    fn by_event(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let machines = |event: &Event| {
            matches!(event, Event::NodeUp(_) | Event::NodeDown(_) | Event::Interrupted(_) | Event::Estimated(_))
        };
        // For a single event, one visit for the whole instant gives the same result and is faster.
        if events.len() == 1 || events.iter().any(machines) {
            return self.by_instant(events, view, decisions);
        }
        if self.state.is_none() {
            self.state = Some(QueueState::before(events, view, self.reading));
        }
        let Some(state) = self.state.as_mut().filter(|state| knows(state, events, view)) else {
            return self.by_instant(events, view, decisions);
        };
        state.queue.advance(view.instance, view.now);
        let mut ended: Vec<TaskId> = Vec::new();
        for event in events {
            if let Event::Finished(task) | Event::Failed(task) = *event {
                ended.push(task);
            }
        }
        ended.sort_unstable();
        state.held.extend(view, &ended);
        ended.sort_unstable_by_key(|&task| state.held.order(task));
        let mut ground = Ground::new(state, &ended, view);
        // Tasks that were released before the policy began are already in the queue, and must not enter it again.
        let new: Vec<TaskId> = arrivals(events).filter(|&task| !state.queue.contains(task)).collect();
        if new.len() < arrivals(events).count() {
            self.reserved = ground.look(state, view, decisions);
        }
        for task in new {
            state.take_in(&Event::Submitted(task), view);
            self.reserved = ground.look(state, view, decisions);
        }
        for task in ended {
            ground.open(state, task);
            state.take_in(&Event::Finished(task), view);
            self.reserved = ground.look(state, view, decisions);
        }
        if !state.counted {
            decisions.extend(wait_for(&state.queue, view));
        }
    }
}

/// The free processors on which a pass starts tasks.
enum Ground<'a, 'b> {
    Counts(ProcessorStarts<'a, 'b>),
    Sets(Box<Space<'b>>),
}

impl<'a, 'b> Ground<'a, 'b> {
    /// Returns the free processors at an instant. The ends of the tasks `ended` have not been processed, so these
    /// tasks still hold their processors.
    fn new(state: &QueueState, ended: &[TaskId], view: &'a View<'b>) -> Self {
        if state.counted {
            return Self::Counts(ProcessorStarts::new(view));
        }
        let mut space = Space::of(view);
        ended.iter().filter_map(|&task| state.held.slot(task)).for_each(|slot| space.hold(slot));
        Self::Sets(Box::new(space))
    }

    /// Releases the processors of a task, just before its end is processed.
    fn open(&mut self, state: &QueueState, task: TaskId) {
        if let Self::Sets(space) = self
            && let Some(slot) = state.held.slot(task)
        {
            space.release(&slot);
        }
    }

    fn look(&mut self, state: &mut QueueState, view: &View<'_>, decisions: &mut Vec<Decision>) -> Option<Reserved> {
        match self {
            Self::Counts(starts) => pass(state, starts, decisions),
            Self::Sets(space) => {
                by_sets(state, space, view, decisions);
                None
            }
        }
    }
}

fn arrivals(events: &[Event]) -> impl Iterator<Item = TaskId> + '_ {
    events.iter().filter_map(|event| if let Event::Submitted(task) = *event { Some(task) } else { None })
}

/// Returns whether the view shows the state after the events.
fn knows(state: &QueueState, events: &[Event], view: &View<'_>) -> bool {
    let ended = events.iter().filter(|event| matches!(event, Event::Finished(_) | Event::Failed(_))).count();
    let waits = |task: &TaskId| view.waiting.contains(*task) && !state.queue.contains(*task);
    let arrived = arrivals(events).filter(waits).count();
    state.queue.len() + arrived == view.waiting.len() && state.held.running() == view.running.len() + ended
}

/// Visits the queue once. This function is used if the number of free processors determines whether a task fits. If
/// the head must wait, returns its reservation.
fn pass(
    state: &mut QueueState,
    starts: &mut ProcessorStarts<'_, '_>,
    decisions: &mut Vec<Decision>,
) -> Option<Reserved> {
    let now = starts.now();
    while let Some(place) = state.queue.first()
        && place.asked.width <= state.held.free(now)
        && starts.start(state, place, decisions)
    {}
    let head = state.queue.first()?;
    let width = head.asked.width;
    let timeline = &state.held.timeline;
    let start = timeline.earliest_fit_in(width, Time::TICK, Period::since(now))?;
    let mut reserved = Reserved { head, start, beside: timeline.free_at(start).saturating_sub(width) };
    backfill(state, &mut reserved, starts, None, decisions);
    Some(reserved)
}

/// Starts all tasks after the head that fit and do not delay the reservation. If `only` is set, tries only the tasks
/// at these places of the queue.
fn backfill(
    state: &mut QueueState,
    reserved: &mut Reserved,
    starts: &mut ProcessorStarts<'_, '_>,
    only: Option<&[QueuePlace]>,
    decisions: &mut Vec<Decision>,
) {
    let now = starts.now();
    let window = reserved.start.saturating_since(now);
    let mut free = state.held.free(now);
    let (mut after, mut at) = (reserved.head, 0);
    while free > 0 {
        let gap = Gap { free, window, beside: reserved.beside.min(free) };
        let next = match only {
            None => state.queue.next_admitted(Some(after), gap),
            Some(places) => {
                let found = places[at..].iter().position(|place| gap.admits(place.asked));
                found.map(|found| {
                    at += found + 1;
                    places[at - 1]
                })
            }
        };
        let Some(place) = next else { return };
        let asked = place.asked;
        if starts.start(state, place, decisions) {
            free -= asked.width;
            if asked.time > window {
                reserved.beside -= asked.width;
            }
        }
        after = place;
    }
}

/// Visits the queue once. This function is used if processors are not interchangeable. A task after the head may take
/// any processors, as long as enough open processors remain for the reservation of the head.
fn by_sets(state: &mut QueueState, space: &mut Space<'_>, view: &View<'_>, decisions: &mut Vec<Decision>) {
    space.unreserve();
    let Some(first) = state.start_heads(space, decisions) else { return };
    let widest = view.free.len();
    let open = space.open(view.free, view.now, view.now + Time::TICK);
    if let Some(slot) = space.earliest(first.task, first.asked.width, view.now) {
        space.reserve(slot);
    }
    let mut free = open.len();
    let mut after = first;
    let gap = |free| Gap { free, window: Time::MAX, beside: free };
    while free > 0
        && let Some(place) = state.queue.next_admitted(Some(after), gap(free.min(widest)))
    {
        let width = place.asked.width;
        let slot = space.place(place.task, width, view.now).or_else(|| space.exchange(place, first));
        if let Some(slot) = slot {
            free -= width;
            state.start_in(space, place, slot, decisions);
        }
        after = place;
    }
}

/// Visits the queue once, node by node. The head gets a reservation with all its resources. A task that ends after the
/// head's start must also fit together with the head at this start.
fn on_nodes(state: &mut QueueState, nodes: &mut NodesNow, view: &View<'_>, decisions: &mut Vec<Decision>) {
    nodes.start_heads(state, view, decisions);
    let Some(head) = state.queue.first() else { return };
    let Some(mut later) = nodes.later(head, state.held.ends(), view) else { return };
    let window = later.start.saturating_since(view.now);
    let (mut after, mut refused, mut refused_long) = (head, UnfitTasks::default(), UnfitTasks::default());
    while nodes.free() > 0 {
        let gap = Gap { free: nodes.free(), window, beside: later.free().min(nodes.free()) };
        let Some(place) = state.queue.next_admitted(Some(after), gap) else { return };
        after = place;
        let long = place.asked.time > window;
        if refused.covers(place, view.instance) || long && refused_long.covers(place, view.instance) {
            continue;
        }
        let beside = long.then_some(&mut later);
        if !nodes.start(state, place, beside, view, decisions) {
            if long { &mut refused_long } else { &mut refused }.add(place);
        }
    }
}

impl Policy for Easy {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        // `NodesNow` contains numbers of free processors. If processors can close, different processors may be free
        // when the head starts, so these numbers cannot be used.
        if view.instance.availability().is_always_open() {
            NodesNow::hear(&mut self.nodes, events, view);
        }
        if self.nodes.is_some() {
            return self.by_instant(events, view, decisions);
        }
        match self.passes {
            Passes::Instant => self.by_instant(events, view, decisions),
            Passes::Event => self.by_event(events, view, decisions),
        }
    }
}
