//! The course of one run: proofs, first schedules, annealing.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::panic::resume_unwind;
use std::time::Instant;

use makespan_bounds::{Clock, PriceOptions, PriceSearch, PricedChoice};
use makespan_core::{Bound, Context, Instance, Objective, Schedule, Time};
use rand_chacha::ChaCha8Rng;

use super::annealing::{Annealing, Ranked};
use super::change::Solution;
use super::goal::{self, Goal};
use super::start::Deadlines;
use super::wholes::Wholes;
use super::{Optimise, Target, start};
use crate::kernel::choices::Choices;
use crate::search::{Course, Portfolio};

/// More jobs are not annealed: a single change would take milliseconds.
const MAX_JOBS: usize = 20_000;
/// Where best placement is required every node is counted: jobs times nodes times jobs that may run at once.
const MAX_COUNTED: usize = 20_000_000;
/// The share of a task's time that goes to prices and, at the same time, to the first schedules.
const PRICES: f64 = 0.3;
/// The same where prices serve the proof of the other objective only.
const OTHER_PRICES: f64 = 0.2;
/// The share of a task's time after which first fits for the makespan end and annealing begins.
const FITS: f64 = 0.4;
/// The shares of the time until which the bound on the makespan is proved, those that are told and nothing else proves, and, of what is left then, one on
/// how late jobs are.
const SHORTEST: f64 = 0.2;
const TOLD: f64 = 0.35;
const LATENESS: f64 = 0.15;
/// The end is kept for what cannot be interrupted: the last schedule and its proof.
const RESERVE: f64 = 0.02;
/// Steps of a search for each step of the prices, and for each first fit, where steps are counted.
const STEPS_A_PRICE: u64 = 20;
const STEPS_A_FIT: u64 = 50;

/// By how much more than its least area a task may hold in lists by the work that is left; and how large these lists may be: tasks times
/// wholes.
const WASTES: [f64; 4] = [1.0, 1.2, 1.5, 2.0];
const MAX_LOOKED_AT: usize = 50_000_000;

/// One run of the scheduler.
pub(super) struct Search<'a> {
    instance: &'a Instance,
    choices: Choices,
    /// Where jobs are parts.
    wholes: Option<Wholes>,
    portfolio: Portfolio,
    floor: Time,
    /// What was proved without a condition.
    bounds: RefCell<Vec<Bound>>,
    /// The plans of the catalogue, made once.
    plans: RefCell<Option<Vec<Schedule>>>,
    /// Lists by the work that wholes have left, made once.
    left: OnceCell<Vec<Schedule>>,
}

/// What to minimise, and in which part of the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) objective: Objective,
    /// No schedule may be longer.
    pub(super) limit: Option<Time>,
    /// As shares of the time, or of the steps.
    pub(super) begin: f64,
    pub(super) end: f64,
}

/// What a task gave.
pub(super) struct Found {
    /// The best schedule; within the limit, if any schedule that is was found.
    pub(super) schedule: Schedule,
    /// On the objective among schedules within the limit.
    pub(super) bound: Option<Bound>,
}

impl<'a> Search<'a> {
    pub(super) fn new(optimise: &Optimise, instance: &'a Instance, wholes: Option<&[u32]>, context: &Context) -> Self {
        let begin = Instant::now();
        // What takes longer to prove is worth it where the makespan itself is minimised.
        let clock = optimise.portfolio(begin, context).clock(SHORTEST);
        let shortest = if optimise.target == Target::Objective(Objective::Makespan) {
            makespan_bounds::makespan_by(instance, &clock)
        } else {
            makespan_bounds::counted_by(instance, &clock)
        };
        let mut bounds = vec![shortest.clone()];
        if context.prove && optimise.budget.time().is_some() {
            bounds.extend(told(instance, optimise, &optimise.portfolio(begin, context).clock(TOLD)));
        }
        // The parts of the search share what is left.
        let rest = Optimise { budget: optimise.budget.after(begin.elapsed()), ..optimise.clone() };
        let portfolio = rest.portfolio(Instant::now(), context);
        Self {
            instance,
            choices: Choices::new(instance),
            wholes: wholes.map(|wholes| Wholes::new(instance, wholes)),
            portfolio,
            floor: shortest.ticks(),
            bounds: RefCell::new(bounds),
            plans: RefCell::new(None),
            left: OnceCell::new(),
        }
    }

    /// The proven bound on the makespan.
    pub(super) fn floor(&self) -> Time {
        self.floor
    }

    /// The bounds that hold for every schedule.
    pub(super) fn into_bounds(self) -> Vec<Bound> {
        self.bounds.into_inner()
    }

    /// Proves what nothing else does on the way.
    fn prove_lateness(&self, objective: Objective) {
        let known = |bound: &Bound| bound.objective == objective;
        if objective.is_lateness() && !self.bounds.borrow().iter().any(known) {
            let bound = makespan_bounds::best_by(self.instance, objective, &self.portfolio.clock(LATENESS)).ok();
            self.bounds.borrow_mut().extend(bound);
        }
    }

