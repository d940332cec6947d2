//! What is held now and until when, processor by processor: for platforms where it matters which.

use makespan_core::{Instance, ProcSet, TaskId, Time, View};

use super::order::Place;
use crate::free_time::Period;
use crate::kernel::usage::{Holding, Usage};
use crate::kernel::{take_compact, widest_compact};
use crate::speeds::speeds;

/// Processors that are closed from `start` to `end`: held, reserved, down or unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub processors: ProcSet,
    pub start: Time,
    pub end: Time,
    /// Who holds them, if a task does.
    pub task: Option<TaskId>,
    /// Whether it runs already.
    pub begun: bool,
}

impl Slot {
    /// What the task of the slot holds, if there is one.
    fn holding(&self) -> Option<Holding<'_>> {
        let &Self { ref processors, start, end, task, begun } = self;
        Some(Holding { task: task?, processors, period: Period { from: start, until: end }, begun })
    }
}

/// What the task is to get that is first to start later: some of several processors, any of which serve.
#[derive(Clone, Debug)]
struct Reserved {
    /// Open for as long as the task will run.
    processors: ProcSet,
    /// How many of them it leaves to others.
    spare: u32,
    start: Time,
    end: Time,
    /// What it is to hold besides, where that counts; then its processors are no others.
    held: Option<Slot>,
}

impl Reserved {
    fn meets(&self, start: Time, end: Time) -> bool {
        start < self.end && self.start < end
    }

    /// How many of these processors others may have while the task runs.
    fn leaves(&self, open: &ProcSet) -> u32 {
        let shared = open.intersection(&self.processors).len();
        open.len() - shared + shared.min(self.spare)
    }
}

/// Which processors are closed when, from now on. Built from a view in one walk; a question walks over all of it.
#[derive(Debug)]
pub(super) struct Space<'a> {
    instance: &'a Instance,
    now: Time,
    slots: Vec<Slot>,
    /// What a waiting task is to get.
    reserved: Option<Reserved>,
    /// Distinct speeds, falling, each with the processors that are at least as fast.
    speeds: Vec<(f64, ProcSet)>,
    /// When the first unavailable period begins that is not over.
    closing: Option<Time>,
    /// When all that runs or is reserved has ended.
    reach: Time,
    /// What tasks hold besides processors.
    usage: Usage<'a>,
}

impl<'a> Space<'a> {
    /// What the view shows: tasks that run until they are expected to end, failures, unavailable periods.
    pub(super) fn of(view: &View<'a>) -> Self {
        let now = view.now;
        let periods = || view.instance.unavailable().iter().filter(|period| period.end > now);
        let closed = periods().map(|period| (period, period.end));
        let down = view.down.iter().map(|failure| (failure, failure.end.max(now + Time::TICK)));
        let closed = closed.chain(down).map(|(period, end)| Slot {
            processors: period.processors.clone(),
            start: period.start,
            end,
            task: None,
            begun: false,
        });
        let slots: Vec<Slot> = running(view).collect();
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
        space.slots.iter().filter_map(Slot::holding).for_each(|holding| space.usage.hold(&holding));
        space
    }

    /// Closes processors.
    pub(super) fn hold(&mut self, slot: Slot) {
        self.reach = self.reach.max(slot.end);
        if let Some(reserved) = self.reserved.as_mut().filter(|reserved| reserved.meets(slot.start, slot.end)) {
            let shared = slot.processors.intersection(&reserved.processors);
            reserved.spare = reserved.spare.saturating_sub(shared.len());
            reserved.processors.remove(&shared);
        }
        self.count(&slot);
        self.slots.push(slot);
    }

    /// Opens what [`Space::hold`] closed.
    pub(super) fn release(&mut self, slot: &Slot) {
        if let Some(at) = self.slots.iter().rposition(|other| other == slot) {
            let slot = self.slots.swap_remove(at);
            slot.holding().iter().for_each(|holding| self.usage.release(holding));
        }
    }

    /// Counts what the task of a slot holds besides processors.
    fn count(&mut self, slot: &Slot) {
        slot.holding().iter().for_each(|holding| self.usage.hold(holding));
    }

    /// Keeps room for the task that is first to start later, at this instant and not to end later: so many of all the
    /// processors that let it. Where best placement is required, or tasks need more than processors, these alone.
    pub(super) fn reserve(&mut self, slot: Slot) {
        self.reach = self.reach.max(slot.end);
        if self.has_own_processors() {
            self.count(&slot);
            let (processors, start, end) = (slot.processors.clone(), slot.start, slot.end);
            self.reserved = Some(Reserved { processors, spare: 0, start, end, held: Some(slot) });
            return;
        }
        let Slot { processors, start, end, task, .. } = slot;
        // Times are rounded up, so slower ones may end no later.
        let in_time = |speed| task.is_some_and(|task| start + self.time_at(task, processors.len(), speed) <= end);
        let as_fast = self.speeds.iter().rfind(|(speed, _)| in_time(*speed));
        let open = as_fast.map_or_else(|| processors.clone(), |(_, fast)| self.open(fast, start, end));
        let spare = open.len() - processors.len();
        self.reserved = Some(Reserved { processors: open, spare, start, end, held: None });
    }

