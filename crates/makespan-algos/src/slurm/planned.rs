//! Plans pending jobs as Slurm's backfill cycle does.
//!
//! Slurm tests a pending job at one instant after another. At each instant, the job may use a node if no reservation
//! and no planned job uses the node from this instant until the time limit of the job has passed. On these nodes, Slurm
//! removes the running jobs in groups (`ends.rs`), and takes the end of the first group after which the job fits. If a
//! reservation or a planned job releases a node before this end, Slurm discards the result, and tests the job again at
//! the release. Source: `_attempt_backfill` and `_will_run_test` of Slurm 22.05.

use std::ops::Bound;

use super::bits::NodeBits;
use super::ends::{EndKey, EndWindows, all_by};
use super::request::PartitionRequest;
use super::world::World;

impl World {
    /// Returns the instant for which Slurm plans a job of this shape, and the nodes of the job. The caller knows that the
    /// instant is not before `not_before`.
    pub(super) fn planned(&self, shape: &PartitionRequest, not_before: i64) -> Option<(i64, Vec<usize>)> {
        PlanSearch::new(self, shape).earliest(not_before)
    }

    /// Returns true if a job of this shape that starts on a site at the instant `from` overlaps a planned job there. As
    /// in Slurm, a planned job that starts exactly at the end of the job overlaps the job.
    pub(super) fn is_planned(&self, shape: &PartitionRequest, site: usize, from: i64) -> bool {
        let kept = &self.kept[site];
        let until = from.saturating_add(shape.lasts);
        kept[..kept.partition_point(|kept| kept.from <= until)].last().is_some_and(|last| last.until > from)
    }

    /// Returns the number of processors that a site can provide after the ends of the running jobs up to a position.
    fn room_by(&self, shape: &PartitionRequest, site: usize, until: EndKey) -> Option<u32> {
        let mut last = self.room_now(shape, site);
        if self.first_end[site] <= until.0 {
            self.rooms(shape, site, &mut |end, room| {
                let has_ended = end <= until;
                last = if has_ended { Some(room) } else { last };
                has_ended
            });
        }
        last
    }
}

/// The search for the planned start of a pending job.
struct PlanSearch<'a> {
    world: &'a World,
    shape: &'a PartitionRequest,
    /// The nodes that Slurm tests for the job and that a reservation contains at any time.
    reserved: Vec<usize>,
    /// The ends of all reservations, in ascending order.
    ends: Vec<i64>,
}

impl<'a> PlanSearch<'a> {
    fn new(world: &'a World, shape: &'a PartitionRequest) -> Self {
        let model = &world.model;
        let is_reserved = |&site: &usize| !model.sites[site].closed.is_empty();
        let reserved: Vec<usize> = model.sets[shape.tested].iter().filter(is_reserved).collect();
        let mut ends = Vec::new();
        if !reserved.is_empty() {
            ends.extend(model.sites.iter().flat_map(|site| &site.closed).map(|period| period.end));
            ends.sort_unstable();
            ends.dedup();
        }
        Self { world, shape, reserved, ends }
    }

    fn earliest(&self, not_before: i64) -> Option<(i64, Vec<usize>)> {
        let (world, shape) = (self.world, self.shape);
        // Slurm plans no job before enough nodes are free, so the job starts at `bound` or later. If nodes are released
        // before `bound`, Slurm discards the result of the test. So skip the test, and continue at the release.
        let bound = world.ignoring_closed(|| world.earliest(shape, not_before))?.0;
        let mut at = world.opens(shape, i64::MIN);
        loop {
            if !world.in_reservation(shape, at) {
                return None;
            }
            let later = self.next_release(at);
            let found = match later {
                None => self.tested(at, i64::MIN),
                Some(later) if later < bound => None,
                Some(later) => self.tested(at, bound).filter(|found| found.0 <= later),
            };
            match found {
                None => at = later?,
                Some(found) if !self.overlaps(&found) => return Some(found),
                Some(found) => at = found.0.max(at + world.model.tick()),
            }
        }
    }

    /// Returns true if a reservation prevents the job from using a site from the instant `from` on.
    fn is_closed(&self, site: usize, from: i64) -> bool {
        self.world.conflict(self.shape, site, from, false).is_some()
    }

