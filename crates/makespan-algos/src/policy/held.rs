//! The processors that are held now, the expected end of each running task, and the number of free processors over
//! time.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{FreeTime, Instance, ProcSet, TaskId, Time, Unavailable, View, believed_end};
use rustc_hash::FxHashMap;

use super::space::ClosedSlot;
use crate::free_time::{Period, Strips};

/// The processors that running tasks and failures hold, until their expected ends. The data are updated at each event.
/// The cost of an update depends only on the number of changes. The expected end of a task is its start plus its
/// estimate. If the task runs longer, [`believed_end`] determines its expected end.
#[derive(Debug)]
pub(super) struct HeldProcessors {
    /// The number of free processors from now on. Unavailable periods are ignored.
    pub timeline: Strips,
    /// The expected ends of tasks.
    ends: BTreeSet<(Time, TaskId)>,
    running: FxHashMap<TaskId, Hold>,
    /// The processors of each running task. `None` if only the number of processors matters.
    places: Option<BTreeMap<TaskId, ProcSet>>,
    /// The failures at the last event.
    down: Vec<Unavailable>,
    started: u64,
    /// The period in which processors are free because tasks have ended early since the last call of
    /// [`HeldProcessors::take_opened`].
    opened: Option<Period>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    width: u32,
    start: Time,
    /// The start of the task plus its estimate.
    expected: Time,
    end: Time,
    /// The position of the task in the order of starts, counted from 1.
    order: u64,
}

/// An instant that stands for an unknown end. Twice this instant does not overflow.
const NEVER: Time = Time::from_ticks(i64::MAX / 2);

impl HeldProcessors {
    /// Returns the held processors that the view shows. If `places` is set, also stores the processors of each running
    /// task.
    pub(super) fn of(view: &View<'_>, places: bool) -> Self {
        let mut held = Self {
            timeline: Strips::constant(view.instance.processors()),
            ends: BTreeSet::new(),
            running: FxHashMap::default(),
            places: places.then(BTreeMap::new),
            down: Vec::new(),
            started: 0,
            opened: None,
        };
        let mut running: Vec<_> = view.running.iter().collect();
        running.sort_unstable_by_key(|running| (running.start, running.task));
        for running in running {
            let expected = running.start + view.instance.time(running.task, &running.processors);
            held.begin(running.task, &running.processors, running.start, expected);
        }
        held.extend(view, &[]);
        held
    }

    /// Returns whether the number of running tasks equals the number of running tasks in the view.
    pub(super) fn agrees(&self, view: &View<'_>) -> bool {
        self.running.len() == view.running.len()
    }

    /// Returns the number of running tasks.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// Adds a task that runs from `start` until its estimated end `end`.
    pub(super) fn begin(&mut self, task: TaskId, processors: &ProcSet, start: Time, end: Time) {
        self.started += 1;
        let hold = Hold { width: processors.len(), start, expected: end, end, order: self.started };
        if let Some(places) = &mut self.places {
            places.insert(task, processors.clone());
        }
        self.hold(task, hold);
    }

    /// Removes a task that no longer runs. Returns its expected end.
    pub(super) fn end(&mut self, task: TaskId, now: Time) -> Option<Time> {
        let hold = self.let_go(task)?;
        if let Some(places) = &mut self.places {
            places.remove(&task);
        }
        if hold.end > now {
            self.opened = Some(Period::hull(self.opened, Period { from: now, until: hold.end }));
        }
        Some(hold.end)
    }

    /// Returns the period in which processors are free because tasks have ended early since the last call of this
    /// function.
    pub(super) fn take_opened(&mut self) -> Option<Period> {
        self.opened.take()
    }

    /// Returns the position of a running task in the order of starts.
    pub(super) fn order(&self, task: TaskId) -> Option<u64> {
        self.running.get(&task).map(|hold| hold.order)
    }

    /// Returns the processors and the expected end of a running task. Returns `None` if only the number of processors
    /// matters.
    pub(super) fn slot(&self, task: TaskId) -> Option<ClosedSlot> {
        let (hold, processors) = (self.running.get(&task)?, self.places.as_ref()?.get(&task)?.clone());
        Some(ClosedSlot { processors, start: hold.start, end: hold.end, task: Some(task), begun: true })
    }

