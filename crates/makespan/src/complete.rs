//! Complete search for the optimum of small instances.

use std::iter;
use std::time::Duration;

use makespan_algos::Context;
use makespan_algos::Scheduler;
use makespan_bounds::Clock;
use makespan_bounds::complete::{self, CompleteWork, Unproved};
use makespan_core::{Instance, Job, Objective, Schedule, validate};
use makespan_verify::Bound;

use crate::choice::{minimised, scheduler};

/// The usual shares of the time limit. The complete search runs before and after the main part of planning, which is
/// the requested algorithm.
const SHARES: Shares = Shares { before: 0.15, after: 0.2 };
/// The shares for instances with at most `FEW` tasks, or at most `FEW_FREE` tasks if no task depends on another task. The
/// optimum of these instances is often proved, and the main part of planning gains little.
const LARGE_SHARES: Shares = Shares { before: 0.4, after: 0.2 };
const FEW: u64 = 15;
const FEW_FREE: u64 = 20;
/// The shares for instances with more than `MANY` tasks, if no task depends on another task. The optimum of these
/// instances is seldom proved.
const SMALL_SHARES: Shares = Shares { before: 0.05, after: 0.05 };
const MANY: u64 = 30;
/// The shares for a time limit of at least `LONG`. The share `after` is larger than in `SHARES`, because the main part
/// of planning seldom improves the plan after some seconds.
const LONG_SHARES: Shares = Shares { before: 0.15, after: 0.5 };
const LONG: Duration = Duration::from_secs(5);
/// The fraction of the search time that `optimise` uses to find a first schedule. The complete search starts from this
/// schedule.
const FIRST: f64 = 0.3;
/// Maximum time to find a first schedule, even if the time limit of planning is long. The first schedule need not be
/// good, because the complete search improves it.
const LONGEST_FIRST: Duration = Duration::from_secs(1);
/// Maximum time for each task to find a first schedule. For few tasks, the complete search soon proves a plan optimal.
const FIRST_OF_TASK: Duration = Duration::from_millis(10);
/// If searches for other objectives follow, the fraction of the remaining time (or conflicts) that the search for one
/// objective may use.
const PART: f64 = 0.7;
/// Maximum number of conflicts (dead ends of a search) if there is no time limit. The limit is for the searches for all
/// objectives together. For an instance with n tasks, a second limit is `CONFLICTS_TIMES_TASKS` / n, because each
/// conflict takes longer if there are more tasks.
const MAX_CONFLICTS: u64 = 10_000;
const CONFLICTS_TIMES_TASKS: u64 = 60_000;
/// If there is no time limit, the search for a first schedule has at most `STEPS_TIMES_TASKS` / n steps for an instance
/// with n tasks.
const STEPS_TIMES_TASKS: u64 = 20_000;

/// The shares of the time limit for the complete searches before and after the main part of planning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Shares {
    pub(crate) fn of(instance: &Instance, time: Option<Duration>) -> Self {
        match instance.tasks() {
            ..=FEW => LARGE_SHARES,
            ..=FEW_FREE if instance.edges().is_empty() => LARGE_SHARES,
            tasks if tasks > MANY && instance.edges().is_empty() => SMALL_SHARES,
            _ if time.is_some_and(|time| time >= LONG) => LONG_SHARES,
            _ => SHARES,
        }
    }
}

/// The objectives for which the complete search runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    /// The objectives that the scheduler minimises. If the list is empty, the complete search improves the bounds on
    /// all objectives.
    minimised: &'static [Objective],
    /// The only objective that the scheduler minimises. `None` if the scheduler minimises no objective or several
    /// objectives, does not keep improving its plan, or has a limit on the makespan.
    sought: Option<Objective>,
    /// `sought`, if the complete search supports this objective and its schedules may replace the plan.
    pub(crate) goal: Option<Objective>,
}

