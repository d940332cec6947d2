//! What is held now and until when, processor by processor: for platforms where it matters which.

use makespan_core::{Instance, JobId, ProcSet, Time, View};

use crate::kernel::{take_compact, widest_compact};

/// Processors that are closed from `start` to `end`: held, reserved, down or unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub processors: ProcSet,
    pub start: Time,
    pub end: Time,
}

/// Which processors are closed when, from now on. Built from a view in one walk; a question walks over all of it.
#[derive(Debug)]
pub(super) struct Space<'a> {
    instance: &'a Instance,
    now: Time,
    slots: Vec<Slot>,
    /// Processors that a waiting job is to get: who ends before takes these first, and leaves others to who does not.
    reserved: Option<Slot>,
    /// Distinct speeds, falling, each with the processors that are at least as fast.
    speeds: Vec<(f64, ProcSet)>,
    /// When the first unavailable period begins that is not over.
    closing: Option<Time>,
    /// When all that runs or is reserved has ended.
    reach: Time,
}

impl<'a> Space<'a> {
    /// What the view shows: jobs that run until they are expected to end, failures, unavailable periods.
    pub(super) fn of(view: &View<'a>) -> Self {
        let now = view.now;
        let periods = || view.instance.unavailable().iter().filter(|period| period.end > now);
        let closed = periods().map(|period| (period, period.end));
        let down = view.down.iter().map(|failure| (failure, failure.end.max(now + Time::TICK)));
        let closed = closed.chain(down).map(|(period, end)| Slot {
            processors: period.processors.clone(),
            start: period.start,
            end,
        });
        let slots: Vec<Slot> = running(view).collect();
        let reach = slots.iter().map(|slot| slot.end).max().unwrap_or(now);
        let closing = periods().map(|period| period.start).min();
        let slots = slots.into_iter().chain(closed).collect();
        let speeds = speeds(view.instance);
        Self { instance: view.instance, now, slots, reserved: None, speeds, closing, reach }
    }

    /// Closes processors.
    pub(super) fn hold(&mut self, slot: Slot) {
        self.reach = self.reach.max(slot.end);
        self.slots.push(slot);
    }

    /// Opens what [`Space::hold`] closed.
    pub(super) fn release(&mut self, slot: &Slot) {
        if let Some(at) = self.slots.iter().rposition(|other| other == slot) {
            self.slots.swap_remove(at);
        }
    }

    /// Closes processors for the job that is first to start later.
    pub(super) fn reserve(&mut self, slot: Slot) {
        self.reserved = Some(slot.clone());
        self.hold(slot);
    }

    /// Opens what [`Space::reserve`] closed.
    pub(super) fn unreserve(&mut self) {
        if let Some(slot) = self.reserved.take() {
            self.release(&slot);
        }
    }

    /// Those of `base` that are open all the time from `start` to `end`.
    pub(super) fn open(&self, base: &ProcSet, start: Time, end: Time) -> ProcSet {
        let meeting = self.slots.iter().filter(|slot| slot.start < end && start < slot.end);
        let closed: Vec<(u32, u32)> = meeting.flat_map(|slot| slot.processors.intervals().iter().copied()).collect();
        if closed.is_empty() { base.clone() } else { base.difference(&ProcSet::from_intervals(closed)) }
    }

    /// The place from `start` on for a job on so many processors: the fastest there are, and of these no faster ones than
    /// that takes; in best placement where it is required; those that `avoid` has only if needed. None that are too slow
    /// for its walltime.
    pub(super) fn place(&self, job: JobId, width: u32, start: Time, avoid: &ProcSet) -> Option<Slot> {
        let platform = self.instance.platform();
        let (time, walltime) = (self.instance.job(job).profile().time(width), self.instance.job(job).walltime);
        for (index, (speed, fast)) in self.speeds.iter().enumerate() {
            if fast.len() < width {
                continue;
            }
            let time = if platform.has_unit_speed() { time } else { time.divided_by(*speed) };
            if walltime.is_some_and(|walltime| time > walltime) {
                return None;
            }
            let end = start + time;
            let open = self.open(fast, start, end);
            let faster = index.checked_sub(1).map(|index| &self.speeds[index].1);
            if let Some(processors) = self.take(open, (width, end), faster, avoid) {
                // On a platform of unequal speeds the slowest of them says how long.
                let end = start + self.instance.time(job, &processors);
                return Some(Slot { processors, start, end });
            }
        }
        None
    }

