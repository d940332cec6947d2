//! Converts a queue to an instance for the simulator of `makespan-core`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use makespan_core::{
    HeldAmount, Instance, InstanceError, Job as Work, Need, Needs, Node as Machine, Platform, PlatformError, ProcSet,
    Profile, Resource, ResourceError, ResourceKind, Resources, SiteError, TaskId, Time, Unavailable,
};
use thiserror::Error;

use super::site::{FOR_EVER, Texts};
use super::waits::{JobNotes, Waits, add_what_waits};
use super::{Memory, Queue, QueueJob};
use crate::JobState;

/// A Slurm queue, converted to a Makespan instance. Time 0 is the instant at which the queue was read.
#[derive(Clone, Debug)]
pub struct Present {
    /// The instance. Its machines are the nodes that accept jobs or run jobs. Its jobs are the running jobs and the
    /// pending jobs that may start, in the queue's order. Each job has one task. The run-time estimate of a pending
    /// job is its time limit. The estimate of a running job is the remaining time until its limit. The platform
    /// contains the rules of the cluster. The jobs contain their submissions.
    pub instance: Instance,
    /// For each job of the instance, the index of the job in the queue.
    pub jobs: Vec<usize>,
    /// The running tasks and their processors. A simulation starts these tasks at instant 0.
    pub running: Vec<(TaskId, ProcSet)>,
    /// For each node of the queue, its first processor. `None` for unavailable nodes.
    pub first_processor: Vec<Option<u32>>,
    /// Warnings about jobs that are left out, with reasons, and about differences from the cluster.
    pub remarks: Vec<String>,
}

/// The reason why a queue cannot be converted.
#[derive(Debug, Error)]
pub enum PresentError {
    /// There are no machines.
    #[error("the cluster has no node that accepts jobs")]
    NoNodes,
    /// The platform is invalid.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The resources of a node or of a job are invalid.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The rules are invalid.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The jobs are invalid.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

impl Present {
    /// Returns an instance of the pending jobs. Jobs that request more nodes than exist are left out, with warnings.
    ///
    /// The processors of a running job are unavailable until the job's time limit. Jobs that depend on a running job
    /// are released at this limit.
    ///
    /// # Errors
    /// [`InstanceError`]
    pub fn waiting(&self) -> Result<(Instance, Vec<String>), InstanceError> {
        let Self { instance, running, .. } = self;
        let ends: HashMap<&str, Time> = running
            .iter()
            .map(|(task, _)| {
                let job = instance.job_of(*task);
                (job.name.as_str(), job.walltime.unwrap_or(Time::ZERO))
            })
            .collect();
        let mut closed = instance.unavailable().to_vec();
        closed.extend(running.iter().map(|(task, processors)| {
            let end = instance.job_of(*task).walltime.unwrap_or(Time::ZERO);
            Unavailable { processors: processors.clone(), start: Time::ZERO, end }
        }));
        let mut works = instance.all_submitted();
        works.retain(|job| !ends.contains_key(job.name.as_str()));
        let mut notes = JobNotes::default();
        leave_out_too_wide(&mut works, instance.platform().nodes().len(), &mut notes);
        let jobs = works.into_iter().map(|job| {
            let until =
                job.after.iter().filter_map(|name| ends.get(name.as_ref())).copied().max().unwrap_or(Time::ZERO);
            let after: Vec<_> = job.after.iter().filter(|name| !ends.contains_key(name.as_ref())).cloned().collect();
            let release = job.release.max(until);
            job.with_release(release).with_after(after)
        });
        let held = [instance.held(), &self.held()[..]].concat();
        let instance = Instance::new(instance.platform().clone(), jobs.collect(), closed)?;
        let instance = instance.holding(held);
        Ok((instance, notes.remarks()))
    }