impl Aim {
    pub(crate) fn of(scheduler: &dyn Scheduler, instance: &Instance) -> Self {
        let minimised = minimised(&scheduler.name());
        let sought = match *minimised {
            [only] if scheduler.is_anytime() && scheduler.makespan_at_most().is_none() => Some(only),
            _ => None,
        };
        // The complete search does not support best-effort bags: in its schedules, such a bag may delay other jobs. So
        // for instances with best-effort bags, a schedule of the search must not replace the plan.
        let goal = sought.filter(|&goal| is_meant(instance, goal) && !has_best_effort(instance));
        Self { minimised, sought, goal }
    }

    fn contains(&self, objective: Objective) -> bool {
        self.minimised.is_empty() || self.minimised.contains(&objective)
    }
}

fn has_best_effort(instance: &Instance) -> bool {
    instance.jobs().iter().any(Job::is_best_effort)
}

/// The limit of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort<'a> {
    /// The time of this clock.
    Timed(&'a Clock),
    /// A fixed number of conflicts, so that the result does not depend on the speed of the machine.
    Counted,
}

/// The result of the search before the main part of planning.
#[derive(Debug)]
pub(crate) struct First {
    pub(crate) schedule: Schedule,
    pub(crate) bounds: Vec<Bound>,
    pub(crate) remarks: Vec<String>,
    /// True if the schedule is proved optimal: the bound on the objective is equal to the value of the schedule.
    pub(crate) is_optimal: bool,
    /// True if the search ended because the clock expired. A longer search may then succeed.
    pub(crate) is_promising: bool,
    /// The reason why the schedule is not proved optimal.
    pub(crate) unproved: Option<Unproved>,
}

/// Returns true if a complete search supports the instance and the objective.
pub(crate) fn is_meant(instance: &Instance, objective: Objective) -> bool {
    complete::unsupported(instance, objective).is_none()
}

/// Uses up to the fraction `FIRST` of the remaining time to find a first schedule for one objective. Then runs the
/// complete search until the clock expires. Returns `None` if no first schedule is found.
pub(crate) fn first(instance: &Instance, goal: Objective, caller: &Context, clock: &Clock) -> Option<First> {
    let time = clock.left()?.mul_f64(FIRST);
    let Context { seed, stop, incumbent, .. } = caller.clone();
    let mut context = Context { stop, incumbent: incumbent.clone(), ..Context::with_seed(seed) };
    let mut schedule = first_schedule(instance, goal, Some(time), &mut context)?;
    let (own, mut bounds): (Vec<Bound>, Vec<Bound>) = context.bounds.into_iter().partition(|bound| is_on(goal, bound));
    let best = own.into_iter().max_by(|one, other| one.value.cmp(&other.value));
    incumbent.found(goal, goal.value(instance, &schedule) as f64);
    let work = CompleteWork { clock, conflicts: u64::MAX };
    let (best, unproved) = search(instance, goal, &mut schedule, best, work);
    let is_optimal = best.as_ref().is_some_and(|best| best.value >= goal.value(instance, &schedule).into());
    incumbent.found(goal, goal.value(instance, &schedule) as f64);
    best.iter().for_each(|bound| incumbent.proved(bound));
    bounds.extend(best);
    Some(First { schedule, bounds, remarks: context.remarks, is_optimal, is_promising: clock.is_over(), unproved })
}

/// Returns true if a complete search can improve a bound.
fn is_open(instance: &Instance, bound: &Bound) -> bool {
    is_meant(instance, bound.objective) && bound.makespan_at_most.is_none()
}

fn is_on(objective: Objective, bound: &Bound) -> bool {
    bound.objective == objective && bound.makespan_at_most.is_none()
}

