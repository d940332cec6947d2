//! The scheduler `optimise`: finds the best schedule within a time limit, and proves a bound on its quality.

mod annealing;
mod change;
mod front;
mod goal;
mod graph;
mod limit;
mod machines;
mod packed;
mod proofs;
mod residual;
mod search;
mod sequence;
mod start;
mod wholes;

use std::time::{Duration, Instant};

use makespan_core::{Instance, Objective, Unsupported};

pub(crate) use change::Solution;
pub(crate) use goal::GoalTask;
pub(in crate::scheduler) use graph::within;
pub(in crate::scheduler) use limit::Limit;
pub(crate) use residual::Residual;
pub(crate) use wholes::NumberedWholes;

use super::list_graham::ListGraham;
use super::of_derived;
use super::order::Order;
use super::packed::needs_counts;
use super::sequenced;
use super::{
    WithBags, check_mappable, check_supported, dual_list_guarantee, needs_equal_processors, needs_single_processors,
    needs_single_processors_or,
};
use crate::free_time::Skyline;
use crate::plan::{Context, ForHardDeadlines, Front, FrontPoint, Guarantee, Plan, ScheduleError, Scheduler};
use crate::search::{Budget, Portfolio};
use search::{OptimiseRun, SearchTask};
use sequence::InSequence;
use wholes::OfWholes;

/// The reason why instances with too many unavailable periods are not searched.
const CLOSED: &str = "processors are unavailable in too many different periods for a search";

/// Begins with the best plan of the catalogue, and with a plan that follows from dual prices of processor time. Until
/// the time limit, annealing improves the order and the allotments of the tasks. Serial insertion turns an order into a
/// schedule. Several independent searches run in parallel.
///
/// Source: prices as in [`makespan_bounds::PriceSearch`]; serial insertion as in
/// [`crate::kernel::serial::SerialInsertion`]; for the makespan, first fit under a deadline as in
/// [`crate::kernel::fit::Fit`]; annealing after Kirkpatrick, Gelatt and Vecchi (Science 220, 1983, DOI
/// 10.1126/science.220.4598.671). Assumptions: none. Guarantee: the guarantee of the list of the dual approximation,
/// with which the search begins (makespan 2 without release dates, unavailable processors and best placement). Bounds
/// that are proved during the run are added to [`Context::bounds`].
///
/// Sequential jobs on machines that differ are mapped to machines. For the makespan, the search computes prices of
/// machine time, and rounds the solution to a mapping. Then annealing changes the mapping by ejection chains, which use
/// only pairs of task and machine that cost little at these prices ([`crate::kernel::mapping::EjectionChains`]). For
/// these instances, one step of the budget is 512 changes. The mean flow, and the weighted
/// completion of jobs with equal weights, are an assignment problem. If an exact solution takes at most about a second,
/// the problem is solved exactly, with a proof ([`makespan_bounds::machines::positions`]). With different weights, the
/// mapping is annealed, and each machine runs its jobs in Smith's order ([`crate::kernel::mapping::Smith`]). With
/// release dates, later outages or a network, or if tardiness is minimised, such jobs are planned as graphs of one task.
///
/// On equal processors, graphs of moldable tasks, and jobs that wait for jobs, are planned as lists with an allotment
/// for each task ([`crate::kernel::moldable::ListSchedule`]). The lists are executed event by event and by serial
/// insertion. For the makespan, they are also executed backward in time. After a fraction of the time, only the scheme
/// that has found the best list continues. The lists begin with the allotments that balance the longest path and the
/// area ([`crate::kernel::moldable::average_times`]).
///
/// The cost of graphs, and of sequential jobs, is minimised within their deadlines. The search begins with critical
/// chains, HEFT and the prices of [`makespan_bounds::cost`]. The plan does not cost more than the variant that
/// [`super::CriticalJobs`] chooses. If no plan meets the deadlines, the result is the plan with the least tardiness, and
/// a remark reports this.
///
/// Tasks that need other resources, parallel tasks of graphs, and jobs that wait for other jobs are planned as lists of
/// tasks with allotments. If each resource is one pool ([`crate::kernel::cumulative::CumulativeProblem::new`] states
/// the conditions), a genetic algorithm combines lists. Tasks of a list are inserted into gaps, and the schedules are
/// justified forward and backward. See [`crate::kernel::cumulative::SerialScheme`] for the sources. In this case, one
/// step of the budget is one child of the genetic algorithm, for which several schedules are made. If a resource is not
/// one pool, for example if nodes differ or processors close, lists are annealed. At first, lists are executed forward
/// in time, and later by insertion into gaps ([`crate::kernel::packing::Inserter`]). Insertion may leave processors
/// idle until enough are free for a wide task. With insertion, a change may also restrict a task to certain nodes.
/// Insertion is used for at most 5,000 tasks, and only if it is fast enough.
///
/// A bag ends when its last task ends. If the objective depends on the ends of jobs, the search also tries lists in
/// which the bag with the least remaining work comes first.
///
/// A change costs O(k s) for k jobs after the changed position, if the number of free processors changes at s instants.
/// With more than 20,000 jobs, there is no annealing. The result is the best of the catalogue's plans and the plan by
/// prices. If best placement is required, the search stores the free processors of all nodes at each of these instants.
/// A change then costs O(k s) times the number of nodes, and annealing is used only up to a smaller number of jobs.
///
/// ```
/// use makespan_algos::scheduler::{Budget, Optimise};
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time};
///
/// let times = [12, 7, 5].map(Time::from_seconds).to_vec();
/// let jobs = ["a", "b", "c"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
/// let instance = Instance::new(Platform::flat(3).unwrap(), jobs, vec![]).unwrap();
/// let mut context = Context::with_seed(1);
/// let plan = Optimise { budget: Budget::Steps(100), ..Optimise::default() }.schedule(&instance, &mut context).unwrap();
/// // One after the other on all processors, the ends sum to 5 + 10 + 15. Side by side, they would sum to 36.
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(15));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Optimise {
    /// The kind of result: the best schedule for one objective, or a front.
    pub target: Target,
    /// Maximum makespan of a schedule, as a multiple of the proven bound on the makespan.
    pub makespan_at_most: Option<f64>,
    /// If the cost is minimised, the deadline of a job that states no deadline. This deadline is counted from the
    /// release, as a multiple of HEFT's makespan for the job alone, as in [`super::CriticalJobs`].
    pub deadline: f64,
    /// The budget of the search.
    pub budget: Budget,
    /// Number of independent searches. `None` means [`Budget::searches`].
    pub searches: Option<u32>,
}