    fn take(
        &self,
        mut open: ProcSet,
        (width, end): (u32, Time),
        faster: Option<&ProcSet>,
        avoid: &ProcSet,
    ) -> Option<ProcSet> {
        if open.len() < width {
            return None;
        }
        if self.instance.platform().restricts_placement() {
            return take_compact(self.instance.platform(), &mut open, width);
        }
        // Slow ones first, of these what need not be avoided, of these what is reserved or closed soonest.
        let mut pools = vec![open];
        for apart in [faster, Some(avoid)].into_iter().flatten().filter(|apart| !apart.is_empty()) {
            pools = pools.iter().flat_map(|pool| [pool.difference(apart), pool.intersection(apart)]).collect();
        }
        if let Some(Slot { processors: reserved, .. }) = &self.reserved {
            let split = |pool: &ProcSet| [pool.intersection(reserved), pool.difference(reserved)];
            pools = pools.iter().flat_map(split).collect();
        }
        // A period after the end of everything makes no processor better than another.
        let near = self.closing.is_some_and(|closing| closing < self.reach.max(end));
        let classes = self.instance.availability().classes();
        let classes = if near { classes } else { &classes[..1] };
        let mut taken = ProcSet::new();
        for mut pool in pools {
            for class in classes {
                let missing = width - taken.len();
                let mut here = if near { pool.intersection(&class.processors) } else { pool.clone() };
                let part = here.take(missing.min(here.len()))?;
                pool = pool.difference(&part);
                taken = taken.union(&part);
            }
        }
        (taken.len() == width).then_some(taken)
    }

    /// The first place from `after` on: at that instant or when something is opened.
    pub(super) fn earliest(&self, job: JobId, width: u32, after: Time, avoid: &ProcSet) -> Option<Slot> {
        let mut instants = std::iter::once(after).chain(self.openings(after));
        instants.find_map(|instant| self.place(job, width, instant, avoid))
    }

    /// The most processors that a job could have from `start` until each of some instants, the last one far away.
    pub(super) fn widest(&self, start: Time) -> impl Iterator<Item = (Time, u32)> + '_ {
        let mut until: Vec<Time> = self.slots.iter().map(|slot| slot.start).filter(|&at| at > start).collect();
        until.push(Time::MAX);
        until.sort_unstable();
        until.dedup();
        let all = ProcSet::first(self.instance.processors());
        until.into_iter().map(move |until| {
            let open = self.open(&all, start, until);
            let platform = self.instance.platform();
            (until, if platform.restricts_placement() { widest_compact(platform, &open) } else { open.len() })
        })
    }

    /// When something is opened after an instant, ascending.
    pub(super) fn openings(&self, after: Time) -> Vec<Time> {
        let mut ends: Vec<Time> = self.slots.iter().map(|slot| slot.end).filter(|&end| end > after).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// How many processors there are.
    pub(super) fn processors(&self) -> u32 {
        self.instance.processors()
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
        Slot { processors: running.processors.clone(), start: running.start, end }
    })
}

/// Distinct speeds, falling, each with the processors that are at least as fast.
pub(super) fn speeds(instance: &Instance) -> Vec<(f64, ProcSet)> {
    let platform = instance.platform();
    let nodes = (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0);
    let mut nodes: Vec<(f64, usize)> = nodes.map(|node| (platform.nodes()[node].speed, node)).collect();
    nodes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut speeds: Vec<(f64, ProcSet)> = Vec::new();
    let mut intervals = Vec::new();
    for (index, &(speed, node)) in nodes.iter().enumerate() {
        intervals.extend_from_slice(platform.processors_of(node).intervals());
        if nodes.get(index + 1).is_none_or(|next| next.0 < speed) {
            speeds.push((speed, ProcSet::from_intervals(intervals.clone())));
        }
    }
    speeds
}

/// When the next unavailable period ends, of those that begin before an instant or have begun.
pub(super) fn next_opening(view: &View<'_>, before: Time) -> Option<Time> {
    let now = view.now;
    let meeting = view.instance.unavailable().iter().filter(|period| period.end > now);
    meeting.filter(|period| period.start <= now || period.start < before).map(|period| period.end).min()
}