/// Returns a valid schedule that `optimise` finds for an objective. If `time` is `None`, `optimise` has a fixed number
/// of steps instead of a time limit.
fn first_schedule(
    instance: &Instance,
    objective: Objective,
    time: Option<Duration>,
    context: &mut Context,
) -> Option<Schedule> {
    let budget = match time {
        Some(time) => {
            let longest = LONGEST_FIRST.as_secs_f64().min(FIRST_OF_TASK.as_secs_f64() * instance.tasks() as f64);
            format!("time-limit={:.6}", time.as_secs_f64().min(longest))
        }
        None => format!("steps={}", (STEPS_TIMES_TASKS / instance.tasks().max(1)).max(1)),
    };
    let name = objective.name().replace('_', "-");
    let scheduler = scheduler(&format!("optimise[objective={name},{budget},searches=1]")).ok()?;
    let schedule = scheduler.schedule(instance, context).ok()?.into_schedule()?;
    validate(instance, &schedule).is_ok().then_some(schedule)
}

/// Runs the complete search for one objective. A better schedule replaces `schedule`. Returns the larger of two bounds:
/// `bound`, and the bound that the search proved. If the schedule is not proved optimal, also returns the reason.
fn search(
    instance: &Instance,
    objective: Objective,
    schedule: &mut Schedule,
    bound: Option<Bound>,
    work: CompleteWork,
) -> (Option<Bound>, Option<Unproved>) {
    let value = objective.value(instance, schedule).into();
    if bound.as_ref().is_some_and(|bound| bound.value >= value) {
        return (bound, None);
    }
    let completed = complete::search(instance, objective, schedule, bound.as_ref(), work);
    // The complete search ignores hard deadlines.
    if let Some(better) = completed.schedule.filter(|better| validate(instance, better).is_ok()) {
        *schedule = better;
    }
    let is_better = |better: &Bound| bound.as_ref().is_none_or(|bound| better.value > bound.value);
    (completed.bound.filter(is_better).or(bound), completed.unproved)
}

/// Runs the complete search for the objective of each bound. If the search proves a larger bound, this bound replaces
/// the old bound. Before each complete search, a short search finds a first schedule.
pub(crate) fn improve_bounds(instance: &Instance, bounds: &mut [Bound], effort: Effort) {
    let mut left = conflicts(instance);
    for at in 0..bounds.len() {
        let objective = bounds[at].objective;
        if !is_open(instance, &bounds[at]) {
            continue;
        }
        let (clock, conflicts) = effort.part(1.0 / (bounds.len() - at) as f64, left);
        left -= conflicts.min(left);
        let time = clock.left().map(|time| time.mul_f64(FIRST));
        let first = first_schedule(instance, objective, time, &mut Context::default());
        if let Some(mut schedule) = first {
            let work = CompleteWork { clock: &clock, conflicts };
            let best = search(instance, objective, &mut schedule, Some(bounds[at].clone()), work).0;
            replace(instance, bounds, at, best);
        }
    }
}

/// Runs the complete search for each objective in `aim.minimised` (for all objectives if this list is empty), and
/// improves the bounds. Skips an objective if its bound is equal to the value of the schedule. A better schedule for
/// the objective `aim.goal` replaces `schedule`. If the schedule is not proved optimal for the objective `aim.sought`,
/// returns the reason.
pub(crate) fn improve(
    instance: &Instance,
    aim: Aim,
    schedule: &mut Schedule,
    bounds: &mut [Bound],
    effort: Effort,
) -> Option<Unproved> {
    let is_meant = |at: &usize| aim.contains(bounds[*at].objective) && is_open(instance, &bounds[*at]);
    let order: Vec<usize> = (0..bounds.len()).filter(is_meant).collect();
    let (mut left, mut unproved) = (conflicts(instance), None);
    for (place, &at) in order.iter().enumerate() {
        let objective = bounds[at].objective;
        let (clock, conflicts) = effort.part(if place + 1 < order.len() { PART } else { 1.0 }, left);
        let work = CompleteWork { clock: &clock, conflicts };
        left -= conflicts.min(left);
        let bound = Some(bounds[at].clone());
        let (best, reason) = if aim.goal == Some(objective) {
            search(instance, objective, schedule, bound, work)
        } else {
            search(instance, objective, &mut schedule.clone(), bound, work)
        };
        replace(instance, bounds, at, best);
        unproved = reason.filter(|_| aim.sought == Some(objective)).or(unproved);
    }
    unproved
}

