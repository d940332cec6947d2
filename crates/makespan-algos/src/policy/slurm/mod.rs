//! Slurm's scheduling, as described in its documentation.

mod asked;
mod asking;
mod board;
mod cycles;
mod fit;
mod limits;
mod nodes;
mod priority;
mod rules;
#[cfg(test)]
mod tests;
mod unheeded;

use std::cmp::Reverse;

use makespan_core::{CyclePair, Decision, Event, FairShares, Instance, Policy, SlurmCycles, TaskId, Time, View};
use rustc_hash::{FxHashMap, FxHashSet};

use self::asked::JobRequest;
use self::asking::{Asking, RequestTables};
use self::board::AvailabilityBoard;
use self::cycles::CycleMoment;
use self::limits::{AllLimits, LimitAmounts};
use self::priority::Priorities;
use super::order::{Request, Widths};

pub use rules::{PriorityRules, SlurmRules};
pub use unheeded::{IgnoredRules, unheeded};

/// Simulates Slurm's two cycles. The *main* cycle runs at every event, visits jobs by priority and starts them. The
/// first job that does not fit in a partition blocks the partition and its nodes for all jobs of lower priority. The
/// *backfill* cycle runs after a change, at least an interval after the previous backfill cycle. This cycle plans jobs
/// by priority, in each of their partitions, as early as the jobs of higher priority allow. It starts the jobs that are
/// planned to start now, and then discards the plan. If the platform has several nodes or partitions, a plan reserves
/// whole nodes. A job gets the first nodes of the platform that are enough.
///
/// Jobs are expected to run for their time limits, in whole minutes. A platform may have the rules of a shared cluster
/// ([`makespan_core::Site`]): partitions with tiers and limits, features, classes of service, limits of users and
/// accounts, and reservations. The policy applies these rules to the data in the [`makespan_core::Submission`] of a
/// job. A job that can never start is cancelled. This applies to jobs that are held, request more than the rules
/// allow, request something that no node has, or cannot end by their deadline. A job that accepts less than its full
/// time limit starts as soon as nodes are free for its minimum time. It gets the longest time, up to its limit, that
/// delays no other job.
///
/// Source: the manual pages `slurm.conf` and `sacctmgr`, and "Scheduling Configuration Guide", "Multifactor Priority
/// Plugin", "Fair Tree Fairshare Algorithm" of Slurm 24.11, <https://slurm.schedmd.com>; A. Yoo, M. Jette, M.
/// Grondona, "SLURM: simple Linux utility for resource management", JSSPP 2003, DOI `10.1007/10968987_3`. Deviations:
/// cycles take no time, so parameters that limit their duration do not exist (`bf_max_time`, `bf_yield_interval`,
/// `bf_continue`, `max_sched_time`, `batch_sched_delay`). There is no preemption, and there are no heterogeneous jobs,
/// burst buffers or topology. Guarantee: none, except that a job that fits starts if no other job waits. Complexity: a
/// main cycle visits jobs until each partition is blocked, and a backfill cycle visits up to `bf_max_job_test` jobs.
/// Each visit is a walk over nodes and ends.
///
/// ```
/// let policy = makespan_algos::policy::policy("slurm[weight_age=1000,weight_fairshare=10000,half_life=14d]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug)]
pub struct Slurm {
    rules: SlurmRules,
    request: Request,
    state: Option<State>,
}

/// A waiting job, in one of its partitions.
#[derive(Debug)]
struct Waiting {
    asked: JobRequest,
    pair: CyclePair,
}

impl Waiting {
    /// Returns the sort key of the queue. Jobs with smaller keys come first.
    fn key(&self) -> (Reverse<(i64, u64)>, Time, TaskId) {
        (Reverse((self.asked.tier, self.pair.priority)), self.asked.submitted, self.asked.task)
    }
}

/// A running job.
#[derive(Debug)]
struct Runs {
    limits: Vec<u32>,
    amounts: LimitAmounts,
    user: usize,
    processors: u32,
    /// The expected run time of the job in ticks, and whether it uses its nodes exclusively.
    limit: (i64, bool),
}

/// The state of the policy. Each event updates it.
#[derive(Debug)]
struct State {
    asking: Asking,
    limits: AllLimits,
    shares: FairShares,
    priorities: Priorities,
    board: AvailabilityBoard,
    /// The pairs of a waiting job and a partition, by priority.
    queue: Vec<Waiting>,
    /// The number of pairs of each partition.
    waiting_in: Vec<usize>,
    /// The tasks in `queue`.
    queued: FxHashSet<TaskId>,
    running: FxHashMap<TaskId, Runs>,
    /// Whether priorities change over time.
    moving: bool,
    /// The instant at which usage and priorities were last computed.
    computed: Option<Time>,
    cycles: SlurmCycles,
    /// Instants at which nodes become available or a job can no longer meet its deadline, without an event, in
    /// ascending order.
    silent: Vec<Time>,
    /// Tasks that can never start.
    hopeless: Vec<TaskId>,
}