/// The kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A schedule with the least value of one objective.
    Objective(Objective),
    /// A front: several schedules, none of which is at least as good as another in both makespan and weighted
    /// completion. One schedule of the front is chosen.
    Front,
}

impl Default for Optimise {
    /// Returns the default: weighted completion within one second, with one search for each thread.
    fn default() -> Self {
        Self {
            target: Target::Objective(Objective::WeightedCompletion),
            makespan_at_most: None,
            deadline: 1.5,
            budget: Budget::Time(Duration::from_secs(1)),
            searches: None,
        }
    }
}

impl Scheduler for Optimise {
    fn name(&self) -> String {
        let mut parts = Vec::new();
        let default = Self::default();
        match self.target {
            target if target == default.target => {}
            Target::Objective(objective) => parts.push(format!("objective={}", objective.name().replace('_', "-"))),
            Target::Front => parts.push("objective=pareto".into()),
        }
        parts.extend(self.makespan_at_most.map(|factor| format!("makespan-at-most={factor}")));
        if self.deadline.to_bits() != default.deadline.to_bits() {
            parts.push(format!("deadline={}", self.deadline));
        }
        match self.budget {
            budget if budget == default.budget => {}
            Budget::Time(time) => parts.push(format!("time-limit={}", time.as_secs_f64())),
            Budget::Steps(steps) => parts.push(format!("steps={steps}")),
        }
        parts.extend(self.searches.map(|searches| format!("searches={searches}")));
        if parts.is_empty() { "optimise".into() } else { format!("optimise[{}]", parts.join(",")) }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        if instance.has_setups() {
            return sequenced::supports(instance);
        }
        if self.target == Target::Objective(Objective::Throughput) {
            return Err(Unsupported("it minimises an objective; `steady-state` maximises a throughput".into()));
        }
        if self.target == Target::Objective(Objective::Cost) {
            if !instance.has_compound_jobs() && !instance.is_sequential() {
                let what = "it minimises the cost only of graphs of tasks and of jobs on one processor";
                return Err(Unsupported(what.into()));
            }
            needs_counts(instance, "another objective")?;
            return needs_single_processors_or(instance, "another objective");
        }
        if self.is_packed(instance) {
            return super::packed::supports(instance);
        }
        if instance.has_compound_jobs() {
            return needs_single_processors(instance);
        }
        if instance.has_equal_processors() {
            let plain = matches!(self.target, Target::Objective(_)) && self.makespan_at_most.is_none();
            let plain = plain && !self.is_of_deadlines();
            if !plain && Skyline::is_too_large(instance) {
                let what =
                    "to plan without a search, remove makespan-at-most, and choose an objective without deadlines";
                return Err(Unsupported(format!("{CLOSED}; {what}")));
            }
            return needs_equal_processors(instance);
        }
        needs_single_processors(instance)
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        let counted = super::packed::is_counted(instance);
        let makespan = self.target == Target::Objective(Objective::Makespan) && counted;
        if makespan { dual_list_guarantee(instance, objective) } else { None }
    }