    /// Minimises one objective, starting from the catalogue, the prices and `known` schedules. The outcome is no worse
    /// than any of the known schedules and the catalogue's plans that keep the limit.
    pub(super) fn minimise(&self, task: Task, known: &[Schedule]) -> Found {
        let instance = self.instance;
        self.prove_lateness(task.objective);
        // The prices and the first schedules do not need each other.
        let made = self.plans.borrow_mut().take();
        let (priced, plans) = std::thread::scope(|scope| {
            let (prices, plans_end) = (task.course(&self.portfolio, PRICES, STEPS_A_PRICE), self.at(task, PRICES));
            let other = task.course(&self.portfolio, OTHER_PRICES, STEPS_A_PRICE);
            let needs_other =
                !self.bounds.borrow().iter().any(|bound| bound.objective == Objective::WeightedCompletion);
            let priced = scope.spawn(move || match task.objective {
                Objective::Makespan if !needs_other => None,
                Objective::Makespan => prices_of(instance, Objective::WeightedCompletion, None, other),
                // Of lateness nothing follows from prices; they tell what a schedule may look like.
                objective if objective.is_lateness() => {
                    prices_of(instance, Objective::WeightedCompletion, task.limit, other)
                }
                objective => prices_of(instance, objective, task.limit, prices),
            });
            let plans = made
                .unwrap_or_else(|| start::catalogue(instance, self.portfolio.seed, plans_end, &self.portfolio.stop));
            (priced.join().unwrap_or_else(|panic| resume_unwind(panic)), plans)
        });
        let (bound, priced) = priced.unzip();
        let priced = priced.filter(|_| task.objective != Objective::Makespan);
        let suggested = priced.as_ref().map(|priced| Cow::Owned(start::priced(instance, priced)));
        // Schedules may have a million placements: none is copied or valued twice.
        let rank = |schedule: &Schedule| (task.broken_by(schedule), self.value(task.objective, schedule));
        let left = self.by_least_left(task).iter().map(Cow::Borrowed);
        let starts = plans.iter().chain(known).map(Cow::Borrowed).chain(suggested).chain(left);
        let ranked = starts.map(|schedule| (rank(&schedule), schedule));
        let (least, mut best) = ranked.min_by_key(|(rank, _)| *rank).unwrap_or_default();
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
        Found { schedule, bound }
    }

    /// The objective, of wholes where jobs are parts.
    fn value(&self, objective: Objective, schedule: &Schedule) -> i128 {
        match &self.wholes {
            Some(wholes) => wholes.value(objective, self.instance, schedule),
            None => objective.value(self.instance, schedule),
        }
    }

    /// Lists by the work that wholes have left, where these count.
    fn by_least_left(&self, task: Task) -> &[Schedule] {
        let is_small = |wholes: &&Wholes| wholes.of.len().saturating_mul(wholes.weights.len()) <= MAX_LOOKED_AT;
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

    /// The best schedule that is found from these starts on.
    fn search_from(&self, task: Task, first: &Schedule, priced: Option<&[PricedChoice]>) -> Option<Schedule> {
        if self.can_anneal() {
            return Some(self.anneal(task, first, priced));
        }
        if self.instance.platform().restricts_placement() {
            return None;
        }
        // One insertion takes seconds here, so it is made once, and only while there is time.
        let late =
            self.at(task, 1.0 - RESERVE).is_some_and(|end| Instant::now() >= end) || self.portfolio.stop.is_requested();
        let solution = start::priced_solution(&self.choices, priced.filter(|_| !late)?, task.limit);
        Some(start::schedule(self.instance, &self.choices, &solution))
    }

    /// Whether a change takes milliseconds at most, or a few hundredths of a second.
    fn can_anneal(&self) -> bool {
        let jobs = self.instance.jobs().len();
        let platform = self.instance.platform();
        let counted = jobs.min(platform.processors() as usize) * jobs * platform.node_count();
        jobs <= MAX_JOBS && (!platform.restricts_placement() || counted <= MAX_COUNTED)
    }

    /// The instant at which this share of a task's time is over, if time is what ends the search.
    fn at(&self, task: Task, share: f64) -> Option<Instant> {
        self.portfolio.at(task.begin + (task.end - task.begin) * share)
    }

    /// The best of the searches, as a schedule.
    fn anneal(&self, task: Task, first: &Schedule, priced: Option<&[PricedChoice]>) -> Schedule {
        let (portfolio, floor) = (&self.portfolio, self.floor.ticks());
        let of_lateness = self
            .bounds
            .borrow()
            .iter()
            .filter(|bound| bound.objective == Objective::MaxLateness)
            .map(|bound| i64::try_from(bound.value.integer()).unwrap_or(0))
            .max()
            .unwrap_or(0);
        let Self { instance, choices, wholes, .. } = self;
        let wholes = wholes.as_ref();
        let each = Each { instance, choices, wholes, floor, of_lateness, task, first, priced };
        let found = portfolio.each(|index| {
            let fits = task.course(portfolio, FITS, STEPS_A_FIT);
            each.search(index, portfolio.random(index), fits, task.course(portfolio, 1.0 - RESERVE, 1))
        });
        let best = found.into_iter().min_by(|a, b| a.rank.total_cmp(&b.rank));
        best.map_or_else(|| first.clone(), |best| start::schedule(self.instance, &self.choices, &best.solution))
    }
}

impl Task {
    /// Until a share of the task's time is over, or of its steps, of which one step of the course counts for so many.
    fn course(self, portfolio: &Portfolio, share: f64, steps_a_step: u64) -> Course {
        let part = self.end - self.begin;
        portfolio.course(self.begin + part * share, |steps| (steps as f64 * part) as u64 / steps_a_step + 1)
    }

