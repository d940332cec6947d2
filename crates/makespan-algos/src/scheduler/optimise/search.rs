//! One run of `optimise`: proofs, initial schedules and annealing.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::panic::resume_unwind;
use std::time::Instant;

use makespan_bounds::{Clock, PriceOptions, PriceSearch, PricedChoice};
use makespan_core::{Instance, Objective, Schedule, Time};
use makespan_verify::Bound;
use rand_chacha::ChaCha8Rng;

use super::annealing::{Annealing, RankedSolution};
use super::change::Solution;
use super::goal::{self, Goal};
use super::start::Deadlines;
use super::wholes::NumberedWholes;
use super::{Optimise, Target, start};
use crate::kernel::choices::Choices;
use crate::plan::Context;
use crate::search::{Portfolio, SearchCourse};

/// Maximum number of jobs for annealing. With more jobs, a single change would take milliseconds.
const MAX_JOBS: usize = 20_000;
/// If best placement is required, the maximum effort for annealing. The effort is the product of the number of jobs,
/// the number of nodes, and the number of jobs that may run at the same time. The number of nodes is a factor because
/// the search stores the free processors of all nodes at every instant at which they change.
const MAX_COUNTED: usize = 20_000_000;
/// The fraction of the time of a [`SearchTask`] in which prices are computed. The initial schedules are made at the
/// same time.
const PRICES: f64 = 0.3;
/// The fraction of a search task's time for prices that only prove a bound on an objective that the search task does
/// not minimise.
const OTHER_PRICES: f64 = 0.2;
/// The fraction of a search task's time after which first fit for the makespan ends and annealing begins.
const FITS: f64 = 0.4;
/// The proof of the bound on the makespan ends after this fraction of the time limit.
const SHORTEST: f64 = 0.2;
/// The proofs of other reported bounds end after this fraction of the time limit.
const TOLD: f64 = 0.35;
/// Maximum fraction of the remaining time that the proof of a bound on tardiness may take.
const TARDINESS: f64 = 0.15;
/// The fraction of the time that is reserved at the end for work that cannot be interrupted: the last schedule and its
/// proof.
const RESERVE: f64 = 0.02;
/// For a budget of steps, the number of steps of the budget that one step of the search for prices uses.
const STEPS_A_PRICE: u64 = 20;
/// For a budget of steps, the number of steps of the budget that one first fit uses.
const STEPS_A_FIT: u64 = 50;

/// Maximum ratios of a task's area to its least area in lists by remaining work. For each of these ratios, one list is
/// tried.
const WASTES: [f64; 4] = [1.0, 1.2, 1.5, 2.0];
/// Maximum size of an instance for lists by remaining work: the number of tasks times the number of wholes (the larger
/// jobs that consist of these tasks).
const MAX_LOOKED_AT: usize = 50_000_000;

/// One run of the scheduler.
pub(super) struct OptimiseRun<'a> {
    instance: &'a Instance,
    choices: Choices,
    /// The larger jobs (wholes), if the jobs are parts of larger jobs, such as tasks of a bag.
    wholes: Option<NumberedWholes>,
    portfolio: Portfolio,
    floor: Time,
    /// The bounds that hold for every schedule.
    bounds: RefCell<Vec<Bound>>,
    /// The plans of the catalogue's algorithms. `None` until they have been made.
    plans: RefCell<Option<Vec<Schedule>>>,
    /// The lists by the remaining work of larger jobs, such as bags. Empty until the lists are needed.
    left: OnceCell<Vec<Schedule>>,
}

/// An objective to minimise, and its part of the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchTask {
    pub(super) objective: Objective,
    /// Maximum makespan of a schedule.
    pub(super) limit: Option<Time>,
    /// The beginning, as a fraction of the time or of the steps.
    pub(super) begin: f64,
    /// The end, as a fraction of the time or of the steps.
    pub(super) end: f64,
}

