//! The best placement with the earliest end for one task. Each column is free from some instant on.

use makespan_core::{ProcSet, Profile, Time};

use super::Cluster;

/// The place where a task ends earliest.
#[derive(Clone, Debug)]
pub(super) struct EarliestSpot {
    pub(super) processors: ProcSet,
    pub(super) start: Time,
    pub(super) end: Time,
}

/// For each SMP (a node), its columns, sorted by the instant from which they are free. Also contains the SMPs, sorted
/// by the instant from which all their columns are free.
struct Smps {
    columns: Vec<Vec<(Time, u32)>>,
    order: Vec<usize>,
    rank: Vec<usize>,
}

/// Returns the best placement with the earliest end of a task, on at most `most` processors. Among equal ends, the
/// fewest processors are used. Returns `None` if the task needs more than `most` processors. Takes O(m k log k) for m
/// SMPs of k processors, plus O(m) for each allotment.
pub(super) fn earliest(profile: &Profile, cluster: Cluster, free: &[Time], most: u32) -> Option<EarliestSpot> {
    let smps = Smps::new(cluster, free);
    let mut best: Option<(Time, u32, Option<usize>)> = None;
    for processors in profile.allotments().take_while(|&processors| processors <= most.min(cluster.processors())) {
        let (start, rest_on) = smps.start(processors, cluster);
        let end = start + profile.time(processors);
        if best.is_none_or(|(soonest, _, _)| end < soonest) {
            best = Some((end, processors, rest_on));
        }
    }
    let (end, processors, rest_on) = best?;
    Some(EarliestSpot {
        processors: smps.take(processors, rest_on, cluster),
        start: end - profile.time(processors),
        end,
    })
}

impl Smps {
    fn new(cluster: Cluster, free: &[Time]) -> Self {
        let columns: Vec<Vec<(Time, u32)>> = free
            .chunks(cluster.each as usize)
            .zip(0..)
            .map(|(chunk, smp)| {
                let mut sorted: Vec<(Time, u32)> = chunk.iter().copied().zip(smp * cluster.each..).collect();
                sorted.sort_unstable();
                sorted
            })
            .collect();
        let wholly = |smp: usize| columns[smp].last().map_or(Time::ZERO, |column| column.0);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|&smp| (wholly(smp), smp));
        let mut rank = vec![0; columns.len()];
        order.iter().enumerate().for_each(|(at, &smp)| rank[smp] = at);
        Self { columns, order, rank }
    }

    fn wholly_free(&self, rank: usize) -> Time {
        self.columns[self.order[rank]].last().map_or(Time::ZERO, |column| column.0)
    }

    /// Returns the earliest start on whole SMPs and a part of one more SMP. Also returns this last SMP, if the part is
    /// not empty.
    fn start(&self, processors: u32, cluster: Cluster) -> (Time, Option<usize>) {
        let (whole, rest) = ((processors / cluster.each) as usize, (processors % cluster.each) as usize);
        if rest == 0 {
            return (self.wholly_free(whole - 1), None);
        }
        let start = |smp: usize| {
            // The SMP that is used in part must differ from the SMPs that are used as a whole.
            let last = if self.rank[smp] < whole { whole } else { whole.wrapping_sub(1) };
            let wholly = if whole == 0 { Time::ZERO } else { self.wholly_free(last) };
            wholly.max(self.columns[smp][rest - 1].0)
        };
        let best = (0..self.columns.len()).map(|smp| (start(smp), std::cmp::Reverse(self.rank[smp]), smp)).min();
        best.map_or((Time::MAX, None), |(start, _, smp)| (start, Some(smp)))
    }

    fn take(&self, processors: u32, rest_on: Option<usize>, cluster: Cluster) -> ProcSet {
        let whole = (processors / cluster.each) as usize;
        let smps = self.order.iter().copied().filter(|&smp| Some(smp) != rest_on).take(whole);
        let each = cluster.each;
        let wholes = smps.map(|smp| (smp as u32 * each, smp as u32 * each + each - 1));
        let rest = rest_on.into_iter().flat_map(|smp| &self.columns[smp][..(processors % each) as usize]);
        ProcSet::from_intervals(wholes.chain(rest.map(|&(_, id)| (id, id))).collect())
    }
}
