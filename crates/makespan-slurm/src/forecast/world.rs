//! The used and the free resources during a simulation.

use std::cell::Cell;

use crate::queue::{Memory, NodeHolding};

use super::bits::{Common, NodeBits};
use super::model::{Model, amounts};
use super::shape::PartitionRequest;

/// The resources that a job holds on one node.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub site: u32,
    pub cpus: u32,
    pub memory: u64,
    /// Kinds and amounts of generic resources.
    pub gres: Vec<(u16, u32)>,
}

/// A running job, or all resources of the jobs that this user cannot see.
#[derive(Clone, Debug)]
pub(super) struct RunningUsage {
    /// The index of the job in the queue. `None` for the jobs that this user cannot see.
    pub job: Option<usize>,
    /// The end that the scheduler assumes, in seconds since 1970.
    pub believed: i64,
    pub holds: Vec<Hold>,
}

/// A reservation of a node for a pending job.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeReservation {
    pub from: i64,
    pub until: i64,
    pub job: usize,
}

/// The time for which nodes are free, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub seconds: i64,
    /// The reservation for a pending job that ends this time, if any.
    pub kept: Option<NodeReservation>,
    /// The reservation of Slurm that ends this time, if any.
    pub closed: Option<usize>,
}

/// The resources of a site that become free at the assumed end of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssumedEnd {
    pub at: i64,
    pub number: u32,
    pub cpus: u32,
    pub memory: u64,
}

/// Cost of allocating and releasing a node, as a number of examined nodes.
const NODE_AS_LOOKS: u64 = 10;
/// Number of words of a set of nodes that together take as long to read as one node takes to examine.
const WORDS_AS_A_LOOK: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct World<'a> {
    pub model: &'a Model<'a>,
    pub now: i64,
    pub cpus: Vec<u32>,
    pub memory: Vec<u64>,
    pub gres: Vec<u32>,
    /// For each level of processors and of memory, the sites that have at least this amount free.
    with_cpus: Vec<NodeBits>,
    with_memory: Vec<NodeBits>,
    /// Sites on which nothing runs.
    idle: NodeBits,
    pub running: Vec<Option<RunningUsage>>,
    /// For each site, the assumed ends of its running jobs, in ascending order.
    pub on: Vec<Vec<AssumedEnd>>,
    /// For each site, the first assumed end of a running job. If no job runs there, a value later than all instants.
    pub first_end: Vec<i64>,
    /// For each site, its reservations in the current cycle, in ascending order.
    pub kept: Vec<Vec<NodeReservation>>,
    touched: Vec<usize>,
    /// Sites that are reserved at a later instant, for a pending job or by Slurm.
    taken_later: NodeBits,
    pub used: Vec<u64>,
    /// Two numbers for each counter of remaining minutes. The first is the total amount that running jobs hold. The
    /// second is the sum, over these jobs, of the amount times the end of the job (in seconds after the beginning of
    /// the simulation).
    falling: Vec<(u64, i128)>,
    /// Number of nodes that were examined for jobs. It measures the cost independently of the machine.
    pub looked: Cell<u64>,
}

impl<'a> World<'a> {
    pub(super) fn of(model: &'a Model<'a>) -> Self {
        let sites = model.sites.len();
        let mut world = Self {
            model,
            now: model.queue.now,
            cpus: model.sites.iter().map(|site| site.cpus).collect(),
            memory: model.sites.iter().map(|site| site.memory).collect(),
            gres: model.gres.clone(),
            with_cpus: vec![NodeBits::new(sites); model.levels.cpus.len()],
            with_memory: vec![NodeBits::new(sites); model.levels.memory.len()],
            idle: NodeBits::new(sites),
            running: Vec::new(),
            on: vec![Vec::new(); sites],
            first_end: vec![i64::MAX; sites],
            kept: vec![Vec::new(); sites],
            touched: Vec::new(),
            taken_later: NodeBits::new(sites),
            used: model.counters.iter().map(|counter| counter.used).collect(),
            falling: vec![(0, 0); model.counters.len()],
            looked: Cell::new(0),
        };
        for (site, of) in model.sites.iter().enumerate() {
            world.idle.set(site, true);
            world.taken_later.set(site, !of.closed.is_empty());
            for (&level, set) in model.levels.cpus.iter().zip(&mut world.with_cpus) {
                set.set(site, of.cpus >= level);
            }
            for (&level, set) in model.levels.memory.iter().zip(&mut world.with_memory) {
                set.set(site, of.memory >= level);
            }
        }
        world
    }