    /// Returns the resources that running jobs hold.
    fn held(&self) -> Vec<HeldAmount> {
        let Self { instance, running, .. } = self;
        let platform = instance.platform();
        let mut held = Vec::new();
        for (task, processors) in running {
            let until = instance.job_of(*task).walltime.unwrap_or(Time::ZERO);
            let width = processors.len();
            for demand in instance.demands(*task) {
                let resource = demand.resource;
                if demand.kind == ResourceKind::OfNodes {
                    let nodes: BTreeSet<usize> = processors.iter().map(|id| platform.node_of(id)).collect();
                    held.extend(nodes.into_iter().map(|node| {
                        let here = platform.processors_of(node).intersection(processors).len();
                        HeldAmount { node: Some(node), resource, amount: demand.need.share(here, width), until }
                    }));
                } else {
                    held.push(HeldAmount { node: None, resource, amount: demand.need.total(width), until });
                }
            }
        }
        held
    }
}

/// Removes jobs that request more nodes than exist. Also removes all jobs that depend on removed jobs.
fn leave_out_too_wide(works: &mut Vec<Work>, nodes: usize, notes: &mut JobNotes) {
    let is_too_wide = |job: &Work| {
        let least = job.submission.as_ref().and_then(|submission| submission.nodes).map_or(0, |range| range.0);
        least as usize > nodes
    };
    let mut gone: HashMap<String, &'static str> = works
        .iter()
        .filter(|job| is_too_wide(job))
        .map(|job| (job.name.clone(), "it asks for more nodes than the cluster has"))
        .collect();
    add_what_waits(&mut gone, works);
    for job in works.iter() {
        if let Some(why) = gone.get(&job.name) {
            notes.add_named(&job.name, format!("left out, {why}"));
        }
    }
    works.retain(|job| !gone.contains_key(&job.name));
}

impl Queue {
    /// Converts the queue to an instance with the rules and the licences of the cluster. Warnings state the
    /// differences from the cluster.
    ///
    /// # Errors
    ///
    /// [`PresentError`]
    pub fn present(&self) -> Result<Present, PresentError> {
        let (platform, first_processor) = self.platform()?;
        let (mut jobs, mut works, mut running, mut remarks) = (Vec::new(), Vec::new(), Vec::new(), JobNotes::default());
        let mut texts = Texts::default();
        let mut builder = Builder {
            queue: self,
            platform: &platform,
            first: &first_processor,
            taken: vec![0; self.nodes.len()],
            left: left(&platform),
        };
        // Running jobs come first.
        let (run, wait): (Vec<usize>, Vec<usize>) = (0..self.jobs.len()).partition(|&at| self.jobs[at].run.is_some());
        for index in run.into_iter().chain(wait) {
            let job = &self.jobs[index];
            let processors = builder.held(job);
            let width = if job.run.is_some() { processors.len() } else { builder.width(job) };
            match builder.work(job, &processors, width) {
                Ok((work, is_less)) => {
                    if is_less {
                        let remark = "too little of a resource is free on its nodes for its number of processors, so \
                                      this resource is not counted";
                        remarks.add(job, remark);
                    }
                    if job.run.is_some() {
                        running.push((TaskId(works.len() as u64), processors));
                    }
                    let request = &job.request;
                    if job.run.is_none() && request.contiguous {
                        remarks.add(job, "the request for adjacent nodes (--contiguous) is ignored");
                    }
                    if job.run.is_none() && width == 1 && request.max_nodes.is_some_and(|most| most > 1) {
                        remarks.add(job, "the range of nodes is ignored for a job that requests one processor");
                    }
                    works.push(work.with_submission(texts.submission(job, self)));
                    jobs.push(index);
                }
                Err(why) => remarks.add(job, format!("left out, {why}")),
            }
        }
        Waits::of(self, &jobs, &mut works, &mut remarks).leave_out(self, &mut jobs, &mut works, &mut remarks);
        let closed = self.closed(&first_processor, &running, &works);
        let reserved = self.reserved_now(&platform);
        let instance = Instance::new(platform, works, closed)?.holding(reserved);
        let mut remarks = remarks.remarks();
        remarks.extend(self.remarks_about_reservations());
        Ok(Present { instance, jobs, running, first_processor, remarks })
    }

    fn platform(&self) -> Result<(Platform, Vec<Option<u32>>), PresentError> {
        let mut holds = vec![false; self.nodes.len()];
        for holding in self.jobs.iter().filter_map(|job| job.run.as_ref()).flat_map(|run| &run.holds) {
            holds[holding.node] = true;
        }
        let (mut machines, mut first, mut next) = (Vec::new(), vec![None; self.nodes.len()], 0_u32);
        for at in self.nodes_by_weight() {
            let node = &self.nodes[at];
            if !holds[at] && !self.takes_jobs(node) || node.usable_cpus == 0 {
                continue;
            }
            first[at] = Some(next);
            next = next.saturating_add(node.usable_cpus);
            let memory =
                node.memory.filter(|_| self.counts_memory()).map(|memory| memory.saturating_sub(node.kept_memory));
            let mut amounts: BTreeMap<&str, u64> =
                memory.map(|memory| (Resource::MEMORY, memory)).into_iter().collect();
            for gres in &node.gres {
                *amounts.entry(resource(&gres.name)).or_insert(0) += gres.count;
            }
            machines.push(Machine {
                resources: Resources::new(amounts.into_iter().filter(|&(_, amount)| amount > 0))?,
                ..Machine::new(node.name.clone(), node.usable_cpus)
            });
        }
        if machines.is_empty() {
            return Err(PresentError::NoNodes);
        }
        let number = machines.iter().enumerate().map(|(at, machine)| (machine.name.as_str(), at)).collect();
        let site = self.site(&number);
        let licences = self.licences.iter().filter(|own| own.total > 0).map(|own| (own.name.as_str(), own.total));
        let licences = Resources::new(licences.collect::<BTreeMap<_, _>>())?;
        let platform = Platform::new(machines)?.with_licences(licences)?;
        Ok((platform.with_site(site)?, first))
    }

