//! The main cycle and the backfill cycle.

use std::ops::RangeInclusive;
use std::sync::Arc;

use makespan_core::{CycleCounts, Instance, Time};
use rustc_hash::FxHashMap;

use super::asked::{JobPartition, JobRequest};
use super::board::{AvailabilityBoard, Fit};
use super::nodes::JobNodes;
use super::rules::SlurmRules;
use super::{Moment, State, Waiting};

/// The partitions and nodes on which jobs of lower priority cannot start in a main cycle.
struct Blocked {
    partitions: Vec<bool>,
    /// Whether each node is blocked, by its index on the board.
    nodes: Vec<bool>,
    any: bool,
}

impl Blocked {
    fn new(instance: &Instance) -> Self {
        let partitions = instance.platform().site().map_or(1, |site| site.partitions.len().max(1));
        Self { partitions: vec![false; partitions], nodes: Vec::new(), any: false }
    }

    /// Blocks a partition in which a job does not fit, and the nodes of this partition.
    fn block(&mut self, instance: &Instance, partition: usize) {
        let platform = instance.platform();
        self.partitions[partition] = true;
        self.any = true;
        let own = platform.site().and_then(|site| site.partitions.get(partition));
        let Some(own) = own else { return };
        if self.nodes.is_empty() {
            self.nodes = vec![false; platform.node_count()];
        }
        AvailabilityBoard::numbers(platform, own.nodes.iter().copied())
            .into_iter()
            .for_each(|node| self.nodes[node as usize] = true);
    }

    /// Returns the nodes that are not blocked.
    fn open(&self, nodes: &[u32]) -> Vec<u32> {
        let is_open = |node: &u32| !self.nodes.get(*node as usize).copied().unwrap_or(false);
        nodes.iter().copied().filter(is_open).collect()
    }

    fn all(&self) -> bool {
        self.partitions.iter().all(|&blocked| blocked)
    }
}

/// Starts that were found earlier in a cycle. During a cycle, jobs are only added to the plan. So if a job requests at
/// least as much as an earlier job on the same nodes, it cannot start before the earlier job.
#[derive(Default)]
struct Known(Vec<Found>);

/// A request and its first start. The request consists of nodes, a number of processors, and a time.
struct Found {
    nodes: Arc<[u32]>,
    processors: u32,
    limit: i64,
    start: i64,
}

impl Known {
    /// Returns whether the number of processors and the time determine the request of a job completely.
    fn says_all(asked: &JobRequest) -> bool {
        let spread = asked.nodes == (1, u32::MAX) && asked.per_node == u32::MAX && asked.least_per_node <= 1;
        spread && asked.demands.is_empty() && !asked.exclusive && asked.reservation.is_none()
    }

    /// Returns an instant before which the job cannot start.
    fn start(&self, asked: &JobRequest, place: &JobPartition) -> i64 {
        let nodes = &place.nodes;
        if !Self::says_all(asked) || place.counted.is_some() {
            return i64::MIN;
        }
        let less = |one: &&Found| {
            one.processors <= asked.processors && one.limit <= asked.limit && Arc::ptr_eq(&one.nodes, nodes)
        };
        self.0.iter().filter(less).map(|one| one.start).max().unwrap_or(i64::MIN)
    }

    fn learn(&mut self, asked: &JobRequest, place: &JobPartition, start: i64) {
        let nodes = &place.nodes;
        if Self::says_all(asked) && place.counted.is_none() {
            let JobRequest { processors, limit, .. } = *asked;
            let says_less = |one: &Found| {
                one.processors >= processors
                    && one.limit >= limit
                    && one.start <= start
                    && Arc::ptr_eq(&one.nodes, nodes)
            };
            self.0.retain(|one| !says_less(one));
            self.0.push(Found { nodes: nodes.clone(), processors, limit, start });
        }
    }
}

/// The plan of a backfill cycle.
struct BackfillPlan {
    board: AvailabilityBoard,
    known: Known,
    /// For each array, the number of reservations for its tasks.
    of_arrays: FxHashMap<Arc<str>, usize>,
}

impl BackfillPlan {
    /// Reserves the nodes of a waiting job, unless the rules allow no reservation for the job.
    fn reserve(&mut self, waiting: &Waiting, fit: &Fit, rules: &SlurmRules, now: Time) {
        if !is_reserved(waiting, rules, now) {
            return;
        }
        if let Some(array) = &waiting.asked.array {
            let count = self.of_arrays.entry(array.clone()).or_insert(0);
            if *count >= rules.bf_max_job_array_resv {
                return;
            }
            *count += 1;
        }
        self.board.reserve(fit, rules.bf_resolution.ticks());
    }
}