impl Slurm {
    /// Returns a policy that follows `rules`. `request` determines the number of processors of a moldable job.
    pub fn new(rules: SlurmRules, request: Request) -> Self {
        Self { rules, request, state: None }
    }
}

impl State {
    fn new(rules: &SlurmRules, request: Request, view: &View<'_>) -> Self {
        let instance = view.instance;
        let platform = instance.platform();
        let site = platform.site();
        let own = &rules.priority;
        let mut silent: Vec<Time> = instance.unavailable().iter().map(|period| period.end).collect();
        silent.extend(site.into_iter().flat_map(|site| &site.reservations).flat_map(|one| [one.start, one.end]));
        silent.sort_unstable();
        silent.dedup();
        let mut state = Self {
            asking: Asking::new(Widths::new(request, instance), own.favor_small),
            limits: AllLimits::default(),
            shares: FairShares::new(site.map_or(&[][..], |site| &site.associations), own.half_life),
            priorities: Priorities::new(own.clone(), platform),
            board: AvailabilityBoard::new(instance, view.now.ticks()),
            queue: Vec::new(),
            waiting_in: vec![0; site.map_or(1, |site| site.partitions.len().max(1))],
            queued: FxHashSet::default(),
            running: FxHashMap::default(),
            moving: own.weighs(),
            computed: None,
            cycles: SlurmCycles::new(rules.cycles.clone()),
            silent,
            hopeless: Vec::new(),
        };
        for run in view.running {
            state.see_running(run.task, run.processors.len(), view);
        }
        view.waiting.iter().for_each(|task| state.arrive(task, view));
        state.see_board(view);
        state
    }

    /// Reads the board from the view.
    fn see_board(&mut self, view: &View<'_>) {
        let running = &self.running;
        self.board = AvailabilityBoard::see(view, |task| running.get(&task).map(|runs| runs.limit));
    }

    /// Adds a running task that another policy started.
    fn see_running(&mut self, task: TaskId, processors: u32, view: &View<'_>) {
        let Self { asking, board, limits, shares, .. } = self;
        let mut tables = RequestTables { board, limits, shares };
        let Some(mut asked) = asking.of_running(view.instance, task, &mut tables) else { return };
        // If a task started before instant 0, its remaining limit may be a fraction of a minute.
        let began = view.running.iter().find(|run| run.task == task).map(|run| run.start);
        asked.limit = asked.whole_limit;
        if let Some(left) = view.instance.walltime(task).filter(|_| began == Some(view.now)) {
            asked.limit = left.ticks();
        }
        self.count_for(&asked, asked.limit, asked.amounts.clone(), processors, view.now);
    }

    /// Adds a running job that may run for `granted` ticks.
    fn count_for(&mut self, asked: &JobRequest, granted: i64, amounts: LimitAmounts, processors: u32, now: Time) {
        let limits = asked.place.limits.clone();
        self.limits.change(&limits, &amounts, true);
        self.shares.change(asked.user, processors.into(), now);
        let limit = (granted, asked.exclusive);
        self.running.insert(asked.task, Runs { limits, amounts, user: asked.user, processors, limit });
    }

    fn arrive(&mut self, task: TaskId, view: &View<'_>) {
        let Self { asking, board, limits, shares, .. } = self;
        let all = asking.of_waiting(view.instance, task, &mut RequestTables { board, limits, shares });
        let Some(latest) = all.first().map(|asked| asked.latest) else { return self.hopeless.push(task) };
        // The job is cancelled when its latest possible start is a second ago.
        if let Some(at) = latest.checked_add(Time::TICKS_PER_SECOND).map(Time::from_ticks) {
            let place = self.silent.partition_point(|&other| other <= at);
            self.silent.insert(place, at);
        }
        self.queued.insert(task);
        for asked in all {
            let pair = CyclePair {
                job: task.index(),
                partition: asked.place.partition,
                user: asked.user,
                array: asked.array,
                has_reservation: asked.reservation.is_some(),
                submitted: asked.submitted.ticks(),
                priority: self.priorities.of(&asked, &self.shares, view.now),
            };
            self.waiting_in[pair.partition] += 1;
            let new = Waiting { asked, pair };
            // Pairs of a job with equal priorities stay in the order of the request.
            let at = self.queue.partition_point(|other| other.key() <= new.key());
            self.queue.insert(at, new);
        }
    }

    fn leave(&mut self, task: TaskId) {
        if self.queued.remove(&task) {
            remove(&mut self.queue, &mut self.waiting_in, |other| other == task);
        }
    }

    /// Cancels the jobs that can no longer end by their deadlines or in their reservations.
    fn cancel_late(&mut self, now: Time) {
        let Self { queue, waiting_in, queued, hopeless, .. } = self;
        let late = queue.iter().filter(|waiting| now.ticks() > waiting.asked.latest).map(|waiting| waiting.asked.task);
        hopeless.extend(late.filter(|task| queued.remove(task)));
        remove(queue, waiting_in, |task| !queued.contains(&task));
    }

