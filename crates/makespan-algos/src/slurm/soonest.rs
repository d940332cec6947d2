//! Computes the instant at which a pending job will have its nodes, according to the end times that the scheduler
//! assumes.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::ends::{EndKey, all_by};
use super::request::PartitionRequest;
use super::world::World;

/// Jobs on at most this number of nodes are tested only on the nodes that become free first.
const MAX_SOONEST: u64 = 256;
/// Number of instants that together take as long to examine as one node.
const STEPS_AS_A_LOOK: u64 = 4;

/// Sorts nodes by the instants from which they are free. Returns the index of the last node that a job needs. A job
/// usually needs few of many nodes, so only the nodes up to that instant are sorted and moved to the front.
fn last_needed(shape: &PartitionRequest, times: &mut [(i64, usize, u32)]) -> Option<usize> {
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
        // If some sorted node is free later than node `last`, all nodes that are free at the instant of `last` are
        // already sorted.
        let is_whole = |last: &usize| all || times[*last].0 < times[sorted].0;
        match last.filter(is_whole) {
            None if !all => sorted *= 4,
            last => return last,
        }
    }
}

impl World {
    /// Returns the first instant at which a job of this shape can have its nodes, and these nodes. Assumes that
    /// running jobs run until their limits. The caller knows that this instant is not before `not_before`.
    pub(super) fn earliest(&self, shape: &PartitionRequest, not_before: i64) -> Option<(i64, Vec<usize>)> {
        let found = self.with_first_room(shape, not_before);
        if !shape.needs_more_together() {
            return found;
        }
        // The job needs more processors than the minimum of each node. When further jobs on a node end, the node
        // provides more processors. At the instant that was found, these processors also determine which nodes are
        // enough.
        let found = found.filter(|(_, sites)| sites.len() <= shape.most_nodes());
        let before = found.as_ref().map_or(i64::MAX, |found| found.0.saturating_add(1));
        self.with_growing_room(shape, not_before, before).or(found)
    }

    /// Returns the first instant in a range at which nodes together provide enough processors. When jobs on a node
    /// end, the node provides more processors.
    fn with_growing_room(&self, shape: &PartitionRequest, not_before: i64, before: i64) -> Option<(i64, Vec<usize>)> {
        let most = shape.most_nodes();
        let opens = self.opens(shape, not_before);
        let mut steps: Vec<(i64, usize, u32)> = Vec::new();
        for site in self.model.sets[shape.set].iter() {
            if let Some(room) = self.room_now(shape, site) {
                steps.push((opens, site, room));
            }
            if self.first_end[site] < before {
                self.rooms(shape, site, &mut |end, room| {
                    let at = self.end_of(end);
                    steps.push((at.max(opens), site, room));
                    at < before
                });
            }
        }
        steps.sort_unstable();
        self.looked.set(self.looked.get() + steps.len() as u64 / STEPS_AS_A_LOOK);
        let mut rooms: BTreeMap<usize, u32> = BTreeMap::new();
        let (mut sum, mut largest, mut next) = (0_u64, 0_u32, 0);
        // The ends of reservations. After the end of a reservation, the reserved node must be checked again.
        let mut again: BTreeSet<i64> = BTreeSet::new();
        loop {
            let at = [steps.get(next).map(|step| step.0), again.first().copied()].into_iter().flatten().min()?;
            if at >= before {
                return None;
            }
            again.remove(&at);
            while let Some(&(_, site, room)) = steps.get(next).filter(|step| step.0 == at) {
                let old = rooms.insert(site, room).unwrap_or(0);
                sum = sum + u64::from(room) - u64::from(old);
                largest = largest.max(room);
                next += 1;
            }
            let at_most = sum.min(u64::from(largest).saturating_mul(most as u64));
            if rooms.len() < shape.min_nodes as usize || at_most < shape.cpus || !self.in_reservation(shape, at) {
                continue;
            }
            let mut free: Vec<(usize, u32)> = Vec::new();
            for (&site, &room) in &rooms {
                match self.conflict(shape, site, at, true) {
                    None => free.push((site, room)),
                    Some(until) => drop(again.insert(until)),
                }
            }
            if let Some(found) = self.chosen(shape, all_by(at), free.into_iter()) {
                return Some((at, found.into_iter().map(|one| one.0).collect()));
            }
        }
    }

