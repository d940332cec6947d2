//! Explains why each job waits, from the current state of the cluster.

use std::cell::RefCell;
use std::collections::HashMap;

use makespan_algos::slurm::{Gap, JobCandidate, PartitionRequest, World};
use makespan_core::{WaitReason, counted};

use crate::queue::{Condition, QueueJob};

use super::model::Model;
use super::outcome::ForecastOutcome;
use super::play::ForecastSimulation;
use super::ready::{Link, Links, Ready};
use super::why::{hopeless, is_for_any_nodes, span, wanted};

/// Formats a time of day.
pub(super) type Clock<'a> = &'a (dyn Fn(i64) -> String + Sync);

/// The data from which reasons are derived.
pub(super) struct Reasons<'a> {
    pub model: &'a Model<'a>,
    pub links: &'a Links,
    /// The simulation in the state after its first cycle.
    pub play: &'a ForecastSimulation<'a>,
    pub outcome: &'a ForecastOutcome,
    /// The outcome of a simulation without deadlines. Set if some job misses its deadline.
    pub without_deadlines: Option<&'a ForecastOutcome>,
    pub clock: Clock<'a>,
    pub bids: Vec<Option<JobCandidate>>,
    /// For each job, the number of jobs that the scheduler considers before it.
    pub positions: Vec<usize>,
    /// For each job, its actual start if it runs.
    pub started: Vec<Option<i64>>,
    pub ended: Vec<Option<i64>>,
    pub expired: Vec<Option<i64>>,
    /// The running jobs of each counter.
    pub holders: HashMap<usize, Vec<usize>>,
    /// Free resources for each request that was examined. Jobs with equal requests share this entry.
    pub free: RefCell<HashMap<PartitionRequest, Free>>,
    /// For each examined request for a single node, the number of nodes with enough free resources.
    pub roomy: RefCell<HashMap<PartitionRequest, usize>>,
}

/// The free resources for a request.
#[derive(Clone)]
pub(super) struct Free {
    /// Number of nodes with enough free resources for the request.
    nodes: usize,
    /// A text about the resources that are missing on the nodes without enough free resources.
    lack: String,
    /// True if enough nodes are free for the request now. They may be free for less than the run time.
    fits: bool,
    /// The time for which these nodes are free, if it is limited.
    gap: Option<Gap>,
}