/// The result of a search task.
pub(super) struct SearchResult {
    /// The best schedule found. This schedule is within the limit if any schedule within the limit was found.
    pub(super) schedule: Schedule,
    /// A proven bound on the objective. The bound holds for all schedules that keep the limit on the makespan.
    pub(super) bound: Option<Bound>,
}

impl<'a> OptimiseRun<'a> {
    pub(super) fn new(optimise: &Optimise, instance: &'a Instance, wholes: Option<&[u32]>, context: &Context) -> Self {
        let begin = Instant::now();
        // Limit the time of this first proof of a bound on the makespan. If the makespan is the objective, a later
        // proof gets more time.
        let clock = optimise.portfolio(begin, context).clock(SHORTEST);
        let shortest = if optimise.target == Target::Objective(Objective::Makespan) {
            makespan_bounds::makespan_by(instance, &clock)
        } else {
            makespan_bounds::counted_by(instance, &clock)
        };
        context.incumbent.proved(&shortest);
        let mut bounds = vec![shortest.clone()];
        if context.prove && optimise.budget.time().is_some() {
            bounds.extend(told(instance, optimise, &optimise.portfolio(begin, context).clock(TOLD)));
        }
        // The parts of the search share the remaining time.
        let rest = Optimise { budget: optimise.budget.after(begin.elapsed()), ..optimise.clone() };
        let portfolio = rest.portfolio(Instant::now(), context);
        Self {
            instance,
            choices: Choices::new(instance),
            wholes: wholes.map(|wholes| NumberedWholes::new(instance, wholes)),
            portfolio,
            floor: shortest.ticks(),
            bounds: RefCell::new(bounds),
            plans: RefCell::new(None),
            left: OnceCell::new(),
        }
    }

    /// Returns the proven bound on the makespan.
    pub(super) fn floor(&self) -> Time {
        self.floor
    }

    /// Returns the bounds that hold for every schedule.
    pub(super) fn into_bounds(self) -> Vec<Bound> {
        self.bounds.into_inner()
    }

    /// If the objective is a tardiness and has no bound yet, proves a bound on it. No other part of the search proves
    /// bounds on tardiness.
    fn prove_tardiness(&self, objective: Objective) {
        let known = |bound: &Bound| bound.objective == objective;
        if objective.is_tardiness() && !self.bounds.borrow().iter().any(known) {
            let bound = makespan_bounds::best_by(self.instance, objective, &self.portfolio.clock(TARDINESS)).ok();
            bound.iter().for_each(|bound| self.portfolio.incumbent.proved(bound));
            self.bounds.borrow_mut().extend(bound);
        }
    }