    /// Converts the resources that a job of the queue holds.
    pub(super) fn hold(&self, holding: &NodeHolding) -> Hold {
        let amounts = amounts(&holding.gres, &self.model.kinds).into_iter().enumerate();
        Hold {
            site: self.model.site_of[holding.node] as u32,
            cpus: holding.cpus,
            memory: if self.model.memory { holding.memory } else { 0 },
            gres: amounts.filter(|one| one.1 > 0).map(|(kind, count)| (kind as u16, count)).collect(),
        }
    }

    /// Starts a job. If Slurm reports that the job already runs, it may hold more than its node has.
    pub(super) fn take(&mut self, running: RunningUsage) -> usize {
        let number = self.running.len();
        self.looked.set(self.looked.get() + running.holds.len() as u64 * NODE_AS_LOOKS);
        for hold in &running.holds {
            let site = hold.site as usize;
            let (cpus, memory) = (self.cpus[site], self.memory[site]);
            self.have(site, cpus.saturating_sub(hold.cpus), memory.saturating_sub(hold.memory));
            for &(kind, count) in &hold.gres {
                let left = &mut self.gres[site * self.model.kinds.len() + usize::from(kind)];
                *left = left.saturating_sub(count);
            }
            let end = AssumedEnd { at: running.believed, number: number as u32, cpus: hold.cpus, memory: hold.memory };
            let place = self.on[site].partition_point(|other| (other.at, other.number) <= (end.at, end.number));
            self.on[site].insert(place, end);
            self.first_end[site] = self.on[site][0].at;
            self.idle.set(site, false);
        }
        self.running.push(Some(running));
        number
    }

    /// Ends a job and releases its resources.
    pub(super) fn give_back(&mut self, number: usize) -> Option<RunningUsage> {
        let running = self.running[number].take()?;
        let kinds = self.model.kinds.len();
        for hold in &running.holds {
            let site = hold.site as usize;
            let of = &self.model.sites[site];
            self.on[site].retain(|end| end.number as usize != number);
            self.first_end[site] = self.on[site].first().map_or(i64::MAX, |end| end.at);
            self.idle.set(site, self.on[site].is_empty());
            if self.on[site].is_empty() {
                // Slurm may report that jobs hold more than their node has. But the free resources of a node never
                // exceed its resources.
                self.have(site, of.cpus, of.memory);
                self.gres[site * kinds..(site + 1) * kinds]
                    .copy_from_slice(&self.model.gres[site * kinds..(site + 1) * kinds]);
            } else {
                let cpus = (self.cpus[site] + hold.cpus).min(of.cpus);
                self.have(site, cpus, self.memory[site].saturating_add(hold.memory).min(of.memory));
                for &(kind, count) in &hold.gres {
                    let at = site * kinds + usize::from(kind);
                    self.gres[at] = (self.gres[at] + count).min(self.model.gres[at]);
                }
            }
        }
        Some(running)
    }

    /// Sets the free resources of a site.
    fn have(&mut self, site: usize, cpus: u32, memory: u64) {
        let levels = &self.model.levels;
        change(&levels.cpus, &mut self.with_cpus, site, std::mem::replace(&mut self.cpus[site], cpus), cpus);
        change(&levels.memory, &mut self.with_memory, site, std::mem::replace(&mut self.memory[site], memory), memory);
    }

    /// Returns the first counter with a limit that delays a job, or `None` if no limit delays the job.
    pub(super) fn limit_reached(&self, job: usize) -> Option<usize> {
        let mut uses = self.model.uses[job].iter();
        uses.find(|own| self.is_beyond(job, own)).map(|use_of| use_of.0)
    }

