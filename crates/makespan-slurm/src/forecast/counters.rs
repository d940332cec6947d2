//! Limits that span nodes: jobs and resources of users and accounts, tasks of arrays, and licences.

use std::collections::HashMap;

use makespan_algos::slurm::{ClusterModel, LimitCounter, LimitUse, ReservedAmount};

use super::times::limit;
use crate::queue::{Queue, QueueJob, SlurmLimits};

/// The words for a limited quantity: jobs of a user, processors of an account, or licences.
#[derive(Clone, Debug)]
pub(super) struct CounterWords {
    /// The name of the quantity and its user, account or array, for messages.
    pub what: String,
    /// A change that would let a job start although this limit delays it. For messages.
    pub remedy: String,
}

/// The words for the limits of a queue, and the groups of jobs with equal limits.
#[derive(Debug, Default)]
pub(super) struct QueueLimits {
    /// For each counter of the model, its name and its remedy in messages.
    pub words: Vec<CounterWords>,
    /// For each job, the index of its group in the model.
    pub group_of: Vec<usize>,
}

impl QueueLimits {
    /// Adds the limits of a queue to a model.
    pub fn of(queue: &Queue, model: &mut ClusterModel) -> Self {
        let mut table = Table { queue, words: Vec::new(), counters: &mut model.counters, by_name: HashMap::new() };
        for licence in &queue.licences {
            // Jobs cannot get licences that are used outside Slurm. Reservations that Slurm does not list here reserve their
            // licences without an end.
            let reserved = queue.reserved_licences(&licence.name);
            let now: u64 = reserved.iter().filter(|kept| kept.start <= queue.now).map(|kept| kept.amount).sum();
            let total = licence.total.saturating_sub(licence.reserved.saturating_sub(now));
            let what = format!("licence {}", licence.name);
            let counter = table.counter(what, "more licences, or the end of a job that holds licences", total);
            table.counters[counter].reserved = reserved;
        }
        let mut limits = Self::default();
        let mut known: HashMap<Vec<LimitUse>, usize> = HashMap::new();
        let mut held: HashMap<usize, u64> = HashMap::new();
        for job in &queue.jobs {
            let mut uses = table.uses(job);
            uses.sort_unstable();
            uses.dedup_by_key(|own| own.0);
            let minutes = || job.minutes().unwrap_or(365 * 1440);
            let of = |&(counter, amount): &(usize, u64)| {
                let LimitCounter { falls, reserved, .. } = &table.counters[counter];
                let runs = if reserved.is_empty() { (0, None) } else { (limit(job), queue.reservation_of(job)) };
                LimitUse {
                    counter,
                    amount,
                    needed: if *falls { amount.saturating_mul(minutes()) } else { amount },
                    runs,
                }
            };
            let uses: Vec<LimitUse> = uses.iter().map(of).collect();
            for own in uses.iter().filter(|_| job.run.is_some()) {
                let sum = held.entry(own.counter).or_default();
                *sum = sum.saturating_add(own.amount);
            }
            let next = model.groups.len();
            let group = *known.entry(uses.clone()).or_insert(next);
            if group == next {
                model.groups.push(uses);
            }
            limits.group_of.push(group);
        }
        for licence in &queue.licences {
            if let Some(&counter) = table.by_name.get(&format!("licence {}", licence.name)) {
                let seen = held.get(&counter).copied().unwrap_or(0);
                table.counters[counter].used = licence.used.saturating_sub(seen);
            }
        }
        limits.words = table.words;
        limits
    }
}

impl Queue {
    /// Returns the index of the reservation that a job requests.
    fn reservation_of(&self, job: &QueueJob) -> Option<usize> {
        let name = job.request.reservation.as_ref()?;
        self.reservations.iter().position(|kept| kept.name == *name)
    }

    /// Returns the reserved amounts of a licence.
    fn reserved_licences(&self, name: &str) -> Vec<ReservedAmount> {
        let reservations = self.reservations.iter().enumerate().filter(|(_, kept)| kept.end > self.now);
        let amounts = reservations.flat_map(|(reservation, kept)| {
            let own = kept.licences.iter().filter(|licence| licence.0 == name);
            own.map(move |&(_, amount)| ReservedAmount { start: kept.start, end: kept.end, amount, reservation })
        });
        amounts.collect()
    }
}

