//! A queue as core's simulator takes it: machines, jobs and what runs.

use makespan_core::{
    Instance, InstanceError, Job as Work, Need, Needs, Node as Machine, Platform, PlatformError, ProcSet, Profile,
    ResourceError, Resources, TaskId, Time, Unavailable,
};
use thiserror::Error;

use super::{Memory, Queue, QueueJob};

/// A queue as an instance, whose time 0 is the instant of the queue.
#[derive(Clone, Debug)]
pub struct Present {
    /// Machines that take jobs or run some, and one job of one task for each that runs or may start: those that run first, then
    /// those that wait in the queue's order. Estimates are limits: of a running job what is left of it.
    pub instance: Instance,
    /// Of each job of the instance, which of the queue it is.
    pub jobs: Vec<usize>,
    /// What runs, and where: a simulation starts these at 0.
    pub running: Vec<(TaskId, ProcSet)>,
    /// The first processor of each node of the queue; `None` of nodes that are away.
    pub first_processor: Vec<Option<u32>>,
    /// Which jobs are left out, and why.
    pub remarks: Vec<String>,
}

/// Why a queue is no instance.
#[derive(Debug, Error)]
pub enum PresentError {
    /// No machines.
    #[error("the cluster has no node that takes jobs")]
    NoNodes,
    /// The machines are refused.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The resources of a node or of a job are refused.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The jobs are refused.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

/// The limit of a job that has none: a year.
const FOR_EVER: i64 = 365 * 86_400;

impl Queue {
    /// The queue as an instance. What an instance cannot say (partitions, features, limits on users) stays in the queue, whose jobs
    /// `jobs` names.
    ///
    /// # Errors
    /// [`PresentError`]
    pub fn present(&self) -> Result<Present, PresentError> {
        let (platform, first_processor) = self.platform()?;
        let mut present =
            Builder { queue: self, platform: &platform, first: &first_processor, taken: vec![0; self.nodes.len()] };
        let (mut jobs, mut works, mut running, mut remarks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (index, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.run.is_some()) {
            let processors = present.held(job);
            match present.work(job, processors.len()) {
                Ok(work) => {
                    running.push((TaskId(works.len() as u64), processors));
                    works.push(work);
                    jobs.push(index);
                }
                Err(why) => remarks.push(why),
            }
        }
        for (index, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.run.is_none()) {
            match present.work(job, present.width(job)) {
                Ok(work) => {
                    works.push(work);
                    jobs.push(index);
                }
                Err(why) => remarks.push(why),
            }
        }
        let closed = self.closed(&platform, &first_processor);
        let instance = Instance::new(platform, works, closed)?;
        Ok(Present { instance, jobs, running, first_processor, remarks })
    }

    fn platform(&self) -> Result<(Platform, Vec<Option<u32>>), PresentError> {
        let mut holds = vec![false; self.nodes.len()];
        for holding in self.jobs.iter().filter_map(|job| job.run.as_ref()).flat_map(|run| &run.holds) {
            holds[holding.node] = true;
        }
        let (mut machines, mut first, mut next) = (Vec::new(), Vec::new(), 0_u32);
        for (node, holds) in self.nodes.iter().zip(holds) {
            if !holds && !node.state.takes_jobs() || node.usable_cpus == 0 {
                first.push(None);
                continue;
            }
            first.push(Some(next));
            next = next.saturating_add(node.usable_cpus);
            let memory =
                node.memory.filter(|_| self.counts_memory()).map(|memory| memory.saturating_sub(node.kept_memory));
            let gpus: u64 = node.gres.iter().filter(|gres| gres.name == "gpu").map(|gres| gres.count).sum();
            let amounts =
                memory.map(|memory| ("memory", memory)).into_iter().chain((gpus > 0).then_some(("gpus", gpus)));
            machines.push(Machine {
                resources: Resources::new(amounts)?,
                ..Machine::new(node.name.clone(), node.usable_cpus)
            });
        }
        if machines.is_empty() {
            return Err(PresentError::NoNodes);
        }
        Ok((Platform::new(machines)?, first))
    }

    /// Reservations, and nodes that run something and take no more.
    fn closed(&self, platform: &Platform, first: &[Option<u32>]) -> Vec<Unavailable> {
        let processors = |node: usize| {
            let from = first[node]?;
            Some(ProcSet::range(from, from + self.nodes[node].usable_cpus - 1))
        };
        let time = |at: i64| Time::from_seconds(at.saturating_sub(self.now).clamp(0, 100 * FOR_EVER));
        let mut closed = Vec::new();
        for reservation in self.reservations.iter().filter(|reservation| reservation.end > self.now) {
            let members = (0..self.nodes.len()).filter(|&node| reservation.nodes.contains(&self.nodes[node].name));
            let set = members.filter_map(processors).fold(ProcSet::new(), |all, own| all.union(&own));
            let (start, end) = (time(reservation.start), time(reservation.end));
            if !set.is_empty() && start < end {
                closed.push(Unavailable { processors: set, start, end });
            }
        }
        debug_assert!(closed.iter().all(|period| period.processors.last() < Some(platform.processors())));
        closed
    }
}

struct Builder<'a> {
    queue: &'a Queue,
    platform: &'a Platform,
    first: &'a [Option<u32>],
    /// Processors of each node that are held already.
    taken: Vec<u32>,
}

impl Builder<'_> {
    /// Processors of a running job: the next free ones of each of its nodes.
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