    /// Minimises one objective. Begins with the plans of the catalogue, the plan by prices and the schedules `known`.
    /// The result is at least as good as every schedule in `known` and every plan of the catalogue within the limit.
    pub(super) fn minimise(&self, task: SearchTask, known: &[Schedule]) -> SearchResult {
        let instance = self.instance;
        self.prove_tardiness(task.objective);
        // Prices and initial schedules do not depend on each other, so compute them at the same time.
        let made = self.plans.borrow_mut().take();
        let (priced, plans) = std::thread::scope(|scope| {
            let (prices, plans_end) = (task.course(&self.portfolio, PRICES, STEPS_A_PRICE), self.at(task, PRICES));
            let other = task.course(&self.portfolio, OTHER_PRICES, STEPS_A_PRICE);
            let needs_other =
                !self.bounds.borrow().iter().any(|bound| bound.objective == Objective::WeightedCompletion);
            let priced = scope.spawn(move || match task.objective {
                Objective::Makespan if !needs_other => None,
                Objective::Makespan => prices_of(instance, Objective::WeightedCompletion, None, other),
                // Prices prove no bound on tardiness, but they suggest a schedule.
                objective if objective.is_tardiness() => {
                    prices_of(instance, Objective::WeightedCompletion, task.limit, other)
                }
                objective => prices_of(instance, objective, task.limit, prices),
            });
            let plans = made
                .unwrap_or_else(|| start::catalogue(instance, self.portfolio.seed, plans_end, &self.portfolio.stop));
            (priced.join().unwrap_or_else(|panic| resume_unwind(panic)), plans)
        });
        let (bound, priced) = priced.unzip();
        bound.iter().flatten().for_each(|bound| self.portfolio.incumbent.proved(bound));
        let priced = priced.filter(|_| task.objective != Objective::Makespan);
        let suggested = priced.as_ref().map(|priced| Cow::Owned(start::priced(instance, priced)));
        // Copy no schedule and evaluate each only once, because a schedule may have a million placements.
        let rank = |schedule: &Schedule| (task.broken_by(schedule), self.value(task.objective, schedule));
        let left = self.by_least_left(task).iter().map(Cow::Borrowed);
        let starts = plans.iter().chain(known).map(Cow::Borrowed).chain(suggested).chain(left);
        let ranked = starts.map(|schedule| (rank(&schedule), schedule));
        let (least, mut best) = ranked.min_by_key(|(rank, _)| *rank).unwrap_or_default();
        if task.limit.is_none() && !best.placements().is_empty() {
            self.portfolio.incumbent.found(task.objective, least.1 as f64);
        }
        if !instance.jobs().is_empty() {
            let searched = self.search_from(task, &best, priced.as_deref());
            if let Some(found) = searched.filter(|found| rank(found) <= least) {
                best = Cow::Owned(found);
            }
        }
        let schedule = best.into_owned();
        *self.plans.borrow_mut() = Some(plans);
        let bound = bound.flatten();
        self.bounds.borrow_mut().extend(bound.iter().filter(|bound| bound.makespan_at_most.is_none()).cloned());
        SearchResult { schedule, bound }
    }

    /// Returns the value of an objective. If jobs are parts of larger jobs, returns the value for the larger jobs.
    fn value(&self, objective: Objective, schedule: &Schedule) -> i128 {
        match &self.wholes {
            Some(wholes) => wholes.value(objective, self.instance, schedule),
            None => objective.value(self.instance, schedule),
        }
    }

    /// Returns lists by the remaining work of larger jobs, such as bags. If the objective does not depend on the ends
    /// of larger jobs, returns no lists.
    fn by_least_left(&self, task: SearchTask) -> &[Schedule] {
        let is_small = |wholes: &&NumberedWholes| wholes.of.len().saturating_mul(wholes.weights.len()) <= MAX_LOOKED_AT;
        let wholes = self.wholes.as_ref().filter(is_small).filter(|_| task.objective != Objective::Makespan);
        let Some(wholes) = wholes else { return &[] };
        self.left.get_or_init(|| {
            let made = WASTES.map(|waste| {
                let solution = wholes.by_least_left(self.instance, &self.choices, waste);
                start::schedule(self.instance, &self.choices, &solution)
            });
            made.into()
        })
    }

    /// Searches from the schedule `first` and from the choices that the prices suggest. Returns the best schedule
    /// found.
    fn search_from(&self, task: SearchTask, first: &Schedule, priced: Option<&[PricedChoice]>) -> Option<Schedule> {
        if self.can_anneal() {
            return Some(self.anneal(task, first, priced));
        }
        if self.instance.platform().restricts_placement() {
            return None;
        }
        // If the instance is too large for annealing, the serial insertion of all jobs takes seconds. Insert the jobs
        // only if there is time.
        let late =
            self.at(task, 1.0 - RESERVE).is_some_and(|end| Instant::now() >= end) || self.portfolio.stop.is_requested();
        let solution = start::priced_solution(&self.choices, priced.filter(|_| !late)?, task.limit);
        Some(start::schedule(self.instance, &self.choices, &solution))
    }