impl Reasons<'_> {
    /// Returns the reason why a job waits.
    pub(super) fn of(&self, index: usize) -> WaitReason {
        let why = self.now(index);
        if self.outcome.expired[index].is_some() { self.deadline(index, why) } else { why }
    }

    /// Returns the reason for a job that cannot start early enough to meet its deadline.
    fn deadline(&self, index: usize, why: WaitReason) -> WaitReason {
        let job = &self.model.queue.jobs[index];
        let Some(deadline) = job.deadline else { return why };
        let latest = self.model.latest[index];
        let needs = deadline.saturating_sub(latest);
        let otherwise = self.without_deadlines.and_then(|other| other.started[index]).filter(|&at| at > latest);
        let clock = self.clock;
        let expected =
            otherwise.map_or(String::new(), |at| format!(", but would start at {} without the deadline", clock(at)));
        let text = format!(
            "its deadline {} passes first: it has to start by {}{expected}; {}",
            clock(deadline),
            clock(latest),
            why.text
        );
        let mut helps = vec![match otherwise {
            Some(at) => format!("a deadline after {}", clock(at.saturating_add(needs))),
            None => "a later deadline".to_owned(),
        }];
        if let Some(left) = otherwise.map(|at| deadline - at).filter(|&left| left >= 60) {
            helps.push(format!("a limit of at most {}", span(left as u64 / 60 * 60)));
        }
        helps.extend(why.remedy);
        let brief = format!("deadline {} passes first", clock(deadline));
        WaitReason::new("deadline", brief, text).with(helps.join(", or "))
    }

    fn now(&self, index: usize) -> WaitReason {
        let job = &self.model.queue.jobs[index];
        if let Some(never) = &self.model.never[index] {
            return never.clone();
        }
        if let Some(dependency) = &self.links.hopeless[index] {
            return hopeless(job.id, dependency);
        }
        if let Some(why) = self.others(index).or_else(|| self.later(job)) {
            return why;
        }
        if self.play.has_started(index) {
            return next(job);
        }
        let Some(bid) = self.bids[index] else { return WaitReason::new("partition", NO_PARTITION, NO_PARTITION) };
        self.partition(bid)
            .or_else(|| self.limit(index))
            .or_else(|| self.limit_later(index))
            .or_else(|| self.team(index, bid))
            .unwrap_or_else(|| self.resources(index, job, bid))
    }

    /// If the job depends on other jobs, returns this as the reason.
    fn others(&self, index: usize) -> Option<WaitReason> {
        if self.links.of_job(index).is_empty() {
            return None;
        }
        match self.links.ready(index, &self.started, &self.ended, &self.expired) {
            Ready::At(at) if at > self.model.queue.now => return Some(self.delay(index, at)),
            Ready::At(_) => return None,
            Ready::Later => {}
        }
        let mut open: Vec<usize> = self.links.of_job(index).iter().flat_map(|link| link.jobs.iter().copied()).collect();
        open.sort_unstable();
        open.dedup();
        let how = match self.links.of_job(index).first().map(|link| link.condition) {
            Some(Condition::Succeeded | Condition::SameTask) => "to succeed",
            Some(Condition::Started(delay)) if delay > 0 => {
                &format!("to start, and {} more", span(delay.unsigned_abs()))
            }
            Some(Condition::Started(_)) => "to start",
            _ => "to end",
        };
        let ForecastOutcome { started, ended, expired, .. } = self.outcome;
        let expected = match self.links.ready(index, started, ended, expired) {
            Ready::At(at) => format!("expected at {}", (self.clock)(at)),
            Ready::Later if open.iter().any(|&other| expired[other].is_some()) => {
                "which its deadline prevents".to_owned()
            }
            Ready::Later => "at an unknown time".to_owned(),
        };
        let one_of =
            if open.len() > 1 && self.links.of_job(index).iter().any(|link| link.any) { "one of " } else { "" };
        let brief = format!("waits for {one_of}{} {how}", self.brief_names(&open));
        let text = format!("it waits for {one_of}{} {how} ({expected})", self.names(&open));
        Some(WaitReason::new("dependency", brief, text))
    }

    /// Returns the reason for a job that may start only some time after other jobs have started, at the instant `at`.
    fn delay(&self, index: usize, at: i64) -> WaitReason {
        let ends = |link: &Link, other: usize| match link.condition {
            Condition::Started(delay) => self.started[other].map(|started| started.saturating_add(delay)),
            _ => None,
        };
        let links = self.links.of_job(index).iter();
        let last = links.flat_map(|link| link.jobs.iter().map(move |&other| (link, other)));
        let last = last.filter(|&(link, other)| ends(link, other) == Some(at));
        let (mut others, mut wait) = (Vec::new(), 0);
        for (link, other) in last {
            others.push(other);
            if let Condition::Started(delay) = link.condition {
                wait = delay;
            }
        }
        others.sort_unstable();
        others.dedup();
        let (time, whose) = (span(wait.unsigned_abs()), self.names(&others));
        let brief = format!("{time} after the start of {}", self.brief_names(&others));
        let text = format!("it may start {time} after the start of {whose}, at {}", (self.clock)(at));
        WaitReason::new("dependency", brief, text)
    }

    fn later(&self, job: &QueueJob) -> Option<WaitReason> {
        let queue = self.model.queue;
        if let Some(at) = job.eligible.filter(|&at| at > queue.now) {
            let brief = format!("not before {}", (self.clock)(at));
            let text = format!("it may not start before {}", (self.clock)(at));
            let remedy = format!("scontrol update JobId={} StartTime=now", job.id);
            return Some(WaitReason::new("begin-time", brief, text).with(remedy));
        }
        let name = job.request.reservation.as_ref()?;
        let kept = queue.reservations.iter().find(|kept| kept.name == *name)?;
        (kept.start > queue.now).then(|| {
            let begins = format!("reservation {name} begins at {}", (self.clock)(kept.start));
            WaitReason::new("reservation", begins.clone(), format!("its {begins}"))
        })
    }

    fn partition(&self, bid: JobCandidate) -> Option<WaitReason> {
        let partition = &self.model.queue.partitions[bid.partition];
        let text = || format!("partition {} is {}", partition.name, partition.state.to_lowercase());
        (!partition.is_up()).then(|| {
            WaitReason::new("partition", text(), text())
                .with("another partition, or an operator must open the partition")
        })
    }

    /// Returns a reason if the job is a component of a heterogeneous job and only its team does not fit: the job would
    /// fit alone, but not together with all other components.
    fn team(&self, index: usize, bid: JobCandidate) -> Option<WaitReason> {
        let first = self.model.queue.jobs[index].together?;
        let (world, shape) = (self.play.world(), &self.model.cluster.shapes[bid.shape]);
        let is_other = |other: &usize| *other != index && self.model.queue.jobs[*other].together == Some(first);
        let others: Vec<usize> = (0..self.model.queue.jobs.len()).filter(is_other).collect();
        (!others.is_empty() && self.free(world, shape).fits).then(|| {
            let text = format!(
                "it starts together with {}, and there are too few free resources for all these jobs",
                self.names(&others)
            );
            WaitReason::new("resources", format!("starts together with {}", self.brief_names(&others)), text)
        })
    }

    fn limit(&self, index: usize) -> Option<WaitReason> {
        let counter = self.play.world().limit_reached(self.model.limits.group_of[index])?;
        let of = &self.model.limits.counters[counter];
        let used = self.play.world().taken(counter);
        let holders = self.holders.get(&counter).map_or(&[][..], Vec::as_slice);
        let unseen =
            if of.unseen > 0 { ", some of them by jobs that have just ended or that you may not see" } else { "" };
        let by = if holders.is_empty() { String::new() } else { format!(", by {}", self.names(holders)) } + unseen;
        let text = format!("limit on {}: {used} of {} are taken{by}", of.what, of.total);
        Some(WaitReason::new("limit", format!("limit on {}", of.what), text).with(of.remedy.clone()))
    }

    /// Returns a reason if a limit will delay the job later: the limit is not reached now, but jobs that start earlier
    /// will reach it.
    fn limit_later(&self, index: usize) -> Option<WaitReason> {
        let outcome = self.told(index);
        let of = &self.model.limits.counters[outcome.limit[index]?];
        let text = format!("limit on {} (at most {}): it waits for the end of ", of.what, of.total);
        let text = text + &self.names(&outcome.after[index]);
        Some(WaitReason::new("limit", format!("limit on {}", of.what), text).with(of.remedy.clone()))
    }

    /// Returns the outcome from which the reason is derived. If the job misses its deadline, this is the outcome of a
    /// simulation without deadlines.
    fn told(&self, index: usize) -> &ForecastOutcome {
        self.without_deadlines.filter(|_| self.outcome.expired[index].is_some()).unwrap_or(self.outcome)
    }

    /// Returns a reason for a job that waits because its nodes are in use or reserved for other jobs.
    fn resources(&self, index: usize, job: &QueueJob, bid: JobCandidate) -> WaitReason {
        let (world, shape) = (self.play.world(), &self.model.cluster.shapes[bid.shape]);
        let position = self.positions[index];
        let free = self.free(world, shape);
        // When the scheduler considered this job, nodes may have been free that were then given to later, shorter
        // jobs.
        if let Some(gap) = self.play.gap(index) {
            return self.kept(shape, position, Some(gap));
        }
        if free.fits {
            return self.kept(shape, position, free.gap);
        }
        let (set, fits, mut lack) = (&self.model.cluster.sets[shape.set], free.nodes, free.lack);
        let busy = self.model.lacking(job, shape, |site| world.room_now(shape, site).is_some());
        if !busy.is_empty() {
            lack += &format!(", and not {}", busy.join(","));
        } else if shape.counted.is_some() && fits >= shape.min_nodes as usize {
            lack += ", but too few nodes of the same kind";
        }
        let partition = &self.model.queue.partitions[bid.partition].name;
        let free = match (fits, is_for_any_nodes(job, shape)) {
            (0, true) => "none are".to_owned(),
            (0, false) => "none is".to_owned(),
            (fits, true) => format!("{fits} of {} nodes have some", set.count()),
            (fits, false) => format!("{fits} of {} are", set.count()),
        };
        let asks = format!("it asks for {}; {free} free in {partition}{lack}", wanted(self.model.queue, job, shape));
        let told = self.told(index);
        let after = &told.after[index][..told.decisive[index]];
        let reservation = told.reservation[index].map(|kept| &self.model.queue.reservations[kept].name);
        let ends =
            [(!after.is_empty()).then(|| self.names(after)), reservation.map(|name| format!("reservation {name}"))];
        let ends: Vec<String> = ends.into_iter().flatten().collect();
        // Put the most important part first, because tables truncate the text.
        let mut text = if ends.is_empty() {
            asks
        } else {
            format!("it waits for the end of {}, because {asks}", ends.join(" and "))
        };
        if position > 0 {
            text += &format!("; {position} {} before it", if position == 1 { "comes" } else { "come" });
        }
        let kind = if after.is_empty() && reservation.is_some() { "reservation" } else { "resources" };
        let brief = match (position, after, reservation) {
            (0, [], None) => "its nodes are in use".to_owned(),
            (0, [], Some(name)) => format!("waits for the end of reservation {name}"),
            (0, after, _) => format!("waits for the end of {}", self.brief_names(after)),
            (position, ..) => before(position),
        };
        let why = WaitReason::new(kind, brief, text);
        match smaller(world, shape, fits) {
            Some(nodes) => {
                why.with(format!("with {nodes} node{} it could start now", if nodes == 1 { "" } else { "s" }))
            }
            None => why,
        }
    }

    fn free(&self, world: &World, shape: &PartitionRequest) -> Free {
        // A request for only one second excludes the nodes that are reserved now, and no other node.
        let short = PartitionRequest { lasts: 1, ..shape.clone() };
        if let Some(known) = self.free.borrow().get(&short) {
            return known.clone();
        }
        let nodes = self.roomy(world, shape);
        let fits = world.find(&short, None, false).is_some();
        let lack = if fits { String::new() } else { self.lack(world, shape, nodes) };
        let gap = if fits { world.gap_of(shape) } else { None };
        let found = Free { nodes, lack, fits, gap };
        self.free.borrow_mut().insert(short, found.clone());
        found
    }

    /// Returns the reason for a job for which enough nodes are free, but not for long enough.
    fn kept(&self, shape: &PartitionRequest, position: usize, gap: Option<Gap>) -> WaitReason {
        let earlier = format!("{position} job{} before it", if position == 1 { " comes" } else { "s come" });
        let Some(Gap { time: gap, kept, closed }) = gap else {
            return match position {
                0 => WaitReason::new("priority", LATER_BRIEF, LATER),
                _ => WaitReason::new("priority", before(position), earlier),
            };
        };
        let brief = match (kept, closed) {
            (Some(kept), _) => format!("reserved for job {}", self.model.queue.jobs[kept.job].shown),
            (None, Some(closed)) => {
                let kept = &self.model.queue.reservations[closed];
                format!("reserved ({}) from {} on", kept.name, (self.clock)(kept.start))
            }
            (None, None) if position == 0 => LATER_BRIEF.to_owned(),
            (None, None) => before(position),
        };
        let text = match (kept, closed) {
            (Some(kept), _) => {
                let name = &self.model.queue.jobs[kept.job].shown;
                let at = (self.clock)(kept.from);
                let latest = if self.outcome.started[kept.job].is_some_and(|start| start <= kept.from) {
                    " and starts at this time at the latest, because the running jobs end by their time limits"
                } else {
                    ""
                };
                format!("its nodes are free, but reserved from {at} on for job {name}, which comes before it{latest}")
            }
            (None, Some(closed)) => {
                let kept = &self.model.queue.reservations[closed];
                format!("its nodes are free, but reserved ({}) from {} on", kept.name, (self.clock)(kept.start))
            }
            (None, None) if position == 0 => LATER.to_owned(),
            (None, None) => format!("nodes are free, and {earlier}: the scheduler keeps to their order"),
        };
        let why = WaitReason::new(if closed.is_some() { "reservation" } else { "priority" }, brief, text);
        if gap >= 60 && gap < shape.lasts {
            why.with(format!("with a time limit of at most {} it could start now", span(gap as u64)))
        } else {
            why
        }
    }

    /// Returns the number of nodes with enough free resources for a request now.
    fn roomy(&self, world: &World, shape: &PartitionRequest) -> usize {
        *self.roomy.borrow_mut().entry(shape.of_node()).or_insert_with(|| world.roomy(shape))
    }

    /// Describes the resources that are missing on nodes with free processors. `nodes` is the number of nodes with
    /// enough free resources for the request.
    fn lack(&self, world: &World, shape: &PartitionRequest, nodes: usize) -> String {
        let without_memory = PartitionRequest { memory: None, ..shape.clone() };
        let without_gres = PartitionRequest { gres: Vec::new(), ..shape.clone() };
        // A node that fits a request also fits a smaller request. So the difference is the number of nodes on which
        // only the omitted resource is missing.
        let more = |other: &PartitionRequest| self.roomy(world, other).saturating_sub(nodes);
        let (memory, gres) = (more(&without_memory), more(&without_gres));
        match (memory, gres) {
            (0, 0) => String::new(),
            (memory, 0) => format!(", {memory} lack only memory"),
            (0, gres) => format!(", {gres} lack only {}", self.kinds(shape)),
            (memory, gres) => format!(", {memory} lack only memory and {gres} only {}", self.kinds(shape)),
        }
    }

    fn kinds(&self, shape: &PartitionRequest) -> String {
        let mut names: Vec<&str> =
            shape.gres.iter().flat_map(|one| &one.0).map(|&kind| self.model.kinds[kind].0.as_str()).collect();
        names.dedup();
        names.join(", ")
    }

    /// Formats job names, such as `job 12` or `jobs 12, 13 and 4 more`.
    fn names(&self, jobs: &[usize]) -> String {
        self.some_names(jobs, 3)
    }

    /// Formats a single job name and the number of other jobs.
    fn brief_names(&self, jobs: &[usize]) -> String {
        self.some_names(jobs, 1).replacen("jobs", "job", 1)
    }

    /// Formats up to `shown` job names, and the number of other jobs.
    fn some_names(&self, jobs: &[usize], shown: usize) -> String {
        let names: Vec<&str> = jobs.iter().take(shown).map(|&job| self.model.queue.jobs[job].shown.as_str()).collect();
        match (names.len(), jobs.len().saturating_sub(shown)) {
            (1, 0) => format!("job {}", names[0]),
            (_, 0) => format!("jobs {}", names.join(", ")),
            (_, more) => format!("jobs {} and {more} more", names.join(", ")),
        }
    }
}

