//! Stores a plan, and starts its tasks. A departure is an event that differs from the plan, such as the late end of a
//! task. A rule ([`Departure`]) decides when tasks start before and after a departure.

mod gangs;

use makespan_core::{
    Decision, Event, FreeAmounts, HeldAmount, Placement, ProcSet, Running, TaskId, TaskSet, Time, Unavailable, View,
};

use super::openings::closed;

/// The condition under which a planned task starts. In all cases, the earlier tasks of the plan on its processors must
/// have ended, and its data must have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Starts {
    /// The planned start of the task must also have been reached.
    Reserved,
    /// There is no further condition.
    #[default]
    Early,
    /// As `Reserved` until a node fails or a task is late, then as `Early`.
    Auto,
}

/// The rule for the starts of tasks. There is a departure if a task does not end, or cannot start, at its planned
/// instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// Each task starts at its planned instant, or as soon as possible after this instant.
    Wait,
    /// Tasks always start in the planned order on each processor. A task may start before its planned instant, unless
    /// an earlier task of the plan waits for a resource that both tasks need.
    KeepOrder,
    /// As `Wait` before the first departure, then as `KeepOrder`.
    WaitThenKeepOrder,
    /// Before the first departure, tasks start at their planned instants. After the first departure, tasks start in the
    /// planned order on each processor.
    KeepOrderThen,
    /// Tasks start at their planned instants. After a departure, the policy plans the remaining tasks again.
    Replan,
}

impl From<Starts> for Departure {
    fn from(starts: Starts) -> Self {
        match starts {
            Starts::Reserved => Self::Wait,
            Starts::Early => Self::KeepOrder,
            Starts::Auto => Self::WaitThenKeepOrder,
        }
    }
}

/// A planned task that has not started or is running.
#[derive(Clone, Debug)]
struct Reservation {
    /// The processors, the expected start and the expected end.
    at: Placement,
    /// The planned start.
    planned: Time,
    /// The instant at which the task last started.
    started: Time,
}

impl Reservation {
    /// Returns the reservation of a task that starts now. If the task starts earlier than expected, its reservation
    /// moves to the actual start. Its successors may then be expected earlier, too. Thus an interrupted task still
    /// comes before its successors in the order of expected starts.
    fn begun(mut self, now: Time) -> Self {
        let length = self.at.end - self.at.start;
        self.at.start = self.at.start.min(now);
        self.at.end = self.at.start + length;
        Self { started: now, ..self }
    }
}

/// A plan: the reservations of the tasks that have not started, in the order of expected starts, and the reservations
/// of running tasks.
#[derive(Clone, Debug)]
pub(super) struct PlanKeeper {
    departure: Departure,
    /// Whether a task did not end, or could not start, at its planned instant.
    departed: bool,
    upcoming: Vec<Reservation>,
    running: Vec<Reservation>,
}

impl PlanKeeper {
    /// Creates an empty plan.
    pub fn new(departure: impl Into<Departure>) -> Self {
        Self { departure: departure.into(), departed: false, upcoming: Vec::new(), running: Vec::new() }
    }

    /// Replaces the reservations of the tasks that have not started.
    pub fn begin(&mut self, plan: Vec<Placement>) {
        self.departed = false;
        self.upcoming.clear();
        self.add(plan);
    }

    /// Returns whether the planned instants are out of date.
    pub fn has_departed(&self) -> bool {
        self.departed
    }

    /// Marks the planned instants as out of date.
    pub fn depart(&mut self) {
        self.departed = true;
    }

    /// Returns the planned tasks that have not started, by expected start.
    pub fn upcoming(&self) -> impl Iterator<Item = &Placement> {
        self.upcoming.iter().map(|reservation| &reservation.at)
    }

    /// Returns whether all planned tasks have started.
    pub fn is_empty(&self) -> bool {
        self.upcoming.is_empty()
    }

    /// Returns whether all planned tasks have ended.
    pub fn has_ended(&self) -> bool {
        self.upcoming.is_empty() && self.running.is_empty()
    }

    /// Returns whether a task has not started although its planned start has passed.
    pub fn is_behind(&self, now: Time) -> bool {
        self.upcoming.iter().any(|reservation| reservation.planned < now)
    }

    /// Returns the actual start of a running task, and the length of its reservation.
    pub fn run_of(&self, task: TaskId) -> Option<(Time, Time)> {
        let own = self.running.iter().find(|reservation| reservation.at.task == task)?;
        Some((own.started, own.at.end - own.at.start))
    }

    /// Returns the processors of a running task of the plan.
    pub fn processors_of(&self, task: TaskId) -> Option<&ProcSet> {
        self.running
            .iter()
            .find(|reservation| reservation.at.task == task)
            .map(|reservation| &reservation.at.processors)
    }

