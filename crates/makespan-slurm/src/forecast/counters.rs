//! What is counted and limited across nodes: jobs and resources of users and accounts, tasks of arrays, licences.

use std::collections::HashMap;

use crate::queue::{Limits, Queue, QueueJob};

use super::model::Counter;

/// Counters with what runs in them, and of each job what it adds to which.
pub(super) fn of(queue: &Queue) -> (Vec<Counter>, Vec<Vec<(usize, u64)>>) {
    let mut table = Table::default();
    for licence in &queue.licences {
        // What others than jobs use, or reservations keep, is not there for jobs.
        let total = licence.total.saturating_sub(licence.reserved);
        let what = format!("licence {}", licence.name);
        table.counter(what, "more licences, or the end of a job that holds some", total);
    }
    let mut uses: Vec<Vec<(usize, u64)>> = queue.jobs.iter().map(|job| table.uses(queue, job)).collect();
    for (job, uses) in queue.jobs.iter().zip(&uses).filter(|(job, _)| job.run.is_some()) {
        debug_assert!(job.run.is_some());
        for &(counter, amount) in uses {
            let used = &mut table.counters[counter].used;
            *used = used.saturating_add(amount);
        }
    }
    for licence in &queue.licences {
        if let Some(&counter) = table.by_name.get(&format!("licence {}", licence.name)) {
            let used = &mut table.counters[counter].used;
            *used = (*used).max(licence.used);
        }
    }
    // A limit that nothing can reach is none.
    for uses in &mut uses {
        uses.sort_unstable();
        uses.dedup_by_key(|use_of| use_of.0);
    }
    (table.counters, uses)
}

#[derive(Default)]
struct Table {
    counters: Vec<Counter>,
    by_name: HashMap<String, usize>,
}

impl Table {
    fn counter(&mut self, what: String, remedy: &'static str, total: u64) -> usize {
        *self.by_name.entry(what.clone()).or_insert_with(|| {
            self.counters.push(Counter { what, remedy, total, used: 0 });
            self.counters.len() - 1
        })
    }

    fn uses(&mut self, queue: &Queue, job: &QueueJob) -> Vec<(usize, u64)> {
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
            let remedy = "scontrol update JobId=ARRAY ArrayTaskThrottle=N allows more";
            uses.push((self.counter(what, remedy, at_once), 1));
        }
        let qos = job.qos.as_ref().and_then(|name| queue.qos.iter().find(|qos| &qos.name == name));
        if let Some(qos) = qos {
            let name = &qos.name;
            self.limits(job, &qos.all, &format!("of QOS {name}"), &mut uses);
            self.limits(job, &qos.each_user, &format!("of user {} in QOS {name}", job.user), &mut uses);
            if let Some(account) = &job.account {
                self.limits(job, &qos.each_account, &format!("of account {account} in QOS {name}"), &mut uses);
            }
        }
        self.associations(queue, job, &mut uses);
        uses
    }

    /// The account of a job, those above it, and its user there.
    fn associations(&mut self, queue: &Queue, job: &QueueJob, uses: &mut Vec<(usize, u64)>) {
        let mut next = job.account.clone();
        // Accounts are a tree; a circle would be a mistake of the text.
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

    fn limits(&mut self, job: &QueueJob, limits: &Limits, whose: &str, uses: &mut Vec<(usize, u64)>) {
        const REMEDY: &str = "the end of another of these jobs, or a higher limit";
        if let Some(jobs) = limits.jobs {
            uses.push((self.counter(format!("running jobs {whose}"), REMEDY, jobs), 1));
        }
        for (name, total) in &limits.tres {
            let amount = amount(job, name);
            if amount > 0 {
                uses.push((self.counter(format!("{name} {whose}"), REMEDY, *total), amount));
            }
        }
    }
}

/// How much of a resource a job holds or asks for, in the units of limits.
fn amount(job: &QueueJob, name: &str) -> u64 {
    let holds = job.run.as_ref().map(|run| &run.holds);
    let request = &job.request;
    match name {
        "cpu" => holds.map_or(request.cpus, |holds| holds.iter().map(|hold| u64::from(hold.cpus)).sum()),
        "node" => holds.map_or(request.min_nodes, |holds| holds.len() as u64),
        "mem" => {
            let asked = match request.memory {
                crate::queue::Memory::PerCpu(bytes) => bytes.saturating_mul(request.cpus),
                crate::queue::Memory::PerNode(bytes) => bytes.saturating_mul(request.min_nodes),
                crate::queue::Memory::Whole => 0,
            };
            holds.map_or(asked, |holds| holds.iter().map(|hold| hold.memory).sum()) >> 20
        }
        name => {
            let Some(name) = name.strip_prefix("gres/") else { return 0 };
            let (name, kind) = name.split_once(':').unwrap_or((name, ""));
            let counts = |gres: &&crate::text::Gres| gres.name == name && (kind.is_empty() || gres.kind == kind);
            let each: u64 = request.gres.iter().filter(counts).map(|gres| gres.count).sum();
            each.saturating_mul(request.min_nodes)
        }
    }
}
