//! Explains why each job waits, from the current state of the cluster.

use std::cell::RefCell;
use std::collections::HashMap;

use makespan_algos::slurm::{Gap, JobCandidate, PartitionRequest};
use makespan_core::{WaitKind, WaitReason};

use crate::queue::{Condition, Dependency, QueueJob};

use super::model::Model;
use super::outcome::ForecastOutcome;
use super::play::ForecastSimulation;
use super::ready::{Links, Ready};
use super::why::{hopeless, span};

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
    pub nodes: usize,
    /// A text about the resources that are missing on the nodes without enough free resources.
    pub lack: String,
    /// True if enough nodes are free for the request now. They may be free for less than the run time.
    pub fits: bool,
    /// The time for which these nodes are free, if it is limited.
    pub gap: Option<Gap>,
}

impl Reasons<'_> {
    /// Returns the reason why a job waits.
    pub(super) fn of(&self, index: usize) -> WaitReason {
        let why = self.until_start(index, self.now(index));
        let is_permanent = self.is_permanent(index);
        let why = if self.outcome.expired[index].is_some() && !is_permanent { self.deadline(index, why) } else { why };
        // A job that has not been submitted has no id, and another job will get the id that it has in the queue.
        let is_for_job = |remedy: &String| remedy.contains("JobId=") || remedy.starts_with("scontrol release");
        let remedy = why.remedy.filter(|remedy| !(self.model.queue.jobs[index].is_new() && is_for_job(remedy)));
        if !self.model.queue.is_grid_engine() {
            return WaitReason { remedy, ..why };
        }
        // The cluster queues of Grid Engine are read as partitions.
        let [text, brief] = [&why.text, &why.brief].map(|text| text.replace("partition", "queue"));
        WaitReason { text, brief, remedy: remedy.and_then(for_grid_engine), ..why }
    }

    /// Returns true if no event in the queue can let the job start.
    fn is_permanent(&self, index: usize) -> bool {
        self.model.never[index].is_some() || self.links.hopeless[index].is_some()
    }

    /// Returns a reason with the jobs and the reservation that end at the predicted start, if the reason does not name
    /// them and the job still waits after its first obstacle.
    fn until_start(&self, index: usize, mut why: WaitReason) -> WaitReason {
        let (told, job) = (self.told(index), &self.model.queue.jobs[index]);
        if told.started[index].is_none() && told.expired[index].is_none() {
            return self.reservation_ends(index, why);
        }
        let ready = match self.links.ready(index, &told.started, &told.ended, &told.expired) {
            Ready::At(at) => at.max(job.eligible.unwrap_or(i64::MIN)),
            Ready::Later => i64::MAX,
        };
        let waits_on = told.started[index].is_some() && ready <= told.cycle_before[index];
        if let Some(last) = self.last_ends(index).filter(|_| waits_on) {
            let last = format!("the end of {last}");
            // The id of another job may begin with the id of the last one.
            let in_id = |next: char| next.is_ascii_alphanumeric() || next == '_';
            let is_named = why.text.split_once(&last).is_some_and(|(_, rest)| !rest.starts_with(in_id));
            if !is_named {
                why.text += &format!("; it starts after {last}");
            }
        }
        why
    }

    /// Adds the end of its reservation to the reason of a job, if the job cannot start because the reservation ends too
    /// early.
    fn reservation_ends(&self, index: usize, why: WaitReason) -> WaitReason {
        let kept = self.bids[index].and_then(|bid| self.model.cluster.shapes[bid.shape].reservation);
        let is_permanent = self.is_permanent(index);
        let ForecastOutcome { started, ended, expired, .. } = self.outcome;
        let is_ready = self.links.ready(index, started, ended, expired) != Ready::Later;
        let Some(kept) = kept.filter(|_| is_ready && !is_permanent) else { return why };
        let kept = &self.model.queue.reservations[kept];
        let end = format!("its reservation {} ends at {}, before the job can start", kept.name, (self.clock)(kept.end));
        let brief = format!("reservation {} ends too early", kept.name);
        WaitReason::new(WaitKind::Reservation, brief, format!("{end}; {}", why.text))
            .with("another reservation, or none, or a later end of the reservation")
    }

    /// Names the jobs and the reservation that end after the previous scheduling cycle, and no later than the predicted
    /// start of a job.
    pub(super) fn last_ends(&self, index: usize) -> Option<String> {
        let told = self.told(index);
        let after = &told.after[index];
        let jobs = (!after.is_empty()).then(|| self.names(after));
        let kept =
            told.reservation[index].map(|kept| format!("reservation {}", self.model.queue.reservations[kept].name));
        let ends: Vec<String> = jobs.into_iter().chain(kept).collect();
        (!ends.is_empty()).then(|| ends.join(" and "))
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
        WaitReason::new(WaitKind::Deadline, brief, text).with(helps.join(", or "))
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
        let Some(bid) = self.bids[index] else {
            return WaitReason::new(WaitKind::Partition, NO_PARTITION, NO_PARTITION);
        };
        self.partition(bid)
            .or_else(|| self.limit(index))
            .or_else(|| self.limit_later(index))
            .or_else(|| self.team(index, bid))
            .unwrap_or_else(|| self.resources(index, job, bid))
    }

    fn later(&self, job: &QueueJob) -> Option<WaitReason> {
        let queue = self.model.queue;
        if let Some(at) = job.eligible.filter(|&at| at > queue.now) {
            if let Some(Dependency { condition: Condition::Started(delay), job: other, .. }) = job.after_start_of {
                let after = format!("{} after the start of", span(delay.unsigned_abs()));
                let text = format!("it may start {after} job {other}, at {}", (self.clock)(at));
                return Some(WaitReason::new(WaitKind::Dependency, format!("{after} {other}"), text));
            }
            let brief = format!("not before {}", (self.clock)(at));
            let text = format!("it may not start before {}", (self.clock)(at));
            let remedy = format!("scontrol update JobId={} StartTime=now", job.id);
            return Some(WaitReason::new(WaitKind::BeginTime, brief, text).with(remedy));
        }
        let name = job.request.reservation.as_ref()?;
        let kept = queue.reservations.iter().find(|kept| kept.name == *name)?;
        (kept.start > queue.now).then(|| {
            let begins = format!("reservation {name} begins at {}", (self.clock)(kept.start));
            WaitReason::new(WaitKind::Reservation, begins.clone(), format!("its {begins}"))
        })
    }

    fn partition(&self, bid: JobCandidate) -> Option<WaitReason> {
        let partition = &self.model.queue.partitions[bid.partition];
        let text = || format!("partition {} is {}", partition.name, partition.state.to_lowercase());
        (!partition.is_up()).then(|| {
            WaitReason::new(WaitKind::Partition, text(), text())
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
            WaitReason::new(WaitKind::Resources, format!("starts together with {}", self.brief_names(&others)), text)
        })
    }

    fn limit(&self, index: usize) -> Option<WaitReason> {
        // If several limits are reached, the limit that delays the job longest is the reason.
        let (world, group) = (self.play.world(), self.model.limits.group_of[index]);
        let last = self.told(index).limit[index].filter(|&counter| world.is_reached(group, counter));
        let counter = last.or_else(|| world.limit_reached(group))?;
        let (of, own) = (&self.model.limits.words[counter], &self.model.cluster.counters[counter]);
        let used = world.taken(counter);
        let holders = self.holders.get(&counter).map_or(&[][..], Vec::as_slice);
        let unseen =
            if own.used > 0 { ", some of them by jobs that have just ended or that you may not see" } else { "" };
        let by = if holders.is_empty() { String::new() } else { format!(", by {}", self.names(holders)) } + unseen;
        let mut text = format!("limit on {}: {used} of {} are taken{by}", of.what, own.total);
        let mut remedy = of.remedy.clone();
        if let Some(kept) = world.reserved_from(group, counter) {
            let (start, end) = ((self.clock)(kept.start), (self.clock)(kept.end));
            let name = &self.model.queue.reservations[kept.reservation].name;
            let is_ahead = kept.start > self.model.queue.now;
            let from = if is_ahead { format!("from {start} ") } else { String::new() };
            text += &format!(", and {} are reserved ({name}) {from}until {end}", kept.amount);
            if is_ahead {
                remedy = format!("a time limit that ends before {start}");
            }
        }
        Some(WaitReason::new(WaitKind::Limit, format!("limit on {}", of.what), text).with(remedy))
    }

    /// Returns a reason if a limit will delay the job later: the limit is not reached now, but jobs that start earlier
    /// will reach it.
    fn limit_later(&self, index: usize) -> Option<WaitReason> {
        let outcome = self.told(index);
        let counter = outcome.limit[index]?;
        let (of, total) = (&self.model.limits.words[counter], self.model.cluster.counters[counter].total);
        let text = format!("limit on {} (at most {total}): it waits for the end of ", of.what);
        let text = text + &self.names(&outcome.after[index]);
        Some(WaitReason::new(WaitKind::Limit, format!("limit on {}", of.what), text).with(of.remedy.clone()))
    }

    /// Returns the outcome from which the reason is derived. If the job misses its deadline, this is the outcome of a
    /// simulation without deadlines.
    pub(super) fn told(&self, index: usize) -> &ForecastOutcome {
        self.without_deadlines.filter(|_| self.outcome.expired[index].is_some()).unwrap_or(self.outcome)
    }

    /// Formats job names, such as `job 12` or `jobs 12, 13 and 4 more`.
    pub(super) fn names(&self, jobs: &[usize]) -> String {
        self.some_names(jobs, 3)
    }

    /// Formats a single job name and the number of other jobs.
    pub(super) fn brief_names(&self, jobs: &[usize]) -> String {
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

/// Replaces `scontrol release` in a remedy by `qrls` of Grid Engine. Returns `None` for other commands of `scontrol`,
/// and any other remedy unchanged.
fn for_grid_engine(remedy: String) -> Option<String> {
    match remedy.strip_prefix("scontrol release ") {
        Some(job) => Some(format!("qrls {job}")),
        None => Some(remedy).filter(|remedy| !remedy.starts_with("scontrol")),
    }
}

const NO_PARTITION: &str = "no partition accepts the job";

/// Reasons of Slurm that say only that the job is pending.
const PLAIN: [&str; 5] = ["", "None", "Priority", "Resources", "(null)"];

/// Returns the reason for a job that seems able to start in the scheduler's next cycle.
fn next(job: &QueueJob) -> WaitReason {
    let reason = job.reason.split(',').next().unwrap_or_default().trim();
    if PLAIN.contains(&reason) {
        let text = "nothing prevents its start: it starts in the scheduler's next cycle";
        return WaitReason::new(WaitKind::Next, "starts in the next cycle", text);
    }
    let brief = format!("Slurm says {}", job.reason.trim());
    let text = format!("{brief}; no other reason is known");
    WaitReason::new(WaitKind::Slurm, brief, text)
        .with("check the reason that Slurm states: it may be older than the change")
}
