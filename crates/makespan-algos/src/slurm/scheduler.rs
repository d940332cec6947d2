//! The scheduler: pending jobs in their order, and the cycles that start them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use makespan_core::SlurmCycles;

use super::bits::NodeBits;
use super::model::{CandidateKey, ClusterModel, JobCandidate};
use super::usage::{Gap, RunningUsage};
use super::world::World;

/// A limit that delayed the jobs of a group.
#[derive(Clone, Copy, Debug)]
pub struct LimitDelay {
    /// The index of the counter.
    pub counter: usize,
    /// The instant from which a job no longer waited for this limit, but for nodes. `None` if there is no such instant.
    pub lacks_nodes_at: Option<i64>,
}

/// The start of a job.
#[derive(Clone, Debug)]
pub struct JobStart {
    /// The index of the job.
    pub job: usize,
    /// The number of the running job ([`World::running`]).
    pub number: usize,
    /// The time for which the job may run.
    pub granted: i64,
    /// The previous scheduling cycle of the kind that started the job.
    pub cycle_before: i64,
    /// The last limit that delayed the group of the job.
    pub limited: Option<LimitDelay>,
}

/// Slurm's scheduler. The caller reports arrivals and ends of jobs, and calls [`SlurmScheduler::decide`] at each instant
/// with an event, and at the instant [`SlurmScheduler::next_cycle`].
#[derive(Clone, Debug)]
pub struct SlurmScheduler {
    /// The free resources and the running jobs.
    pub world: World,
    /// False if deadlines do not limit the time of jobs that accept less than their time limits.
    pub heeds_deadlines: bool,
    /// The priority of each candidate.
    priorities: Vec<u64>,
    /// True if `waiting` is in ascending order of the indices of candidates.
    is_in_order: bool,
    /// For each job, true if the job waits.
    waits: Vec<bool>,
    /// The candidates of waiting jobs, in the order in which the scheduler considers them. Some of these jobs may no
    /// longer wait.
    pub(super) waiting: Vec<u32>,
    /// Number of waiting jobs.
    waiting_jobs: usize,
    /// For each partition, the number of candidates of waiting jobs.
    pub(super) waiting_in: Vec<usize>,
    pub(super) blocked: NodeBits,
    pub(super) cycles: SlurmCycles,
    /// The previous cycle of the kind of the current cycle.
    pub(super) last_cycle: i64,
    /// For each group of limits, the last limit that delayed the group.
    pub(super) limited: Vec<Option<LimitDelay>>,
    /// For each group of limits, the last cycle in which a limit delayed the group.
    pub(super) limited_at: Vec<u64>,
    /// For each request, the last cycle in which the request did not fit.
    pub(super) failed: Vec<u64>,
    /// For each request, the last cycle in which a start was searched, and this start. Without a start, an instant that is
    /// later than all others.
    pub(super) places: Vec<(u64, i64)>,
    /// The number of the current cycles.
    pub(super) look: u64,
    /// An upper bound on the number of candidates in `waiting` of jobs that no longer wait.
    pub(super) stale: usize,
    /// A number of candidates at the front of `waiting`, all of jobs that no longer wait.
    pub(super) head: usize,
    /// For each job that did not start although enough nodes were free, the time for which these nodes were free.
    /// `None` if these times are not recorded.
    pub(super) gaps: Option<HashMap<usize, Gap>>,
    pub(super) starts: Vec<JobStart>,
    /// The position in `waiting` at which a backfill cycle begins, and a list with one entry for each candidate that the
    /// cycle may visit. The entry is the minimum number of processors that the job of this candidate or a later job in the
    /// list requests. The list may be empty, and is always empty for a platform of nodes.
    pub(super) least: (usize, Vec<u64>),
}