impl State {
    /// Main cycle: starts jobs by priority, until every partition is blocked.
    pub(super) fn main_cycle(&mut self, rules: &SlurmRules, moment: &mut Moment<'_, '_>) {
        let now = moment.view.now;
        let all = self.looked_at_all.is_none_or(|before| now >= before + rules.sched_interval);
        let mut blocked = Blocked::new(moment.view.instance);
        let mut by_partition = CycleCounts::default();
        if all {
            (self.looked_at_all, self.cut) = (Some(now), false);
        }
        let queue = std::mem::take(&mut self.queue);
        let mut started = Vec::new();
        for (at, waiting) in queue.iter().enumerate() {
            if blocked.all() {
                break;
            }
            if !all && at >= rules.default_queue_depth {
                self.cut = true;
                break;
            }
            if self.is_over(&waiting.asked, now) {
                self.hopeless.push(waiting.asked.task);
                started.push(at);
                continue;
            }
            let first = waiting.asked.places[0].partition;
            let is_beyond = by_partition.is_beyond(first, rules.partition_job_depth);
            if !is_beyond && self.try_now(waiting, &mut blocked, rules, moment) {
                started.push(at);
            }
        }
        self.put_back(queue, &started);
    }

    /// Restores the queue, without the jobs that have started or can never start. `started` contains their positions
    /// in ascending order.
    fn put_back(&mut self, queue: Vec<Waiting>, started: &[usize]) {
        self.queue = queue;
        if let (Some(&first), Some(&last)) = (started.first(), started.last()) {
            let mut at = first;
            let those = self.queue.extract_if(first..=last, |_| {
                at += 1;
                started.binary_search(&(at - 1)).is_ok()
            });
            for gone in those {
                self.queued.remove(&gone.asked.task);
            }
        }
    }

    /// Starts a job now if it fits in one of its partitions. Blocks each of its partitions in which it does not fit. A
    /// job that may not have a reservation blocks no partition.
    fn try_now(
        &mut self,
        waiting: &Waiting,
        blocked: &mut Blocked,
        rules: &SlurmRules,
        moment: &mut Moment<'_, '_>,
    ) -> bool {
        let (asked, now) = (&waiting.asked, moment.view.now.ticks());
        for (at, place) in asked.places.iter().enumerate() {
            if blocked.partitions[place.partition] || !self.limits.have_room(&place.limits, &asked.amounts) {
                continue;
            }
            if !self.board.has_licences(asked, now, now.saturating_add(asked.limit)) {
                continue;
            }
            let open = if blocked.any { blocked.open(&place.nodes) } else { place.nodes.to_vec() };
            let open = JobNodes { numbers: &open, ..place.all() };
            let fit = self.board.earliest(asked, open, now, now).map(|fit| self.board.extended(asked, fit));
            if fit.is_some_and(|fit| self.start(asked, at, &fit, moment)) {
                self.changed = true;
                return true;
            }
            // A partition may offer several ways to satisfy the constraint. Block the partition only after the last of
            // these ways, because another way may fit.
            let is_last = asked.places.get(at + 1).is_none_or(|next| next.partition != place.partition);
            // Do not block the partition for a job in a reservation. Such a job does not compete for nodes outside the
            // reservation.
            if is_last && asked.reservation.is_none() && is_reserved(waiting, rules, moment.view.now) {
                blocked.block(moment.view.instance, place.partition);
            }
        }
        false
    }

    /// Backfill cycle: plans jobs by priority, and starts the jobs that fit now.
    pub(super) fn backfill_cycle(&mut self, rules: &SlurmRules, moment: &mut Moment<'_, '_>) {
        let now = moment.view.now;
        (self.cycle, self.changed, self.due) = (Some(now), false, None);
        let mut plan =
            BackfillPlan { board: self.board.for_plans(), known: Known::default(), of_arrays: FxHashMap::default() };
        let (mut by_partition, mut by_user) = (CycleCounts::default(), CycleCounts::default());
        let queue = std::mem::take(&mut self.queue);
        let mut least = narrowest(&queue, rules.bf_max_job_test);
        let mut started = Vec::new();
        for (at, waiting) in queue.iter().enumerate().take(rules.bf_max_job_test) {
            // Stop if no later job fits now. Later jobs could only be planned, and the plan is discarded after the
            // cycle.
            if moment.free.len() < least.pop().unwrap_or(u32::MAX) {
                break;
            }
            let asked = &waiting.asked;
            if self.is_over(asked, now) {
                // This cycle visits no more jobs than before, so another cycle must visit the jobs behind them.
                self.changed |= queue.len() > rules.bf_max_job_test;
                self.hopeless.push(asked.task);
                started.push(at);
                continue;
            }
            if by_partition.is_beyond(asked.places[0].partition, rules.bf_max_job_part)
                || by_user.is_beyond(asked.user, rules.bf_max_job_user)
            {
                continue;
            }
            if self.start_or_plan(waiting, &mut plan, rules, moment) {
                started.push(at);
                if rules.bf_max_job_start > 0 && started.len() >= rules.bf_max_job_start {
                    self.changed = true;
                    break;
                }
            }
        }
        self.put_back(queue, &started);
    }

