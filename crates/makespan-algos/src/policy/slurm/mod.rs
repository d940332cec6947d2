//! Slurm's scheduling, as described in its documentation.

mod cluster;
mod limits;
mod priority;
mod requests;
mod rules;
mod seen;
mod task;
mod terms;
#[cfg(test)]
mod tests;
mod unheeded;

use std::collections::BTreeSet;

use makespan_core::{Decision, Event, FairShares, Instance, Policy, ProcSet, TaskId, Time, Unavailable, View};
use rustc_hash::FxHashMap;

use self::cluster::PlatformNodes;
use self::priority::Priorities;
use self::requests::{RequestTables, TaskRequests};
use self::task::{RunningTask, WaitingTask};
use super::order::{Request, Widths};
use crate::slurm::{JobStart, SlurmScheduler};

pub use rules::{PriorityRules, SlurmRules};
pub use unheeded::{IgnoredRules, unheeded};

/// Simulates Slurm's two cycles. The *main* cycle runs at every event, visits jobs by priority and starts them. The
/// first job that does not fit in a partition blocks the partition and its nodes for all jobs of lower priority. The
/// *backfill* cycle runs after a change, at least an interval after the previous backfill cycle. This cycle plans jobs
/// by priority, in each of their partitions, as early as the jobs of higher priority allow. It starts the jobs that are
/// planned to start now, and then discards the plan. If the platform has several nodes or partitions, a plan reserves
/// whole nodes. A job gets the first nodes of the platform that are enough. The scheduler is [`crate::slurm`], which
/// also predicts the queue of a real cluster.
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
#[derive(Clone, Debug)]
pub struct Slurm {
    rules: SlurmRules,
    request: Request,
    /// The processors that the policy may use. `None` if it may use all processors.
    within: Option<ProcSet>,
    state: Option<State>,
}

/// A running job.
#[derive(Clone, Debug)]
struct Runs {
    /// The number of the job in the scheduler.
    number: usize,
    processors: u32,
    /// The expected end, in ticks.
    until: i64,
    data: RunningTask,
}

/// The state of the policy. Each event updates it.
#[derive(Clone, Debug)]
struct State {
    nodes: PlatformNodes,
    requests: TaskRequests,
    scheduler: SlurmScheduler,
    shares: FairShares,
    priorities: Priorities,
    /// The tasks of the scheduler's jobs.
    jobs: Vec<WaitingTask>,
    /// The jobs of the waiting tasks.
    waiting: FxHashMap<TaskId, usize>,
    running: FxHashMap<TaskId, Runs>,
    /// The expected ends of running tasks, in ticks.
    ends: BTreeSet<(i64, TaskId)>,
    /// Whether priorities change over time.
    moving: bool,
    /// The instant at which usage and priorities were last computed.
    computed: Option<Time>,
    /// The failures that are not repaired yet.
    down: Vec<Unavailable>,
    /// The next instant at which work outside the instance returns resources, in ticks.
    next_return: Option<i64>,
    /// For each counter of a consumable, the amount that ended tasks have used up.
    used_up: FxHashMap<usize, u64>,
    /// Number of requests when sites were last grouped by the requested amounts.
    grouped: usize,
    /// Instants at which nodes become available or a job can no longer meet its deadline, without an event, in ticks.
    silent: BTreeSet<i64>,
    /// Tasks that can never start.
    hopeless: Vec<TaskId>,
}

impl Slurm {
    /// Returns a policy that follows `rules`. `request` determines the number of processors of a moldable job.
    pub fn new(rules: SlurmRules, request: Request) -> Self {
        Self { rules, request, within: None, state: None }
    }
}

