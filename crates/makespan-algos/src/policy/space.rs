//! The processors that are held now and later. The data are for platforms on which the choice of processors matters.

use makespan_core::{Instance, ProcSet, TaskId, Time, View};

use super::order::QueuePlace;
use crate::free_time::Period;
use crate::kernel::usage::{HoldingTask, Usage};
use crate::kernel::{take_compact, widest_compact};
use crate::speeds::speeds;

/// Processors that are closed from `start` to `end`. A task holds or reserves these processors, or they are down or
/// unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClosedSlot {
    pub processors: ProcSet,
    pub start: Time,
    pub end: Time,
    /// The task that holds the processors, or `None` if they are down or unavailable.
    pub task: Option<TaskId>,
    /// Whether the task has started.
    pub begun: bool,
}

impl ClosedSlot {
    /// Returns the amounts that the task of the slot holds, or `None` if the slot has no task.
    fn holding(&self) -> Option<HoldingTask<'_>> {
        let &Self { ref processors, start, end, task, begun } = self;
        Some(HoldingTask { task: task?, processors, period: Period { from: start, until: end }, begun })
    }
}

/// The reservation of the first task that must wait. Unless its processors are fixed, the task needs only some of the
/// reserved processors, and may get any of them.
#[derive(Clone, Debug)]
struct Reserved {
    /// The processors that are open for the whole time of the task.
    processors: ProcSet,
    /// Number of the reserved processors that the task does not need.
    spare: u32,
    start: Time,
    end: Time,
    /// The slot of the task if its processors are fixed. The processors are fixed if tasks need resources or best
    /// placement is required.
    held: Option<ClosedSlot>,
}

impl Reserved {
    fn meets(&self, start: Time, end: Time) -> bool {
        start < self.end && self.start < end
    }

    /// Returns the number of processors of `open` that other tasks may use while the task with the reservation runs.
    fn leaves(&self, open: &ProcSet) -> u32 {
        let shared = open.intersection(&self.processors).len();
        open.len() - shared + shared.min(self.spare)
    }
}

/// The closed processors from now on. The data are built from a view in one walk. Each query walks over all slots.
#[derive(Debug)]
pub(super) struct Space<'a> {
    instance: &'a Instance,
    now: Time,
    slots: Vec<ClosedSlot>,
    /// The reservation of the first task that must wait.
    reserved: Option<Reserved>,
    /// The distinct speeds in decreasing order, each with the processors that are at least as fast.
    speeds: Vec<(f64, ProcSet)>,
    /// The earliest start of the unavailable periods that have not ended.
    closing: Option<Time>,
    /// The latest end of all running tasks and reservations.
    reach: Time,
    /// The resources that tasks hold.
    usage: Usage<'a>,
}

impl<'a> Space<'a> {
    /// Returns the space that the view shows. The processors of a running task are closed until the expected end of the
    /// task. The processors of a failure or an unavailable period are closed until it ends.
    pub(super) fn of(view: &View<'a>) -> Self {
        let now = view.now;
        let periods = || view.instance.unavailable().iter().filter(|period| period.end > now);
        let closed = periods().map(|period| (period, period.end));
        let down = view.down.iter().map(|failure| (failure, failure.end.max(now + Time::TICK)));
        let closed = closed.chain(down).map(|(period, end)| ClosedSlot {
            processors: period.processors.clone(),
            start: period.start,
            end,
            task: None,
            begun: false,
        });
        let slots: Vec<ClosedSlot> = running(view).collect();
        let reach = slots.iter().map(|slot| slot.end).max().unwrap_or(now);
        let closing = periods().map(|period| period.start).min();
        let slots = slots.into_iter().chain(closed).collect();
        let speeds = speeds(view.instance);
        let mut space = Self {
            instance: view.instance,
            now,
            slots,
            reserved: None,
            speeds,
            closing,
            reach,
            usage: Usage::new(view.instance, |resource| view.ended.used_up(resource)),
        };
        space.slots.iter().filter_map(ClosedSlot::holding).for_each(|holding| space.usage.hold(&holding));
        space
    }