    fn is_beyond(&self, job: usize, own: &(usize, u64)) -> bool {
        self.taken(own.0).saturating_add(self.model.amount(job, own)) > self.model.counters[own.0].total
    }

    /// Returns the used amount of a counter.
    pub(super) fn taken(&self, counter: usize) -> u64 {
        if !self.model.counters[counter].falls {
            return self.used[counter];
        }
        let (held, ends) = self.falling[counter];
        let passed = i128::from(held) * i128::from(self.now - self.model.queue.now);
        u64::try_from((ends - passed).max(0) / 60).unwrap_or(u64::MAX)
    }

    /// Returns the instant at which counters of remaining minutes delay a job no longer. Returns `None` if another
    /// event must happen first.
    pub(super) fn falls_until(&self, job: usize) -> Option<i64> {
        let mut latest = None;
        for own in self.model.uses[job].iter().filter(|own| self.is_beyond(job, own)) {
            let (held, ends) = self.falling[own.0];
            let room = i128::from(self.model.counters[own.0].total) - i128::from(self.model.amount(job, own));
            if held == 0 || room < 0 {
                return None;
            }
            // The limit is in whole minutes. So find the first instant at which the remaining minutes, after rounding,
            // are few enough.
            let passed = (ends - (room * 60 + 59)).max(0) as u128;
            let at = i64::try_from(passed.div_ceil(u128::from(held))).ok()?;
            latest = latest.max(Some(self.model.queue.now.saturating_add(at).max(self.now + 1)));
        }
        latest
    }

    /// If `starts` is true, adds a job to its counters. Otherwise, removes the job from them.
    pub(super) fn count(&mut self, job: usize, believed: i64, starts: bool) {
        for &(counter, amount) in self.model.uses[job].iter().filter(|own| !self.model.counters[own.0].falls) {
            let used = &mut self.used[counter];
            *used = if starts { used.saturating_add(amount) } else { used.saturating_sub(amount) };
        }
        self.count_falling(job, believed, starts);
    }

    /// If `starts` is true, adds a job to its counters of remaining minutes. Otherwise, removes the job from them.
    pub(super) fn count_falling(&mut self, job: usize, believed: i64, starts: bool) {
        let left = i128::from(believed.saturating_sub(self.model.queue.now));
        for &(counter, amount) in self.model.uses[job].iter().filter(|own| self.model.counters[own.0].falls) {
            let (held, ends) = &mut self.falling[counter];
            if starts {
                (*held, *ends) = (held.saturating_add(amount), *ends + i128::from(amount) * left);
            } else {
                (*held, *ends) = (held.saturating_sub(amount), *ends - i128::from(amount) * left);
            }
        }
    }

    pub(super) fn forget_kept(&mut self) {
        for site in self.touched.drain(..) {
            self.kept[site].clear();
            self.taken_later.set(site, !self.model.sites[site].closed.is_empty());
        }
    }

    /// Reserves sites. If a rounded end is after the start of the next reservation of a site, the new reservation ends at
    /// this start.
    pub(super) fn keep(&mut self, sites: &[usize], kept: NodeReservation) {
        for &site in sites {
            let others = &mut self.kept[site];
            let place = others.partition_point(|other| other.from < kept.from);
            debug_assert!(others[..place].last().is_none_or(|other| other.until <= kept.from));
            let until = others.get(place).map_or(kept.until, |next| kept.until.min(next.from));
            debug_assert!(kept.from < until);
            others.insert(place, NodeReservation { until, ..kept });
            self.touched.push(site);
            self.taken_later.set(site, true);
        }
    }

