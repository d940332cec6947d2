//! Plans pending jobs as Slurm does: for the last end in a group of running jobs.

use super::ends::EndWindows;
use super::request::PartitionRequest;
use super::world::World;

impl World {
    /// Returns the instant for which Slurm plans a job of this shape, and the nodes of the job. The caller knows that the
    /// instant is not before `not_before`.
    pub(super) fn planned(&self, shape: &PartitionRequest, not_before: i64) -> Option<(i64, Vec<usize>)> {
        let mut found = self.earliest(shape, not_before)?;
        loop {
            let group = |end: Option<i64>| end.map_or(i64::MIN, |end| self.end_of_group(shape, end));
            // The chosen nodes may be free later than other nodes that are also enough.
            let latest = self.last_end_of(shape, &found);
            let mut last = group(latest);
            if last > found.0 && latest.is_some_and(|latest| latest < found.0) {
                last = group(self.last_needed_end(shape, found.0));
            }
            if last <= found.0 {
                return Some(found);
            }
            found = self.earliest(shape, last)?;
        }
    }

    /// Returns the last end of the group of running jobs that contains the instant `at`.
    fn end_of_group(&self, shape: &PartitionRequest, at: i64) -> i64 {
        let windows = EndWindows {
            first: self.model.minute / 2,
            linear: self.model.cycles.bf_window_linear,
            second: self.model.second,
        };
        let set = &self.model.sets[shape.set];
        let holds = |number: usize| self.running(number).into_iter().flat_map(|job| &job.holds);
        let is_elsewhere = |number: usize| !holds(number).any(|hold| set.has(hold.site as usize));
        let has_all = set.count() == self.model.sites.len();
        let elsewhere: Option<&dyn Fn(usize) -> bool> = if has_all { None } else { Some(&is_elsewhere) };
        self.ends.end_of_group((at, self.now), windows, elsewhere)
    }

    /// Returns the last end of a running job before which some of the nodes of a planned job are not free. Returns `None`
    /// if the planned job only waits for reservations.
    fn last_end_of(&self, shape: &PartitionRequest, (at, sites): &(i64, Vec<usize>)) -> Option<i64> {
        let end = |&site: &usize| {
            if shape.needs_more_together() {
                let ends = self.on[site].iter().map(|end| end.at.max(self.now + 1));
                return ends.take_while(|end| end <= at).last();
            }
            self.room_now(shape, site).is_none().then(|| self.freed(shape, site)).flatten().map(|freed| freed.0)
        };
        sites.iter().filter_map(end).max()
    }

    /// Returns the last end of a running job before which fewer nodes than a job needs are free, of the nodes that are free
    /// and not reserved at the instant `at`.
    fn last_needed_end(&self, shape: &PartitionRequest, at: i64) -> Option<i64> {
        let freed = |site: usize| {
            let end = if self.room_now(shape, site).is_some() { i64::MIN } else { self.freed(shape, site)?.0 };
            (end <= at && self.conflict(shape, site, at, true).is_none()).then_some(end)
        };
        let mut ends: Vec<i64> = self.model.sets[shape.set].iter().filter_map(freed).collect();
        let needed = (shape.min_nodes.max(1) as usize).min(ends.len()).checked_sub(1)?;
        let (_, &mut last, _) = ends.select_nth_unstable(needed);
        (last > i64::MIN).then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::soonest::tests::{usage, world};
    use super::super::usage::Hold;
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
        /// Jobs that request whole nodes, of all nodes or of the second half, are planned for the end of a group.
        #[test]
        fn jobs_are_planned_as_groups_of_running_jobs_are_removed(
            (nodes, count, is_half) in (2_usize..12, 1_usize..6, any::<bool>()),
            runs in prop::collection::vec((0_usize..12, 1_i64..600), 0..40),
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
}
