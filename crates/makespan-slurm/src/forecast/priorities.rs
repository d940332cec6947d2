//! Priorities that change with the usage of users.

use std::cmp::Reverse;

use makespan_core::{FairShares, Time};

use super::bid::JobCandidate;
use super::model::Model;
use super::world::RunningUsage;
use crate::queue::FairShareRules;

/// The priorities of all jobs in a simulation.
pub(super) struct MovingPriorities {
    rules: FairShareRules,
    shares: FairShares,
    /// For each job, its user in `shares`.
    users: Vec<usize>,
    /// For each job, its priority without the fair share.
    base: Vec<u64>,
    /// For each job, its priority.
    priorities: Vec<u64>,
    /// For each bid, the tier of its partition, and its position among bids of equal priority.
    ties: Vec<(u64, usize)>,
    /// The instant of the queue, at which the known usage is current.
    begins: i64,
    /// The instant at which priorities were last computed.
    computed: Option<i64>,
}

/// The sort key of a bid. Bids with smaller keys come first.
type BidKey = (Reverse<(u64, u64)>, usize);

impl MovingPriorities {
    /// Returns `None` if priorities do not change, or if the usage of users is unknown.
    pub fn of(model: &Model<'_>) -> Option<Self> {
        let queue = model.queue;
        let rules = queue.fair_share_rules()?;
        let mut shares = FairShares::new(&queue.site_associations(), rules.half_life);
        let users = queue.jobs.iter().map(|job| shares.user(job.account.as_deref(), &job.user)).collect();
        let key = |&bid: &usize| {
            let job = &queue.jobs[model.bids[bid].job];
            let task = job.array.map_or(0, |member| member.task);
            (job.submitted.unwrap_or(i64::MAX), job.id, task, bid)
        };
        let mut order: Vec<usize> = (0..model.bids.len()).collect();
        order.sort_by_key(key);
        let tier = |bid: &JobCandidate| queue.partitions[bid.partition].priority_tier;
        let mut ties: Vec<(u64, usize)> = model.bids.iter().map(|bid| (tier(bid), 0)).collect();
        order.into_iter().enumerate().for_each(|(place, bid)| ties[bid].1 = place);
        let base: Vec<u64> = queue.jobs.iter().map(|job| queue.base_priority(job)).collect();
        Some(Self { rules, shares, users, priorities: base.clone(), base, ties, begins: queue.now, computed: None })
    }

    /// If a job starts at `now`, adds its processors to the usage of its user. If the job ends, removes its processors.
    pub fn change(&mut self, running: &RunningUsage, starts: bool, now: i64) {
        let Some(job) = running.job else { return };
        let processors: u32 = running.holds.iter().map(|hold| hold.cpus).sum();
        let signed = if starts { f64::from(processors) } else { -f64::from(processors) };
        self.shares.change(self.users[job], signed, Time::from_seconds(now - self.begins));
    }

    /// Computes the priorities if they are due. Returns true if they were.
    pub fn update(&mut self, now: i64) -> bool {
        let period = self.rules.calc_period.seconds() as i64;
        if self.computed.is_some_and(|before| now < before.saturating_add(period)) {
            return false;
        }
        self.computed = Some(now);
        self.shares.compute(Time::from_seconds(now - self.begins), self.rules.has_fair_tree);
        let weight = f64::from(self.rules.weight);
        for ((own, base), &user) in self.priorities.iter_mut().zip(&self.base).zip(&self.users) {
            *own = base.saturating_add((weight * self.shares.factor(user)) as u64);
        }
        true
    }

    pub fn of_job(&self, job: usize) -> u64 {
        self.priorities[job]
    }

    /// Returns the sort key of a bid of `job`.
    pub fn key(&self, bid: u32, job: usize) -> BidKey {
        let (tier, place) = self.ties[bid as usize];
        (Reverse((tier, self.priorities[job])), place)
    }
}
