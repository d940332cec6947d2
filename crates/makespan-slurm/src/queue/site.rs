//! Converts the rules of a cluster and the submissions of its jobs for `makespan-core`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use makespan_core::{
    Association as Member, Limits as Most, NodePlace, Partition as Part, Qos as Class, Resource, Resources, Site,
    SiteReservation, Submission, Time,
};

use super::new_priority::partition_factor;
use super::{Queue, QueueJob, SlurmLimits, SlurmReservation};

/// The time limit, in seconds, that is assumed for a job without one: a year.
pub(super) const FOR_EVER: i64 = 365 * 86_400;

/// Returns the name in `makespan-core` of a resource of Slurm, and the factor by which its amounts are multiplied.
fn resource(name: &str) -> Option<(&str, u64)> {
    match name {
        "cpu" => Some((Site::CPUS, 1)),
        "node" => Some((Site::NODES, 1)),
        "mem" => Some((Resource::MEMORY, 1 << 20)),
        "gres/gpu" => Some((Resource::GPUS, 1)),
        _ => name.strip_prefix("gres/").filter(|name| !name.contains(':')).map(|name| (name, 1)),
    }
}

fn resources(tres: &[(String, u64)]) -> Resources {
    let own = tres.iter().filter_map(|(name, amount)| {
        let (name, factor) = resource(name)?;
        Some((name, amount.saturating_mul(factor)))
    });
    // Limits of zero are left out, because `makespan-core` cannot represent them.
    Resources::new(own.filter(|&(_, amount)| amount > 0)).unwrap_or_default()
}

fn most(limits: &SlurmLimits) -> Most {
    Most {
        jobs: limits.jobs.map(|jobs| u32::try_from(jobs).unwrap_or(u32::MAX)),
        held: resources(&limits.tres),
        minutes: resources(&limits.tres_minutes),
    }
}

fn seconds(seconds: u64) -> Time {
    Time::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX).min(FOR_EVER))
}

impl Queue {
    /// Returns the rules of the cluster. `number` maps node names to node numbers of the platform.
    pub(super) fn site(&self, number: &HashMap<&str, usize>) -> Site {
        Site {
            partitions: self.site_partitions(number),
            features: self.site_features(number),
            qos: self.site_qos(),
            associations: self.site_associations(),
            reservations: self.site_reservations(number),
            adds_fair_share: self.adds_fair_share,
            second: u32::try_from(self.now.rem_euclid(60)).unwrap_or_default(),
            places: self.site_places(number),
        }
    }

    fn site_partitions(&self, number: &HashMap<&str, usize>) -> Vec<Part> {
        let open = self.nodes.iter().filter(|node| self.takes_jobs(node)).map(|node| node.name.as_str());
        let open: HashMap<&str, usize> = open.filter_map(|name| Some((name, *number.get(name)?))).collect();
        let part = |own: &crate::Partition| {
            let nodes: BTreeSet<usize> = own.nodes.iter().filter_map(|name| open.get(name.as_str()).copied()).collect();
            let says = |key: &str| own.record.get(key).filter(|text| !matches!(*text, "N/A" | "(null)" | ""));
            Part {
                is_default: own.is_default,
                is_up: own.state == "UP",
                tier: u32::try_from(own.priority_tier).unwrap_or(u32::MAX),
                job_factor: partition_factor(own),
                max_time: own.max_time.value().map(seconds),
                default_time: own.default_time.and_then(crate::OptionalLimit::value).map(seconds),
                min_nodes: u32::try_from(own.min_nodes).unwrap_or(u32::MAX),
                max_nodes: own.max_nodes.value().map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
                exclusive: says("OverSubscribe").is_some_and(|text| text.starts_with("EXCLUSIVE")),
                qos: says("QoS").filter(|name| self.qos.iter().any(|qos| qos.name == *name)).map(Into::into),
                ..Part::new(own.name.as_str(), nodes.into_iter().collect())
            }
        };
        // Leave out a partition without available nodes. Jobs in this partition cannot start.
        self.partitions.iter().map(part).filter(|part| !part.nodes.is_empty()).collect()
    }