    /// By how much a schedule passes the limit.
    fn broken_by(&self, schedule: &Schedule) -> Time {
        self.limit.map_or(Time::ZERO, |limit| schedule.makespan().saturating_since(limit))
    }
}

/// What each of the independent searches knows.
#[derive(Clone, Copy)]
pub(super) struct Each<'a> {
    pub(super) instance: &'a Instance,
    pub(super) choices: &'a Choices,
    wholes: Option<&'a Wholes>,
    /// A proven bound on the makespan, in ticks.
    pub(super) floor: i64,
    /// One on the largest lateness.
    of_lateness: i64,
    task: Task,
    /// The best schedule that is known.
    first: &'a Schedule,
    /// What the jobs do at least cost under the prices that were found.
    priced: Option<&'a [PricedChoice]>,
}

impl Each<'_> {
    /// One search on its own stream of random numbers.
    fn search(self, index: u32, mut random: ChaCha8Rng, mut fits: Course, mut course: Course) -> Ranked {
        let is_cool = !index.is_multiple_of(2);
        let Self { floor, task, first, priced, .. } = self;
        let mut solutions = vec![start::solution(self.choices, first)];
        if task.objective.is_lateness() {
            solutions.push(start::by_deadline(self.instance, &solutions[0]));
        }
        let enough = if task.objective == Objective::Makespan { Some(floor) } else { task.limit.map(Time::ticks) };
        if let Some(enough) = enough {
            let range = Deadlines { floor, enough, reached: first.makespan().ticks() };
            solutions.extend(start::fitted(self.instance, self.choices, range, &mut random, &mut fits));
        }
        // The shortest so far, where there is one: what a limit is most likely to let pass.
        let shortest = solutions.last().cloned();
        if task.objective != Objective::Makespan {
            solutions.extend(priced.map(|priced| start::priced_solution(self.choices, priced, task.limit)));
        }
        let annealing = |solution: Solution, price: f64| {
            let limit = task.limit.map(|limit| (limit.ticks(), price));
            let mut goal = Goal::new(self.instance, task.objective, self.wholes, limit);
            let (reached, floor) = match task.objective {
                Objective::MaxLateness => (task.objective.value(self.instance, first) as i64, self.of_lateness),
                _ => (first.makespan().ticks(), floor),
            };
            goal.aim(reached, floor);
            Annealing::new(self.instance, self.choices, floor, goal, solution, random.clone())
        };
        let starts = solutions.into_iter().map(|solution| annealing(solution, goal::LOW));
        let mut search = starts
            .min_by(|a, b| a.value().total_cmp(&b.value()))
            .expect("there is one start at least, the best of the catalogue");
        if task.limit.is_some() {
            // What passes the limit is given some time to come back within it: a short one at a low price, and some searches a long one
            // at a high price, which is better in short searches of many tasks.
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
                shortest.expect("the best of the catalogue")
            };
            search = annealing(within, goal::HIGH);
        }
        search.run(&mut course, is_cool);
        search.into_best()
    }
}

/// The bounds that are told with every schedule and that the search does not prove on its way.
fn told(instance: &Instance, optimise: &Optimise, clock: &Clock) -> Vec<Bound> {
    let is_proved = |objective: Objective| match objective {
        Objective::Makespan => true,
        // The prices of the flow are no prices of weights.
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

/// Improves prices, for the proof and for what they suggest to each job.
fn prices_of(
    instance: &Instance,
    objective: Objective,
    makespan_at_most: Option<Time>,
    mut course: Course,
) -> Option<(Option<Bound>, Vec<PricedChoice>)> {
    let mut search = PriceSearch::new(instance, PriceOptions { objective, makespan_at_most })?;
    let mut early = None;
    while let Some(done) = course.step()
        && !search.has_ended()
    {
        // The bound dips when the search places its instants anew, which may be just before the end.
        if done >= 0.5 && early.is_none() && instance.jobs().len() <= MAX_JOBS {
            early = search.bound(instance);
        }
        search.improve(1);
    }
    let bounds = early.into_iter().chain(search.bound(instance));
    Some((bounds.max_by_key(|bound| bound.value.integer()), search.choices(instance)))
}