    /// Adds placements, which must not overlap with placements of the plan.
    pub fn add(&mut self, places: impl IntoIterator<Item = Placement>) {
        self.upcoming.extend(places.into_iter().map(|at| Reservation { planned: at.start, started: Time::ZERO, at }));
        self.sort();
    }

    /// Removes the reservations of the tasks that `which` accepts.
    pub fn remove(&mut self, which: impl Fn(TaskId) -> bool) {
        self.upcoming.retain(|reservation| !which(reservation.at.task));
    }

    fn sort(&mut self) {
        self.upcoming.sort_by_key(|Reservation { at, .. }| (at.start, at.end, at.task));
    }

    /// Updates the plan after all events of one instant. Removes interrupted tasks from the plan. Returns true if
    /// processors failed or returned, tasks were interrupted, or run times of planned tasks have changed. The waiting
    /// tasks must then be planned again.
    pub fn hear_all(&mut self, events: &[Event], view: &View<'_>) -> bool {
        let mut broken = false;
        for event in events {
            if let Event::Finished(task) | Event::Failed(task) = *event {
                let end = self.run_of(task).map(|(start, length)| start + length);
                // With `Replan`, a running task without a reservation started before this policy began.
                self.departed |= end.map_or(self.departure == Departure::Replan, |end| end != view.now);
            }
            match *event {
                Event::Interrupted(task) => self.end(task),
                _ => self.hear(event),
            }
            broken |= matches!(event, Event::Interrupted(_) | Event::NodeUp(_) | Event::NodeDown(_));
        }
        broken | self.restate(&Event::estimated(events, view.instance), view)
    }

    /// If a task runs longer than planned, marks the planned instants as out of date.
    pub fn notice_late(&mut self, now: Time) {
        self.departed |=
            self.running.iter().any(|Reservation { at, started, .. }| *started + (at.end - at.start) <= now);
    }

    /// Removes a task that no longer runs.
    fn end(&mut self, task: TaskId) {
        self.running.retain(|reservation| reservation.at.task != task);
    }

    /// Updates the plan after one event. An interrupted task keeps its reservation, and is again among the tasks that
    /// have not started.
    pub fn hear(&mut self, event: &Event) {
        match *event {
            Event::Finished(task) => self.end(task),
            Event::Failed(task) => {
                self.end(task);
                self.remove(|other| other == task);
            }
            Event::Interrupted(task) => {
                if let Some(at) = self.running.iter().position(|reservation| reservation.at.task == task) {
                    self.upcoming.push(self.running.swap_remove(at));
                    self.sort();
                }
            }
            Event::NodeUp(_) | Event::NodeDown(_) | Event::Submitted(_) | Event::Estimated(_) | Event::Wake => {}
        }
    }

    /// Applies new run times to the reservations of the tasks `restated`. The order of the tasks does not change.
    /// Returns whether a reservation has changed.
    pub fn restate(&mut self, restated: &TaskSet, view: &View<'_>) -> bool {
        let mut concerns = false;
        if restated.is_empty() {
            return concerns;
        }
        let all = self.upcoming.iter_mut().chain(&mut self.running);
        for Reservation { at, .. } in all.filter(|reservation| restated.contains(reservation.at.task)) {
            at.end = at.start + view.instance.time(at.task, &at.processors);
            concerns = true;
        }
        concerns
    }

    /// Returns the expected instant until which a running task holds its processors. This instant is not before the end
    /// of the reservation.
    fn held_until(&self, run: &Running, view: &View<'_>) -> Time {
        let own = self.running.iter().find(|reservation| reservation.at.task == run.task);
        let reserved = own.map_or(Time::ZERO, |Reservation { at, .. }| at.end - at.start);
        run.expected_end(view.instance, view.now).max(run.start + reserved)
    }

    /// Returns the periods in which processors are unavailable or down, held by running tasks, or reserved for planned
    /// tasks.
    pub fn taken(&self, view: &View<'_>) -> Vec<Unavailable> {
        let held = view.running.iter().map(|run| Unavailable {
            processors: run.processors.clone(),
            start: Time::ZERO,
            end: self.held_until(run, view),
        });
        let planned =
            self.upcoming().map(|at| Unavailable { processors: at.processors.clone(), start: at.start, end: at.end });
        closed(view).chain(held).chain(planned).collect()
    }

    /// Returns the resources that running and planned tasks hold. A planned task may start later, but is assumed to
    /// hold its resources from now on.
    pub fn held(&self, view: &View<'_>) -> Vec<HeldAmount> {
        let upcoming =
            self.upcoming().map(|at| Running { task: at.task, start: at.start, processors: at.processors.clone() });
        let all: Vec<Running> = view.running.iter().cloned().chain(upcoming).collect();
        View { running: &all, ..*view }.held()
    }