    fn is_anytime(&self) -> bool {
        true
    }

    fn supports_setups(&self) -> bool {
        self.for_hard_deadlines().is_some() && self.makespan_at_most.is_none()
    }

    fn supports_lags(&self) -> bool {
        !matches!(self.target, Target::Objective(Objective::Cost | Objective::Throughput))
    }

    fn makespan_at_most(&self) -> Option<f64> {
        self.makespan_at_most
    }

    fn time_limit(&self) -> Option<Duration> {
        self.budget.time()
    }

    fn by_weight(&self) -> Option<Box<dyn Scheduler>> {
        let of_flow = matches!(self.target, Target::Objective(objective) if objective.is_mean());
        let weighted = || Self { target: Target::Objective(Objective::WeightedCompletion), ..self.clone() };
        of_flow.then(|| Box::new(weighted()) as Box<dyn Scheduler>)
    }

    fn derived(&self) -> Option<(Objective, Box<dyn Scheduler>)> {
        let Target::Objective(objective) = self.target else { return None };
        let target = Target::Objective(objective.base()?);
        Some((objective, Box::new(Self { target, ..self.clone() })))
    }

    fn for_hard_deadlines(&self) -> Option<ForHardDeadlines> {
        let Target::Objective(objective) = self.target else { return None };
        let penalty = match objective {
            Objective::Cost | Objective::Throughput => return None,
            Objective::Makespan | Objective::MaxTardiness | Objective::MaxLateness | Objective::MaxPenalty => {
                Objective::MaxPenalty
            }
            _ => Objective::TotalPenalty,
        };
        let next = Box::new(Self { target: Target::Objective(penalty), ..self.clone() });
        let last: Option<Box<dyn Scheduler>> = Some(Box::new(InSequence(self.clone())));
        Some(ForHardDeadlines { objective: Some(objective), next: Box::new(WithBags(next)), last })
    }

    fn of_wholes(&self, wholes: Vec<u32>) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(OfWholes { optimise: self.clone(), wholes }))
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        if let Target::Objective(objective) = self.target
            && instance.has_setups()
        {
            return sequenced::optimise(self, objective, (self.budget, self.searches), instance, context);
        }
        match self.derived() {
            Some((objective, base)) => of_derived::schedule(objective, &self.name(), &*base, instance, context),
            None => self.schedule_wholes(instance, None, context),
        }
    }
}

impl Optimise {
    /// Plans jobs, which may be parts of larger jobs (wholes).
    fn schedule_wholes(
        &self,
        instance: &Instance,
        wholes: Option<&[u32]>,
        context: &mut Context,
    ) -> Result<Plan, ScheduleError> {
        if !self.is_packed(instance) {
            check_supported(self, instance)?;
        }
        let budget = self.budget.after(context.spent);
        let planned = Self { budget, ..self.clone() }.plan(instance, wholes, context);
        planned.map_err(|error| match error {
            // Use the spec with the original budget in the error.
            ScheduleError::NotFound { limit, floor, reached, .. } => {
                ScheduleError::NotFound { scheduler: self.name(), limit, floor, reached }
            }
            ScheduleError::Unsupported { reason, .. } => ScheduleError::Unsupported { scheduler: self.name(), reason },
            other => other,
        })
    }

    /// Returns whether a tardiness is minimised.
    fn is_of_deadlines(&self) -> bool {
        matches!(self.target, Target::Objective(objective) if objective.is_tardiness())
    }

    /// Returns whether the instance is planned on a packing. If so, the search itself checks that a packing supports
    /// the instance.
    fn is_packed(&self, instance: &Instance) -> bool {
        let other = [Objective::Cost, Objective::Throughput].map(Target::Objective);
        // Only lists and mappings support penalties. The other searches expect costs that are linear in the ends.
        let has_penalties = Objective::PENALTIES.map(Target::Objective).contains(&self.target);
        !other.contains(&self.target)
            && (packed::is_meant(instance) || has_penalties && instance.has_equal_processors())
    }