    /// Returns the licences that are reserved now, until the end of their reservations.
    fn reserved_now(&self, platform: &Platform) -> Vec<HeldAmount> {
        let now = self.reservations.iter().filter(|kept| kept.start <= self.now && kept.end > self.now);
        let held = now.flat_map(|kept| {
            let until = Time::from_seconds((kept.end - self.now).min(100 * FOR_EVER));
            kept.licences.iter().filter_map(move |(name, amount)| {
                let own = self.licences.iter().find(|own| own.name == *name)?;
                let amount = (*amount).min(own.total.saturating_sub(own.used));
                let resource = platform.resource(name).filter(|_| amount > 0)?;
                Some(HeldAmount { node: None, resource, amount, until })
            })
        });
        held.collect()
    }

    /// Returns notes about reservations that an instance cannot represent.
    fn remarks_about_reservations(&self) -> Vec<String> {
        let ahead = self.reservations.iter().filter(|kept| kept.end > self.now);
        let note = |kept: &super::SlurmReservation| {
            if kept.floats() {
                Some(format!(
                    "reservation {}: TIME_FLOAT is ignored, the reservation keeps its present times",
                    kept.name
                ))
            } else if !kept.licences.is_empty() && kept.start > self.now {
                Some(format!("reservation {}: its licences are ignored, because it starts later", kept.name))
            } else if !kept.licences.is_empty() {
                Some(format!("reservation {}: no job can use its licences until it ends", kept.name))
            } else {
                None
            }
        };
        ahead.filter_map(note).collect()
    }

    /// Returns the current and future reservations that no pending job requests. In [`Queue::present`], the nodes of
    /// these reservations are unavailable.
    pub fn closed_by(&self) -> impl Iterator<Item = &super::SlurmReservation> {
        let is_closed =
            |kept: &&super::SlurmReservation| kept.end > self.now && !self.is_used(kept) && !kept.nodes.is_empty();
        self.reservations.iter().filter(is_closed)
    }

    /// Returns the periods of reservations that no pending job can use. A reservation does not end running jobs. So on
    /// a processor with a running job, the period begins at the time limit of the job.
    fn closed(&self, first: &[Option<u32>], running: &[(TaskId, ProcSet)], works: &[Work]) -> Vec<Unavailable> {
        let processors = |node: usize| {
            let from = first[node]?;
            Some(ProcSet::range(from, from + self.nodes[node].usable_cpus - 1))
        };
        let time = |at: i64| Time::from_seconds(at.saturating_sub(self.now).clamp(0, 100 * FOR_EVER));
        let mut closed = Vec::new();
        for reservation in self.closed_by() {
            let members = (0..self.nodes.len()).filter(|&node| reservation.nodes.contains(&self.nodes[node].name));
            let mut set = members.filter_map(processors).fold(ProcSet::new(), |all, own| all.union(&own));
            let (start, end) = (time(reservation.start), time(reservation.end));
            for (task, own) in running {
                let part = own.intersection(&set);
                let until = works[task.index()].walltime.unwrap_or(Time::ZERO);
                if !part.is_empty() && until > start {
                    set = set.difference(&part);
                    if until < end {
                        closed.push(Unavailable { processors: part, start: until, end });
                    }
                }
            }
            if !set.is_empty() && start < end {
                closed.push(Unavailable { processors: set, start, end });
            }
        }
        closed
    }
}

/// Returns the name in `makespan-core` of a generic resource.
fn resource(name: &str) -> &str {
    if name == "gpu" { Resource::GPUS } else { name }
}

struct Builder<'a> {
    queue: &'a Queue,
    platform: &'a Platform,
    first: &'a [Option<u32>],
    /// Number of processors of each node that are already held.
    taken: Vec<u32>,
    /// Remaining resources of each node, and remaining licences.
    left: Vec<HashMap<String, u64>>,
}