    /// Returns the first instant after `at` at which a planned job or a reservation releases a node of the partition.
    /// Like Slurm, searches until the end of the first period that begins after a job started at `at` would end.
    fn next_release(&self, at: i64) -> Option<i64> {
        let (world, shape) = (self.world, self.shape);
        let set = &world.model.sets[shape.tested];
        let until = at.saturating_add(shape.lasts);
        let is_free = |site: usize, from: i64| {
            let kept = &world.kept[site];
            kept.binary_search_by_key(&from, |kept| kept.from).is_err()
        };
        let is_release = |instant: i64| {
            let sites = world.plans.ends.get(&instant).into_iter().flatten().map(|&site| site as usize);
            sites.into_iter().any(|site| set.has(site) && is_free(site, instant) && !self.is_closed(site, at))
        };
        let mut released = None;
        let mut before = i64::MIN;
        for &instant in world.plans.instants.range((Bound::Excluded(at), Bound::Unbounded)) {
            if is_release(instant) {
                released = Some(instant);
                break;
            }
            if before > until {
                break;
            }
            before = instant;
        }
        if !self.reserved.iter().any(|&site| self.is_closed(site, at)) {
            return released;
        }
        // Slurm adds a second to the end of the reservation.
        let opened = self.ends.get(self.ends.partition_point(|&end| end < at));
        let opened = opened.map(|&end| world.model.rounded(end).saturating_add(world.model.tick()));
        let window = world.now.saturating_add(world.model.cycles.bf_window);
        released.into_iter().chain(opened.filter(|&opened| opened < window)).min()
    }

    /// Returns the nodes on which no reservation and no planned job overlaps the job if it starts at the instant `at`.
    fn available(&self, at: i64) -> NodeBits {
        let (world, shape) = (self.world, self.shape);
        let set = &world.model.sets[shape.tested];
        let mut available = set.clone();
        let is_taken = |&site: &usize| {
            world.taken_later.has(site) && (world.is_planned(shape, site, at) || self.is_closed(site, at))
        };
        set.iter().filter(is_taken).for_each(|site| available.set(site, false));
        available
    }

    /// Returns the start and the nodes that Slurm finds for the job if it tests the job at the instant `at`. Slurm tests the
    /// nodes that are available from `at` on, even if the job starts later. Skips starts before `bound`.
    fn tested(&self, at: i64, bound: i64) -> Option<(i64, Vec<usize>)> {
        let (world, shape) = (self.world, self.shape);
        let available = self.available(at);
        let set = &world.model.sets[shape.set];
        let sites: Vec<usize> = available.iter().filter(|&site| set.has(site)).collect();
        if sites.len() < shape.min_nodes.max(1) as usize {
            return None;
        }
        let chosen = |until: EndKey, by: i64, room: &dyn Fn(usize) -> Option<u32>| {
            let rooms = sites.iter().filter_map(|&site| Some((site, room(site)?)));
            let found = world.chosen(shape, until, rooms)?;
            Some((by.max(at), found.into_iter().map(|one| one.0).collect()))
        };
        if at >= bound
            && let Some(found) = chosen(all_by(world.now), world.now, &|site| world.room_now(shape, site))
        {
            return Some(found);
        }
        let windows = EndWindows {
            first: world.model.minute / 2,
            linear: world.model.cycles.bf_window_linear,
            second: world.model.second,
        };
        let holds = |number: usize| world.running(number).into_iter().flat_map(|job| &job.holds);
        let is_usable = |number: usize| holds(number).any(|hold| available.has(hold.site as usize));
        let mut groups = world.ends.groups(windows, is_usable).filter(|&last| world.end_of(last).max(at) >= bound);
        groups.find_map(|last| chosen(last, world.end_of(last), &|site| world.room_by(shape, site, last)))
    }