    /// Returns the first instant, not before `not_before`, at which the reservation of a job has begun.
    pub(super) fn opens(&self, shape: &PartitionRequest, not_before: i64) -> i64 {
        let begins = shape.reservation.map_or(self.now, |kept| self.model.reservations[kept].0);
        begins.max(self.now).max(not_before)
    }

    /// Returns the nodes that are first to have enough free resources. For each node, counts the processors that it
    /// has at that instant.
    fn with_first_room(&self, shape: &PartitionRequest, not_before: i64) -> Option<(i64, Vec<usize>)> {
        let mut times = Vec::new();
        let enough = shape.cpus.div_ceil(shape.cpus_of_node().into()).max(shape.min_nodes.max(1).into());
        // Most jobs need few nodes. The nodes that become free first are sufficient, unless they are reserved for
        // other jobs.
        if shape.counted.is_none() && enough <= MAX_SOONEST {
            let known = self.free_times(shape, not_before, enough as usize, &mut times);
            match self.together(shape, &mut times, known) {
                Some(found) => return Some(found),
                None if known == i64::MAX => return None,
                None => times.clear(),
            }
        }
        self.free_times(shape, not_before, usize::MAX, &mut times);
        self.together(shape, &mut times, i64::MAX)
    }

    /// Returns the instant from which each node is free for the job, with the number of processors of the node. The
    /// result contains at least the first `enough` nodes. It is complete for all nodes that become free until the
    /// returned instant.
    fn free_times(
        &self,
        shape: &PartitionRequest,
        not_before: i64,
        enough: usize,
        times: &mut Vec<(i64, usize, u32)>,
    ) -> i64 {
        let opens = self.opens(shape, not_before);
        let open = self.open_for(shape);
        let mut soonest: BinaryHeap<i64> = BinaryHeap::new();
        let mut add = |site: usize, found: Option<(i64, u32)>, soonest: &mut BinaryHeap<i64>| {
            let Some((at, room)) = found else { return };
            let at = self.settled(shape, site, at.max(opens));
            if soonest.len() == enough {
                match soonest.peek_mut() {
                    Some(last) if at > *last => return,
                    Some(mut last) => *last = at,
                    None => {}
                }
            } else if enough < usize::MAX {
                soonest.push(at);
            }
            times.push((at, site, room));
        };
        let mut later = self.model.sets[shape.set].clone();
        for site in open.iter() {
            if let Some(room) = self.room_now(shape, site) {
                later.set(site, false);
                add(site, Some((self.now, room)), &mut soonest);
            }
        }
        for site in later.iter() {
            let last = if soonest.len() == enough { soonest.peek().copied() } else { None };
            let is_too_late = last.is_some_and(|last| self.first_end[site] > last);
            if !is_too_late {
                add(site, self.freed(shape, site), &mut soonest);
            }
        }
        let known = if soonest.len() == enough { soonest.peek().copied().unwrap_or(i64::MAX) } else { i64::MAX };
        // Remove nodes that were added before nodes were found that are free earlier.
        times.retain(|time| time.0 <= known);
        known
    }

    /// Returns the first instant at which all needed nodes are free at once, and the nodes that Slurm chooses then. The
    /// list of nodes is complete only until `known`. If there is no such instant until then, or if the job needs more of
    /// these nodes than it accepts, returns `None`.
    fn together(
        &self,
        shape: &PartitionRequest,
        times: &mut [(i64, usize, u32)],
        known: i64,
    ) -> Option<(i64, Vec<usize>)> {
        for _ in 0..64 {
            let mut last = last_needed(shape, times)?;
            let counted = |last: usize, times: &[(i64, usize, u32)]| {
                let mut sites: Vec<usize> = times[..=last].iter().map(|time| time.1).collect();
                self.model.put_counted_first(shape, &mut sites, |site| site).is_some()
            };
            if shape.counted.is_some() {
                times.sort_unstable();
                last = (last..times.len()).find(|&last| counted(last, times))?;
            }
            let at = times[last].0;
            if at > known {
                return None;
            }
            // A node that became free earlier may be reserved at this instant. In this case, it is free from the end
            // of the reservation.
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
            let free = times.partition_point(|time| time.0 <= at);
            times[..free].sort_unstable_by_key(|time| time.1);
            let rooms =
                times[..free].iter().map(|&(_, site, room)| (site, self.room_at(shape, site, at).unwrap_or(room)));
            let found = self.chosen(shape, all_by(at), rooms)?;
            return Some((at, found.into_iter().map(|one| one.0).collect()));
        }
        None
    }