    /// Closes the processors of a slot.
    pub(super) fn hold(&mut self, slot: ClosedSlot) {
        self.reach = self.reach.max(slot.end);
        if let Some(reserved) = self.reserved.as_mut().filter(|reserved| reserved.meets(slot.start, slot.end)) {
            let shared = slot.processors.intersection(&reserved.processors);
            reserved.spare = reserved.spare.saturating_sub(shared.len());
            reserved.processors.remove(&shared);
        }
        self.count(&slot);
        self.slots.push(slot);
    }

    /// Opens the processors that [`Space::hold`] closed.
    pub(super) fn release(&mut self, slot: &ClosedSlot) {
        if let Some(at) = self.slots.iter().rposition(|other| other == slot) {
            let slot = self.slots.swap_remove(at);
            slot.holding().iter().for_each(|holding| self.usage.release(holding));
        }
    }

    /// Adds the resources that the task of a slot holds.
    fn count(&mut self, slot: &ClosedSlot) {
        slot.holding().iter().for_each(|holding| self.usage.hold(holding));
    }

    /// Reserves processors for the first task that must wait, from the start to the end of the slot. The task may get
    /// any processors on which it ends by the end of the slot. If best placement is required or tasks need resources,
    /// the task gets the processors of the slot.
    pub(super) fn reserve(&mut self, slot: ClosedSlot) {
        self.reach = self.reach.max(slot.end);
        if self.has_own_processors() {
            self.count(&slot);
            let (processors, start, end) = (slot.processors.clone(), slot.start, slot.end);
            self.reserved = Some(Reserved { processors, spare: 0, start, end, held: Some(slot) });
            return;
        }
        let ClosedSlot { processors, start, end, task, .. } = slot;
        // Compare ends and not speeds, because times are rounded up. A task may end at the same instant on slower
        // processors.
        let in_time = |speed| task.is_some_and(|task| start + self.time_at(task, processors.len(), speed) <= end);
        let as_fast = self.speeds.iter().rfind(|(speed, _)| in_time(*speed));
        let open = as_fast.map_or_else(|| processors.clone(), |(_, fast)| self.open(fast, start, end));
        let spare = open.len() - processors.len();
        self.reserved = Some(Reserved { processors: open, spare, start, end, held: None });
    }

    /// Removes the reservation of [`Space::reserve`].
    pub(super) fn unreserve(&mut self) {
        self.take_reserved();
    }

    fn take_reserved(&mut self) -> Option<Reserved> {
        let reserved = self.reserved.take()?;
        reserved.held.iter().filter_map(ClosedSlot::holding).for_each(|holding| self.usage.release(&holding));
        Some(reserved)
    }

    /// Returns whether the processors of a reservation are fixed.
    fn has_own_processors(&self) -> bool {
        self.instance.platform().restricts_placement() || self.usage.matters()
    }

    /// Returns a slot from now on for the task at `place`, and moves the reservation of the task at `head` to other
    /// processors. This function is called if the task at `place` does not fit with the current reservation. On the
    /// new processors, the task at `head` must not end later than reserved. If this is impossible, returns `None`.
    pub(super) fn exchange(&mut self, place: QueuePlace, head: QueuePlace) -> Option<ClosedSlot> {
        if !self.has_own_processors() {
            return None;
        }
        let reserved = self.take_reserved()?;
        let slot = self.place(place.task, place.asked.width, self.now);
        let moved = slot.and_then(|slot| {
            self.hold(slot.clone());
            let other =
                self.place(head.task, head.asked.width, reserved.start).filter(|other| other.end <= reserved.end);
            self.release(&slot);
            other.map(|other| (slot, other))
        });
        let Some((slot, other)) = moved else {
            reserved.held.into_iter().for_each(|slot| self.reserve(slot));
            return None;
        };
        self.reserve(other);
        Some(slot)
    }

    /// Returns the processors of `base` that are open all the time from `start` to `end`.
    pub(super) fn open(&self, base: &ProcSet, start: Time, end: Time) -> ProcSet {
        let meeting = self.slots.iter().filter(|slot| slot.start < end && start < slot.end);
        let closed: Vec<(u32, u32)> = meeting.flat_map(|slot| slot.processors.intervals().iter().copied()).collect();
        if closed.is_empty() { base.clone() } else { base.difference(&ProcSet::from_intervals(closed)) }
    }