    /// Returns whether annealing is fast enough. One change may take a few milliseconds or, if best placement is
    /// required, a few hundredths of a second.
    fn can_anneal(&self) -> bool {
        let jobs = self.instance.jobs().len();
        let platform = self.instance.platform();
        let counted = jobs.min(platform.processors() as usize) * jobs * platform.node_count();
        jobs <= MAX_JOBS && (!platform.restricts_placement() || counted <= MAX_COUNTED)
    }

    /// Returns the instant at which the fraction `share` of a search task's time has elapsed. If the budget counts
    /// steps, returns `None`.
    fn at(&self, task: SearchTask, share: f64) -> Option<Instant> {
        self.portfolio.at(task.begin + (task.end - task.begin) * share)
    }

    /// Returns the best result of the searches as a schedule.
    fn anneal(&self, task: SearchTask, first: &Schedule, priced: Option<&[PricedChoice]>) -> Schedule {
        let (portfolio, floor) = (&self.portfolio, self.floor.ticks());
        let of_tardiness = self
            .bounds
            .borrow()
            .iter()
            .filter(|bound| bound.objective == Objective::MaxTardiness)
            .map(|bound| i64::try_from(bound.value.integer()).unwrap_or(0))
            .max()
            .unwrap_or(0);
        let Self { instance, choices, wholes, .. } = self;
        let wholes = wholes.as_ref();
        let each = SharedSearchData { instance, choices, wholes, floor, of_tardiness, task, first, priced };
        let found = portfolio.each(|index| {
            let fits = task.course(portfolio, FITS, STEPS_A_FIT);
            let mut course = task.course(portfolio, 1.0 - RESERVE, 1);
            if task.objective == Objective::Makespan && task.limit.is_none() {
                course = course.watched(&portfolio.incumbent, task.objective);
            }
            each.search(index, portfolio.random(index), fits, course)
        });
        let best = found.into_iter().min_by(|a, b| a.rank.total_cmp(&b.rank));
        best.map_or_else(|| first.clone(), |best| start::schedule(self.instance, &self.choices, &best.solution))
    }
}

impl SearchTask {
    /// Returns a course that ends after the fraction `share` of the task's time or steps. One step of the course uses
    /// `steps_a_step` steps of the budget.
    fn course(self, portfolio: &Portfolio, share: f64, steps_a_step: u64) -> SearchCourse {
        let part = self.end - self.begin;
        portfolio.course(self.begin + part * share, |steps| (steps as f64 * part) as u64 / steps_a_step + 1)
    }

    /// Returns the time by which a schedule exceeds the limit, or zero.
    fn broken_by(&self, schedule: &Schedule) -> Time {
        self.limit.map_or(Time::ZERO, |limit| schedule.makespan().saturating_since(limit))
    }
}

/// The data of the independent searches.
#[derive(Clone, Copy)]
pub(super) struct SharedSearchData<'a> {
    pub(super) instance: &'a Instance,
    pub(super) choices: &'a Choices,
    wholes: Option<&'a NumberedWholes>,
    /// A proven bound on the makespan, in ticks.
    pub(super) floor: i64,
    /// A proven bound on the maximum tardiness, in ticks.
    of_tardiness: i64,
    task: SearchTask,
    /// The best known schedule.
    first: &'a Schedule,
    /// For each job, the start and the allotment that cost least at the prices.
    priced: Option<&'a [PricedChoice]>,
}