impl SlurmScheduler {
    /// Returns a scheduler without running and waiting jobs.
    pub fn new(model: Arc<ClusterModel>) -> Self {
        let mut scheduler = Self {
            heeds_deadlines: true,
            priorities: Vec::new(),
            is_in_order: true,
            waits: Vec::new(),
            waiting: Vec::new(),
            waiting_jobs: 0,
            waiting_in: vec![0; model.partitions.len()],
            blocked: NodeBits::new(model.sites.len()),
            cycles: SlurmCycles::new(model.cycles.clone()),
            last_cycle: i64::MIN,
            limited: Vec::new(),
            limited_at: Vec::new(),
            failed: Vec::new(),
            places: Vec::new(),
            look: 0,
            stale: 0,
            head: 0,
            gaps: None,
            starts: Vec::new(),
            least: (0, Vec::new()),
            world: World::new(model),
        };
        scheduler.grow();
        scheduler
    }

    /// Returns the nodes and jobs.
    pub fn model(&self) -> &ClusterModel {
        &self.world.model
    }

    /// Changes the model, such as by adding jobs. Nodes must not change.
    pub fn change_model<T>(&mut self, change: impl FnOnce(&mut ClusterModel) -> T) -> T {
        let result = change(Arc::make_mut(&mut self.world.model));
        self.grow();
        result
    }

    /// Extends all arrays after the model has grown.
    fn grow(&mut self) {
        let model = self.world.model.clone();
        self.priorities.extend(model.bids[self.priorities.len()..].iter().map(|bid| bid.pair.priority));
        self.waits.resize(model.jobs.len(), false);
        self.limited.resize(model.groups.len(), None);
        self.limited_at.resize(model.groups.len(), 0);
        self.failed.resize(model.shapes.len(), 0);
        self.places.resize(model.shapes.len(), (0, i64::MIN));
        self.world.grow();
    }

    /// Records, from now on, how long nodes are free for jobs that do not start ([`SlurmScheduler::gap`]).
    pub fn record_gaps(&mut self) {
        self.gaps = Some(HashMap::new());
    }

    /// If a job did not start although enough nodes were free, returns how long these nodes were free.
    pub fn gap(&self, job: usize) -> Option<Gap> {
        self.gaps.as_ref()?.get(&job).copied()
    }

    /// Adds a running job. Returns its number.
    pub fn begin(&mut self, running: RunningUsage) -> usize {
        self.world.count(&running, true);
        self.world.take(running)
    }

    /// Ends a running job. Returns `None` if no job has this number.
    pub fn end(&mut self, number: usize) -> Option<RunningUsage> {
        let running = self.world.give_back(number)?;
        self.world.count(&running, false);
        Some(running)
    }

    /// Sets the assumed end of a running job. The number of the job stays the same.
    pub fn extend(&mut self, number: usize, believed: i64) {
        if let Some(running) = self.end(number) {
            let same = self.begin(RunningUsage { believed, ..running });
            debug_assert_eq!(same, number);
        }
    }

    /// Removes all running jobs, and advances to the instant `now`.
    pub fn clear(&mut self, now: i64) {
        self.world = World::new(self.world.model.clone());
        self.advance(now);
    }

    /// Advances to an instant.
    pub fn advance(&mut self, now: i64) {
        self.world.advance(now);
    }

    /// Adds a job to the waiting jobs. Has no effect if the job waits already.
    pub fn enter(&mut self, job: usize) {
        if self.count_waiting(job, true) {
            let model = self.world.model.clone();
            for &bid in &model.jobs[job].bids {
                let key = self.key(bid);
                if let Err(place) = self.waiting.binary_search_by(|&other| self.key(other).cmp(&key)) {
                    self.waiting.insert(place, bid);
                    self.head = self.head.min(place);
                }
            }
        }
    }

    /// Removes a job from the waiting jobs.
    pub fn leave(&mut self, job: usize) {
        if self.count_waiting(job, false) {
            let model = &self.world.model;
            self.waiting.retain(|&bid| model.bids[bid as usize].job != job);
            self.head = 0;
        }
    }

    /// Returns true if a job waits.
    pub fn is_waiting(&self, job: usize) -> bool {
        self.waits[job]
    }

    /// Returns true if some job waits.
    pub fn has_waiting(&self) -> bool {
        self.waiting_jobs > 0
    }