/// The reason for the first job of the queue if nodes are free for it.
const LATER: &str = "its nodes are free, and no job comes before it: the scheduler will consider the job again later";
const LATER_BRIEF: &str = "considered again later";
const NO_PARTITION: &str = "no partition accepts the job";

/// Formats the number of jobs that the scheduler considers before a job, such as `10 jobs before it`.
fn before(position: usize) -> String {
    format!("{} before it", counted(position, "job"))
}

/// Reasons of Slurm that say only that the job is pending.
const PLAIN: [&str; 5] = ["", "None", "Priority", "Resources", "(null)"];

/// Returns the reason for a job that seems able to start in the scheduler's next cycle.
fn next(job: &QueueJob) -> WaitReason {
    let reason = job.reason.split(',').next().unwrap_or_default().trim();
    if PLAIN.contains(&reason) {
        let text = "nothing prevents its start: it starts in the scheduler's next cycle";
        return WaitReason::new("next", "starts in the next cycle", text);
    }
    let brief = format!("Slurm says {}", job.reason.trim());
    let text = format!("{brief}; no other reason is known");
    WaitReason::new("slurm", brief, text).with("check the reason that Slurm states: it may be older than the change")
}

/// Returns a smaller number of nodes with which the job could start now. Returns `None` if its processors do not fit
/// on fewer nodes.
fn smaller(world: &World, shape: &PartitionRequest, fits: usize) -> Option<u32> {
    let nodes = u32::try_from(fits).ok().filter(|&nodes| nodes > 0 && nodes < shape.min_nodes)?;
    let cpus = shape.cpus.div_ceil(u64::from(shape.min_nodes)) * u64::from(nodes);
    let small = PartitionRequest { min_nodes: nodes, max_nodes: Some(nodes), cpus, ..shape.clone() };
    world.find(&small, None, true).map(|_| nodes)
}
