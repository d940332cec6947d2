//! What is held now and until when: beliefs about what runs, on every platform, and counts of free processors.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{FreeTime, Instance, ProcSet, TaskId, Time, Unavailable, View, believed_end};
use rustc_hash::FxHashMap;

use super::space::Slot;
use crate::free_time::{Period, Strips};

/// The processors that running tasks and failures hold, until they are believed to end. It is kept from event to event,
/// so that an event costs no more than what it changes.
///
/// A task is believed to end by its estimate, and when it runs longer as [`believed_end`] says.
#[derive(Debug)]
pub(super) struct Held {
    /// Free processors from now on, were none ever unavailable; what is past is of no interest.
    pub timeline: Strips,
    /// When tasks are believed to end.
    ends: BTreeSet<(Time, TaskId)>,
    running: FxHashMap<TaskId, Hold>,
    /// Where each task runs, kept where that matters.
    places: Option<BTreeMap<TaskId, ProcSet>>,
    /// What is down, as it was last seen.
    down: Vec<Unavailable>,
    started: u64,
    /// The period in which tasks that ended early gave processors back, since this was last taken.
    opened: Option<Period>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    width: u32,
    start: Time,
    /// By the estimate.
    expected: Time,
    end: Time,
    /// How many were started before.
    order: u64,
}

/// Far enough away for what ends at no known time; twice as much can be counted.
const NEVER: Time = Time::from_ticks(i64::MAX / 2);

impl Held {
    /// What the view shows; with the places of what runs where these matter.
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

    /// Whether it has as many running tasks as the view.
    pub(super) fn agrees(&self, view: &View<'_>) -> bool {
        self.running.len() == view.running.len()
    }

    /// How many tasks run.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// A task runs, by its estimate from `start` to `end`.
    pub(super) fn begin(&mut self, task: TaskId, processors: &ProcSet, start: Time, end: Time) {
        self.started += 1;
        let hold = Hold { width: processors.len(), start, expected: end, end, order: self.started };
        if let Some(places) = &mut self.places {
            places.insert(task, processors.clone());
        }
        self.hold(task, hold);
    }

    /// A task runs no more; when it was believed to end.
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

    /// In which period tasks that ended early gave processors back since this was last asked.
    pub(super) fn take_opened(&mut self) -> Option<Period> {
        self.opened.take()
    }

    /// How many were started before a task that runs.
    pub(super) fn order(&self, task: TaskId) -> Option<u64> {
        self.running.get(&task).map(|hold| hold.order)
    }

    /// Where a task runs, and until when it is believed to; known where places matter.
    pub(super) fn slot(&self, task: TaskId) -> Option<Slot> {
        let (hold, processors) = (self.running.get(&task)?, self.places.as_ref()?.get(&task)?.clone());
        Some(Slot { processors, start: hold.start, end: hold.end, task: Some(task), begun: true })
    }

    /// When each of what runs is believed to end, ascending.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Time, TaskId)> + '_ {
        self.ends.iter().copied()
    }

    /// When the last of what runs is believed to end.
    pub(super) fn last_end(&self) -> Option<Time> {
        self.ends.last().map(|&(end, _)| end)
    }

    /// Free processors now.
    pub(super) fn free(&self, now: Time) -> u32 {
        self.timeline.free_at(now)
    }

    /// Extends the expected ends that have passed, and adds repaired processors. Returns true if an expected end or the
    /// list of failed processors has changed.
    ///
    /// The tasks in the sorted list `ending` end at this instant, but the policy has not processed their ends yet.
    /// These tasks keep their previous expected ends. So expected ends depend only on the current instant, and not on
    /// which event was processed last.
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

    /// Holds what is down, each processor until the last failure there is expected to be over.
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

/// Failures that are in force, such that none holds a processor that another holds: each has it until the last of its
/// failures is over.
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

/// Whether counts describe the platform: processors are interchangeable and never closed.
pub(super) fn counts_suffice(instance: &Instance) -> bool {
    interchangeable(instance) && instance.availability().is_always_open()
}

/// Whether only unavailable periods tell processors apart: all are equal, any of them serve, and tasks need nothing else.
pub(super) fn interchangeable(instance: &Instance) -> bool {
    let equal = equal_speeds(instance) && !instance.has_machine_times() && !instance.has_demands();
    equal && !instance.platform().restricts_placement()
}

/// Whether all processors are equally fast, whatever network is between them.
pub(super) fn equal_speeds(instance: &Instance) -> bool {
    let computing = instance.platform().kinds().filter(|(node, _)| node.processors > 0);
    let mut speeds = computing.map(|(node, _)| node.speed);
    let first = speeds.next().unwrap_or(1.0);
    speeds.all(|speed| (speed - first).abs() < f64::EPSILON)
}