    /// Returns, for each job, the number of candidates that the scheduler considers before it and that compete with it: for
    /// nodes of the same reservation, or for the same unreserved nodes.
    pub fn positions(&self) -> Vec<usize> {
        let model = self.model();
        let mut positions = vec![None; self.waits.len()];
        // For each pair of a reservation and a set of nodes, the number of candidates so far.
        let mut before: BTreeMap<(Option<usize>, usize), usize> = BTreeMap::new();
        for &bid in &self.waiting {
            let candidate = self.candidate(bid);
            let shape = &model.shapes[candidate.shape];
            let competes = |other: &(&(Option<usize>, usize), &usize)| {
                other.0.0 == shape.reservation && model.sets[other.0.1].intersects(&model.sets[shape.set])
            };
            let position = &mut positions[candidate.job];
            if position.is_none() {
                *position = Some(before.iter().filter(competes).map(|other| other.1).sum());
            }
            *before.entry((shape.reservation, shape.set)).or_insert(0) += 1;
        }
        positions.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Sets whether a job waits. Returns false if nothing changes.
    pub(super) fn count_waiting(&mut self, job: usize, comes: bool) -> bool {
        if std::mem::replace(&mut self.waits[job], comes) == comes {
            return false;
        }
        self.waiting_jobs = if comes { self.waiting_jobs + 1 } else { self.waiting_jobs - 1 };
        let model = &self.world.model;
        for &bid in &model.jobs[job].bids {
            let count = &mut self.waiting_in[model.bids[bid as usize].partition];
            *count = if comes { *count + 1 } else { *count - 1 };
        }
        true
    }

    /// Sets the priority of each waiting candidate, and sorts the candidates.
    pub fn set_priorities(&mut self, priority: impl Fn(&JobCandidate) -> u64) {
        self.compact();
        let model = self.world.model.clone();
        for &bid in &self.waiting {
            self.priorities[bid as usize] = priority(&model.bids[bid as usize]);
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|&bid| self.key(bid));
        self.waiting = waiting;
        self.is_in_order = false;
    }

    /// Sets the priority of a candidate that does not wait yet.
    pub fn set_priority(&mut self, bid: u32, priority: u64) {
        self.priorities[bid as usize] = priority;
        self.is_in_order = false;
    }

    fn key(&self, bid: u32) -> CandidateKey {
        self.candidate(bid).key(self.priorities[bid as usize], bid)
    }

    /// Notes that jobs or nodes have changed, so another backfill cycle is due.
    pub fn note_change(&mut self) {
        self.cycles.note_change();
    }

    /// Runs the scheduling cycles that are due at the instant `now`. Returns the jobs that start.
    pub fn decide(&mut self, now: i64) -> Vec<JobStart> {
        self.advance(now);
        let mut cycles = self.cycles.clone();
        cycles.run(now, self);
        self.cycles = cycles;
        std::mem::take(&mut self.starts)
    }

    /// Returns the next instant at which cycles must run even if no event occurs before.
    pub fn next_cycle(&self) -> Option<i64> {
        self.cycles.next().filter(|_| self.has_waiting())
    }

    /// Returns a candidate.
    pub(super) fn candidate(&self, bid: u32) -> &JobCandidate {
        &self.world.model.bids[bid as usize]
    }

    /// Returns the priority of a candidate.
    pub(super) fn priority(&self, bid: u32) -> u64 {
        self.priorities[bid as usize]
    }

    /// Returns true if the job of a candidate waits.
    pub(super) fn bid_waits(&self, bid: u32) -> bool {
        self.waits[self.candidate(bid).job]
    }

    /// Returns true if `waiting` is in ascending order of the indices of candidates.
    pub(super) fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// Removes the candidates of jobs that no longer wait.
    pub(super) fn compact(&mut self) {
        (self.stale, self.head) = (0, 0);
        let (model, waits) = (&self.world.model, &self.waits);
        self.waiting.retain(|&bid| waits[model.bids[bid as usize].job]);
    }
}
