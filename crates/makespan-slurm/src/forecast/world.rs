//! What is held and what is free while time passes.

use std::cell::Cell;

use crate::queue::{Holding, Memory};

use super::bits::Bits;
use super::model::{Model, Shape, amounts};

/// What a job holds of one node.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub site: u32,
    pub cpus: u32,
    pub memory: u64,
    /// Kinds and how many of each.
    pub gres: Vec<(u16, u32)>,
}

/// Something that runs: a job, or what is held by jobs that are not seen.
#[derive(Clone, Debug)]
pub(super) struct Running {
    /// Which job of the queue.
    pub job: Option<usize>,
    /// When the scheduler believes it to end.
    pub believed: i64,
    pub holds: Vec<Hold>,
}

/// A node that is kept for a job that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub from: i64,
    pub until: i64,
    pub job: usize,
}

/// For how long nodes are free, and what ends that: a job for which they are kept, or a reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub seconds: i64,
    pub kept: Option<Kept>,
    pub closed: Option<usize>,
}

/// The place of the last node that a job needs among nodes by the instants from which they are free: those up to it, and all that are
/// free at the same instant, come first and sorted. Few of many nodes are needed, so that not all are sorted.
fn last_needed(shape: &Shape, times: &mut [(i64, usize, u32)]) -> Option<usize> {
    let mut sorted = (shape.min_nodes as usize).max(32).next_power_of_two();
    loop {
        let all = sorted >= times.len();
        if all {
            times.sort_unstable();
        } else {
            times.select_nth_unstable(sorted);
            times[..sorted].sort_unstable();
        }
        let ready = &times[..if all { times.len() } else { sorted }];
        let mut sum = 0_u64;
        let count = |(index, &(_, _, room)): (usize, &(i64, usize, u32))| {
            sum += u64::from(room);
            (index + 1 >= shape.min_nodes as usize && sum >= shape.cpus).then_some(index)
        };
        let last = ready.iter().enumerate().find_map(count);
        // What is free at the same instant is among them if anything later is.
        let is_whole = |last: &usize| all || times[*last].0 < times[sorted].0;
        match last.filter(is_whole) {
            None if !all => sorted *= 4,
            last => return last,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct World<'a> {
    pub model: &'a Model<'a>,
    pub now: i64,
    cpus: Vec<u32>,
    memory: Vec<u64>,
    gres: Vec<u32>,
    /// Sites with a free processor, and those on which nothing runs.
    open: Bits,
    idle: Bits,
    pub running: Vec<Option<Running>>,
    /// Of each site, what runs there.
    on: Vec<Vec<u32>>,
    /// Of each site, for whom it is kept in the present look.
    pub kept: Vec<Vec<Kept>>,
    touched: Vec<usize>,
    used: Vec<u64>,
    /// Of counters that fall: what running jobs hold, and the sum of it times the seconds from the beginning to their ends.
    falling: Vec<(u64, i128)>,
    /// Nodes that were looked at for jobs: a measure of what a play costs, which is the same on every machine.
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
            open: Bits::new(sites),
            idle: Bits::new(sites),
            running: Vec::new(),
            on: vec![Vec::new(); sites],
            kept: vec![Vec::new(); sites],
            touched: Vec::new(),
            used: model.counters.iter().map(|counter| counter.used).collect(),
            falling: vec![(0, 0); model.counters.len()],
            looked: Cell::new(0),
        };
        for (site, of) in model.sites.iter().enumerate() {
            world.open.set(site, of.cpus > 0);
            world.idle.set(site, true);
        }
        world
    }

    /// What a job of the queue holds, as the simulation counts it.
    pub(super) fn hold(&self, holding: &Holding) -> Hold {
        let amounts = amounts(&holding.gres, &self.model.kinds).into_iter().enumerate();
        Hold {
            site: self.model.site_of[holding.node] as u32,
            cpus: holding.cpus,
            memory: if self.model.memory { holding.memory } else { 0 },
            gres: amounts.filter(|one| one.1 > 0).map(|(kind, count)| (kind as u16, count)).collect(),
        }
    }

    /// Something begins to run. What runs already may hold more than there is, as Slurm says it does.
    pub(super) fn take(&mut self, running: Running) -> usize {
        let number = self.running.len();
        for hold in &running.holds {
            let site = hold.site as usize;
            self.cpus[site] = self.cpus[site].saturating_sub(hold.cpus);
            self.memory[site] = self.memory[site].saturating_sub(hold.memory);
            for &(kind, count) in &hold.gres {
                let left = &mut self.gres[site * self.model.kinds.len() + usize::from(kind)];
                *left = left.saturating_sub(count);
            }
            self.on[site].push(number as u32);
            self.open.set(site, self.cpus[site] > 0);
            self.idle.set(site, false);
        }
        self.running.push(Some(running));
        number
    }

    /// It ends, and what it held is free.
    pub(super) fn give_back(&mut self, number: usize) -> Option<Running> {
        let running = self.running[number].take()?;
        let kinds = self.model.kinds.len();
        for hold in &running.holds {
            let site = hold.site as usize;
            let of = &self.model.sites[site];
            self.on[site].retain(|&other| other as usize != number);
            self.idle.set(site, self.on[site].is_empty());
            if self.on[site].is_empty() {
                // What was held beyond what there is, is not given back twice.
                self.cpus[site] = of.cpus;
                self.memory[site] = of.memory;
                self.gres[site * kinds..(site + 1) * kinds]
                    .copy_from_slice(&self.model.gres[site * kinds..(site + 1) * kinds]);
            } else {
                self.cpus[site] = (self.cpus[site] + hold.cpus).min(of.cpus);
                self.memory[site] = self.memory[site].saturating_add(hold.memory).min(of.memory);
                for &(kind, count) in &hold.gres {
                    let at = site * kinds + usize::from(kind);
                    self.gres[at] = (self.gres[at] + count).min(self.model.gres[at]);
                }
            }
            self.open.set(site, self.cpus[site] > 0);
        }
        Some(running)
    }

    /// Whether all limits leave room for a job.
    pub(super) fn limit_reached(&self, job: usize) -> Option<usize> {
        let mut uses = self.model.uses[job].iter();
        uses.find(|own| self.is_beyond(job, own)).map(|use_of| use_of.0)
    }

    fn is_beyond(&self, job: usize, own: &(usize, u64)) -> bool {
        self.taken(own.0).saturating_add(self.model.amount(job, own)) > self.model.counters[own.0].total
    }

    /// How much of a counter is taken now.
    pub(super) fn taken(&self, counter: usize) -> u64 {
        if !self.model.counters[counter].falls {
            return self.used[counter];
        }
        let (held, ends) = self.falling[counter];
        let passed = i128::from(held) * i128::from(self.now - self.model.queue.now);
        u64::try_from((ends - passed).max(0) / 60).unwrap_or(u64::MAX)
    }

    /// When all limits will leave room for a job because what runs has used up enough of its time, if nothing else has to happen.
    pub(super) fn falls_until(&self, job: usize) -> Option<i64> {
        let mut latest = None;
        for own in self.model.uses[job].iter().filter(|own| self.is_beyond(job, own)) {
            let (held, ends) = self.falling[own.0];
            let room = i128::from(self.model.counters[own.0].total) - i128::from(self.model.amount(job, own));
            if held == 0 || room < 0 {
                return None;
            }
            // The first instant at which the whole minutes that are left fit.
            let passed = (ends - (room * 60 + 59)).max(0) as u128;
            let at = i64::try_from(passed.div_ceil(u128::from(held))).ok()?;
            latest = latest.max(Some(self.model.queue.now.saturating_add(at).max(self.now + 1)));
        }
        latest
    }

    /// A job that is believed to end then begins to count, or ceases to.
    pub(super) fn count(&mut self, job: usize, believed: i64, starts: bool) {
        for &(counter, amount) in self.model.uses[job].iter().filter(|own| !self.model.counters[own.0].falls) {
            let used = &mut self.used[counter];
            *used = if starts { used.saturating_add(amount) } else { used.saturating_sub(amount) };
        }
        self.count_falling(job, believed, starts);
    }

    /// The same of what falls alone.
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
        }
    }

    pub(super) fn keep(&mut self, sites: &[usize], kept: Kept) {
        for &site in sites {
            self.kept[site].push(kept);
            self.touched.push(site);
        }
    }

    /// The sites of a set that have a free processor: no other can give anything now.
    pub(super) fn open_of<'b>(&'b self, set: &'b Bits) -> impl Iterator<Item = usize> + 'b {
        self.open.both(set, None)
    }

    /// How many processors a site can give now, if it has what is asked for on each node.
    pub(super) fn room_now(&self, shape: &Shape, site: usize) -> Option<u32> {
        self.looked.set(self.looked.get() + 1);
        let kinds = self.model.kinds.len();
        let gres = &self.gres[site * kinds..(site + 1) * kinds];
        self.model.room(shape, site, self.cpus[site], self.memory[site], gres)
    }

    /// Whether a job of this shape could not have the site from then on: until when it is taken.
    fn conflict(&self, shape: &Shape, site: usize, from: i64, heeds_kept: bool) -> Option<i64> {
        let until = from.saturating_add(shape.lasts);
        let overlaps = |start: i64, end: i64| start < until && end > from;
        let closed = self.model.sites[site].closed.iter();
        let closed = closed.filter(|&&(start, end, index)| Some(index) != shape.reservation && overlaps(start, end));
        let mut latest = closed.map(|period| period.1).max();
        if heeds_kept {
            let kept = self.kept[site].iter().filter(|kept| overlaps(kept.from, kept.until));
            latest = latest.max(kept.map(|kept| kept.until).max());
        }
        latest
    }

    /// Until when a job that starts now may hold these nodes.
    pub(super) fn free_until(&self, shape: &Shape, holds: &[Hold], heeds_kept: bool) -> i64 {
        let of = |hold: &Hold| {
            let site = hold.site as usize;
            let closed = self.model.sites[site].closed.iter().filter(|period| Some(period.2) != shape.reservation);
            let closed = closed.filter(|period| period.1 > self.now).map(|period| period.0).min();
            let kept = self.kept[site].iter().filter(|kept| heeds_kept && kept.until > self.now);
            closed.into_iter().chain(kept.map(|kept| kept.from)).min().unwrap_or(i64::MAX)
        };
        holds.iter().map(of).min().unwrap_or(i64::MAX)
    }

    /// Nodes on which a job can start now, with what it takes of each.
    pub(super) fn find(&self, shape: &Shape, without: Option<&Bits>, heeds_kept: bool) -> Option<Vec<Hold>> {
        let set = &self.model.sets[shape.set];
        let base = if shape.whole { &self.idle } else { &self.open };
        if base.common(set, without) < shape.min_nodes as usize || !self.in_reservation(shape, self.now) {
            return None;
        }
        let mut found: Vec<(usize, u32)> = Vec::new();
        let (mut cpus, most) = (0_u64, shape.max_nodes.map_or(usize::MAX, |most| most as usize));
        let is_range = shape.max_nodes.is_some_and(|most| most > shape.min_nodes);
        for site in base.both(set, without) {
            let Some(room) = self.room_now(shape, site) else { continue };
            if self.conflict(shape, site, self.now, heeds_kept).is_some() {
                continue;
            }
            found.push((site, room));
            cpus += u64::from(room);
            let enough = found.len() >= shape.min_nodes as usize && cpus >= shape.cpus && shape.counted.is_none();
            if enough && (!is_range || found.len() >= most) && found.len() <= most {
                break;
            }
        }
        if shape.counted.is_some() {
            return self.with_counted(shape, found, most);
        }
        if found.len() > most {
            // The largest of them.
            found.sort_by_key(|&(site, room)| (std::cmp::Reverse(room), site));
            found.truncate(most);
            cpus = found.iter().map(|&(_, room)| u64::from(room)).sum();
        }
        let enough = found.len() >= shape.min_nodes as usize && cpus >= shape.cpus;
        enough.then(|| self.share_out(shape, &found))
    }

    /// Of nodes that have room as many as a job needs, those first of which so many have to have something.
    fn with_counted(&self, shape: &Shape, mut found: Vec<(usize, u32)>, most: usize) -> Option<Vec<Hold>> {
        let counted = self.model.put_counted_first(shape, &mut found, |one| one.0)?;
        let needed = prefix(shape, found.iter().map(|one| one.1))?.max(counted);
        if needed > most {
            return None;
        }
        found.truncate(if shape.max_nodes.is_some() { most } else { needed });
        found.sort_unstable();
        Some(self.share_out(shape, &found))
    }

    /// Each node gives the least that is asked for, and the first ones the rest.
    fn share_out(&self, shape: &Shape, found: &[(usize, u32)]) -> Vec<Hold> {
        let least = u64::from(shape.per_node.max(1));
        let mut rest = shape.cpus.saturating_sub(least * found.len() as u64);
        let one = |&(site, room): &(usize, u32)| {
            let of = &self.model.sites[site];
            let more = rest.min(u64::from(room).saturating_sub(least));
            rest -= more;
            let cpus = if shape.whole { of.cpus } else { ((least + more) as u32).next_multiple_of(of.grain).min(room) };
            let memory = match shape.memory {
                None => 0,
                Some(Memory::PerCpu(bytes)) => bytes.saturating_mul(cpus.into()),
                Some(Memory::PerNode(bytes)) => bytes,
                Some(Memory::Whole) => of.memory,
            };
            Hold { site: site as u32, cpus, memory, gres: self.gres_of(shape, site) }
        };
        found.iter().map(one).collect()
    }

    fn gres_of(&self, shape: &Shape, site: usize) -> Vec<(u16, u32)> {
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

    /// Whether a job that runs in a reservation fits into it from then on.
    fn in_reservation(&self, shape: &Shape, from: i64) -> bool {
        let kept = shape.reservation.map(|index| &self.model.queue.reservations[index]);
        kept.is_none_or(|kept| kept.start <= from && from.saturating_add(shape.lasts) <= kept.end)
    }

    /// When a job of this shape will have its nodes, as the scheduler believes, and which: whatever runs lasts to its limit.
    pub(super) fn earliest(&self, shape: &Shape) -> Option<(i64, Vec<usize>)> {
        let opens = shape.reservation.map_or(self.now, |kept| self.model.queue.reservations[kept].start.max(self.now));
        let mut times: Vec<(i64, usize, u32)> = Vec::new();
        for site in self.model.sets[shape.set].iter() {
            if let Some((at, room)) = self.free_from(shape, site) {
                times.push((self.settled(shape, site, at.max(opens)), site, room));
            }
        }
        let most = shape.max_nodes.map_or(usize::MAX, |most| most as usize);
        for _ in 0..64 {
            let mut last = last_needed(shape, &mut times)?;
            let counted = |last: usize, times: &[(i64, usize, u32)]| {
                let mut sites: Vec<usize> = times[..=last].iter().map(|time| time.1).collect();
                self.model.put_counted_first(shape, &mut sites, |site| site).is_some()
            };
            if shape.counted.is_some() {
                times.sort_unstable();
                last = (last..times.len()).find(|&last| counted(last, &times))?;
            }
            let at = times[last].0;
            // What was free earlier may be taken again by then.
            let mut moved = false;
            for time in times.iter_mut().take_while(|time| time.0 <= at) {
                let settled = self.settled(shape, time.1, at);
                moved |= settled > at;
                time.0 = settled.max(time.0);
            }
            if moved {
                continue;
            }
            if !self.in_reservation(shape, at) {
                return None;
            }
            if shape.counted.is_some() {
                let mut there: Vec<(usize, u32)> =
                    times.iter().take_while(|time| time.0 <= at).map(|time| (time.1, time.2)).collect();
                self.model.put_counted_first(shape, &mut there, |one| one.0)?;
                let needed = prefix(shape, there.iter().map(|one| one.1))?;
                return Some((at, there.into_iter().take(needed).map(|one| one.0).collect()));
            }
            let mut sites: Vec<usize> = times.iter().take_while(|time| time.0 <= at).map(|time| time.1).collect();
            sites.sort_unstable();
            let wanted = (last + 1).max(shape.min_nodes as usize).min(most.max(last + 1));
            // Nodes that give the processors count from the earliest on; any of them will do where each gives enough.
            if sites.len() > wanted {
                sites.truncate(wanted);
            }
            return Some((at, sites));
        }
        None
    }

    /// From when on a site is not taken for as long as the job lasts.
    fn settled(&self, shape: &Shape, site: usize, mut from: i64) -> i64 {
        while let Some(until) = self.conflict(shape, site, from, true) {
            from = until;
        }
        from
    }

    /// When enough of what runs on a site will have ended, and how many processors it gives then.
    fn free_from(&self, shape: &Shape, site: usize) -> Option<(i64, u32)> {
        if let Some(room) = self.room_now(shape, site) {
            return Some((self.now, room));
        }
        // Most nodes run one job, after which they are empty.
        if let [number] = self.on[site][..] {
            let room = self.model.capacity(shape, site)?;
            return Some((self.running[number as usize].as_ref()?.believed.max(self.now + 1), room));
        }
        let mut ends: Vec<(i64, u32)> = self.on[site]
            .iter()
            .filter_map(|&number| Some((self.running[number as usize].as_ref()?.believed.max(self.now + 1), number)))
            .collect();
        ends.sort_unstable();
        let (mut cpus, mut memory) = (self.cpus[site], self.memory[site]);
        let kinds = self.model.kinds.len();
        let mut gres = self.gres[site * kinds..(site + 1) * kinds].to_vec();
        for (at, number) in ends {
            let running = self.running[number as usize].as_ref()?;
            for hold in running.holds.iter().filter(|hold| hold.site as usize == site) {
                cpus = (cpus + hold.cpus).min(self.model.sites[site].cpus);
                memory = memory.saturating_add(hold.memory);
                hold.gres.iter().for_each(|&(kind, count)| gres[usize::from(kind)] += count);
            }
            if let Some(room) = self.model.room(shape, site, cpus, memory, &gres) {
                return Some((at, room));
            }
        }
        None
    }

    /// For how long from now on a job may hold as many sites as it needs, and what ends that.
    pub(super) fn gap_of(&self, shape: &Shape) -> Option<Gap> {
        // Free nodes may be too few of a kind.
        if shape.counted.is_some() && self.find(&Shape { lasts: 1, ..shape.clone() }, None, false).is_none() {
            return None;
        }
        let mut gaps: Vec<Gap> =
            self.open_of(&self.model.sets[shape.set]).filter_map(|site| self.gap(shape, site)).collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(gap.seconds));
        gaps.get(shape.min_nodes.max(1) as usize - 1).copied()
    }

    /// The same of one site, if it has what is asked for.
    fn gap(&self, shape: &Shape, site: usize) -> Option<Gap> {
        self.room_now(shape, site)?;
        let closed = self.model.sites[site].closed.iter().filter(|period| Some(period.2) != shape.reservation);
        let closed = closed.filter(|period| period.1 > self.now).min_by_key(|period| period.0);
        let kept = self.kept[site].iter().filter(|kept| kept.until > self.now).min_by_key(|kept| kept.from);
        let ahead = |from: i64| from.saturating_sub(self.now).max(0);
        Some(match (closed, kept) {
            (None, None) => Gap { seconds: i64::MAX, kept: None, closed: None },
            (Some(closed), kept) if kept.is_none_or(|kept| closed.0 <= kept.from) => {
                Gap { seconds: ahead(closed.0), kept: None, closed: Some(closed.2) }
            }
            (_, kept) => {
                Gap { seconds: kept.map_or(i64::MAX, |kept| ahead(kept.from)), kept: kept.copied(), closed: None }
            }
        })
    }
}

/// How many nodes in front are enough for a job, by the processors that each has.
fn prefix(shape: &Shape, rooms: impl Iterator<Item = u32>) -> Option<usize> {
    let mut sum = 0_u64;
    rooms.enumerate().find_map(|(at, room)| {
        sum += u64::from(room);
        (at + 1 >= shape.min_nodes as usize && sum >= shape.cpus).then_some(at + 1)
    })
}