    /// Returns the number of processors that a site can provide after the ends of all jobs that end until an instant.
    /// Returns `None` if no job ends there until then, or if the request is for whole nodes.
    fn room_at(&self, shape: &PartitionRequest, site: usize, at: i64) -> Option<u32> {
        if shape.whole || self.first_end[site] > at {
            return None;
        }
        let mut last = None;
        self.rooms(shape, site, &mut |end, room| {
            let has_ended = self.end_of(end) <= at;
            last = if has_ended { Some(room) } else { last };
            has_ended
        });
        last
    }

    /// Returns the first instant after `from` from which a site is not reserved for the duration of the job.
    fn settled(&self, shape: &PartitionRequest, site: usize, mut from: i64) -> i64 {
        while let Some(until) = self.conflict(shape, site, from, true) {
            from = until;
        }
        from
    }

    /// Returns the first instant at which enough jobs on a full site have ended. Also returns the number of processors
    /// that the site has for the shape at this instant.
    fn freed(&self, shape: &PartitionRequest, site: usize) -> Option<(i64, u32)> {
        // The most frequent case: the node runs one job, and is empty after this job.
        if let [end] = self.on[site][..] {
            self.looked.set(self.looked.get() + 1);
            return Some((self.end_of(end.key), self.model.capacity(shape, site)?));
        }
        let mut first = None;
        self.rooms(shape, site, &mut |end, room| {
            first = Some((self.end_of(end), room));
            false
        });
        first
    }

