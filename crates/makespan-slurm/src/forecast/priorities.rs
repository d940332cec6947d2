//! Priorities that change with the usage of users.

use makespan_algos::slurm::RunningUsage;
use makespan_core::{FairShares, Time};

use crate::queue::{FairShareRules, Queue};

/// The priorities of all jobs in a simulation.
pub(super) struct MovingPriorities {
    rules: FairShareRules,
    shares: FairShares,
    /// For each job, its user in `shares`.
    users: Vec<usize>,
    /// For each job, its priority without the fair share.
    base: Vec<u64>,
    /// The instant of the queue, at which the known usage is current.
    begins: i64,
    /// Seconds from the last computation of priorities before the simulation to the instant of the queue.
    age: i64,
    /// The instant at which priorities were last computed, after the first computation in the simulation.
    computed: Option<i64>,
}

impl MovingPriorities {
    /// Returns `None` if priorities do not change, or if the usage of users is unknown.
    pub fn of(queue: &Queue) -> Option<Self> {
        let rules = queue.fair_share_rules()?;
        let mut shares = FairShares::new(&queue.site_associations(), rules.half_life);
        let users = queue.jobs.iter().map(|job| shares.user(job.account.as_deref(), &job.user)).collect();
        let base: Vec<u64> = queue.jobs.iter().map(|job| queue.base_priority(job)).collect();
        Some(Self { rules, shares, users, base, begins: queue.now, age: 0, computed: None })
    }

    /// States that `share` of a computation period has passed since the last computation.
    pub fn set_age(&mut self, share: f64) {
        self.age = (share * self.rules.calc_period.seconds()) as i64;
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
        // The first computation restores the present priorities.
        self.computed = Some(if self.computed.is_none() { now.saturating_sub(self.age) } else { now });
        self.shares.compute(Time::from_seconds(now - self.begins), self.rules.has_fair_tree);
        true
    }

    /// Returns the priority of a job, as last computed.
    pub fn of_job(&self, job: usize) -> u64 {
        let share = f64::from(self.rules.weight) * self.shares.factor(self.users[job]);
        self.base[job].saturating_add(share as u64)
    }
}
