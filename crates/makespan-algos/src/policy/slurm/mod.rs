//! Slurm's scheduling as its documentation describes it.

mod asked;
mod asking;
mod board;
mod cycles;
mod fit;
mod limits;
mod nodes;
mod priority;
mod rules;
mod shares;
#[cfg(test)]
mod tests;
mod unheeded;

use std::cmp::Reverse;

use makespan_core::{Decision, Event, Instance, Policy, ProcSet, TaskId, Time, View};
use rustc_hash::{FxHashMap, FxHashSet};

use self::asked::Asked;
use self::asking::Asking;
use self::board::{Board, Fit};
use self::limits::{AllLimits, Amounts};
use self::priority::Priorities;
use self::shares::Shares;
use super::order::{Request, Widths};

pub use rules::{PriorityRules, SlurmRules};
pub use unheeded::{Unheeded, unheeded};

/// Slurm's two cycles. The *main* cycle looks at jobs by priority whenever something happens, and starts them; the first job of a
/// partition that has no room blocks the partition and its nodes for all of a lower priority. The *backfill* cycle runs at
/// intervals if anything has changed: it plans jobs by priority, each as early as it has room beside those before it, starts
/// those that have room now, and forgets the plan.
///
/// Jobs are believed to run for their time limits, in whole minutes. A platform may have the rules of a shared cluster
/// ([`makespan_core::Site`]), which are kept: partitions with tiers and limits, features, classes of service, limits of users and
/// accounts, reservations; jobs say what they are about by their [`makespan_core::Submission`]. A job that can never start is given
/// up: it is held, asks for more than the rules allow, or for what no node has, or cannot end by its deadline. A job that will do with
/// less than its limit starts where that is free, and gets as much of its limit as puts off nobody.
///
/// Source: the manual pages `slurm.conf` and `sacctmgr`, and "Scheduling Configuration Guide", "Multifactor Priority Plugin",
/// "Fair Tree Fairshare Algorithm" of Slurm 24.11, <https://slurm.schedmd.com>; A. Yoo, M. Jette, M. Grondona, "SLURM: simple Linux
/// utility for resource management", JSSPP 2003, DOI `10.1007/10968987_3`. Deviations: cycles take no time, so that what bounds their
/// duration has no counterpart (`bf_max_time`, `bf_yield_interval`, `bf_continue`, `max_sched_time`, `batch_sched_delay`); no preemption, no
/// heterogeneous jobs, no burst buffers, no topology: a job goes to the node with the least to spare, or to as few as can be.
/// Guarantee: none; a job that fits starts when nothing else waits. Complexity: a main cycle asks about jobs until each
/// partition is blocked, a backfill cycle about `bf_max_job_test` at most, each question a walk over nodes and ends.
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

/// A job that waits.
#[derive(Debug)]
struct Waiting {
    asked: Asked,
    priority: u64,
}

impl Waiting {
    /// Where it is in the order of the queue: earlier ones are less.
    fn key(&self) -> (Reverse<(i64, u64)>, Time, TaskId) {
        (Reverse((self.asked.tier, self.priority)), self.asked.submitted, self.asked.task)
    }
}

/// A job that runs.
#[derive(Debug)]
struct Runs {
    limits: Vec<u32>,
    amounts: Amounts,
    user: usize,
    processors: u32,
    /// For how long it is believed to run, and whether it has its nodes for itself.
    limit: (i64, bool),
}

/// What is kept from event to event.
#[derive(Debug)]
struct State {
    asking: Asking,
    limits: AllLimits,
    shares: Shares,
    priorities: Priorities,
    board: Board,
    /// By priority.
    queue: Vec<Waiting>,
    /// The same tasks.
    queued: FxHashSet<TaskId>,
    running: FxHashMap<TaskId, Runs>,
    /// Whether priorities change as time goes on.
    moving: bool,
    /// When usage and priorities were computed.
    computed: Option<Time>,
    /// When the main cycle last looked at all jobs, and whether it has left some out since.
    looked_at_all: Option<Time>,
    cut: bool,
    /// The instants of backfill cycles count from here; when the last one was, and whether anything has changed since.
    origin: Time,
    cycle: Time,
    changed: bool,
    /// When the next one is, if anything has.
    due: Option<Time>,
    /// Instants at which nodes open that no event tells of, ascending.
    silent: Vec<Time>,
    /// Tasks that can never start.
    hopeless: Vec<TaskId>,
}

impl Slurm {
    /// With these parameters; a moldable job asks for so many processors.
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
            shares: Shares::new(site, own.half_life),
            priorities: Priorities::new(own.clone(), platform),
            board: Board::new(instance, view.now.ticks()),
            queue: Vec::new(),
            queued: FxHashSet::default(),
            running: FxHashMap::default(),
            moving: own.weighs(),
            computed: None,
            looked_at_all: None,
            cut: false,
            origin: view.now,
            cycle: view.now,
            changed: true,
            due: None,
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

    /// Makes the board again as the view shows it.
    fn see_board(&mut self, view: &View<'_>) {
        let running = &self.running;
        self.board = Board::see(view, |task| running.get(&task).map(|runs| runs.limit));
    }

