//! The jobs that scheduling cycles visit, start and plan.

use std::ops::Range;

use makespan_core::{Cycle, CyclePair, CycleQueue};

use super::super::bid::JobCandidate;
use super::super::bits::NodeBits;
use super::super::times::limit;
use super::super::world::{Hold, NodeReservation, RunningUsage};
use super::{ForecastSimulation, Limited};

impl CycleQueue for ForecastSimulation<'_> {
    fn begin(&mut self, cycle: Cycle, before: Option<i64>) {
        self.last_cycle = before.unwrap_or(i64::MIN);
        match cycle {
            Cycle::Main => {
                self.look += 1;
                self.blocked.clear();
                self.skip_started();
            }
            Cycle::Backfill => self.world.forget_kept(),
        }
    }

    fn end(&mut self) {
        // Bids of started jobs are removed only if they are more than a sixteenth of `waiting`.
        if self.stale * 16 > self.waiting.len() {
            (self.stale, self.head) = (0, 0);
            self.waiting.retain(|&bid| self.outcome.started[self.model.bids[bid as usize].job].is_none());
        }
    }

    fn range(&self) -> Range<usize> {
        self.head..self.waiting.len()
    }

    fn pairs_of_partitions(&self) -> &[usize] {
        &self.waiting_in
    }

    fn pair(&self, at: usize) -> Option<CyclePair> {
        let mut pair = self.bid(at).pair;
        if let Some(own) = &self.priorities {
            pair.priority = own.of_job(pair.job);
        }
        let is_up = self.model.queue.partitions[pair.partition].is_up();
        (is_up && self.outcome.started[pair.job].is_none()).then_some(pair)
    }

    fn is_limited(&mut self, at: usize) -> bool {
        let job = self.bid(at).job;
        let group = self.model.alike.limits[job];
        // A limit that delays a job in a cycle does so until the end of this cycle.
        if self.limited_at[group] == self.look {
            return true;
        }
        let Some(counter) = self.world.limit_reached(job) else { return false };
        self.limited[group] = Some(Limited { counter, lacks_nodes_at: None });
        self.limited_at[group] = self.look;
        true
    }

    fn limited_until(&self, at: usize) -> Option<i64> {
        self.world.falls_until(self.bid(at).job)
    }

    fn skip_limited(&mut self, at: usize, most: usize) -> (usize, usize) {
        self.skip_started();
        if self.priorities.is_some() {
            return (at, 0);
        }
        let next = self.model.alike.next[self.waiting[at - 1] as usize];
        let end = at + self.waiting[at..].partition_point(|&bid| bid < next);
        if self.stale == self.head {
            return (end, end - at);
        }
        let waits = |&&bid: &&u32| self.outcome.started[self.model.bids[bid as usize].job].is_none();
        (end, self.waiting[at..end].iter().filter(waits).take(most).count())
    }

    fn start(&mut self, at: usize, cycle: Cycle) -> bool {
        let bid = self.bid(at);
        let has_started = match cycle {
            Cycle::Main => {
                let blocked = std::mem::replace(&mut self.blocked, NodeBits::new(0));
                let has_started = self.try_start(bid, Some(&blocked), false);
                self.blocked = blocked;
                has_started
            }
            Cycle::Backfill => {
                // If an equal request did not fit earlier in this cycle, this job does not fit either.
                let is_known = self.failed[bid.shape] == self.look && !self.teams.contains_key(&bid.job);
                debug_assert!(!is_known || self.world.find(&self.model.shapes[bid.shape], None, true).is_none());
                let has_started = !is_known && self.try_start(bid, None, true);
                if !has_started {
                    self.failed[bid.shape] = self.look;
                }
                has_started
            }
        };
        if has_started {
            return true;
        }
        // The job now waits for nodes.
        if let Some(limited) = &mut self.limited[self.model.alike.limits[bid.job]] {
            limited.lacks_nodes_at.get_or_insert(self.world.now);
        }
        if let Some(gaps) = self.gaps.as_mut().filter(|_| cycle == Cycle::Backfill)
            && let Some(gap) = self.world.gap_of(&self.model.shapes[bid.shape])
        {
            gaps.entry(bid.job).or_insert(gap);
        }
        false
    }

    fn block(&mut self, partition: usize) {
        self.blocked.add(&self.model.partition_sets[partition]);
    }

    /// Makes a reservation, without delaying an existing reservation.
    fn reserve(&mut self, at: usize) -> bool {
        let bid = self.bid(at);
        let shape = &self.model.shapes[bid.shape];
        let (look, soonest) = self.places[bid.shape];
        // In a cycle, reservations are added but never removed. So an earlier reservation for an equal request starts
        // no later than this one.
        let is_bound = look == self.look && shape.counted.is_none();
        let not_before = if is_bound { soonest } else { i64::MIN };
        let window = self.world.now.saturating_add(self.model.cycles.bf_window);
        if not_before > window {
            return false;
        }
        let found = self.world.earliest(shape, not_before);
        self.places[bid.shape] = (self.look, found.as_ref().map_or(i64::MAX, |found| found.0));
        let Some((from, sites)) = found.filter(|found| found.0 <= window) else { return false };
        let (queue_now, unit) = (self.model.queue.now, self.model.cycles.bf_resolution);
        let ahead = from.saturating_add(shape.lasts).saturating_sub(queue_now);
        let until = queue_now.saturating_add(ahead.saturating_add(unit - 1) / unit * unit);
        self.world.keep(&sites, NodeReservation { from, until, job: bid.job });
        true
    }
}

