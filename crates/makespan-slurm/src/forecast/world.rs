//! What is held and what is free while time passes.

use std::cell::Cell;

use crate::queue::{Holding, Memory};

use super::bits::{Bits, Common};
use super::model::{Model, amounts};
use super::shape::Shape;

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

/// What is free of a site again when something has ended there, as the scheduler believes.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub at: i64,
    pub number: u32,
    pub cpus: u32,
    pub memory: u64,
}

/// A node that is taken and given back costs as much as so many that are looked at.
const NODE_AS_LOOKS: u64 = 10;
/// So many words of a set are walked in the time in which a node is looked at.
const WORDS_AS_A_LOOK: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct World<'a> {
    pub model: &'a Model<'a>,
    pub now: i64,
    pub cpus: Vec<u32>,
    pub memory: Vec<u64>,
    pub gres: Vec<u32>,
    /// Sites that have as much free as each level of processors says, and of memory.
    with_cpus: Vec<Bits>,
    with_memory: Vec<Bits>,
    /// Those on which nothing runs.
    idle: Bits,
    pub running: Vec<Option<Running>>,
    /// Of each site, what runs there, in the order in which it ends.
    pub on: Vec<Vec<End>>,
    /// When the first of it ends: never where nothing runs.
    pub first_end: Vec<i64>,
    /// Of each site, for whom it is kept in the present look: one after the other.
    pub kept: Vec<Vec<Kept>>,
    touched: Vec<usize>,
    /// Sites that are kept for somebody or reserved at some time.
    taken_later: Bits,
    pub used: Vec<u64>,
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
            with_cpus: vec![Bits::new(sites); model.levels.cpus.len()],
            with_memory: vec![Bits::new(sites); model.levels.memory.len()],
            idle: Bits::new(sites),
            running: Vec::new(),
            on: vec![Vec::new(); sites],
            first_end: vec![i64::MAX; sites],
            kept: vec![Vec::new(); sites],
            touched: Vec::new(),
            taken_later: Bits::new(sites),
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
        self.looked.set(self.looked.get() + running.holds.len() as u64 * NODE_AS_LOOKS);
        for hold in &running.holds {
            let site = hold.site as usize;
            let (cpus, memory) = (self.cpus[site], self.memory[site]);
            self.have(site, cpus.saturating_sub(hold.cpus), memory.saturating_sub(hold.memory));
            for &(kind, count) in &hold.gres {
                let left = &mut self.gres[site * self.model.kinds.len() + usize::from(kind)];
                *left = left.saturating_sub(count);
            }
            let end = End { at: running.believed, number: number as u32, cpus: hold.cpus, memory: hold.memory };
            let place = self.on[site].partition_point(|other| (other.at, other.number) <= (end.at, end.number));
            self.on[site].insert(place, end);
            self.first_end[site] = self.on[site][0].at;
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
            self.on[site].retain(|end| end.number as usize != number);
            self.first_end[site] = self.on[site].first().map_or(i64::MAX, |end| end.at);
            self.idle.set(site, self.on[site].is_empty());
            if self.on[site].is_empty() {
                // What was held beyond what there is, is not given back twice.
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

    /// So much of a site is free from now on.
    fn have(&mut self, site: usize, cpus: u32, memory: u64) {
        let levels = &self.model.levels;
        change(&levels.cpus, &mut self.with_cpus, site, std::mem::replace(&mut self.cpus[site], cpus), cpus);
        change(&levels.memory, &mut self.with_memory, site, std::mem::replace(&mut self.memory[site], memory), memory);
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
            self.taken_later.set(site, !self.model.sites[site].closed.is_empty());
        }
    }

    pub(super) fn keep(&mut self, sites: &[usize], kept: Kept) {
        for &site in sites {
            let others = &mut self.kept[site];
            let place = others.partition_point(|other| other.from < kept.from);
            debug_assert!(others[..place].last().is_none_or(|other| other.until <= kept.from));
            debug_assert!(others.get(place).is_none_or(|other| kept.until <= other.from));
            others.insert(place, kept);
            self.touched.push(site);
            self.taken_later.set(site, true);
        }
    }

    /// Sites that may have room for the shape now: no other has.
    pub(super) fn open_for(&self, shape: &Shape) -> Common<'_> {
        let (cpus, memory) = self.model.levels.reached_for(shape);
        let (set, span) = (&self.model.sets[shape.set], self.model.spans[shape.set].clone());
        self.looked.set(self.looked.get() + span.len() as u64 / WORDS_AS_A_LOOK);
        Common { of: [set, &self.with_cpus[cpus], &self.with_memory[memory]], without: None, span }
    }

    /// Sites that have room for the shape now, whatever comes later.
    pub(super) fn roomy(&self, shape: &Shape) -> usize {
        self.open_for(shape).iter().filter(|&site| self.room_now(shape, site).is_some()).count()
    }

    /// How many processors a site can give now, if it has what is asked for on each node.
    pub(super) fn room_now(&self, shape: &Shape, site: usize) -> Option<u32> {
        self.looked.set(self.looked.get() + 1);
        let kinds = self.model.kinds.len();
        let gres = &self.gres[site * kinds..(site + 1) * kinds];
        self.model.room(shape, site, self.cpus[site], self.memory[site], gres)
    }

    /// Whether a job of this shape could not have the site from then on: until when it is taken.
    pub(super) fn conflict(&self, shape: &Shape, site: usize, from: i64, heeds_kept: bool) -> Option<i64> {
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

    /// Until when a job that starts now may hold these nodes.
    pub(super) fn free_until(&self, shape: &Shape, holds: &[Hold], heeds_kept: bool) -> i64 {
        let of = |hold: &Hold| {
            let site = hold.site as usize;
            let closed = self.model.sites[site].closed.iter().filter(|period| Some(period.2) != shape.reservation);
            let closed = closed.filter(|period| period.1 > self.now).map(|period| period.0).min();
            let kept = self.kept[site].iter().find(|kept| heeds_kept && kept.until > self.now);
            closed.into_iter().chain(kept.map(|kept| kept.from)).min().unwrap_or(i64::MAX)
        };
        holds.iter().map(of).min().unwrap_or(i64::MAX)
    }

    /// Nodes on which a job can start now, with what it takes of each.
    pub(super) fn find(&self, shape: &Shape, without: Option<&Bits>, heeds_kept: bool) -> Option<Vec<Hold>> {
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
        let mut found: Vec<(usize, u32)> = Vec::new();
        let (mut cpus, most) = (0_u64, shape.most_nodes());
        let is_range = shape.max_nodes.is_some_and(|most| most > shape.min_nodes);
        for site in open.iter() {
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
        let mut needed = prefix(shape, found.iter().map(|one| one.1))?.max(counted);
        if needed > most && counted <= most {
            // The largest beside those.
            found[counted..].sort_by_key(|&(site, room)| (std::cmp::Reverse(room), site));
            needed = prefix(shape, found.iter().map(|one| one.1))?.max(counted);
        }
        if needed > most {
            return None;
        }
        found.truncate(if shape.max_nodes.is_some() { most } else { needed });
        found.sort_unstable();
        Some(self.share_out(shape, &found))
    }

    /// Each node gives the least that is asked for, and the first ones the rest.
    fn share_out(&self, shape: &Shape, found: &[(usize, u32)]) -> Vec<Hold> {
        let least = u64::from(shape.cpus_of_node());
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
    pub(super) fn in_reservation(&self, shape: &Shape, from: i64) -> bool {
        let kept = shape.reservation.map(|index| &self.model.queue.reservations[index]);
        kept.is_none_or(|kept| kept.start <= from && from.saturating_add(shape.lasts) <= kept.end)
    }

    /// For how long from now on a job may hold as many sites as it needs, and what ends that.
    pub(super) fn gap_of(&self, shape: &Shape) -> Option<Gap> {
        // Free nodes may be too few of a kind, or have too few processors together.
        let may_lack = shape.counted.is_some() || shape.needs_more_together();
        if may_lack && self.find(&Shape { lasts: 1, ..shape.clone() }, None, false).is_none() {
            return None;
        }
        let gap = |site: usize| self.gap(shape, site).map(|(gap, room)| (gap, site, room));
        let mut gaps: Vec<(Gap, usize, u32)> = self.open_for(shape).iter().filter_map(gap).collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(gap.0.seconds));
        let mut order: Vec<(usize, u32)> = (0..gaps.len()).map(|at| (at, gaps[at].2)).collect();
        let counted = self.model.put_counted_first(shape, &mut order, |(at, _)| gaps[at].1)?;
        let needed = prefix(shape, order.iter().map(|one| one.1))?.max(counted);
        order[..needed].iter().map(|&(at, _)| at).max().map(|last| gaps[last].0)
    }

    /// The same of one site, with how many processors it gives, if it has what is asked for.
    fn gap(&self, shape: &Shape, site: usize) -> Option<(Gap, u32)> {
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

/// Moves a site to the levels that it reaches now.
fn change<T: Ord + Copy>(levels: &[T], sets: &mut [Bits], site: usize, before: T, now: T) {
    let reached = |value: &T| levels.partition_point(|level| level <= value);
    let (before, now) = (reached(&before), reached(&now));
    sets[before.min(now)..before.max(now)].iter_mut().for_each(|set| set.set(site, now > before));
}

/// How many nodes in front are enough for a job, by the processors that each has.
pub(super) fn prefix(shape: &Shape, rooms: impl Iterator<Item = u32>) -> Option<usize> {
    let mut sum = 0_u64;
    rooms.enumerate().find_map(|(at, room)| {
        sum += u64::from(room);
        (at + 1 >= shape.min_nodes as usize && sum >= shape.cpus).then_some(at + 1)
    })
}