    /// Calls `tell` for each end of a job on a site. The arguments are the position of the job, and the number of
    /// processors that the site has from then on. Stops when `tell` returns false.
    pub(super) fn rooms(&self, shape: &PartitionRequest, site: usize, tell: &mut dyn FnMut(EndKey, u32) -> bool) {
        self.looked.set(self.looked.get() + 1);
        let (mut cpus, mut memory) = (self.cpus[site], self.memory[site]);
        let kinds = self.model.kinds;
        let asks_gres = !shape.gres.is_empty() || !shape.shares.is_empty();
        let mut gres = if asks_gres { self.gres[site * kinds..(site + 1) * kinds].to_vec() } else { Vec::new() };
        for end in &self.on[site] {
            cpus = (cpus + end.cpus).min(self.model.sites[site].cpus);
            memory = memory.saturating_add(end.memory);
            if asks_gres {
                let Some(running) = self.running(end.key.2 as usize) else { return };
                for hold in running.holds.iter().filter(|hold| hold.site as usize == site) {
                    hold.gres.iter().for_each(|&(kind, count)| gres[usize::from(kind)] += count);
                }
            }
            if let Some(room) = self.model.room(shape, site, cpus, memory, &gres)
                && !tell(end.key, room)
            {
                return;
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::best_fit::tests::fitted;
    use super::super::bits::NodeBits;
    use super::super::model::{ClusterModel, ModelNode, ReservedPeriod};
    use super::super::request::Memory;
    use super::super::usage::{Hold, NodeReservation, RunningUsage};
    use super::*;

    /// Returns a world with nodes of two sizes, and the requests of jobs. The first node is reserved for a period. A
    /// job states its number of nodes, its processors per node, its megabytes per processor, and its kind. Jobs of kind
    /// 0 request whole nodes. Jobs of kind 1 request nodes of the second half.
    pub(in super::super) fn world(nodes: usize, jobs: &[(u32, u32, u32, u32)]) -> World {
        let node = |at: usize| {
            let (cpus, megabytes) = if at.is_multiple_of(3) { (8, 8000) } else { (4, 6000) };
            let reserved = ReservedPeriod { start: 2000, end: 2500, reservation: Some(0), floats: None };
            let closed = if at == 0 { vec![reserved] } else { Vec::new() };
            let place = makespan_core::NodePlace { weight: 1 + at as u64 / 40, index: at + at / 7 };
            ModelNode { cpus, memory: megabytes << 20, grain: 1, place, closed }
        };
        let mut model = ClusterModel::new((0..nodes).map(node).collect(), (0, Vec::new()), 1000, 60);
        model.reservations.push((2000, 2500));
        for from in [0, nodes / 2] {
            let mut set = NodeBits::new(nodes);
            (from..nodes).for_each(|site| set.set(site, true));
            model.add_set(set);
        }
        for &(count, each, megabytes, kind) in jobs {
            let shape = PartitionRequest {
                set: usize::from(kind == 1),
                tested: usize::from(kind == 1),
                counted: None,
                min_nodes: count,
                max_nodes: Some(count),
                takes_all: false,
                cpus: (count * each).into(),
                per_node: each,
                most_per_node: u32::MAX,
                memory: Some(Memory::PerCpu(u64::from(megabytes) << 20)),
                gres: Vec::new(),
                shares: Vec::new(),
                whole: kind == 0,
                reservation: None,
                lasts: 600,
            };
            if model.check(&shape).is_ok() {
                model.shapes.push(shape);
            }
        }
        model.set_levels();
        World::new(Arc::new(model))
    }

    pub(in super::super) fn usage(lasts: i64, hold: Hold) -> RunningUsage {
        RunningUsage { job: None, group: None, believed: 1000 + lasts, rank: 0, holds: vec![hold] }
    }
    /// Returns the sites with enough free resources, examined one by one.
    fn roomy(world: &World, shape: &PartitionRequest) -> Vec<usize> {
        world.model.sets[shape.set].iter().filter(|&site| world.room_now(shape, site).is_some()).collect()
    }

    /// Reserves a node, unless it is reserved for another job in this period.
    fn keep(world: &mut World, site: usize, from: i64, until: i64) {
        if world.kept[site].iter().all(|other| other.until <= from || other.from >= until) {
            world.keep(&[site], NodeReservation { from, until, job: 0 });
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Checks jobs that request more processors than the minimum of each node. They start when their nodes
        /// together have enough processors. The test compares with a search over all instants at which a job ends.
        #[test]
        fn processors_are_counted_together_as_jobs_end(
            nodes in 1_usize..6,
            (count, all, has_range) in (1_u32..4, 1_u64..20, any::<bool>()),
            runs in prop::collection::vec((0_usize..6, 1_u32..5, 1_i64..40), 0..14),
            kept in prop::collection::vec((0_usize..6, 0_i64..40, 1_i64..30), 0..3),
        ) {
            let mut world = world(nodes, &[(1, 1, 0, 2)]);
            let model = world.model.clone();
            let most = if has_range { None } else { Some(count) };
            let shape = PartitionRequest { cpus: all.max(count.into()), max_nodes: most, min_nodes: count, per_node: 1, memory: None, lasts: 10, ..model.shapes[0].clone() };
            for (site, cpus, lasts) in runs {
                let site = site % nodes;
                if world.cpus[site] >= cpus {
                    world.take(usage(lasts, Hold { site: site as u32, cpus, own: cpus, memory: 0, gres: Vec::new(), cells: Vec::new() }));
                }
            }
            for (site, from, lasts) in kept {
                keep(&mut world, site % nodes, 1000 + from, 1000 + from + lasts);
            }
            let free = |site: usize, at: i64| -> u32 {
                let ended = world.on[site].iter().filter(|end| end.key.0 <= at).map(|end| end.cpus).sum::<u32>();
                world.cpus[site] + ended
            };
            let fits = |at: i64| {
                let mut rooms: Vec<u64> = (0..nodes).filter(|&site| free(site, at) > 0 && world.conflict(&shape, site, at, true).is_none())
                    .map(|site| free(site, at).into()).collect();
                rooms.sort_unstable_by(|one, other| other.cmp(one));
                rooms.truncate(most.map_or(usize::MAX, |most| most as usize));
                rooms.len() >= count as usize && rooms.iter().sum::<u64>() >= shape.cpus
            };
            let first = (1000..3000).find(|&at| fits(at));
            let found = world.earliest(&shape, i64::MIN);
            prop_assert_eq!(found.as_ref().map(|found| found.0), first, "{:?}", shape);
            if let Some((at, sites)) = found {
                prop_assert!(sites.iter().map(|&site| u64::from(free(site, at))).sum::<u64>() >= shape.cpus);
                prop_assert!(sites.len() <= most.map_or(usize::MAX, |most| most as usize) && sites.len() >= count as usize);
                for not_before in [at, at.midpoint(world.now)] {
                    prop_assert_eq!(world.earliest(&shape, not_before).map(|found| found.0), first);
                }
            }
        }

        /// Checks two properties with random running jobs, ended jobs and reservations. Sets of nodes by free
        /// resources never leave out a node with enough free resources. The nodes that are found to be free first are
        /// the right nodes.
        #[test]
        fn what_is_found_in_sets_is_what_is_found_node_by_node(
            nodes in 2_usize..100,
            jobs in prop::collection::vec((1_u32..6, 1_u32..9, 100_u32..2500, 0_u32..5), 1..60),
            runs in prop::collection::vec((0_usize..100, 1_u32..9, 0_u64..8000, 1_i64..3000, any::<bool>()), 0..200),
            kept in prop::collection::vec((0_usize..100, 0_i64..2000, 1_i64..900), 0..20),
        ) {
            let mut world = world(nodes, &jobs);
            let model = world.model.clone();
            for (site, cpus, megabytes, lasts, ends) in runs {
                let hold = Hold { site: (site % nodes) as u32, cpus, own: cpus, memory: megabytes << 20, gres: Vec::new(), cells: Vec::new() };
                let number = world.take(usage(lasts, hold));
                if ends {
                    world.give_back(number);
                }
            }
            for (site, from, lasts) in kept {
                keep(&mut world, site % nodes, 1000 + from, 1000 + from + lasts);
            }
            for shape in &model.shapes {
                let all = roomy(&world, shape);
                prop_assert_eq!(world.roomy(shape), all.len());
                let of_node = PartitionRequest { memory: shape.memory.map(|_| Memory::PerCpu(0)), ..shape.clone() };
                prop_assert!(world.roomy(&of_node) >= all.len());
                for heeds_kept in [false, true] {
                    let fits = |&&site: &&usize| {
                        world.conflict(shape, site, world.now, false).is_none() && !(heeds_kept && world.is_planned(shape, site, world.now))
                    };
                    let free = all.iter().filter(fits).filter(|&&site| !shape.whole || world.on[site].is_empty());
                    let free: Vec<(usize, u32)> = free.map(|&site| (site, world.room_now(shape, site).unwrap())).collect();
                    let found = world.find(shape, None, heeds_kept).map(|holds| holds.iter().map(|hold| hold.site as usize).collect::<Vec<_>>());
                    prop_assert_eq!(found, fitted(&model, shape, &free));
                }
                let mut times = Vec::new();
                world.free_times(shape, i64::MIN, usize::MAX, &mut times);
                let found = world.earliest(shape, i64::MIN);
                prop_assert_eq!(&found, &world.together(shape, &mut times, i64::MAX));
                // In its closed period, the first node is not free.
                let mut later = world.clone();
                later.advance(2100);
                prop_assert_eq!(later.roomy(shape), all.iter().filter(|&&site| site != 0).count());
                // If the search starts at an earlier instant, the result is equal.
                if let Some((at, _)) = found {
                    prop_assert_eq!(&found, &world.earliest(shape, at));
                    prop_assert_eq!(&found, &world.earliest(shape, at.midpoint(world.now)));
                }
            }
        }
    }
}