impl State {
    fn new(policy: &Slurm, view: &View<'_>) -> Self {
        let Slurm { rules, request, within, .. } = policy;
        let instance = view.instance;
        let platform = instance.platform();
        let site = platform.site();
        let own = &rules.priority;
        let nodes = PlatformNodes::new(instance, within.as_ref());
        let mut model = nodes.model(instance);
        model.cycles = rules.cycles.clone();
        let mut silent: BTreeSet<i64> = instance.unavailable().iter().map(|period| period.end.ticks()).collect();
        let reservations = site.into_iter().flat_map(|site| &site.reservations);
        silent.extend(reservations.flat_map(|one| [one.start.ticks(), one.end.ticks()]));
        silent.extend(nodes.held().map(|held| held.0));
        let mut state = Self {
            requests: TaskRequests::new(Widths::new(*request, instance), own.favor_small),
            scheduler: SlurmScheduler::new(std::sync::Arc::new(model)),
            shares: FairShares::new(site.map_or(&[][..], |site| &site.associations), own.half_life),
            priorities: Priorities::new(own.clone(), platform),
            jobs: Vec::new(),
            waiting: FxHashMap::default(),
            running: FxHashMap::default(),
            ends: BTreeSet::new(),
            moving: own.weighs(),
            computed: None,
            down: Vec::new(),
            next_return: None,
            used_up: FxHashMap::default(),
            grouped: 0,
            silent: silent.split_off(&(view.now.ticks() + 1)),
            hopeless: Vec::new(),
            nodes,
        };
        state.see_cluster(view);
        view.waiting.iter().for_each(|task| _ = state.arrive(task, view));
        state.group_sites(view);
        state
    }

    /// Adds a waiting task. Returns false if the task can never start.
    fn arrive(&mut self, task: TaskId, view: &View<'_>) -> bool {
        let Self { requests, nodes, scheduler, shares, .. } = self;
        let added = scheduler.change_model(|model| {
            let before = model.jobs.len();
            let added = requests.add_waiting(
                view.instance,
                task,
                &mut RequestTables { nodes, model, shares, now: view.now.ticks() },
            );
            if added.is_none() {
                model.jobs.truncate(before);
            }
            added
        });
        let Some(added) = added else {
            self.hopeless.push(task);
            return false;
        };
        // The job is cancelled when its latest possible start is a second ago.
        self.silent.extend(added.latest.checked_add(Time::TICKS_PER_SECOND));
        let bids = scheduler.model().jobs[added.job].bids.clone();
        for (&bid, &factor) in bids.iter().zip(&added.partition_factors) {
            scheduler.set_priority(bid, self.priorities.of(&added, factor, shares, view.now));
        }
        scheduler.enter(added.job);
        self.waiting.insert(task, added.job);
        self.jobs.push(added);
        true
    }

    fn leave(&mut self, task: TaskId) {
        if let Some(job) = self.waiting.remove(&task) {
            self.scheduler.leave(job);
        }
    }

    /// Cancels the jobs that can no longer end by their deadlines. Also cancels the jobs with reservations that have
    /// ended.
    fn cancel_late(&mut self, now: Time) {
        let Self { waiting, jobs, .. } = self;
        let is_late = |job: &WaitingTask| now.ticks() > job.latest || now.ticks() >= job.reserved_until;
        let late = waiting.iter().filter(|&(_, &job)| is_late(&jobs[job])).map(|(&task, _)| task);
        let mut late: Vec<TaskId> = late.collect();
        late.sort_unstable();
        late.iter().for_each(|&task| self.leave(task));
        self.hopeless.extend(late);
    }

    /// Removes a task that no longer runs. An interrupted task returns its consumables, because it will start again.
    fn end(&mut self, task: TaskId, is_interrupted: bool, view: &View<'_>) {
        let Some(runs) = self.running.remove(&task) else { return self.leave(task) };
        self.ends.remove(&(runs.until, task));
        self.scheduler.end(runs.number);
        self.shares.change(runs.data.user, -f64::from(runs.processors), view.now);
        if is_interrupted {
            return;
        }
        let uses = runs.data.group.map_or(&[][..], |group| &self.scheduler.model().groups[group]).to_vec();
        for own in uses.iter().filter(|own| self.nodes.is_used_up(view.instance, own.counter)) {
            *self.used_up.entry(own.counter).or_default() += own.amount;
            self.scheduler.world.hold(own.counter, own.amount);
        }
    }

