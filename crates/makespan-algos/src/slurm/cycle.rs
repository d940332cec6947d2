//! The jobs that scheduling cycles visit, start and plan.

use std::ops::Range;

use makespan_core::{Cycle, CyclePair, CycleQueue, CycleRules};

use super::bits::{Common, NodeBits};
use super::model::JobCandidate;
use super::scheduler::{JobStart, LimitDelay, SlurmScheduler};
use super::usage::{Hold, NodeReservation, RunningUsage};

impl CycleQueue for SlurmScheduler {
    fn begin(&mut self, cycle: Cycle, before: Option<i64>) {
        self.last_cycle = before.unwrap_or(i64::MIN);
        match cycle {
            Cycle::Main => {
                self.look += 1;
                self.blocked.clear();
                self.skip_started();
            }
            Cycle::Backfill => {
                self.world.forget_kept();
                self.least = (self.head, self.least_requests());
            }
        }
    }

    fn end(&mut self) {
        // Candidates of started jobs are removed only if they are more than a sixteenth of `waiting`.
        if self.stale * 16 > self.waiting.len() {
            self.compact();
        }
    }

    fn range(&self) -> Range<usize> {
        self.head..self.waiting.len()
    }

    fn pairs_of_partitions(&self) -> &[usize] {
        &self.waiting_in
    }

    fn pair(&self, at: usize) -> Option<CyclePair> {
        let bid = self.waiting[at];
        let candidate = self.candidate(bid);
        let pair = CyclePair { priority: self.priority(bid), ..candidate.pair };
        (self.model().are_up[candidate.partition] && self.bid_waits(bid)).then_some(pair)
    }

    fn is_limited(&mut self, at: usize) -> bool {
        let group = self.at(at).group;
        // A limit that delays a job in a cycle does so until the end of this cycle.
        if self.limited_at[group] == self.look {
            return true;
        }
        let Some(counter) = self.world.limit_reached(group) else { return false };
        self.limited[group] = Some(LimitDelay { counter, lacks_nodes_at: None });
        self.limited_at[group] = self.look;
        true
    }

    fn limited_until(&self, at: usize) -> Option<i64> {
        self.world.falls_until(self.at(at).group)
    }

    fn skip_limited(&mut self, at: usize, most: usize) -> (usize, usize) {
        self.skip_started();
        let next = self.model().next_group(self.waiting[at - 1]).filter(|_| self.is_in_order());
        let Some(next) = next else { return (at, 0) };
        let end = at + self.waiting[at..].partition_point(|&bid| bid < next);
        if self.stale == self.head {
            return (end, end - at);
        }
        (end, self.waiting[at..end].iter().filter(|&&bid| self.bid_waits(bid)).take(most).count())
    }

    fn is_full(&self, at: usize) -> bool {
        // Plans are discarded after the cycle. So if no later job fits now, later jobs need no plan.
        let least = self.least.1.get(at - self.least.0.min(at));
        self.world.counts.as_ref().zip(least).is_some_and(|(counts, &least)| counts.free(self.world.now) < least)
    }

    fn is_exhausted(&self) -> bool {
        let model = self.model();
        // Jobs with limits are visited, because their reasons and the next cycle depend on these limits.
        if model.cycles.bf_min_prio_reserve < CycleRules::NO_RESERVATION || !model.counters.is_empty() {
            return false;
        }
        // The sites with enough processors for the smallest request of all jobs.
        let Some(least) = self.world.with_cpus.first().filter(|_| self.world.counts.is_none()) else { return false };
        let mut sets = model.sets.iter().zip(&model.spans);
        !sets.any(|(set, span)| Common { of: [set, least, least], without: None, span: span.clone() }.has(1))
    }

    fn start(&mut self, at: usize, cycle: Cycle) -> bool {
        let bid = self.waiting[at];
        let candidate = *self.candidate(bid);
        // If an equal request did not fit earlier in this cycle, this job does not fit either.
        let is_known = self.failed[candidate.shape] == self.look && self.model().jobs[candidate.job].team.is_empty();
        debug_assert!(!is_known || self.world.find(&self.model().shapes[candidate.shape], None, true).is_none());
        let has_started = match cycle {
            _ if is_known => false,
            Cycle::Main => {
                let blocked = std::mem::replace(&mut self.blocked, NodeBits::new(0));
                let has_started = self.try_start(bid, Some(&blocked), false);
                self.blocked = blocked;
                has_started
            }
            Cycle::Backfill => {
                let has_started = self.try_start(bid, None, true);
                if !has_started {
                    self.failed[candidate.shape] = self.look;
                }
                has_started
            }
        };
        if has_started {
            return true;
        }
        // The job now waits for nodes.
        let now = self.world.now;
        if let Some(limited) = &mut self.limited[candidate.group] {
            limited.lacks_nodes_at.get_or_insert(now);
        }
        if let Some(gaps) = self.gaps.as_mut().filter(|_| cycle == Cycle::Backfill)
            && let Some(gap) = self.world.gap_of(&self.world.model.shapes[candidate.shape])
        {
            gaps.entry(candidate.job).or_insert(gap);
        }
        false
    }

    fn fits_idle_nodes(&mut self, at: usize) -> bool {
        let shape = self.at(at).shape;
        if self.failed[shape] == self.look {
            return false;
        }
        let fits = self.world.fits_idle_nodes(&self.world.model.shapes[shape]);
        if !fits {
            // If the job does not fit on idle nodes, it does not fit in the backfill cycle either.
            self.failed[shape] = self.look;
        }
        fits
    }

    fn block(&mut self, partition: usize) {
        self.blocked.add(&self.world.model.partitions[partition]);
    }