    fn site_places(&self, number: &HashMap<&str, usize>) -> Vec<NodePlace> {
        let mut places = vec![NodePlace { weight: 1, index: 0 }; number.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(&at) = number.get(node.name.as_str()) {
                places[at] = NodePlace { weight: node.weight, index };
            }
        }
        places
    }

    fn site_features(&self, number: &HashMap<&str, usize>) -> Vec<Vec<Box<str>>> {
        let mut features = vec![Vec::new(); number.len()];
        for node in &self.nodes {
            if let Some(&at) = number.get(node.name.as_str()) {
                features[at] = node.features.iter().map(|feature| feature.as_str().into()).collect();
            }
        }
        features
    }

    fn site_qos(&self) -> Vec<Class> {
        let mut seen = BTreeSet::new();
        let first = self.qos.iter().filter(|qos| seen.insert(qos.name.as_str()));
        let class = |qos: &super::Qos| Class {
            name: qos.name.as_str().into(),
            priority: 0,
            group: most(&qos.all),
            per_user: most(&qos.each_user),
            per_account: most(&qos.each_account),
            per_job: resources(&qos.job.tres),
            max_wall: qos.job.max_time.map(seconds),
        };
        first.map(class).collect()
    }

    /// Returns the accounts, and the users with an existing account. Limits that apply to a single partition are left
    /// out.
    pub(crate) fn site_associations(&self) -> Vec<Member> {
        let own = || self.associations.iter().filter(|one| one.partition.is_none() && !one.account.is_empty());
        let mut seen = BTreeSet::new();
        let accounts: Vec<_> = own().filter(|one| one.user.is_none() && seen.insert(one.account.as_str())).collect();
        let there = |name: &str| accounts.iter().any(|one| one.account == name);
        let users = own().filter(|one| one.user.is_some() && there(&one.account));
        let member = |one: &super::Association| Member {
            parent: one.parent.as_deref().filter(|name| there(name) && *name != one.account).map(Into::into),
            user: one.user.as_deref().map(Into::into),
            group: most(&one.all),
            own: most(&one.own),
            per_job: resources(&one.job.tres),
            max_wall: one.job.max_time.map(seconds),
            shares: one.fair_share.map_or(1, |own| own.shares),
            usage: one.fair_share.map_or(0.0, |own| own.usage),
            ..Member::account(one.account.as_str())
        };
        accounts.iter().copied().chain(users).map(member).collect()
    }

    /// Returns the current and future reservations, with their users and accounts. If users and accounts alone do not
    /// state who may use a reservation, the result lists the users of the jobs that may use it.
    fn site_reservations(&self, number: &HashMap<&str, usize>) -> Vec<SiteReservation> {
        let kept = self.reservations.iter().filter_map(|kept| {
            let nodes: BTreeSet<usize> =
                kept.nodes.iter().filter_map(|name| number.get(name.as_str()).copied()).collect();
            let jobs =
                self.jobs.iter().filter(|job| names(job, kept) && kept.admits(&job.user, job.account.as_deref()));
            let mut users: BTreeSet<&str> = jobs.map(|job| job.user.as_str()).collect();
            let plain = |list: &[String]| list.iter().all(|name| !name.starts_with('-'));
            let states = |own: &[String], other: &[String]| other.is_empty() && plain(own);
            if states(&kept.users, &kept.accounts) {
                users.extend(kept.users.iter().map(String::as_str));
            }
            let accounts = if states(&kept.accounts, &kept.users) { &kept.accounts[..] } else { &[] };
            let time = |at: i64| Time::from_seconds(at.saturating_sub(self.now).clamp(0, 100 * FOR_EVER));
            let (start, end) = (time(kept.start), time(kept.end));
            (!nodes.is_empty() && start < end).then(|| SiteReservation {
                name: kept.name.as_str().into(),
                nodes: nodes.into_iter().collect(),
                start,
                end,
                users: users.into_iter().map(Into::into).collect(),
                accounts: accounts.iter().map(|name| name.as_str().into()).collect(),
            })
        });
        let mut seen = BTreeSet::new();
        kept.filter(|kept| seen.insert(kept.name.clone())).collect()
    }