    /// Returns, in ascending order, the planned tasks on processors that are expected to be down at the expected start.
    pub fn stranded(&self, view: &View<'_>) -> Vec<TaskId> {
        let on_down = |at: &Placement| {
            // A task that is behind its expected start occupies its processors from now on.
            let end = at.end.max(view.now + (at.end - at.start));
            let meets = |down: &Unavailable| down.start < end && at.start < down.end;
            view.down.iter().any(|down| meets(down) && !down.processors.is_disjoint(&at.processors))
        };
        let mut stranded: Vec<TaskId> = match view.down {
            [] => Vec::new(),
            _ => self.upcoming().filter(|&at| on_down(at)).map(|at| at.task).collect(),
        };
        stranded.sort_unstable();
        stranded
    }

    /// Starts the tasks that may start now. At some later instants, such as a planned start, a task may start although
    /// no event occurs. Requests a wake-up at the first of these instants.
    pub fn start(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let wake = self.start_due(view, decisions);
        decisions.extend(wake.map(Decision::WakeAt));
    }

    /// Starts the tasks that may start now, in the planned order on each processor. At some later instants, such as a
    /// planned start, a task may start although no event occurs. Returns the first of these instants, at which the
    /// policy must be called.
    pub fn start_due(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) -> Option<Time> {
        let (mut before, mut resources) = (ProcSet::new(), FreeAmounts::of(view));
        let mut wake: Option<Time> = None;
        let mut wake_at = |at: Time| wake = Some(wake.map_or(at, |wake| wake.min(at)));
        let mut awaited = vec![false; view.instance.platform().resources().len()];
        let (mut left, mut starting) = (Vec::with_capacity(self.upcoming.len()), Vec::new());
        let mut upcoming = std::mem::take(&mut self.upcoming).into_iter();
        while before.len() < view.instance.processors()
            && let Some(next) = upcoming.next()
        {
            let at = &next.at;
            if next.planned > view.now && self.has_exact_instants() {
                wake_at(next.planned);
                left.push(next);
                break;
            }
            // Remove a task that ended before this policy began.
            if view.ended.run(at.task).is_some() {
                continue;
            }
            let turn = at.processors.is_disjoint(&before);
            before.insert(&at.processors);
            let needed = || view.instance.demands(at.task).iter().map(|demand| demand.resource.index());
            if turn && view.waiting.contains(at.task) {
                let guards = self.is_early() && next.planned > view.now;
                let overtakes = guards && needed().any(|resource| awaited[resource]);
                let planned = overtakes.then_some(next.planned);
                match planned.or_else(|| self.opening(view, &next)) {
                    // Other tasks still hold the processors or resources. Their ends are events, so no wake-up is
                    // needed.
                    None if !at.processors.is_subset(view.free) || !resources.take(at.task, &at.processors) => {}
                    None => {
                        starting.push(next);
                        continue;
                    }
                    Some(later) => wake_at(later),
                }
            }
            needed().for_each(|resource| awaited[resource] = true);
            self.departed |= next.planned <= view.now;
            left.push(next);
        }
        left.extend(upcoming);
        self.upcoming = left;
        self.begin_all(starting, view, decisions);
        wake
    }

    /// Returns whether tasks may start before their planned instants.
    fn is_early(&self) -> bool {
        let departure = self.departure;
        departure == Departure::KeepOrder || departure == Departure::WaitThenKeepOrder && self.departed
    }

    /// Returns whether all remaining tasks must start exactly at their planned instants.
    fn has_exact_instants(&self) -> bool {
        match self.departure {
            Departure::Wait | Departure::KeepOrder | Departure::WaitThenKeepOrder => false,
            Departure::KeepOrderThen => !self.departed,
            Departure::Replan => true,
        }
    }

    /// Returns the next instant at which a task must be checked, or `None` if the task may start now. All earlier
    /// planned tasks on its processors must have started.
    fn opening(&self, view: &View<'_>, next: &Reservation) -> Option<Time> {
        let Reservation { at, planned, .. } = next;
        let waits = matches!(self.departure, Departure::Wait | Departure::WaitThenKeepOrder) && !self.is_early();
        if waits && *planned > view.now {
            return Some(*planned);
        }
        let arrival = view.arrival(at.task, &at.processors).filter(|&arrival| arrival > view.now);
        if arrival.is_some() {
            return arrival;
        }
        let end = view.now + view.instance.time(at.task, &at.processors);
        let periods = view.instance.unavailable().iter().chain(view.down);
        let meets = |period: &&Unavailable| period.start < end && view.now < period.end;
        let meeting = periods.filter(meets).filter(|period| !period.processors.is_disjoint(&at.processors));
        meeting.map(|period| period.end).min()
    }
}