/// Returns the resources of an empty platform: one map for each node, and one for licences at the end.
fn left(platform: &Platform) -> Vec<HashMap<String, u64>> {
    let of = |resources: &Resources| resources.iter().map(|(name, amount)| (name.to_owned(), amount)).collect();
    platform.nodes().iter().map(|node| of(&node.resources)).chain([of(platform.licences())]).collect()
}

impl Builder<'_> {
    /// Returns the processors of a running job: on each of its nodes, the next free processors.
    fn held(&mut self, job: &QueueJob) -> ProcSet {
        let mut set = ProcSet::new();
        for holding in job.run.iter().flat_map(|run| &run.holds) {
            let Some(first) = self.first[holding.node] else { continue };
            let taken = &mut self.taken[holding.node];
            let count = holding.cpus.min(self.queue.nodes[holding.node].usable_cpus - *taken);
            if count > 0 {
                set = set.union(&ProcSet::range(first + *taken, first + *taken + count - 1));
                *taken += count;
            }
        }
        set
    }

    /// Returns the needs of a running job, without the needs for which too little of a resource remains. The flag is
    /// true if a need was left out. A need is divided among the nodes of the job in proportion to their processors. So
    /// the computed share of a node may exceed what the job really holds there.
    fn hold(&mut self, job: &QueueJob, needs: &Needs, processors: &ProcSet) -> Result<(Needs, bool), ResourceError> {
        let width = processors.len();
        let nodes: BTreeSet<usize> = job.run.iter().flat_map(|run| &run.holds).map(|holding| holding.node).collect();
        let parts: Vec<(usize, u32)> = nodes
            .into_iter()
            .filter_map(|node| {
                let first = self.first[node]?;
                let own = ProcSet::range(first, first + self.queue.nodes[node].usable_cpus - 1);
                Some((self.platform.node_of(first), own.intersection(processors).len()))
            })
            .collect();
        let mut kept = Vec::new();
        for (name, need) in needs.iter() {
            let own: Vec<(usize, u64)> = if self.platform.licences().amount(name) > 0 {
                vec![(self.left.len() - 1, need.total(width))]
            } else {
                parts.iter().map(|&(node, here)| (node, need.share(here, width))).collect()
            };
            if own.iter().all(|&(at, amount)| self.left[at].get(name).is_some_and(|&left| left >= amount)) {
                for (at, amount) in own {
                    *self.left[at].entry(name.to_owned()).or_default() -= amount;
                }
                kept.push((name, need.clone()));
            }
        }
        let is_less = kept.len() < needs.iter().len();
        Ok((Needs::new(kept)?, is_less))
    }

    /// Returns the number of processors of a pending job. If the job requests whole nodes, this is the number of all
    /// their processors.
    fn width(&self, job: &QueueJob) -> u32 {
        job.request.all_cpus().max(self.queue.whole_node_cpus(job)).min(u64::from(u32::MAX)) as u32
    }

    /// Converts a job. The flag is true if the job holds more than the instance states. If the job must be left out,
    /// returns the reason.
    fn work(&mut self, job: &QueueJob, processors: &ProcSet, width: u32) -> Result<(Work, bool), String> {
        if job.is_held && job.run.is_none() {
            return Err("held by its user or an operator".into());
        }
        if let Some(bar) = self.queue.barred(job).filter(|_| job.run.is_none()) {
            return Err(bar.text);
        }
        if job.is_too_late(self.queue.now) {
            return Err("it can no longer end by its deadline".into());
        }
        if width == 0 && job.state == JobState::Suspended {
            return Err("it is suspended, and its processors are free".into());
        }
        if width == 0 {
            return Err("its processors are unknown".into());
        }
        if width > self.platform.processors() {
            return Err("it asks for more processors than the cluster has".into());
        }
        if let Some(why) = self.without_reservation(job).filter(|_| job.run.is_none()) {
            return Err(why.into());
        }
        let limit = job.limit.map_or(FOR_EVER, |limit| i64::try_from(limit).unwrap_or(FOR_EVER)).clamp(1, FOR_EVER);
        let ran = job.run.as_ref().map_or(0, |run| self.queue.now.saturating_sub(run.started));
        let time = Time::from_seconds(limit.saturating_sub(ran).max(1));
        let profile = Profile::rigid(width, time).map_err(|error| error.to_string())?;
        let release = job.eligible.map_or(0, |at| at.saturating_sub(self.queue.now)).clamp(0, FOR_EVER);
        let priority = i32::try_from(job.priority).unwrap_or(i32::MAX);
        let work = Work::new(job.shown.clone(), profile).with_walltime(time).with_priority(priority);
        let work = work.with_release(Time::from_seconds(if job.run.is_some() { 0 } else { release }));
        let needs = self.needs(job, width).map_err(|error| error.to_string())?;
        let unknown = needs.iter().find(|(name, _)| job.run.is_none() && self.platform.resource(name).is_none());
        if let Some((name, _)) = unknown {
            return Err(format!("the cluster does not count `{name}`"));
        }
        let (needs, is_less) = if job.run.is_some() {
            self.hold(job, &needs, processors).map_err(|error| error.to_string())?
        } else {
            (needs, false)
        };
        let fits_memory = || self.queue.nodes.iter().any(|node| job.request.fits_memory(node));
        if job.run.is_none() && !(fits_memory() && self.has_room(&needs, width)) {
            return Err("it asks for more memory or other resources on a node than a node has".into());
        }
        Ok((work.with_needs(needs), is_less))
    }

    /// Returns a reason if the job can never start in the reservation that it requests.
    fn without_reservation(&self, job: &QueueJob) -> Option<&'static str> {
        let name = job.request.reservation.as_ref()?;
        let Some(kept) = self.queue.reservations.iter().find(|kept| kept.name == *name) else {
            return Some("its reservation does not exist");
        };
        let most = job.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(FOR_EVER);
        if !kept.admits(&job.user, job.account.as_deref()) {
            Some("its user may not use its reservation")
        } else if most > kept.end - kept.start.max(self.queue.now) {
            Some("its time limit is longer than its reservation")
        } else {
            None
        }
    }

    /// Returns true if the nodes have enough processors with the needed resources, when nothing runs.
    fn has_room(&self, needs: &Needs, width: u32) -> bool {
        let of_nodes = || needs.iter().filter(|(name, _)| self.platform.licences().amount(name) == 0);
        if of_nodes().next().is_none() {
            return true;
        }
        let fits = |machine: &Machine, here: u32| {
            of_nodes().all(|(name, need)| need.share(here, width) <= machine.resources.amount(name))
        };
        // The shares increase with the number of processors, so bisection finds the maximum.
        let most = |machine: &Machine| {
            let (mut low, mut high) = (0, machine.processors.min(width) + 1);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if fits(machine, middle) { low = middle } else { high = middle }
            }
            u64::from(low)
        };
        let mut there = 0_u64;
        self.platform.kinds().any(|(machine, count)| {
            there += most(machine) * count as u64;
            there >= width.into()
        })
    }

    /// Returns the needs of a job that gets `width` processors.
    fn needs(&self, job: &QueueJob, width: u32) -> Result<Needs, ResourceError> {
        let nodes = job.request.min_nodes;
        let held = job.run.as_ref().map(|run| run.holds.iter().map(|holding| holding.memory).sum());
        let asked = match job.request.memory {
            // A job that gets more processors than it requests, because it gets whole nodes, needs no more memory.
            Memory::PerCpu(bytes) => bytes.saturating_mul(job.request.all_cpus()),
            Memory::PerNode(bytes) => bytes.saturating_mul(nodes),
            Memory::Whole => 0,
        };
        let memory = if self.queue.counts_memory() { held.unwrap_or(asked) } else { 0 };
        // Memory per processor bounds the processors of a job on each node, and Slurm compares nodes by this number.
        let by_processor = match job.request.memory {
            Memory::PerCpu(bytes) if memory > 0 && held.is_none() && job.request.all_cpus() == u64::from(width) => {
                bytes
            }
            _ => 0,
        };
        let memory = if by_processor > 0 { 0 } else { memory };
        let mut amounts: BTreeMap<&str, u64> = BTreeMap::from([(Resource::MEMORY, memory)]);
        for gres in &job.request.gres {
            *amounts.entry(resource(&gres.name)).or_insert(0) += gres.count.saturating_mul(nodes);
        }
        for (name, count) in &job.request.licences {
            *amounts.entry(name).or_insert(0) += count;
        }
        let amounts = amounts.into_iter().map(|(name, amount)| (name, Need::whole(amount)));
        let amounts = amounts.chain([(Resource::MEMORY, Need::per_processor(by_processor))]);
        Needs::new(amounts.filter(|(_, need)| !need.is_nothing()))
    }
}