    /// Returns true if a pending job requests the reservation. The reserved nodes are then not unavailable.
    pub(super) fn is_used(&self, kept: &SlurmReservation) -> bool {
        self.jobs.iter().any(|job| job.run.is_none() && names(job, kept))
    }
}

fn names(job: &QueueJob, kept: &SlurmReservation) -> bool {
    job.request.reservation.as_deref() == Some(kept.name.as_str())
}

/// A store of texts. If several jobs have equal texts, they share one entry.
#[derive(Default)]
pub(super) struct Texts(HashMap<String, Arc<str>>);

impl Texts {
    fn of(&mut self, text: &str) -> Arc<str> {
        match self.0.get(text) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = text.into();
                self.0.insert(text.to_owned(), new.clone());
                new
            }
        }
    }

    /// Returns the nodes that a job cannot use: the excluded ones and, for a pending job, those with too little memory.
    fn except(&mut self, job: &QueueJob, queue: &Queue) -> Vec<Arc<str>> {
        let request = &job.request;
        // If the cluster allocates memory, the resources of the nodes state their memory.
        let checks_memory = job.run.is_none() && !queue.counts_memory();
        let is_small = |node: &&crate::Node| checks_memory && !request.fits_memory(node);
        let small = queue.nodes.iter().filter(is_small).map(|node| &node.name);
        let excluded = request.excluded.iter();
        excluded.chain(small.filter(|name| !request.excluded.contains(name))).map(|name| self.of(name)).collect()
    }

    /// Returns the submission of a job.
    pub(super) fn submission(&mut self, job: &QueueJob, queue: &Queue) -> Submission {
        let request = &job.request;
        let waits = job.run.is_none();
        let by_then = |at: i64| Time::from_seconds(at.saturating_sub(queue.now).clamp(0, FOR_EVER));
        let count = |nodes: u64| u32::try_from(nodes).unwrap_or(u32::MAX);
        let constraint = request.features.as_ref().map(ToString::to_string);
        let only = request.only_nodes(request.max_nodes);
        let among = if only.is_empty() { &request.required[..] } else { &[] };
        Submission {
            user: Some(self.of(&job.user)),
            account: job.account.as_deref().map(|account| self.of(account)),
            qos: job.qos.as_deref().map(|qos| self.of(qos)),
            partitions: job.partitions.iter().map(|name| self.of(name)).collect(),
            constraint: constraint.map(|text| self.of(&text)),
            nodes: Some((count(request.min_nodes), request.most_nodes().map_or(u32::MAX, count))),
            // A running job already has its processors, so its request does not matter.
            per_node: queue.most_cpus_per_node(request).filter(|_| waits).map(count),
            least_per_node: Some(count(request.cpus_per_node)).filter(|&least| waits && least > 1),
            exclusive: request.exclusive || queue.gives_whole_nodes(),
            only: only.iter().map(|name| self.of(name)).collect(),
            except: self.except(job, queue),
            among: among.iter().filter(|_| waits).map(|name| self.of(name)).collect(),
            array: job.array.map(|member| (self.of(&member.array.to_string()), member.at_once.map(count))),
            reservation: request.reservation.as_deref().map(|name| self.of(name)),
            priority: Some(u32::try_from(job.priority).unwrap_or(u32::MAX)),
            least_time: request.min_time.filter(|_| waits).map(seconds),
            deadline: job.deadline.filter(|_| waits).map(by_then),
            ..Submission::default()
        }
    }
}