    /// Returns true if another planned job overlaps this plan.
    fn overlaps(&self, (start, sites): &(i64, Vec<usize>)) -> bool {
        let until = start.saturating_add(self.shape.lasts);
        let overlaps = |&site: &usize| {
            let kept = &self.world.kept[site];
            kept[..kept.partition_point(|kept| kept.from < until)].last().is_some_and(|last| last.until > *start)
        };
        sites.iter().any(overlaps)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::soonest::tests::{usage, world};
    use super::super::usage::{Hold, NodeReservation, RunningUsage};
    use super::*;

    /// Removes the running jobs one by one in the order of their ends, and tests the job after each group. `ends` contains
    /// the end and the node of each job. Only nodes from `first_node` on count. Returns the last end that was removed.
    fn by_removal(
        ends: &[(i64, usize)],
        (nodes, first_node): (usize, usize),
        count: usize,
        longer: impl Fn(i64) -> i64,
    ) -> Option<i64> {
        let mut left = ends.to_vec();
        left.sort_by_key(|end| end.0);
        let mut jobs = vec![0; nodes];
        ends.iter().for_each(|end| jobs[end.1] += 1);
        let is_enough = |jobs: &[usize]| jobs[first_node..].iter().filter(|&&count| count == 0).count() >= count;
        let (mut window, mut from, mut last) = (30, None, 1000);
        while !is_enough(&jobs) {
            let mut has_removed = false;
            while !left.is_empty() {
                let (end, node) = left.remove(0);
                if node < first_node {
                    continue;
                }
                jobs[node] -= 1;
                (last, has_removed) = (end, true);
                let until = *from.get_or_insert((end / 30 + 1) * 30) + window;
                if left.first().is_none_or(|next| next.0 > until) {
                    break;
                }
            }
            has_removed.then_some(())?;
            window = longer(window);
            while left.first().zip(from).is_some_and(|(next, from)| next.0 > from + window) {
                window = longer(window);
            }
        }
        Some(last)
    }

    proptest! {
        /// Checks that a job that requests whole nodes starts at the end of a group of running jobs. The job may use
        /// all nodes or only the second half of them. Many running jobs have equal ends.
        #[test]
        fn jobs_are_planned_as_groups_of_running_jobs_are_removed(
            (nodes, count, is_half) in (2_usize..12, 1_usize..6, any::<bool>()),
            runs in prop::collection::vec((0_usize..12, prop_oneof![1_i64..600, (1_i64..12).prop_map(|many| 50 * many)]), 0..40),
            linear in prop::sample::select(vec![0_i64, 7, 60]),
        ) {
            let first_node = if is_half { nodes / 2 } else { 0 };
            let count = count.min(nodes - first_node);
            let mut world = world(nodes, &[(count as u32, 1, 0, u32::from(is_half))]);
            Arc::make_mut(&mut world.model).cycles.bf_window_linear = linear;
            let shape = PartitionRequest { whole: true, lasts: 10, ..world.model.shapes[0].clone() };
            let mut ends = Vec::new();
            for (site, lasts) in runs {
                let site = site % nodes;
                if world.cpus[site] > 0 {
                    let hold = Hold { site: site as u32, cpus: 1, own: 1, memory: 0, gres: Vec::new(), cells: Vec::new() };
                    world.take(usage(lasts, hold));
                    ends.push((1000 + lasts, site));
                }
            }
            let longer = |window: i64| if linear == 0 { 2 * window } else { window + linear };
            let expected = by_removal(&ends, (nodes, first_node), count, longer);
            let found = world.planned(&shape, i64::MIN);
            prop_assert_eq!(found.as_ref().map(|found| found.0), expected, "{:?}", ends);
            if let Some((at, sites)) = found {
                prop_assert!(sites.len() == count);
                prop_assert!(ends.iter().all(|&(end, node)| end <= at || !sites.contains(&node)));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Plans jobs in the order of their priorities, with and without the last job. The last job changes no other
        /// plan. A planned job has its nodes until its time limit, unless a reservation of nodes begins after the first
        /// test of the job. A job that starts now ends before the planned jobs on its nodes start.
        #[test]
        fn lower_jobs_never_change_plans_of_higher_jobs(
            nodes in 2_usize..12,
            jobs in prop::collection::vec((1_u32..6, 1_u32..9, 0_u32..5), 2..14),
            runs in prop::collection::vec((0_usize..12, 1_u32..9, 1_i64..1500), 0..20),
            lasts in prop::collection::vec(1_i64..900, 14),
        ) {
            let asked: Vec<(u32, u32, u32, u32)> = jobs.iter().map(|&(count, each, kind)| (count, each, 0, kind)).collect();
            let mut world = world(nodes, &asked);
            let model = world.model.clone();
            for (site, cpus, lasts) in runs {
                let hold = Hold { site: (site % nodes) as u32, cpus, own: cpus, memory: 0, gres: Vec::new(), cells: Vec::new() };
                if world.cpus[site % nodes] >= cpus {
                    world.take(usage(lasts, hold));
                }
            }
            let shapes: Vec<PartitionRequest> =
                model.shapes.iter().zip(lasts).map(|(shape, lasts)| PartitionRequest { lasts, ..shape.clone() }).collect();
            let run = |count: usize| {
                let mut world = world.clone();
                for (job, shape) in shapes[..count].iter().enumerate() {
                    if let Some(holds) = world.find(shape, None, true) {
                        for hold in &holds {
                            let site = hold.site as usize;
                            prop_assert!(world.kept[site].iter().all(|kept| kept.from > world.now + shape.lasts || kept.until <= world.now));
                        }
                        world.take(RunningUsage { job: Some(job), group: None, believed: world.now + shape.lasts, rank: 0, holds });
                        continue;
                    }
                    let Some((from, sites)) = world.planned(shape, i64::MIN) else { continue };
                    for &site in &sites {
                        prop_assert!(world.kept[site].iter().all(|kept| kept.until <= from || kept.from >= from + shape.lasts));
                        prop_assert!(world.room_by(shape, site, all_by(from)).is_some());
                    }
                    world.keep(&sites, NodeReservation { from, until: from + shape.lasts, job });
                }
                Ok(world.plans())
            };
            let (all, without) = (run(shapes.len())?, run(shapes.len().saturating_sub(1))?);
            let higher: Vec<_> = all.into_iter().filter(|plan| plan.0 + 1 < shapes.len()).collect();
            prop_assert_eq!(higher, without);
        }
    }
}
