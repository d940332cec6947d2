//! The waiting jobs and nodes that the two cycles visit.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use makespan_core::{Cycle, CyclePair, CycleQueue, CycleRules, Decision, ProcSet, Time, View};

use super::asked::JobRequest;
use super::board::{AvailabilityBoard, Fit};
use super::nodes::JobNodes;
use super::{State, Waiting, remove};

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
        let plain = !asked.exclusive && asked.reservation.is_none() && asked.place.counted.is_none();
        spread && plain && asked.demands.is_empty()
    }

    /// Returns an instant before which the job cannot start.
    fn start(&self, asked: &JobRequest) -> i64 {
        let nodes = &asked.place.nodes;
        if !Self::says_all(asked) {
            return i64::MIN;
        }
        let less = |one: &&Found| {
            one.processors <= asked.processors && one.limit <= asked.limit && Arc::ptr_eq(&one.nodes, nodes)
        };
        self.0.iter().filter(less).map(|one| one.start).max().unwrap_or(i64::MIN)
    }

    fn learn(&mut self, asked: &JobRequest, start: i64) {
        let nodes = &asked.place.nodes;
        if Self::says_all(asked) {
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
    /// For each of the first pairs, the minimum number of processors of its job and of all later jobs.
    least: Vec<u32>,
    /// The fit of the last pair, if its job could not start now.
    later: Option<Fit>,
}

/// The queue during the cycles of an instant.
pub(super) struct CycleMoment<'a, 'v> {
    pub state: &'a mut State,
    pub rules: &'a CycleRules,
    pub view: &'a View<'v>,
    pub free: ProcSet,
    pub decisions: &'a mut Vec<Decision>,
    queue: Vec<Waiting>,
    /// Whether a job in `queue` no longer waits.
    has_left: bool,
    /// Whether each node is blocked, by its index on the board. Empty if no node is blocked.
    blocked: Vec<bool>,
    plan: Option<BackfillPlan>,
}

impl<'a, 'v> CycleMoment<'a, 'v> {
    pub fn new(
        state: &'a mut State,
        rules: &'a CycleRules,
        view: &'a View<'v>,
        decisions: &'a mut Vec<Decision>,
    ) -> Self {
        let queue = std::mem::take(&mut state.queue);
        let free = view.free.clone();
        Self { state, rules, view, free, decisions, queue, has_left: false, blocked: Vec::new(), plan: None }
    }

    /// Restores the queue.
    pub fn finish(self) {
        self.state.queue = self.queue;
    }

    fn now(&self) -> i64 {
        self.view.now.ticks()
    }

    /// Starts a job. Returns false if its processors are not free.
    fn begin_job(&mut self, at: usize, fit: &Fit) -> bool {
        let asked = &self.queue[at].asked;
        let Some((processors, held)) = self.state.board.processors(fit, &mut self.free) else { return false };
        let mut amounts = asked.amounts.clone();
        amounts[2] = held.nodes().into();
        let granted = held.until - fit.start;
        self.state.count_for(asked, granted, amounts, asked.processors, self.view.now);
        self.state.board.begin(asked.task, held);
        if granted < asked.whole_limit {
            self.decisions.push(Decision::Limit { task: asked.task, time: Time::from_ticks(granted) });
        }
        self.decisions.push(Decision::Start { task: asked.task, processors });
        // The pairs of the job leave the queue at the end of the cycle.
        self.state.queued.remove(&asked.task);
        self.has_left = true;
        true
    }

    /// Returns where a job can start now in a main cycle.
    fn fit_now(&self, asked: &JobRequest) -> Option<Fit> {
        let is_open = |node: &u32| !self.blocked.get(*node as usize).copied().unwrap_or(false);
        let open: Vec<u32> = asked.place.nodes.iter().copied().filter(is_open).collect();
        let open = JobNodes { numbers: &open, ..asked.place.all() };
        self.state.board.earliest(asked, open, self.now(), self.now())
    }
}

impl BackfillPlan {
    fn new(state: &State, queue: &[Waiting], depth: usize) -> Self {
        // If a job has several pairs and starts, its other pairs do not count as visited.
        let first = if state.queued.len() == queue.len() { depth } else { usize::MAX };
        let mut least: Vec<u32> = queue.iter().take(first).map(|waiting| waiting.asked.processors).collect();
        for at in (1..least.len()).rev() {
            least[at - 1] = least[at - 1].min(least[at]);
        }
        Self { board: state.board.for_plans(), known: Known::default(), least, later: None }
    }

    /// Returns the first fit of a job within a period that begins now.
    fn earliest(&mut self, asked: &JobRequest, window: RangeInclusive<i64>) -> Option<Fit> {
        let (now, until) = window.into_inner();
        let from = self.known.start(asked).max(now);
        if from > until {
            return None;
        }
        let found = self.board.earliest(asked, asked.place.all(), from, until);
        match &found {
            Some(fit) if fit.start > from => self.known.learn(asked, fit.start),
            None => self.known.learn(asked, i64::MAX),
            Some(_) => {}
        }
        found
    }
}

impl CycleQueue for CycleMoment<'_, '_> {
    fn begin(&mut self, cycle: Cycle, _: Option<i64>) {
        self.blocked.clear();
        self.plan =
            (cycle == Cycle::Backfill).then(|| BackfillPlan::new(self.state, &self.queue, self.rules.bf_max_job_test));
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.has_left) {
            let State { queued, waiting_in, .. } = &mut *self.state;
            remove(&mut self.queue, waiting_in, |task| !queued.contains(&task));
        }
    }

    fn range(&self) -> Range<usize> {
        0..self.queue.len()
    }

    fn pairs_of_partitions(&self) -> &[usize] {
        &self.state.waiting_in
    }

    fn pair(&self, at: usize) -> Option<CyclePair> {
        let Waiting { asked, pair } = &self.queue[at];
        self.state.queued.contains(&asked.task).then_some(*pair)
    }

    fn is_limited(&mut self, at: usize) -> bool {
        let (asked, now) = (&self.queue[at].asked, self.now());
        !self.state.limits.have_room(&asked.place.limits, &asked.amounts)
            || !self.state.board.has_licences(asked, now, now.saturating_add(asked.limit))
    }

    fn is_full(&self, at: usize) -> bool {
        // The plan is discarded after the cycle. So if no later job fits now, later jobs need no plan.
        let least = self.plan.as_ref().and_then(|plan| plan.least.get(at));
        least.is_some_and(|&least| self.free.len() < least)
    }

    fn start(&mut self, at: usize, cycle: Cycle) -> bool {
        let (asked, now) = (&self.queue[at].asked, self.now());
        let Some(plan) = self.plan.as_mut().filter(|_| cycle == Cycle::Backfill) else {
            let fit = self.fit_now(asked).map(|fit| self.state.board.extended(asked, fit));
            return fit.is_some_and(|fit| self.begin_job(at, &fit));
        };
        plan.later = None;
        let Some(fit) = plan.earliest(asked, now..=now.saturating_add(self.rules.bf_window)) else { return false };
        if fit.start > now {
            plan.later = Some(fit);
            return false;
        }
        let fit = plan.board.extended(asked, fit);
        if !self.begin_job(at, &fit) {
            return false;
        }
        if let Some(plan) = &mut self.plan {
            plan.board.plan(&fit, self.rules.bf_resolution);
        }
        true
    }

    fn block(&mut self, partition: usize) {
        let platform = self.view.instance.platform();
        let Some(own) = platform.site().and_then(|site| site.partitions.get(partition)) else { return };
        self.blocked.resize(platform.node_count(), false);
        let nodes = AvailabilityBoard::numbers(platform, own.nodes.iter().copied());
        nodes.into_iter().for_each(|node| self.blocked[node as usize] = true);
    }

    fn reserve(&mut self, _: usize) -> bool {
        let Some(plan) = &mut self.plan else { return false };
        let Some(fit) = plan.later.take() else { return false };
        plan.board.reserve(&fit, self.rules.bf_resolution);
        true
    }
}