    /// Starts a job in the first of its partitions in which it can start now, and returns true. If there is none, adds
    /// the job to the plan in each of its partitions.
    fn start_or_plan(
        &mut self,
        waiting: &Waiting,
        plan: &mut BackfillPlan,
        rules: &SlurmRules,
        moment: &mut Moment<'_, '_>,
    ) -> bool {
        let (asked, now, resolution) = (&waiting.asked, moment.view.now, rules.bf_resolution.ticks());
        let window = now.ticks()..=(now + rules.bf_window).ticks();
        for at in 0..asked.places.len() {
            let Some(fit) = self.earliest(asked, at, plan, window.clone()) else { continue };
            if fit.start > now.ticks() {
                plan.reserve(waiting, &fit, rules, now);
                continue;
            }
            let fit = plan.board.extended(asked, fit);
            if self.start(asked, at, &fit, moment) {
                plan.board.plan(&fit, resolution);
                return true;
            }
        }
        false
    }

    /// Returns whether a job can no longer run. In this case, the deadline of the job is too close, or the reservation
    /// of the job ends too soon.
    fn is_over(&self, asked: &JobRequest, now: Time) -> bool {
        now.ticks() > asked.latest || asked.reservation.is_some() && self.board.is_over(asked, now.ticks())
    }

    /// Returns the first fit of a job in one of its partitions within a period, if the limits allow the job. The period
    /// begins now. `at` is the index of the partition in the request.
    fn earliest(
        &self,
        asked: &JobRequest,
        at: usize,
        plan: &mut BackfillPlan,
        window: RangeInclusive<i64>,
    ) -> Option<Fit> {
        let place = &asked.places[at];
        // As in Slurm, a job that waits for licences is not planned.
        let (now, until) = window.into_inner();
        let has_licences = self.board.has_licences(asked, now, now.saturating_add(asked.limit));
        if !has_licences || !self.limits.have_room(&place.limits, &asked.amounts) {
            return None;
        }
        let BackfillPlan { board, known, .. } = plan;
        let from = known.start(asked, place).max(now);
        if from > until {
            return None;
        }
        let found = board.earliest(asked, place.all(), from, until);
        match &found {
            Some(fit) if fit.start > from => known.learn(asked, place, fit.start),
            None => known.learn(asked, place, i64::MAX),
            Some(_) => {}
        }
        found
    }

    /// If something has changed, schedules a backfill cycle. The first cycle is at once. Each later cycle is at least
    /// the interval after the previous cycle.
    pub(super) fn see_change(&mut self, rules: &SlurmRules, now: Time) {
        if self.changed && self.due.is_none() {
            self.due = Some(self.cycle.map_or(now, |last| now.max(last + rules.bf_interval)));
        }
    }

    /// Returns the next instant at which the policy must be called, even if no event occurs.
    pub(super) fn wake(&self, rules: &SlurmRules) -> Option<Time> {
        if self.queue.is_empty() {
            return None;
        }
        let all = self.looked_at_all.filter(|_| self.cut).map(|before| before + rules.sched_interval);
        [self.due, all, self.silent.first().copied()].into_iter().flatten().min()
    }
}

/// Returns whether a job gets a reservation for a later start. A job gets no reservation if it has waited too short a
/// time or its priority is too low.
fn is_reserved(waiting: &Waiting, rules: &SlurmRules, now: Time) -> bool {
    now - waiting.asked.submitted >= rules.bf_min_age_reserve && waiting.priority >= rules.bf_min_prio_reserve
}

/// Returns, for each of the first `first` jobs, the minimum number of processors over this job and all later jobs. The
/// last job comes first in the result.
fn narrowest(queue: &[Waiting], first: usize) -> Vec<u32> {
    let mut least = u32::MAX;
    let queue = &queue[..queue.len().min(first)];
    let from_behind = queue.iter().rev().map(|waiting| {
        least = least.min(waiting.asked.processors);
        least
    });
    from_behind.collect()
}