    /// Returns the time of a task on processors of a speed.
    fn time_at(&self, task: TaskId, width: u32, speed: f64) -> Time {
        let time = self.instance.profile(task).time(width);
        if self.instance.platform().has_unit_speed() { time } else { time.divided_by(speed) }
    }

    /// Returns a slot from `start` on for a task on `width` processors. Tries the fastest class of processors first. A
    /// class contains all processors that are at least as fast as some speed. Within the class, the slowest processors
    /// are used. If best placement is required, the slot is a best placement. Returns `None` if the task fits on no
    /// class or its time would exceed the walltime.
    pub(super) fn place(&self, task: TaskId, width: u32, start: Time) -> Option<ClosedSlot> {
        let walltime = self.instance.walltime(task);
        for (index, (speed, fast)) in self.speeds.iter().enumerate() {
            if fast.len() < width {
                continue;
            }
            let time = self.time_at(task, width, *speed);
            if walltime.is_some_and(|walltime| time > walltime) {
                return None;
            }
            let end = start + time;
            let open = self.open_to_all(fast, start, end);
            let open = if self.usage.matters() {
                self.usage.with_room(task, width, open, Period { from: start, until: end })
            } else {
                open
            };
            let faster = index.checked_sub(1).map(|index| &self.speeds[index].1);
            if let Some(processors) = self.take(open, width, Period { from: start, until: end }, faster) {
                // The slowest processor that is used determines the time.
                let end = start + self.instance.time(task, &processors);
                return Some(ClosedSlot { processors, start, end, task: Some(task), begun: false });
            }
        }
        None
    }

    /// Returns the processors of `base` that are open all the time from `start` to `end`. Excludes the fixed
    /// processors of a reservation.
    fn open_to_all(&self, base: &ProcSet, start: Time, end: Time) -> ProcSet {
        let mut open = self.open(base, start, end);
        if self.has_own_processors()
            && let Some(reserved) = self.reserved.as_ref().filter(|reserved| reserved.meets(start, end))
        {
            open.remove(&reserved.processors);
        }
        open
    }

    fn take(&self, mut open: ProcSet, width: u32, period: Period, faster: Option<&ProcSet>) -> Option<ProcSet> {
        let platform = self.instance.platform();
        let meeting = self.reserved.as_ref().filter(|reserved| reserved.meets(period.from, period.until));
        if platform.restricts_placement() {
            return if open.len() < width { None } else { take_compact(platform, &mut open, width) };
        }
        if self.usage.matters() {
            return if open.len() < width { None } else { Some(self.together(&open, width)) };
        }
        if meeting.map_or_else(|| open.len(), |reserved| reserved.leaves(&open)) < width {
            return None;
        }
        // Take slow processors first. Among equally slow processors, some may be needed by the task with the
        // reservation. A task that ends before the reserved start prefers these processors, and a longer task avoids
        // them. Then take the processors that close soonest.
        let slow = faster.map_or_else(|| open.clone(), |faster| open.difference(faster));
        let fast = faster.map_or_else(ProcSet::new, |faster| open.intersection(faster));
        let mut pools = Vec::with_capacity(4);
        for pool in [slow, fast] {
            let shared = self.reserved.as_ref().map_or_else(ProcSet::new, |one| pool.intersection(&one.processors));
            let other = pool.difference(&shared);
            pools.extend(if meeting.is_some() {
                [(other, false), (shared, true)]
            } else {
                [(shared, false), (other, false)]
            });
        }
        let mut spare = meeting.map_or(0, |reserved| reserved.spare);
        // Ignore periods that begin after all tasks and reservations have ended.
        let near = self.closing.is_some_and(|closing| closing < self.reach.max(period.until));
        let classes = self.instance.availability().classes();
        let classes = if near { classes } else { &classes[..1] };
        let mut taken = ProcSet::new();
        for (mut pool, limited) in pools {
            for class in classes {
                let missing = width - taken.len();
                let most = if limited { missing.min(spare) } else { missing };
                let mut here = if near { pool.intersection(&class.processors) } else { pool.clone() };
                let part = here.take(most.min(here.len()))?;
                spare -= if limited { part.len() } else { 0 };
                pool = pool.difference(&part);
                taken = taken.union(&part);
            }
        }
        (taken.len() == width).then_some(taken)
    }