    /// Forgets what [`Space::reserve`] kept.
    pub(super) fn unreserve(&mut self) {
        self.take_reserved();
    }

    fn take_reserved(&mut self) -> Option<Reserved> {
        let reserved = self.reserved.take()?;
        reserved.held.iter().filter_map(Slot::holding).for_each(|holding| self.usage.release(&holding));
        Some(reserved)
    }

    /// Whether a reservation is one of certain processors.
    fn has_own_processors(&self) -> bool {
        self.instance.platform().restricts_placement() || self.usage.matters()
    }

    /// Processors from now on for the task at `place`, which has none beside the reservation where best placement is
    /// required, if they leave others for the task at `head`, whose reservation it is: it is then of these others.
    pub(super) fn exchange(&mut self, place: Place, head: Place) -> Option<Slot> {
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

    /// Those of `base` that are open all the time from `start` to `end`.
    pub(super) fn open(&self, base: &ProcSet, start: Time, end: Time) -> ProcSet {
        let meeting = self.slots.iter().filter(|slot| slot.start < end && start < slot.end);
        let closed: Vec<(u32, u32)> = meeting.flat_map(|slot| slot.processors.intervals().iter().copied()).collect();
        if closed.is_empty() { base.clone() } else { base.difference(&ProcSet::from_intervals(closed)) }
    }

    /// How long a task takes on so many processors of this speed.
    fn time_at(&self, task: TaskId, width: u32, speed: f64) -> Time {
        let time = self.instance.profile(task).time(width);
        if self.instance.platform().has_unit_speed() { time } else { time.divided_by(speed) }
    }

    /// The place from `start` on for a task on so many processors: the fastest there are, and of these no faster ones than
    /// that takes; in best placement where it is required. None that are too slow for its walltime.
    pub(super) fn place(&self, task: TaskId, width: u32, start: Time) -> Option<Slot> {
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
                // On a platform of unequal speeds the slowest of them says how long.
                let end = start + self.instance.time(task, &processors);
                return Some(Slot { processors, start, end, task: Some(task), begun: false });
            }
        }
        None
    }

    /// Those of `base` that are open all the time, and not reserved where a reservation has processors of its own.
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
        // Slow ones first. Of these who ends before the reserved task starts takes what that may get, and leaves others to
        // who does not. Of these what is closed soonest.
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
        // A period after the end of everything makes no processor better than another.
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

    /// So many of these processors: of one node if one has so many, and else of as few as can be.
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

    /// The first place from `after` on: at that instant or when something is opened.
    pub(super) fn earliest(&self, task: TaskId, width: u32, after: Time) -> Option<Slot> {
        let mut instants = std::iter::once(after).chain(self.openings(after));
        instants.find_map(|instant| self.place(task, width, instant))
    }

    /// The most processors that a task could have from `start` until each of some instants, the last one far away.
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

    /// When something is opened after an instant, ascending.
    pub(super) fn openings(&self, after: Time) -> Vec<Time> {
        let reserved = self.reserved.as_ref().map(|reserved| reserved.end);
        let ends = self.slots.iter().map(|slot| slot.end).chain(reserved);
        let mut ends: Vec<Time> = ends.filter(|&end| end > after).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Whether tasks need more than processors.
    pub(super) fn knows_needs(&self) -> bool {
        self.usage.matters()
    }

    /// The present.
    pub(super) fn now(&self) -> Time {
        self.now
    }
}

/// What runs, until it is expected to end; what outlives its estimate is interrupted when a period begins.
pub(super) fn running<'v>(view: &View<'v>) -> impl Iterator<Item = Slot> + use<'v> {
    let (now, instance, running) = (view.now, view.instance, view.running);
    running.iter().map(move |running| {
        let coming = instance.unavailable().iter().filter(|period| period.start > now);
        let meeting = coming.filter(|period| !period.processors.is_disjoint(&running.processors));
        let limit = meeting.map(|period| period.start).min().unwrap_or(Time::MAX);
        let end = running.expected_end(instance, now).min(limit);
        let processors = running.processors.clone();
        Slot { processors, start: running.start, end, task: Some(running.task), begun: true }
    })
}

/// When the next unavailable period ends, of those that begin before an instant or have begun.
pub(super) fn next_opening(view: &View<'_>, before: Time) -> Option<Time> {
    let now = view.now;
    let meeting = view.instance.unavailable().iter().filter(|period| period.end > now);
    meeting.filter(|period| period.start <= now || period.start < before).map(|period| period.end).min()
}
