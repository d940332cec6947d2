//! A short local search for a good plan. The complete search starts from this plan.

use makespan_core::{Objective, Schedule, ScheduleBuilder, Time};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::cases::Case;

/// The total number of job starts that the local search computes, over all plans that it tries.
const STARTS: usize = 600_000;

/// The priority and the mode of each job. A job is ready if its predecessors are planned. The ready job with the least
/// key is planned next.
#[derive(Clone)]
struct List {
    keys: Vec<f64>,
    modes: Vec<usize>,
}

impl Case {
    /// Returns the best plan of a local search. The search is deterministic.
    pub fn plan(&self, objective: Objective) -> Schedule {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let count = self.jobs.len();
        let tails = self.tails();
        let ratio = |job: &crate::cases::CaseJob| job.modes[0].time as f64 / job.weight as f64;
        let key = |at: usize| match objective {
            Objective::Makespan => -(tails[at] as f64),
            _ => ratio(&self.jobs[at]),
        };
        let mut keys: Vec<f64> = (0..count).map(key).collect();
        // Replace each key by its rank.
        let mut ranks: Vec<usize> = (0..count).collect();
        ranks.sort_by(|&one, &other| keys[one].total_cmp(&keys[other]));
        ranks.iter().enumerate().for_each(|(rank, &job)| keys[job] = rank as f64);
        let mut list = List { keys, modes: vec![0; count] };
        let mut value = self.value(&self.starts(&list), &list, objective);
        let (mut best, mut least) = (list.clone(), value);
        let plans = STARTS / count;
        for number in 0..plans {
            let mut next = list.clone();
            for _ in 0..rng.random_range(1..=2) {
                let job = rng.random_range(0..count);
                if rng.random_bool(0.4) {
                    next.modes[job] = rng.random_range(0..self.jobs[job].modes.len());
                } else {
                    next.keys[job] = rng.random_range(0.0..count as f64);
                }
            }
            let reached = self.value(&self.starts(&next), &next, objective);
            // Simulated annealing in four rounds.
            let cold = (number * 4 % plans) as f64 / plans as f64;
            let heat = 0.02 * least as f64 * (1.0 - cold).powi(3) + 1e-9;
            if reached <= value || rng.random_bool(((value - reached) as f64 / heat).exp()) {
                (list, value) = (next, reached);
            }
            if value < least {
                (best, least) = (list.clone(), value);
            }
        }
        self.built(&self.starts(&best), &best)
    }

    /// Returns, for each job, the length of the longest path from the start of the job to the end of the plan.
    fn tails(&self) -> Vec<i64> {
        let mut tails: Vec<i64> = self.jobs.iter().map(|job| job.modes[0].time).collect();
        for _ in 0..self.jobs.len() {
            for &(from, to) in &self.edges {
                tails[from] = tails[from].max(tails[to] + self.jobs[from].modes[0].time);
            }
        }
        tails
    }

    /// Plans the jobs one after the other, each at its earliest start, and returns the starts.
    fn starts(&self, list: &List) -> Vec<i64> {
        let count = self.jobs.len();
        let mut starts = vec![-1; count];
        let mut waits = vec![0; count];
        self.edges.iter().for_each(|edge| waits[edge.1] += 1);
        let mut used: Vec<Vec<u64>> = vec![Vec::new(); self.supplies.len()];
        let mut ready: Vec<i64> = self.jobs.iter().map(|job| job.release).collect();
        for _ in 0..count {
            let open = (0..count).filter(|&job| waits[job] == 0 && starts[job] < 0);
            let Some(job) = open.min_by(|&one, &other| list.keys[one].total_cmp(&list.keys[other])) else { break };
            let mode = &self.jobs[job].modes[list.modes[job]];
            let mut start = ready[job];
            let mut at = start;
            while at < start + mode.time {
                let is_full = |(supply, amount): (usize, &u64)| {
                    used[supply].get(at as usize).copied().unwrap_or(0) + amount > self.supplies[supply]
                };
                if mode.amounts.iter().enumerate().any(is_full) {
                    start = at + 1;
                }
                at += 1;
            }
            for (used, amount) in used.iter_mut().zip(&mode.amounts) {
                if used.len() < (start + mode.time) as usize {
                    used.resize((start + mode.time) as usize, 0);
                }
                used[start as usize..(start + mode.time) as usize].iter_mut().for_each(|used| *used += amount);
            }
            starts[job] = start;
            for &(_, to) in self.edges.iter().filter(|edge| edge.0 == job) {
                waits[to] -= 1;
                ready[to] = ready[to].max(start + mode.time);
            }
        }
        starts
    }

    fn value(&self, starts: &[i64], list: &List, objective: Objective) -> i64 {
        let ends = (0..starts.len()).map(|job| starts[job] + self.jobs[job].modes[list.modes[job]].time);
        match objective {
            Objective::Makespan => ends.max().unwrap_or(0),
            _ => ends.zip(&self.jobs).map(|(end, job)| end * job.weight as i64).sum(),
        }
    }

    fn built(&self, starts: &[i64], list: &List) -> Schedule {
        let instance = self.instance();
        let mut builder = ScheduleBuilder::new(&instance);
        let mut order: Vec<_> = instance.task_ids().zip(starts).collect();
        order.sort_by_key(|&(task, &start)| (start, task));
        for (task, &start) in order {
            let width = self.jobs[task.index()].modes[list.modes[task.index()]].amounts[0] as u32;
            builder.place_earliest(task, width, Time::from_ticks(start * self.unit));
        }
        builder.finish()
    }
}
