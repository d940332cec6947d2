//! The search for the least weighted completion or mean flow. The search may have a limit on the makespan.

use std::ops::Range;

use makespan_core::SimpleJob;

use super::{CHANGES, RESERVE, Run};
use rand_chacha::ChaCha8Rng;

use crate::kernel::mapping::{MachineId, Smith};
use crate::search::{Neighbourhood, anneal};

impl Run<'_> {
    /// Returns the best mapping within the limit. The mappings `starts` are compared with the mappings that the search
    /// finds in the part `part` of the time. If no mapping is within the limit, returns the mapping that exceeds the
    /// limit least.
    pub(super) fn lightest(&self, starts: &[Vec<MachineId>], limit: Option<i64>, part: Range<f64>) -> Vec<MachineId> {
        let rank = |mapping: &Vec<MachineId>| {
            let late = limit.map_or(0, |limit| (self.problem.makespan(mapping) - limit).max(0));
            (late, self.aim.value(self.instance, &self.schedule(mapping)))
        };
        let Some(first) = starts.iter().min_by_key(|mapping| rank(mapping)).cloned() else { return Vec::new() };
        // A mapping that is optimal without the limit may also keep the limit.
        let is_best = || self.is_solved && starts.iter().map(|mapping| rank(mapping).1).min() == Some(rank(&first).1);
        if self.problem.machines() == 1 || rank(&first).0 == 0 && is_best() {
            return first;
        }
        let weight = |job: SimpleJob<'_>| if self.aim.is_mean() { 1.0 } else { job.weight.as_f64() };
        let weights: Vec<f64> = self.instance.simple_jobs().map(weight).collect();
        let found = self.portfolio.each(|index| {
            let smith = Smith::new(self.problem, &weights, limit, first.clone());
            let mut search = MappingSearch { smith, random: self.portfolio.random(index + 1) };
            let steps = |steps: u64| (steps as f64 * (part.end - part.start)) as u64;
            anneal(&mut search, &mut self.portfolio.course(part.end * (1.0 - RESERVE), steps));
            search.smith.into_best()
        });
        found.into_iter().chain([first]).min_by_key(rank).unwrap_or_default()
    }
}

/// A search for the mapping with the least weighted completion.
struct MappingSearch<'a> {
    smith: Smith<'a>,
    random: ChaCha8Rng,
}

impl Neighbourhood for MappingSearch<'_> {
    /// Returns false, because no bound is known to compare a mapping with.
    fn is_optimal(&self) -> bool {
        false
    }

    fn step(&mut self, done: f64) {
        self.smith.round(done, CHANGES, &mut self.random);
    }
}