/// The rule for best-effort bags, as it appears in a remark. The complete search ignores this rule.
const BEST_EFFORT: &str = "the rule that best-effort bags must not delay other jobs";

/// If an instance has more tasks, no remark states that it has too many tasks for the complete search.
const MAX_REMARK_TASKS: u64 = 60;

/// Returns a remark that states why the plan is not proved optimal for the objective `aim.sought`, and by which kind of
/// proof its bound is proved. `reasons` contains the reasons that two complete searches returned: before and after the
/// main part of planning. Returns `None` if the plan is proved optimal, or if the instance has too many tasks for any
/// complete search.
pub(crate) fn remark(
    instance: &Instance,
    aim: Aim,
    schedule: &Schedule,
    bounds: &[Bound],
    reasons: [Option<Unproved>; 2],
) -> Option<String> {
    let sought = aim.sought?;
    let value = sought.value(instance, schedule).into();
    let speaks = |bound: &&Bound| bound.objective == sought && bound.speaks_of(schedule);
    let best = bounds.iter().filter(speaks).max_by(|one, other| one.value.cmp(&other.value));
    if best.is_some_and(|best| best.value >= value) {
        return None;
    }
    let is_limit = |reason: &Unproved| matches!(reason, Unproved::TimeLimit | Unproved::ConflictLimit);
    let unsupported = complete::unsupported(instance, sought);
    let ignored = || has_best_effort(instance).then(|| Unproved::Relaxed(vec![BEST_EFFORT]));
    // The remark names a limit (of time or conflicts) only if there is no other reason.
    let (limits, others): (Vec<_>, Vec<_>) =
        unsupported.into_iter().chain(reasons.into_iter().flatten()).partition(is_limit);
    let reason = match others.into_iter().chain(limits).next().or_else(ignored)? {
        // Nearly always, the gap exists because the complete search ignores the rule for best-effort bags.
        Unproved::Relaxed(others) if has_best_effort(instance) && others != [BEST_EFFORT] => {
            Unproved::Relaxed(iter::once(BEST_EFFORT).chain(others).collect())
        }
        reason => reason,
    };
    let is_small = !matches!(reason, Unproved::TooManyTasks(_)) || instance.tasks() <= MAX_REMARK_TASKS;
    let by = best.map_or_else(String::new, |best| format!("; its bound is proved by {}", best.proof.words()));
    is_small.then(|| format!("the {sought} is not proved optimal: {reason}{by}"))
}

/// Replaces the bound at index `at` by `best` if `best` is larger. The new bound may then prove larger bounds on other
/// objectives.
fn replace(instance: &Instance, bounds: &mut [Bound], at: usize, best: Option<Bound>) {
    if let Some(best) = best.filter(|best| best.value > bounds[at].value) {
        bounds[at] = best;
        makespan_bounds::by_last_job(instance, bounds);
    }
}

/// Returns the maximum number of conflicts of a search that has no time limit.
fn conflicts(instance: &Instance) -> u64 {
    (CONFLICTS_TIMES_TASKS / instance.tasks().max(1)).min(MAX_CONFLICTS)
}

impl Effort<'_> {
    /// Returns the limits of one search: a clock and a number of conflicts. The search may use the fraction `share` of
    /// the remaining time. If there is no time limit, the search may use this fraction of the remaining `conflicts`.
    fn part(self, share: f64, conflicts: u64) -> (Clock, u64) {
        match self {
            Self::Timed(clock) => (clock.part(share), u64::MAX),
            Self::Counted => (Clock::ENDLESS, (conflicts as f64 * share) as u64),
        }
    }
}