    /// A task runs that this policy has not started.
    fn see_running(&mut self, task: TaskId, processors: u32, view: &View<'_>) {
        let Self { asking, board, limits, shares, .. } = self;
        let Some(mut asked) = asking.of(view.instance, task, board, limits, shares) else { return };
        // What ran before time began has a part of its limit left, which is no whole number of minutes.
        let began = view.running.iter().find(|run| run.task == task).map(|run| run.start);
        asked.limit = asked.whole_limit;
        if let Some(left) = view.instance.walltime(task).filter(|_| began == Some(view.now)) {
            asked.limit = left.ticks();
        }
        self.count(&asked, 0, asked.amounts.clone(), processors, view.now);
    }

    /// A job counts as running.
    fn count(&mut self, asked: &Asked, place: usize, amounts: Amounts, processors: u32, now: Time) {
        self.count_for(asked, asked.limit, place, amounts, processors, now);
    }

    /// The same of a job that may run for so long.
    fn count_for(&mut self, asked: &Asked, granted: i64, place: usize, amounts: Amounts, processors: u32, now: Time) {
        let limits = asked.places[place].limits.clone();
        self.limits.change(&limits, &amounts, true);
        self.shares.change(asked.user, processors.into(), now);
        let limit = (granted, asked.exclusive);
        self.running.insert(asked.task, Runs { limits, amounts, user: asked.user, processors, limit });
    }

    fn arrive(&mut self, task: TaskId, view: &View<'_>) {
        let Self { asking, board, limits, shares, .. } = self;
        match asking.of(view.instance, task, board, limits, shares) {
            None => self.hopeless.push(task),
            Some(asked) => {
                let priority = self.priorities.of(&asked, &self.shares, view.now);
                let new = Waiting { asked, priority };
                let at = self.queue.partition_point(|other| other.key() < new.key());
                self.queued.insert(task);
                self.queue.insert(at, new);
            }
        }
    }

    fn leave(&mut self, task: TaskId) {
        if self.queued.remove(&task) {
            self.queue.retain(|waiting| waiting.asked.task != task);
        }
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

    /// Takes in what happened.
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
            self.changed = true;
        }
        let restated = Event::estimated(events, view.instance);
        for task in restated.iter() {
            if self.queued.contains(&task) {
                self.leave(task);
                self.arrive(task, view);
            }
            anew = true;
        }
        if self.queue.len() + self.hopeless.len() != view.waiting.len() {
            self.queue.clear();
            self.queued.clear();
            self.hopeless.clear();
            view.waiting.iter().for_each(|task| self.arrive(task, view));
        }
        if anew || self.board.running() != view.running.len() {
            self.changed = true;
            self.see_board(view);
        }
        let start = |task| view.running.iter().find(|run| run.task == task).map(|run| run.start);
        self.board.advance(view.now, start);
        let past = self.silent.partition_point(|&at| at <= view.now);
        if past > 0 {
            self.silent.drain(..past);
            self.changed = true;
        }
    }

    /// Usage and priorities as they are now, where it is time for that.
    fn compute(&mut self, rules: &PriorityRules, now: Time) {
        let due = self.computed.is_none_or(|before| now >= before + rules.calc_period);
        if !self.moving || !due {
            return;
        }
        self.computed = Some(now);
        self.shares.compute(now, rules.fair_tree);
        for waiting in &mut self.queue {
            waiting.priority = self.priorities.of(&waiting.asked, &self.shares, now);
        }
        self.queue.sort_by_key(Waiting::key);
    }

    /// A waiting job starts in one of its partitions; whether its processors are free.
    fn start(&mut self, asked: &Asked, place: usize, fit: &Fit, moment: &mut Moment<'_, '_>) -> bool {
        let Some((processors, held)) = self.board.processors(fit, &mut moment.free) else { return false };
        let mut amounts = asked.amounts.clone();
        amounts[2] = held.nodes().into();
        let granted = held.until - fit.start;
        self.count_for(asked, granted, place, amounts, asked.processors, moment.view.now);
        self.board.begin(asked.task, held);
        if granted < asked.whole_limit {
            moment.decisions.push(Decision::Limit { task: asked.task, time: Time::from_ticks(granted) });
        }
        moment.decisions.push(Decision::Start { task: asked.task, processors });
        true
    }
}

/// An instant at which is decided.
struct Moment<'a, 'v> {
    view: &'a View<'v>,
    free: ProcSet,
    decisions: &'a mut Vec<Decision>,
}

impl Policy for Slurm {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        match &mut self.state {
            None => self.state = Some(State::new(&self.rules, self.request, view)),
            Some(state) => state.hear(events, view),
        }
        let Some(state) = &mut self.state else { return };
        state.compute(&self.rules.priority, view.now);
        let mut moment = Moment { view, free: view.free.clone(), decisions };
        state.main_cycle(&self.rules, &mut moment);
        state.see_change(&self.rules, view.now);
        if state.due.is_some_and(|due| view.now >= due) {
            state.backfill_cycle(&self.rules, &mut moment);
            state.see_change(&self.rules, view.now);
        }
        for task in state.hopeless.drain(..) {
            moment.decisions.push(Decision::Cancel(task));
        }
        let wake = state.wake(&self.rules);
        moment.decisions.extend(wake.map(Decision::WakeAt));
    }
}

/// Whether the platform has what `weight_tres` names.
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
                "weight_tres={unknown}, of which the platform has nothing; it has {named}"
            )))
        }
    }
}

/// What the policy plans by: processors of one speed, and any placement.
pub(super) fn supports(instance: &Instance) -> Result<(), makespan_core::Unsupported> {
    if instance.platform().restricts_placement() {
        return Err(makespan_core::Unsupported("best placement on nodes; use easy or conservative".into()));
    }
    Ok(())
}