impl ForecastSimulation<'_> {
    /// Returns the bid at a position of `waiting`.
    fn bid(&self, at: usize) -> JobCandidate {
        self.model.bids[self.waiting[at] as usize]
    }

    /// Starts a job. If the job is a component of a heterogeneous job, starts all components, or none if one of them
    /// does not fit.
    fn try_start(&mut self, bid: JobCandidate, without: Option<&NodeBits>, heeds_kept: bool) -> bool {
        let Some(team) = self.teams.get(&bid.job).cloned() else {
            let found = self.world.find(&self.model.shapes[bid.shape], without, heeds_kept);
            let Some(holds) = found else { return false };
            self.start(bid, holds, heeds_kept);
            return true;
        };
        if team.iter().any(|&job| self.model.never[job].is_some() || self.outcome.expired[job].is_some()) {
            return false;
        }
        let mut begun = Vec::new();
        for job in team {
            let own = &self.model.bids_of[job];
            let shapes: Vec<usize> = if job == bid.job {
                vec![bid.shape]
            } else {
                own.iter().map(|&at| self.model.bids[at as usize].shape).collect()
            };
            let mut found =
                shapes.iter().filter_map(|&shape| self.world.find(&self.model.shapes[shape], without, heeds_kept));
            let Some(holds) = found.next() else {
                // One component does not fit. So the components that were started release their resources.
                begun.into_iter().for_each(|number| drop(self.world.give_back(number)));
                return false;
            };
            drop(found);
            let believed = self.world.now.saturating_add(limit(&self.model.queue.jobs[job]));
            self.limits[job] = None;
            begun.push(self.world.take(RunningUsage { job: Some(job), believed, holds }));
        }
        begun.into_iter().for_each(|number| self.started(number));
        true
    }

    /// Starts a job. If the job accepts less time than its limit, it gets the longest time that delays no job with a
    /// reservation.
    fn start(&mut self, bid: JobCandidate, holds: Vec<Hold>, heeds_kept: bool) {
        let (job, shape) = (bid.job, &self.model.shapes[bid.shape]);
        let all = limit(&self.model.queue.jobs[job]);
        let granted = if shape.lasts < all {
            let until = self.world.free_until(shape, &holds, heeds_kept);
            let deadline = self.model.queue.jobs[job].deadline.filter(|_| self.heeds_deadlines);
            let until = until.min(deadline.unwrap_or(i64::MAX));
            let granted = until.saturating_sub(self.world.now).min(all);
            // Slurm counts time limits in whole minutes.
            if granted < all { (granted - granted.rem_euclid(60)).max(shape.lasts) } else { all }
        } else {
            all
        };
        self.limits[job] = (granted < all).then_some(granted);
        let believed = self.world.now.saturating_add(granted);
        let number = self.world.take(RunningUsage { job: Some(job), believed, holds });
        self.started(number);
    }
}