    /// Processes events. Returns true if scheduling cycles must run.
    fn hear(&mut self, events: &[Event], view: &View<'_>) -> bool {
        let now = view.now.ticks();
        self.scheduler.advance(now);
        let (mut anew, mut is_noticed) = (false, false);
        for event in events {
            is_noticed |= match *event {
                Event::Finished(task) | Event::Failed(task) => {
                    self.end(task, false, view);
                    true
                }
                Event::Interrupted(task) => {
                    self.end(task, true, view);
                    anew = true;
                    self.arrive(task, view)
                }
                // A task that can never start is cancelled at once.
                Event::Submitted(task) if view.waiting.contains(task) && !self.waiting.contains_key(&task) => {
                    self.arrive(task, view)
                }
                Event::NodeUp(_) | Event::NodeDown(_) => {
                    anew = true;
                    true
                }
                Event::Submitted(_) | Event::Estimated(_) | Event::Wake => false,
            };
        }
        let restated = Event::estimated(events, view.instance);
        for task in restated.iter() {
            if self.waiting.contains_key(&task) {
                self.leave(task);
                self.arrive(task, view);
            }
            anew = true;
        }
        if self.waiting.len() + self.hopeless.len() != view.waiting.len() {
            let mut known: Vec<TaskId> = self.waiting.keys().copied().collect();
            known.sort_unstable();
            known.into_iter().for_each(|task| self.leave(task));
            self.hopeless.clear();
            view.waiting.iter().for_each(|task| _ = self.arrive(task, view));
        }
        anew |= self.next_return.is_some_and(|at| at <= now) || self.down != view.down;
        if anew || self.running.len() != view.running.len() {
            is_noticed = true;
            self.see_cluster(view);
        }
        self.extend_late(view);
        let later = self.silent.split_off(&(now + 1));
        if !std::mem::replace(&mut self.silent, later).is_empty() {
            is_noticed = true;
            self.cancel_late(view.now);
        }
        self.group_sites(view);
        if is_noticed {
            self.scheduler.note_change();
        }
        is_noticed || self.scheduler.next_cycle().is_some_and(|at| at <= now)
    }

    /// Returns the next instant at which the policy must be called, even if no event occurs.
    fn wake(&self) -> Option<Time> {
        let next = [self.scheduler.next_cycle(), self.silent.first().copied()].into_iter().flatten().min();
        next.map(Time::from_ticks).filter(|_| !self.waiting.is_empty())
    }

    /// If usage and priorities are due, computes them.
    fn compute(&mut self, rules: &PriorityRules, now: Time) {
        let due = self.computed.is_none_or(|before| now >= before + rules.calc_period);
        if !self.moving || !due {
            return;
        }
        self.computed = Some(now);
        self.shares.compute(now, rules.fair_tree);
        let Self { scheduler, jobs, priorities, shares, .. } = self;
        scheduler.set_priorities(|bid| {
            let job = &jobs[bid.job];
            priorities.of(job, job.partition_factors[bid.order.2 as usize], shares, now)
        });
    }

    /// Starts a job.
    fn start(&mut self, start: &JobStart, free: &mut ProcSet, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let job = &self.jobs[start.job];
        let task = job.task;
        let Some(running) = self.scheduler.world.running(start.number) else { return };
        let (until, group, exclusive) =
            (running.believed, running.group, running.holds.iter().any(|hold| hold.cpus > hold.own));
        let Some(processors) = self.nodes.processors(view.instance, &running.holds, free) else {
            debug_assert!(false, "the scheduler starts jobs only on free processors");
            self.scheduler.end(start.number);
            self.waiting.remove(&task);
            self.arrive(task, view);
            return;
        };
        self.shares.change(job.user, job.processors.into(), view.now);
        if start.granted < job.whole_limit {
            decisions.push(Decision::Limit { task, time: Time::from_ticks(start.granted) });
        }
        decisions.push(Decision::Start { task, processors });
        let data = RunningTask { user: job.user, group, whole_limit: start.granted, exclusive };
        let processors = job.processors;
        self.waiting.remove(&task);
        self.ends.insert((until, task));
        self.running.insert(task, Runs { number: start.number, processors, until, data });
    }
}

impl Policy for Slurm {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let is_due = match &mut self.state {
            None => {
                self.state = Some(State::new(self, view));
                true
            }
            Some(state) => state.hear(events, view),
        };
        let Some(state) = &mut self.state else { return };
        if is_due {
            state.compute(&self.rules.priority, view.now);
            let mut free = view.free.clone();
            for start in state.scheduler.decide(view.now.ticks()) {
                state.start(&start, &mut free, view, decisions);
            }
        }
        decisions.extend(state.hopeless.drain(..).map(Decision::Cancel));
        decisions.extend(state.wake().map(Decision::WakeAt));
    }

    fn copy(&self) -> Option<Box<dyn Policy>> {
        Some(Box::new(self.clone()))
    }

    fn confine(&mut self, processors: &ProcSet) {
        self.within = Some(processors.clone());
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