impl SharedSearchData<'_> {
    /// Performs one search. Each search uses a different stream of random numbers.
    fn search(
        self,
        index: u32,
        mut random: ChaCha8Rng,
        mut fits: SearchCourse,
        mut course: SearchCourse,
    ) -> RankedSolution {
        let is_cool = !index.is_multiple_of(2);
        let Self { floor, task, first, priced, .. } = self;
        let mut solutions = vec![start::solution(self.choices, first)];
        if task.objective.is_tardiness() {
            solutions.push(start::by_deadline(self.instance, &solutions[0]));
        }
        let enough = if task.objective == Objective::Makespan { Some(floor) } else { task.limit.map(Time::ticks) };
        if let Some(enough) = enough {
            let range = Deadlines { floor, enough, reached: first.makespan().ticks() };
            solutions.extend(start::fitted(self.instance, self.choices, range, &mut random, &mut fits));
        }
        // Remember the last solution. This solution is the shortest, so it is the most likely to keep a limit.
        let shortest = solutions.last().cloned();
        if task.objective != Objective::Makespan {
            solutions.extend(priced.map(|priced| start::priced_solution(self.choices, priced, task.limit)));
        }
        let annealing = |solution: Solution, price: f64| {
            let limit = task.limit.map(|limit| (limit.ticks(), price));
            let mut goal = Goal::new(self.instance, task.objective, self.wholes, limit);
            let (reached, floor) = match task.objective {
                Objective::MaxTardiness => (task.objective.value(self.instance, first) as i64, self.of_tardiness),
                _ => (first.makespan().ticks(), floor),
            };
            goal.aim(reached, floor);
            Annealing::new(self.instance, self.choices, floor, goal, solution, random.clone())
        };
        let starts = solutions.into_iter().map(|solution| annealing(solution, goal::LOW));
        let mut search = starts
            .min_by(|a, b| a.value().total_cmp(&b.value()))
            .expect("there is at least one start: the best plan of the catalogue");
        if task.limit.is_some() {
            // If the solution exceeds the limit, first search for shorter solutions at a low price of exceeding the
            // limit, for a short time. In every second search, continue at a high price and for a longer time, which is
            // better for short searches of many tasks.
            search.run(&mut fits, is_cool);
            if is_cool && !search.keeps_limit() {
                let mut back = annealing(search.present().clone(), goal::HIGH).coming_back();
                back.run(&mut course, is_cool);
                if back.keeps_limit() {
                    return back.into_best();
                }
            }
            let within = if search.keeps_limit() {
                search.into_best().solution
            } else {
                shortest.expect("there is at least the best plan of the catalogue")
            };
            search = annealing(within, goal::HIGH);
        }
        search.run(&mut course, is_cool);
        search.into_best()
    }
}

/// Returns the bounds that are reported with every schedule, and that the search itself does not prove.
fn told(instance: &Instance, optimise: &Optimise, clock: &Clock) -> Vec<Bound> {
    let is_proved = |objective: Objective| match objective {
        Objective::Makespan => true,
        // Prices for the mean flow prove no bound on weighted completion, so weighted completion needs its own search
        // for prices.
        Objective::WeightedCompletion => {
            !matches!(optimise.target, Target::Objective(objective) if objective.is_mean())
        }
        objective => optimise.target == Target::Objective(objective),
    };
    let missing: Vec<Objective> = Objective::standard(instance).filter(|&objective| !is_proved(objective)).collect();
    let of = |(at, &objective): (usize, &Objective)| {
        makespan_bounds::best_by(instance, objective, &clock.part(1.0 / (missing.len() - at) as f64)).ok()
    };
    missing.iter().enumerate().filter_map(of).collect()
}

/// Improves prices. Returns the bound that the prices prove, and the choice that the prices suggest for each job.
fn prices_of(
    instance: &Instance,
    objective: Objective,
    makespan_at_most: Option<Time>,
    mut course: SearchCourse,
) -> Option<(Option<Bound>, Vec<PricedChoice>)> {
    let mut search = PriceSearch::new(instance, PriceOptions { objective, makespan_at_most })?;
    let mut early = None;
    while let Some(done) = course.step()
        && !search.has_ended()
    {
        // Keep a bound from the middle of the search, because the last bound may be worse. When the search moves its
        // instants, its bound becomes worse for a while.
        if done >= 0.5 && early.is_none() && instance.jobs().len() <= MAX_JOBS {
            early = search.bound(instance);
        }
        search.improve(1);
    }
    let bounds = early.into_iter().chain(search.bound(instance));
    Some((bounds.max_by_key(|bound| bound.value.integer()), search.choices(instance)))
}