    fn end(&mut self, task: TaskId, now: Time) {
        self.board.end(task, now.ticks());
        match self.running.remove(&task) {
            None => self.leave(task),
            Some(runs) => {
                self.limits.change(&runs.limits, &runs.amounts, false);
                self.shares.change(runs.user, -f64::from(runs.processors), now);
            }
        }
    }

    /// Processes events.
    fn hear(&mut self, events: &[Event], view: &View<'_>) {
        let mut anew = false;
        for event in events {
            match *event {
                Event::Finished(task) | Event::Failed(task) => self.end(task, view.now),
                Event::Interrupted(task) => {
                    self.end(task, view.now);
                    self.arrive(task, view);
                    anew = true;
                }
                Event::Submitted(task) if view.waiting.contains(task) => {
                    if !self.queued.contains(&task) {
                        self.arrive(task, view);
                    }
                }
                Event::NodeUp(_) | Event::NodeDown(_) => anew = true,
                Event::Submitted(_) | Event::Estimated(_) | Event::Wake => continue,
            }
            self.cycles.note_change();
        }
        let restated = Event::estimated(events, view.instance);
        for task in restated.iter() {
            if self.queued.contains(&task) {
                self.leave(task);
                self.arrive(task, view);
            }
            anew = true;
        }
        if self.queued.len() + self.hopeless.len() != view.waiting.len() {
            self.queue.clear();
            self.queued.clear();
            self.waiting_in.fill(0);
            self.hopeless.clear();
            view.waiting.iter().for_each(|task| self.arrive(task, view));
        }
        if anew || self.board.running() != view.running.len() {
            self.cycles.note_change();
            self.see_board(view);
        }
        let start = |task| view.running.iter().find(|run| run.task == task).map(|run| run.start);
        self.board.advance(view.now, start);
        let past = self.silent.partition_point(|&at| at <= view.now);
        if past > 0 {
            self.silent.drain(..past);
            self.cycles.note_change();
            self.cancel_late(view.now);
        }
    }

    /// Returns the next instant at which the policy must be called, even if no event occurs.
    fn wake(&self) -> Option<Time> {
        let next = self.cycles.next().map(Time::from_ticks);
        [next, self.silent.first().copied()].into_iter().flatten().min().filter(|_| !self.queue.is_empty())
    }

    /// If usage and priorities are due, computes them.
    fn compute(&mut self, rules: &PriorityRules, now: Time) {
        let due = self.computed.is_none_or(|before| now >= before + rules.calc_period);
        if !self.moving || !due {
            return;
        }
        self.computed = Some(now);
        self.shares.compute(now, rules.fair_tree);
        for waiting in &mut self.queue {
            waiting.pair.priority = self.priorities.of(&waiting.asked, &self.shares, now);
        }
        self.queue.sort_by_key(Waiting::key);
    }
}

/// Removes from a queue all pairs (task, partition) with a task for which `is_gone` returns true. `waiting_in` is the
/// number of pairs of each partition.
fn remove(queue: &mut Vec<Waiting>, waiting_in: &mut [usize], is_gone: impl Fn(TaskId) -> bool) {
    for gone in queue.extract_if(.., |waiting| is_gone(waiting.asked.task)) {
        waiting_in[gone.pair.partition] -= 1;
    }
}

impl Policy for Slurm {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        match &mut self.state {
            None => self.state = Some(State::new(&self.rules, self.request, view)),
            Some(state) => state.hear(events, view),
        }
        let Some(state) = &mut self.state else { return };
        state.compute(&self.rules.priority, view.now);
        let mut cycles = state.cycles.clone();
        let mut moment = CycleMoment::new(state, &self.rules.cycles, view, decisions);
        cycles.run(view.now.ticks(), &mut moment);
        moment.finish();
        state.cycles = cycles;
        decisions.extend(state.hopeless.drain(..).map(Decision::Cancel));
        decisions.extend(state.wake().map(Decision::WakeAt));
    }
}

/// Checks that the platform has all resources that the parameter `weight_tres` names.
pub(super) fn has_weighed(instance: &Instance, names: &[Box<str>]) -> Result<(), makespan_core::Unsupported> {
    let platform = instance.platform();
    match names.iter().find(|name| limits::position(platform, name).is_none()) {
        None => Ok(()),
        Some(unknown) => {
            let named = [makespan_core::Site::CPUS, makespan_core::Site::NODES]
                .into_iter()
                .chain(platform.resources().iter().map(|one| &*one.name));
            let named = named.collect::<Vec<_>>().join(", ");
            Err(makespan_core::Unsupported(format!(
                "weight_tres={unknown}, but the platform has no {unknown}; the platform has {named}"
            )))
        }
    }
}

/// Checks that the policy supports an instance. Best placement must not be required.
pub(super) fn supports(instance: &Instance) -> Result<(), makespan_core::Unsupported> {
    if instance.platform().restricts_placement() {
        return Err(makespan_core::Unsupported(
            "it does not support best placement on nodes; use easy or conservative".into(),
        ));
    }
    Ok(())
}