struct Table<'a> {
    queue: &'a Queue,
    words: Vec<CounterWords>,
    counters: &'a mut Vec<LimitCounter>,
    by_name: HashMap<String, usize>,
}

impl Table<'_> {
    fn counter(&mut self, what: String, remedy: impl Into<String>, total: u64) -> usize {
        *self.by_name.entry(what.clone()).or_insert_with(|| {
            self.words.push(CounterWords { what, remedy: remedy.into() });
            self.counters.push(LimitCounter::new(total));
            self.counters.len() - 1
        })
    }

    fn uses(&mut self, job: &QueueJob) -> Vec<(usize, u64)> {
        let mut uses = Vec::new();
        for (name, count) in &job.request.licences {
            if let Some(&counter) = self.by_name.get(&format!("licence {name}")) {
                uses.push((counter, *count));
            }
        }
        if let Some(member) = job.array
            && let Some(at_once) = member.at_once
        {
            let what = format!("tasks of array {} at the same time", member.array);
            let remedy = format!("scontrol update JobId={} ArrayTaskThrottle=N allows more", member.array);
            uses.push((self.counter(what, remedy, at_once), 1));
        }
        for qos in self.queue.qualities(job) {
            let name = &qos.name;
            self.limits(job, &qos.all, &format!("of QOS {name}"), &mut uses);
            self.limits(job, &qos.each_user, &format!("of user {} in QOS {name}", job.user), &mut uses);
            if let Some(account) = &job.account {
                self.limits(job, &qos.each_account, &format!("of account {account} in QOS {name}"), &mut uses);
            }
        }
        self.associations(job, &mut uses);
        uses
    }

    /// Adds the limits of the job's account, of its parent accounts, and of its user in the account.
    fn associations(&mut self, job: &QueueJob, uses: &mut Vec<(usize, u64)>) {
        let queue = self.queue;
        let mut next = job.account.clone();
        // Accounts form a tree. Stop after 64 levels, in case invalid input contains a cycle.
        for _ in 0..64 {
            let Some(account) = next else { return };
            for one in queue.associations.iter().filter(|one| one.account == account) {
                let speaks = one.partition.as_ref().is_none_or(|partition| job.partitions.contains(partition));
                match &one.user {
                    None => self.limits(job, &one.all, &format!("of account {account}"), uses),
                    Some(user) if speaks && *user == job.user && job.account.as_ref() == Some(&account) => {
                        self.limits(job, &one.own, &format!("of user {user} in account {account}"), uses);
                        self.limits(job, &one.all, &format!("of user {user} in account {account}, together"), uses);
                    }
                    Some(_) => {}
                }
            }
            let above = queue.associations.iter().find(|one| one.account == account && one.user.is_none());
            next = above.and_then(|one| one.parent.clone());
        }
    }

    fn limits(&mut self, job: &QueueJob, limits: &SlurmLimits, whose: &str, uses: &mut Vec<(usize, u64)>) {
        const REMEDY: &str = "the end of another of these jobs, or a higher limit";
        if let Some(jobs) = limits.jobs {
            uses.push((self.counter(format!("running jobs {whose}"), REMEDY, jobs), 1));
        }
        for (name, total) in &limits.tres {
            let amount = amount(self.queue, job, name);
            if amount > 0 {
                let counter = self.counter(format!("{name} {whose}"), REMEDY, *total);
                self.counters[counter].is_of_nodes = name == "node";
                uses.push((counter, amount));
            }
        }
        for (name, total) in &limits.tres_minutes {
            let amount = amount(self.queue, job, name);
            if amount > 0 {
                let what = format!("{name} minutes that the running jobs {whose} may still use");
                let counter = self.counter(what, REMEDY, *total);
                self.counters[counter].falls = true;
                self.counters[counter].is_of_nodes = name == "node";
                uses.push((counter, amount));
            }
        }
    }
}

/// Returns the amount of a resource that a job holds while it runs. A pending job that gets whole nodes will hold all
/// their processors.
fn amount(queue: &Queue, job: &QueueJob, name: &str) -> u64 {
    let whole = if name == "cpu" && job.run.is_none() { queue.whole_node_cpus(job) } else { 0 };
    job.amount(name).max(whole)
}