    /// Chooses `width` of the processors `open`. If one node has enough of these processors, chooses processors of
    /// this node, otherwise of as few nodes as possible.
    fn together(&self, open: &ProcSet, width: u32) -> ProcSet {
        let platform = self.instance.platform();
        let mut parts = platform.parts(open);
        let alone = parts.iter().filter(|part| part.1 >= width).min_by_key(|part| part.1).copied();
        if let Some(one) = alone {
            parts = vec![one];
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.1));
        let (mut rest, mut taken) = (width, Vec::new());
        for (node, here) in parts {
            let mut own = open.intersection(&platform.processors_of(node));
            taken.extend(own.take(here.min(rest)).iter().flat_map(|part| part.intervals().to_vec()));
            rest -= here.min(rest);
        }
        ProcSet::from_intervals(taken)
    }

    /// Returns the first slot from `after` on for a task on `width` processors. Tries `after` and the instants at
    /// which processors open.
    pub(super) fn earliest(&self, task: TaskId, width: u32, after: Time) -> Option<ClosedSlot> {
        let mut instants = std::iter::once(after).chain(self.openings(after));
        instants.find_map(|instant| self.place(task, width, instant))
    }

    /// Returns pairs (t, n) in ascending order of t: a task could have up to n processors from `start` to t. The last
    /// t is `Time::MAX`.
    pub(super) fn widest(&self, start: Time) -> impl Iterator<Item = (Time, u32)> + '_ {
        let reserved = self.reserved.as_ref();
        let starts = self.slots.iter().map(|slot| slot.start).chain(reserved.map(|reserved| reserved.start));
        let mut until: Vec<Time> = starts.filter(|&at| at > start).collect();
        until.push(Time::MAX);
        until.sort_unstable();
        until.dedup();
        let all = ProcSet::first(self.instance.processors());
        until.into_iter().map(move |until| {
            let mut open = self.open(&all, start, until);
            let platform = self.instance.platform();
            let meeting = reserved.filter(|reserved| reserved.meets(start, until));
            if self.has_own_processors() {
                meeting.into_iter().for_each(|reserved| open.remove(&reserved.processors));
                let compact = platform.restricts_placement();
                return (until, if compact { widest_compact(platform, &open) } else { open.len() });
            }
            (until, meeting.map_or_else(|| open.len(), |reserved| reserved.leaves(&open)))
        })
    }

    /// Returns, in ascending order, the instants after `after` at which processors open.
    pub(super) fn openings(&self, after: Time) -> Vec<Time> {
        let reserved = self.reserved.as_ref().map(|reserved| reserved.end);
        let ends = self.slots.iter().map(|slot| slot.end).chain(reserved);
        let mut ends: Vec<Time> = ends.filter(|&end| end > after).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Returns whether tasks need resources.
    pub(super) fn knows_needs(&self) -> bool {
        self.usage.matters()
    }

    /// Returns the current instant.
    pub(super) fn now(&self) -> Time {
        self.now
    }
}

/// Returns the slots of running tasks until their expected ends. If a task runs into an unavailable period, its slot
/// ends when the period begins, because the task is interrupted then.
pub(super) fn running<'v>(view: &View<'v>) -> impl Iterator<Item = ClosedSlot> + use<'v> {
    let (now, instance, running) = (view.now, view.instance, view.running);
    running.iter().map(move |running| {
        let coming = instance.unavailable().iter().filter(|period| period.start > now);
        let meeting = coming.filter(|period| !period.processors.is_disjoint(&running.processors));
        let limit = meeting.map(|period| period.start).min().unwrap_or(Time::MAX);
        let end = running.expected_end(instance, now).min(limit);
        let processors = running.processors.clone();
        ClosedSlot { processors, start: running.start, end, task: Some(running.task), begun: true }
    })
}

/// Returns the earliest end of the unavailable periods that have begun, or begin before the instant `before`.
pub(super) fn next_opening(view: &View<'_>, before: Time) -> Option<Time> {
    let now = view.now;
    let meeting = view.instance.unavailable().iter().filter(|period| period.end > now);
    meeting.filter(|period| period.start <= now || period.start < before).map(|period| period.end).min()
}