    /// Plans within the budget.
    fn plan(&self, instance: &Instance, wholes: Option<&[u32]>, context: &mut Context) -> Result<Plan, ScheduleError> {
        if self.target == Target::Objective(Objective::Cost) {
            return self.cheapest(instance, context);
        }
        if self.is_packed(instance) {
            let unsupported = |reason| ScheduleError::Unsupported { scheduler: self.name(), reason };
            let machines::MachineOutcome { points, bounds, limit } =
                packed::minimise(self, instance, context).map_err(unsupported)?;
            let plan = self.within(limit, points, instance)?;
            context.bounds.extend(bounds);
            return Ok(plan);
        }
        if instance.has_compound_jobs() || !instance.has_equal_processors() {
            // With release dates, later outages or a network, the instance is not a mapping problem. The jobs are then
            // planned as graphs of one task.
            let is_of_ends = matches!(self.target, Target::Objective(objective) if objective.needs_penalties());
            let outcome = if check_mappable(instance).is_ok() && !self.is_of_deadlines() && !is_of_ends {
                machines::optimise(self, instance, context)
            } else {
                graph::GraphRun { instance, optimise: self }.minimise(context)
            };
            let machines::MachineOutcome { points, bounds, limit } = outcome;
            let plan = self.within(limit, points, instance)?;
            context.bounds.extend(bounds);
            return Ok(plan);
        }
        if let Target::Objective(objective) = self.target
            && Skyline::is_too_large(instance)
        {
            context.remarks.push(format!("{CLOSED}, so the jobs are planned in a fixed order, without a search"));
            let order = if objective == Objective::Makespan { Order::Shelf } else { Order::Smith };
            return ListGraham { order }.schedule(instance, context);
        }
        let search = OptimiseRun::new(self, instance, wholes, context);
        let limit = Limit::new(self.makespan_at_most, search.floor(), context);
        let at = limit.map(|limit| limit.at);
        let plan = match self.target {
            Target::Front => front::front(&search, at),
            Target::Objective(objective) => {
                let task = SearchTask { objective, limit: at, begin: 0.0, end: 1.0 };
                vec![search.minimise(task, &[]).into()]
            }
        };
        let plan = self.within(limit, plan, instance)?;
        context.bounds.extend(search.into_bounds());
        Ok(plan)
    }

    /// Returns the independent searches. Their time limit begins at `begin`.
    fn portfolio(&self, begin: Instant, context: &Context) -> Portfolio {
        let threads = context.threads();
        let searches = self.searches.unwrap_or_else(|| self.budget.searches(threads)).max(1);
        Portfolio {
            budget: self.budget,
            searches,
            threads,
            seed: context.seed,
            stop: context.stop.clone(),
            incumbent: context.incumbent.clone(),
            begin,
        }
    }

    /// Returns the cheapest schedule that meets the deadlines or the limit.
    fn cheapest(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        let portfolio = self.portfolio(Instant::now(), context);
        let Self { deadline, makespan_at_most, .. } = *self;
        let found = graph::cost::CostRun { instance, portfolio, deadline, makespan_at_most }.minimise(context);
        if let Some(limit) = found.limit {
            limit.check(self, found.schedule.makespan())?;
        }
        context.bounds.extend(found.bounds);
        context.remarks.extend(found.remark);
        Ok(found.schedule.into())
    }

    /// Returns the plan that contains the points `points`, without points that exceed the limit. A bound that was
    /// proved under a limit holds only for schedules within the limit. So under a limit, the plan is a front, which
    /// stores each schedule with its bound, even if there is only one schedule.
    fn within(
        &self,
        limit: Option<Limit>,
        mut points: Vec<FrontPoint>,
        instance: &Instance,
    ) -> Result<Plan, ScheduleError> {
        let makespan = |point: &FrontPoint| point.schedule.makespan();
        if let Some(limit) = limit {
            limit.check(self, points.iter().map(makespan).min().unwrap_or_default())?;
            points.retain(|point| makespan(point) <= limit.at);
        }
        match points.pop() {
            Some(point) if limit.is_none() && self.target != Target::Front => Ok(point.schedule.into()),
            point => Ok(Front::new(instance, points.into_iter().chain(point).collect()).into()),
        }
    }
}