    /// Processors of a waiting job: whole nodes count with all their processors.
    fn width(&self, job: &QueueJob) -> u32 {
        let request = &job.request;
        let least = request.cpus.max(request.min_nodes.saturating_mul(request.cpus_per_node));
        let whole = request.exclusive || self.queue.gives_whole_nodes();
        let of_node = self.queue.nodes.iter().map(|node| node.usable_cpus).min().unwrap_or(1);
        let width = if whole { least.max(request.min_nodes.saturating_mul(of_node.into())) } else { least };
        width.min(u64::from(u32::MAX)) as u32
    }

    fn work(&self, job: &QueueJob, width: u32) -> Result<Work, String> {
        let left_out = |why: &str| format!("job {} is left out: {why}", job.shown);
        if job.is_held {
            return Err(left_out("it is held"));
        }
        if width == 0 {
            return Err(left_out("it holds no processors that are known"));
        }
        if width > self.platform.processors() {
            return Err(left_out("it asks for more processors than there are"));
        }
        let limit = job.limit.map_or(FOR_EVER, |limit| i64::try_from(limit).unwrap_or(FOR_EVER)).clamp(1, FOR_EVER);
        let ran = job.run.as_ref().map_or(0, |run| self.queue.now.saturating_sub(run.started));
        let time = Time::from_seconds(limit.saturating_sub(ran).max(1));
        let profile = Profile::rigid(width, time).map_err(|error| left_out(&error.to_string()))?;
        let release = job.eligible.map_or(0, |at| at.saturating_sub(self.queue.now)).clamp(0, FOR_EVER);
        let priority = i32::try_from(job.priority).unwrap_or(i32::MAX);
        let work = Work::new(job.shown.clone(), profile).with_walltime(time).with_priority(priority);
        let work = work.with_release(Time::from_seconds(if job.run.is_some() { 0 } else { release }));
        Ok(work.with_needs(self.needs(job, width).map_err(|error| left_out(&error.to_string()))?))
    }

    fn needs(&self, job: &QueueJob, width: u32) -> Result<Needs, ResourceError> {
        let nodes = job.request.min_nodes;
        let held = job.run.as_ref().map(|run| run.holds.iter().map(|holding| holding.memory).sum());
        let asked = match job.request.memory {
            Memory::PerCpu(bytes) => bytes.saturating_mul(width.into()),
            Memory::PerNode(bytes) => bytes.saturating_mul(nodes),
            Memory::Whole => 0,
        };
        let memory = if self.queue.counts_memory() { held.unwrap_or(asked) } else { 0 };
        let gpus: u64 = job.request.gres.iter().filter(|gres| gres.name == "gpu").map(|gres| gres.count * nodes).sum();
        let amounts = [("memory", memory), ("gpus", gpus)].into_iter().filter(|&(_, amount)| amount > 0);
        Needs::new(amounts.map(|(name, amount)| (name, Need::whole(amount))))
    }
}
