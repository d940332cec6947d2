//! Finds nodes on which jobs can start now, and the time for which nodes are free.

use makespan_core::Need;

use super::best_fit::FreeNode;
use super::bits::{Common, NodeBits};
use super::ends::{EndKey, all_by};
use super::model::ReservedPeriod;
use super::request::{Memory, PartitionRequest};
use super::usage::{Gap, Hold, NodeReservation};
use super::world::{WORDS_AS_A_LOOK, World};

impl World {
    /// Returns all sites that fit the shape now. May also contain sites that do not fit.
    pub(super) fn open_for(&self, shape: &PartitionRequest) -> Common<'_> {
        let (cpus, memory) = self.model.levels.reached_for(shape);
        let (set, span) = (&self.model.sets[shape.set], self.model.spans[shape.set].clone());
        self.looked.set(self.looked.get() + span.len() as u64 / WORDS_AS_A_LOOK);
        Common { of: [set, &self.with_cpus[cpus], &self.with_memory[memory]], without: None, span }
    }

    /// Returns the number of sites that fit the shape now and are not reserved now. Ignores later reservations.
    pub fn roomy(&self, shape: &PartitionRequest) -> usize {
        let now = PartitionRequest { lasts: 1, ..shape.clone() };
        let fits = |&site: &usize| {
            self.room_now(shape, site).is_some() && self.conflict(&now, site, self.now, false).is_none()
        };
        self.open_for(shape).iter().filter(fits).count()
    }

    /// Returns the number of processors that a site can provide to a job now. Returns `None` if the site has too
    /// little of another resource that the job requests per node.
    pub fn room_now(&self, shape: &PartitionRequest, site: usize) -> Option<u32> {
        self.looked.set(self.looked.get() + 1);
        let kinds = self.model.kinds;
        let gres = &self.gres[site * kinds..(site + 1) * kinds];
        self.model.room(shape, site, self.cpus[site], self.memory[site], gres)
    }

    /// Returns the periods in which a job of this shape cannot use a site.
    fn closed_for(&self, shape: &PartitionRequest, site: usize) -> impl Iterator<Item = &ReservedPeriod> {
        let own = shape.reservation;
        let closed = if self.ignores_closed.get() { &[] } else { &self.model.sites[site].closed[..] };
        closed.iter().filter(move |period| {
            let is_before = period.floats.is_some_and(|ahead| shape.lasts <= ahead);
            !is_before && (own.is_none() || period.reservation != own)
        })
    }

    /// Returns the end of a reservation that prevents a job of this shape from using a site from the instant `from`
    /// on. Returns `None` if there is no such reservation.
    pub(super) fn conflict(&self, shape: &PartitionRequest, site: usize, from: i64, heeds_kept: bool) -> Option<i64> {
        if !self.taken_later.has(site) {
            return None;
        }
        let until = from.saturating_add(shape.lasts);
        let closed = self.closed_for(shape, site).filter(|period| period.start < until && period.end > from);
        let mut latest = closed.map(|period| period.end).max();
        if heeds_kept {
            let kept = &self.kept[site];
            let last = kept[..kept.partition_point(|kept| kept.from < until)].last();
            latest = latest.max(last.map(|kept| kept.until).filter(|&until| until > from));
        }
        latest
    }

    /// Returns the first period that is closed for a job of this shape, and the first reservation for a pending job, that
    /// have not ended.
    fn next_taken(&self, shape: &PartitionRequest, site: usize) -> (Option<&ReservedPeriod>, Option<&NodeReservation>) {
        let closed = self.closed_for(shape, site).filter(|period| period.end > self.now);
        (closed.min_by_key(|period| period.start), self.kept[site].iter().find(|kept| kept.until > self.now))
    }

    /// Returns the instant until which a job that starts now may hold these nodes.
    pub(super) fn free_until(&self, shape: &PartitionRequest, holds: &[Hold], heeds_kept: bool) -> i64 {
        let of = |hold: &Hold| {
            let site = hold.site as usize;
            if let Some(counts) = &self.counts {
                return counts.free_until(hold, self.now.saturating_add(shape.lasts), heeds_kept);
            }
            let (closed, kept) = self.next_taken(shape, site);
            let kept = kept.filter(|_| heeds_kept).map(|kept| kept.from);
            closed.map(|period| period.start).into_iter().chain(kept).min().unwrap_or(i64::MAX)
        };
        let own = shape.reservation.map(|index| self.model.reservations[index].1);
        holds.iter().map(of).chain(own).min().unwrap_or(i64::MAX)
    }

    /// Returns nodes on which a job can start now, with the resources that the job takes on each node.
    pub fn find(&self, shape: &PartitionRequest, without: Option<&NodeBits>, heeds_kept: bool) -> Option<Vec<Hold>> {
        if let Some(counts) = &self.counts {
            let is_open = without.is_none_or(|without| !without.has(0)) && self.model.sets[shape.set].has(0);
            return if is_open { counts.find(shape, self.now, heeds_kept) } else { None };
        }
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
        // Slurm's backfill cycle first ignores the number of tasks per node.
        let is_looser = heeds_kept && shape.most_per_node < u32::MAX;
        let looser = is_looser.then(|| PartitionRequest { most_per_node: u32::MAX, ..shape.clone() });
        let rooms = open.iter().filter_map(|site| {
            let room = self.room_now(looser.as_ref().unwrap_or(shape), site)?;
            let is_planned = heeds_kept && self.is_planned(shape, site, self.now);
            (!is_planned && self.conflict(shape, site, self.now, false).is_none()).then_some((site, room))
        });
        let found = self.chosen(shape, all_by(self.now), rooms)?;
        Some(found.into_iter().map(|(site, cpus)| self.hold_of(shape, site, cpus)).collect())
    }

    /// Returns false if a job of this shape could not start now even if no other job ran, because reservations take
    /// nodes.
    pub(super) fn fits_idle_nodes(&self, shape: &PartitionRequest) -> bool {
        if self.counts.is_some() {
            return true;
        }
        let set = &self.model.sets[shape.set];
        let is_closed = |site: usize| self.conflict(shape, site, self.now, false).is_some();
        let span = self.model.spans[shape.set].clone();
        let reserved = Common { of: [set, set, &self.taken_later], without: None, span };
        if !reserved.iter().any(is_closed) {
            return true;
        }
        let rooms = set.iter().filter(|&site| !is_closed(site));
        let rooms = rooms.filter_map(|site| Some((site, self.model.capacity(shape, site)?)));
        self.chosen(shape, all_by(self.now), rooms).is_some()
    }

    /// Chooses nodes for a request, and the number of processors on each node, as if all running jobs up to a position
    /// had ended. `rooms` contains the free nodes in ascending order, with the number of processors that each can
    /// provide.
    pub(super) fn chosen(
        &self,
        shape: &PartitionRequest,
        until: EndKey,
        rooms: impl Iterator<Item = (usize, u32)>,
    ) -> Option<Vec<(usize, u32)>> {
        let mut buffers = self.buffers.borrow_mut();
        buffers.free.clear();
        buffers.free.extend(rooms.map(|(site, room)| FreeNode {
            site,
            room,
            cpus: self.compared(shape, site, until, room),
        }));
        self.model.choose(shape, &mut buffers)
    }

    /// Returns the number of processors by which Slurm compares a node that provides `room` processors to a job. An amount
    /// that the job needs as a whole does not lower this number.
    fn compared(&self, shape: &PartitionRequest, site: usize, until: EndKey, room: u32) -> u32 {
        let is_shared = |need: &Need| !matches!(need, Need::Linear { whole: 0, .. });
        if !shape.shares.iter().any(|(_, need)| is_shared(need)) {
            return room;
        }
        let ended = self.on[site].iter().take_while(|end| end.key <= until).map(|end| end.cpus).sum::<u32>();
        let free = (self.cpus[site] + ended).min(self.model.sites[site].cpus).min(shape.most_per_node);
        free.max(room)
    }

    /// Returns the resources that a job takes on a node on which it gets `own` processors. Processors of a core are
    /// allocated together.
    fn hold_of(&self, shape: &PartitionRequest, site: usize, own: u32) -> Hold {
        let of = &self.model.sites[site];
        let there = self.room_now(shape, site).unwrap_or(own);
        let cpus = if shape.whole { of.cpus } else { own.next_multiple_of(of.grain).min(there) };
        let memory = match shape.memory {
            None => 0,
            Some(Memory::PerCpu(bytes)) => bytes.saturating_mul(cpus.into()),
            Some(Memory::PerNode(bytes)) => bytes,
            Some(Memory::Whole) => of.memory,
        };
        Hold { site: site as u32, cpus, own, memory, gres: self.gres_of(shape, site, own), cells: Vec::new() }
    }

    fn gres_of(&self, shape: &PartitionRequest, site: usize, own: u32) -> Vec<(u16, u64)> {
        let kinds = self.model.kinds;
        let all = u32::try_from(shape.cpus).unwrap_or(u32::MAX);
        let shares = shape.shares.iter().map(|(kind, need)| (*kind as u16, need.share(own, all)));
        let mut taken: Vec<(u16, u64)> = shares.filter(|share| share.1 > 0).collect();
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
        let kept = shape.reservation.map(|index| self.model.reservations[index]);
        kept.is_none_or(|(start, end)| start <= from && from.saturating_add(shape.lasts) <= end)
    }

    /// Returns the time for which enough sites are free for a job from now on, and the reservation that ends this
    /// time.
    pub fn gap_of(&self, shape: &PartitionRequest) -> Option<Gap> {
        // The free nodes may have too few nodes with a counted feature (`rack1*2`), or too few processors in total.
        let may_lack = shape.counted.is_some() || shape.needs_more_together();
        if may_lack && self.find(&PartitionRequest { lasts: 1, ..shape.clone() }, None, false).is_none() {
            return None;
        }
        let gap = |site: usize| self.gap(shape, site).map(|(gap, room)| (gap, site, room));
        let mut gaps: Vec<(Gap, usize, u32)> = self.open_for(shape).iter().filter_map(gap).collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(gap.0.time));
        let mut order: Vec<(usize, u32)> = (0..gaps.len()).map(|at| (at, gaps[at].2)).collect();
        let counted = self.model.put_counted_first(shape, &mut order, |(at, _)| gaps[at].1)?;
        let needed = shape.nodes().prefix(&order)?.max(counted);
        order[..needed].iter().map(|&(at, _)| at).max().map(|last| gaps[last].0)
    }

    /// Returns the time for which a site is free for a job, and the number of processors there. Returns `None` if the
    /// site has too little of a requested resource.
    fn gap(&self, shape: &PartitionRequest, site: usize) -> Option<(Gap, u32)> {
        let room = self.room_now(shape, site)?;
        let (closed, kept) = self.next_taken(shape, site);
        let ahead = |from: i64| from.saturating_sub(self.now).max(0);
        let gap = match (closed, kept) {
            (None, None) => Gap { time: i64::MAX, kept: None, closed: None },
            (Some(closed), kept) if kept.is_none_or(|kept| closed.start <= kept.from) => {
                Gap { time: ahead(closed.start), kept: None, closed: closed.reservation }
            }
            (_, kept) => {
                Gap { time: kept.map_or(i64::MAX, |kept| ahead(kept.from)), kept: kept.copied(), closed: None }
            }
        };
        Some((gap, room))
    }
}