    /// Makes a reservation, without delaying an existing reservation.
    fn reserve(&mut self, at: usize) -> bool {
        let JobCandidate { job, shape: index, .. } = *self.at(at);
        let shape = &self.world.model.shapes[index];
        let (look, soonest) = self.places[index];
        // In a cycle, reservations are added but never removed. So an earlier reservation for an equal request starts
        // no later than this one.
        let is_bound = look == self.look && shape.counted.is_none();
        let not_before = if is_bound { soonest } else { i64::MIN };
        let window = self.world.now.saturating_add(self.model().cycles.bf_window);
        if not_before > window {
            return false;
        }
        if let Some(counts) = &mut self.world.counts {
            let found = counts.earliest(shape, not_before.max(self.world.now), window);
            self.places[index] = (self.look, found.unwrap_or(i64::MAX));
            let Some(from) = found else { return false };
            counts.reserve(shape, from, self.world.model.rounded(from.saturating_add(shape.lasts)));
            return true;
        }
        let found = self.world.planned(shape, not_before);
        self.places[index] = (self.look, found.as_ref().map_or(i64::MAX, |found| found.0));
        let Some((from, sites)) = found.filter(|found| found.0 <= window) else { return false };
        let until = self.model().rounded(from.saturating_add(shape.lasts));
        self.world.keep(&sites, NodeReservation { from, until, job });
        true
    }
}

impl SlurmScheduler {
    /// Returns the candidate at a position of `waiting`.
    fn at(&self, at: usize) -> &JobCandidate {
        self.candidate(self.waiting[at])
    }

    /// Advances `head` past the candidates of all jobs that no longer wait.
    fn skip_started(&mut self) {
        self.head += self.waiting[self.head..].iter().take_while(|&&bid| !self.bid_waits(bid)).count();
    }

    /// For each of the candidates that a backfill cycle may visit, returns the minimum number of processors of its job
    /// and of all later jobs. Returns nothing for a platform of nodes.
    fn least_requests(&self) -> Vec<u64> {
        if self.world.counts.is_none() || self.stale > self.head {
            return Vec::new();
        }
        let depth = self.model().cycles.bf_max_job_test;
        let cpus = |&bid: &u32| self.model().shapes[self.candidate(bid).shape].cpus;
        let mut least: Vec<u64> = self.waiting[self.head..].iter().take(depth).map(cpus).collect();
        for at in (1..least.len()).rev() {
            least[at - 1] = least[at - 1].min(least[at]);
        }
        least
    }

    /// Starts a job. If the job is a component of a heterogeneous job, starts all components, or none if one of them
    /// does not fit.
    fn try_start(&mut self, bid: u32, without: Option<&NodeBits>, heeds_kept: bool) -> bool {
        let model = self.world.model.clone();
        let JobCandidate { job, shape, .. } = model.bids[bid as usize];
        if model.jobs[job].team.is_empty() {
            let Some(holds) = self.world.find(&model.shapes[shape], without, heeds_kept) else { return false };
            let granted = self.granted(bid, &holds, heeds_kept);
            let number = self.begin(self.usage(bid, granted, holds));
            self.started(bid, number, granted);
            return true;
        }
        let team = &model.jobs[job].team;
        if !team.iter().all(|&member| self.is_waiting(member)) {
            return false;
        }
        let mut begun = Vec::new();
        for &member in team {
            let own = if member == job { &[bid][..] } else { &model.jobs[member].bids };
            let find = |&bid: &u32| {
                let shape = &model.shapes[model.bids[bid as usize].shape];
                Some((bid, self.world.find(shape, without, heeds_kept)?))
            };
            let Some((bid, holds)) = own.iter().find_map(find) else {
                // One component does not fit. So the components that were started release their resources.
                begun.into_iter().for_each(|(_, number)| drop(self.end(number)));
                return false;
            };
            let number = self.begin(self.usage(bid, model.jobs[member].limit, holds));
            begun.push((bid, number));
        }
        for (bid, number) in begun {
            self.started(bid, number, model.jobs[model.bids[bid as usize].job].limit);
        }
        true
    }

    fn usage(&self, bid: u32, granted: i64, holds: Vec<Hold>) -> RunningUsage {
        let JobCandidate { job, group, .. } = *self.candidate(bid);
        let believed = self.world.now.saturating_add(granted);
        RunningUsage { job: Some(job), group: Some(group), believed, rank: self.model().jobs[job].rank, holds }
    }

    /// Returns the time for which a job may run. If the job accepts less time than its limit, this is the longest time
    /// that delays no job with a reservation.
    fn granted(&self, bid: u32, holds: &[Hold], heeds_kept: bool) -> i64 {
        let model = self.model();
        let candidate = self.candidate(bid);
        let (job, shape) = (&model.jobs[candidate.job], &model.shapes[candidate.shape]);
        if shape.lasts >= job.limit {
            return job.limit;
        }
        let deadline = job.deadline.filter(|_| self.heeds_deadlines).unwrap_or(i64::MAX);
        let until = self.world.free_until(shape, holds, heeds_kept).min(deadline);
        let granted = until.saturating_sub(self.world.now).min(job.limit);
        // Slurm counts time limits in whole minutes.
        if granted < job.limit { (granted - granted.rem_euclid(model.minute)).max(shape.lasts) } else { granted }
    }

    fn started(&mut self, bid: u32, number: usize, granted: i64) {
        let JobCandidate { job, group, .. } = *self.candidate(bid);
        self.count_waiting(job, false);
        self.stale += self.model().jobs[job].bids.len();
        let (cycle_before, limited) = (self.last_cycle, self.limited[group]);
        self.starts.push(JobStart { job, number, granted, cycle_before, limited });
    }
}