    /// Returns all sites that fit the shape now. May also contain sites that do not fit.
    pub(super) fn open_for(&self, shape: &PartitionRequest) -> Common<'_> {
        let (cpus, memory) = self.model.levels.reached_for(shape);
        let (set, span) = (&self.model.sets[shape.set], self.model.spans[shape.set].clone());
        self.looked.set(self.looked.get() + span.len() as u64 / WORDS_AS_A_LOOK);
        Common { of: [set, &self.with_cpus[cpus], &self.with_memory[memory]], without: None, span }
    }

    /// Returns the number of sites that fit the shape now. Ignores later reservations.
    pub(super) fn roomy(&self, shape: &PartitionRequest) -> usize {
        self.open_for(shape).iter().filter(|&site| self.room_now(shape, site).is_some()).count()
    }

    /// Returns the number of processors that a site can provide to a job now. Returns `None` if the site has too
    /// little of another resource that the job requests per node.
    pub(super) fn room_now(&self, shape: &PartitionRequest, site: usize) -> Option<u32> {
        self.looked.set(self.looked.get() + 1);
        let kinds = self.model.kinds.len();
        let gres = &self.gres[site * kinds..(site + 1) * kinds];
        self.model.room(shape, site, self.cpus[site], self.memory[site], gres)
    }

    /// Returns the end of a reservation that prevents a job of this shape from using a site from the instant `from`
    /// on. Returns `None` if there is no such reservation.
    pub(super) fn conflict(&self, shape: &PartitionRequest, site: usize, from: i64, heeds_kept: bool) -> Option<i64> {
        if !self.taken_later.has(site) {
            return None;
        }
        let until = from.saturating_add(shape.lasts);
        let overlaps = |start: i64, end: i64| start < until && end > from;
        let closed = self.model.sites[site].closed.iter();
        let closed = closed.filter(|&&(start, end, index)| Some(index) != shape.reservation && overlaps(start, end));
        let mut latest = closed.map(|period| period.1).max();
        if heeds_kept {
            let kept = &self.kept[site];
            let last = kept[..kept.partition_point(|kept| kept.from < until)].last();
            latest = latest.max(last.map(|kept| kept.until).filter(|&until| until > from));
        }
        latest
    }

    /// Returns the instant until which a job that starts now may hold these nodes.
    pub(super) fn free_until(&self, shape: &PartitionRequest, holds: &[Hold], heeds_kept: bool) -> i64 {
        let of = |hold: &Hold| {
            let site = hold.site as usize;
            let closed = self.model.sites[site].closed.iter().filter(|period| Some(period.2) != shape.reservation);
            let closed = closed.filter(|period| period.1 > self.now).map(|period| period.0).min();
            let kept = self.kept[site].iter().find(|kept| heeds_kept && kept.until > self.now);
            closed.into_iter().chain(kept.map(|kept| kept.from)).min().unwrap_or(i64::MAX)
        };
        holds.iter().map(of).min().unwrap_or(i64::MAX)
    }

    /// Returns nodes on which a job can start now, with the resources that the job takes on each node.
    pub(super) fn find(
        &self,
        shape: &PartitionRequest,
        without: Option<&NodeBits>,
        heeds_kept: bool,
    ) -> Option<Vec<Hold>> {
        let mut open = Common { without, ..self.open_for(shape) };
        if shape.whole {
            open.of[1] = &self.idle;
        }
        let is_taken = |site: usize| self.room_now(shape, site).is_none();
        let required = shape.counted.map(|at| &self.model.counted[at].required);
        if required.is_some_and(|required| required.iter().any(is_taken)) {
            return None;
        }
        if !open.has(shape.min_nodes as usize) || !self.in_reservation(shape, self.now) {
            return None;
        }
        let rooms = open.iter().filter_map(|site| {
            let room = self.room_now(shape, site)?;
            self.conflict(shape, site, self.now, heeds_kept).is_none().then_some((site, room))
        });
        let conditions = |rooms: &mut [(usize, u32)]| self.model.put_counted_first(shape, rooms, |one| one.0);
        let found = match shape.counted {
            None => shape.nodes().choose(rooms, None),
            Some(_) => shape.nodes().choose(rooms, Some(&conditions)),
        }?;
        Some(found.into_iter().map(|(site, cpus)| self.hold_of(shape, site, cpus)).collect())
    }

    /// Returns the resources that a job takes on a node on which it gets `cpus` processors. Processors of a core are
    /// allocated together.
    fn hold_of(&self, shape: &PartitionRequest, site: usize, cpus: u32) -> Hold {
        let of = &self.model.sites[site];
        let there = self.room_now(shape, site).unwrap_or(cpus);
        let cpus = if shape.whole { of.cpus } else { cpus.next_multiple_of(of.grain).min(there) };
        let memory = match shape.memory {
            None => 0,
            Some(Memory::PerCpu(bytes)) => bytes.saturating_mul(cpus.into()),
            Some(Memory::PerNode(bytes)) => bytes,
            Some(Memory::Whole) => of.memory,
        };
        Hold { site: site as u32, cpus, memory, gres: self.gres_of(shape, site) }
    }

    fn gres_of(&self, shape: &PartitionRequest, site: usize) -> Vec<(u16, u32)> {
        let kinds = self.model.kinds.len();
        let mut taken = Vec::new();
        for (wanted, count) in &shape.gres {
            let mut rest = *count;
            for &kind in wanted {
                let here = rest.min(self.gres[site * kinds + kind]);
                rest -= here;
                if here > 0 {
                    taken.push((kind as u16, here));
                }
            }
        }
        taken
    }

    /// Returns true if the job must run in a reservation and can run there from an instant on.
    pub(super) fn in_reservation(&self, shape: &PartitionRequest, from: i64) -> bool {
        let kept = shape.reservation.map(|index| &self.model.queue.reservations[index]);
        kept.is_none_or(|kept| kept.start <= from && from.saturating_add(shape.lasts) <= kept.end)
    }

    /// Returns the time for which enough sites are free for a job from now on, and the reservation that ends this
    /// time.
    pub(super) fn gap_of(&self, shape: &PartitionRequest) -> Option<Gap> {
        // The free nodes may have too few nodes with a counted feature (`rack1*2`), or too few processors in total.
        let may_lack = shape.counted.is_some() || shape.needs_more_together();
        if may_lack && self.find(&PartitionRequest { lasts: 1, ..shape.clone() }, None, false).is_none() {
            return None;
        }
        let gap = |site: usize| self.gap(shape, site).map(|(gap, room)| (gap, site, room));
        let mut gaps: Vec<(Gap, usize, u32)> = self.open_for(shape).iter().filter_map(gap).collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(gap.0.seconds));
        let mut order: Vec<(usize, u32)> = (0..gaps.len()).map(|at| (at, gaps[at].2)).collect();
        let counted = self.model.put_counted_first(shape, &mut order, |(at, _)| gaps[at].1)?;
        let needed = shape.nodes().prefix(&order)?.max(counted);
        order[..needed].iter().map(|&(at, _)| at).max().map(|last| gaps[last].0)
    }

    /// Returns the time for which a site is free for a job, and the number of processors there. Returns `None` if the
    /// site has too little of a requested resource.
    fn gap(&self, shape: &PartitionRequest, site: usize) -> Option<(Gap, u32)> {
        let room = self.room_now(shape, site)?;
        let closed = self.model.sites[site].closed.iter().filter(|period| Some(period.2) != shape.reservation);
        let closed = closed.filter(|period| period.1 > self.now).min_by_key(|period| period.0);
        let kept = self.kept[site].iter().find(|kept| kept.until > self.now);
        let ahead = |from: i64| from.saturating_sub(self.now).max(0);
        let gap = match (closed, kept) {
            (None, None) => Gap { seconds: i64::MAX, kept: None, closed: None },
            (Some(closed), kept) if kept.is_none_or(|kept| closed.0 <= kept.from) => {
                Gap { seconds: ahead(closed.0), kept: None, closed: Some(closed.2) }
            }
            (_, kept) => {
                Gap { seconds: kept.map_or(i64::MAX, |kept| ahead(kept.from)), kept: kept.copied(), closed: None }
            }
        };
        Some((gap, room))
    }
}

/// Updates the sets of sites after a value of `site` changed. For each level, one set contains the sites with a value
/// of at least this level.
fn change<T: Ord + Copy>(levels: &[T], sets: &mut [NodeBits], site: usize, before: T, now: T) {
    let reached = |value: &T| levels.partition_point(|level| level <= value);
    let (before, now) = (reached(&before), reached(&now));
    sets[before.min(now)..before.max(now)].iter_mut().for_each(|set| set.set(site, now > before));
}