    /// Returns the expected end of each running task, in ascending order.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Time, TaskId)> + '_ {
        self.ends.iter().copied()
    }

    /// Returns the last expected end of the running tasks.
    pub(super) fn last_end(&self) -> Option<Time> {
        self.ends.last().map(|&(end, _)| end)
    }

    /// Returns the number of free processors now.
    pub(super) fn free(&self, now: Time) -> u32 {
        self.timeline.free_at(now)
    }

    /// Postpones the expected end of each task that runs longer than expected. Releases repaired processors. Returns
    /// whether an expected end or the list of failed processors has changed.
    ///
    /// The sorted list `ending` contains tasks with unprocessed ends at this instant. These tasks keep their expected
    /// ends. So the expected ends do not depend on the order in which the events of an instant are processed.
    pub(super) fn extend(&mut self, view: &View<'_>, ending: &[TaskId]) -> bool {
        let now = view.now;
        let before = now.saturating_since(Time::TICK);
        self.timeline.forget(now);
        let mut late = Vec::new();
        for &(end, task) in self.ends.range(..=(now, TaskId(u64::MAX))) {
            let at = if ending.binary_search(&task).is_ok() { before } else { now };
            if end <= at {
                late.push((task, at));
            }
        }
        for &(task, at) in &late {
            let Some(mut hold) = self.let_go(task) else { continue };
            hold.end = believed_end(hold.start, hold.expected, at);
            self.hold(task, hold);
        }
        let repairs = self.down != view.down;
        if repairs {
            self.see_down(view);
        }
        !late.is_empty() || repairs
    }

    /// Holds failed processors. Each processor is held until the last of its failures is expected to end.
    fn see_down(&mut self, view: &View<'_>) {
        for period in disjoint(&self.down) {
            self.timeline.release(&(period.processors.len(), period.start, period.end));
        }
        self.down = view.down.to_vec();
        for period in disjoint(&self.down) {
            self.timeline.hold(period.processors.len(), period.start, period.end);
        }
    }

    fn hold(&mut self, task: TaskId, hold: Hold) {
        self.running.insert(task, hold);
        self.ends.insert((hold.end, task));
        self.timeline.hold(hold.width, hold.start, hold.end);
    }

    fn let_go(&mut self, task: TaskId) -> Option<Hold> {
        let hold = self.running.remove(&task)?;
        self.ends.remove(&(hold.end, task));
        self.timeline.release(&(hold.width, hold.start, hold.end));
        Some(hold)
    }
}

/// Merges failures so that each processor occurs in one failure: the one that ends last.
pub(super) fn disjoint(down: &[Unavailable]) -> Vec<Unavailable> {
    let mut by_end: Vec<&Unavailable> = down.iter().collect();
    by_end.sort_by_key(|failure| std::cmp::Reverse(failure.end.min(NEVER)));
    let mut seen = ProcSet::new();
    let mut apart = Vec::with_capacity(down.len());
    for failure in by_end {
        let processors = failure.processors.difference(&seen);
        if !processors.is_empty() {
            seen.insert(&processors);
            apart.push(Unavailable { processors, start: failure.start, end: failure.end.min(NEVER) });
        }
    }
    apart
}

/// Returns whether the number of free processors determines whether a task fits. This is so if processors are
/// interchangeable and never closed.
pub(super) fn counts_suffice(instance: &Instance) -> bool {
    interchangeable(instance) && instance.availability().is_always_open()
}

/// Returns whether processors differ only by their unavailable periods. This is so if all processors are equally fast
/// for every task, best placement is not required, and tasks need no resources.
pub(super) fn interchangeable(instance: &Instance) -> bool {
    let equal = equal_speeds(instance) && !instance.has_machine_times() && !instance.has_demands();
    equal && !instance.platform().restricts_placement()
}

/// Returns whether all processors are equally fast. The network between them is ignored.
pub(super) fn equal_speeds(instance: &Instance) -> bool {
    let computing = instance.platform().kinds().filter(|(node, _)| node.processors > 0);
    let mut speeds = computing.map(|(node, _)| node.speed);
    let first = speeds.next().unwrap_or(1.0);
    speeds.all(|speed| (speed - first).abs() < f64::EPSILON)
}
