//! The search for graphs of tasks makes several list schedules, and anneals the best one. Annealing either moves one
//! task at a time to another position on a processor, or changes the order of all tasks and their processors.

mod annealing;
pub(super) mod cost;
mod relocating;
mod start;

use std::time::Instant;

use makespan_core::{Instance, Objective, Time};
use makespan_verify::Bound;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::front::limits;
use super::machines::{LIGHTEST, MachineOutcome, SHORTEST, proved};
use super::proofs::prove;
use super::{Limit, Optimise, Target};
use crate::kernel::graph::machine_orders::MachineOrders;
use crate::kernel::graph::sequence::Sequence;
use crate::kernel::graph::{GraphProblem, NEVER, TaskPlace};
use crate::plan::Context;
use crate::search::{Portfolio, SearchCourse, anneal};
use annealing::Annealing;
use relocating::RelocationSearch;

/// The fraction of the search time for list schedules with randomly changed ranks. The remaining time is for annealing.
const LISTS: f64 = 0.1;
/// The fraction of the time that is reserved at the end for work that cannot be interrupted: the last schedule and its
/// proof.
const RESERVE: f64 = 0.01;
/// For a budget of steps, the number of steps of the budget that one list uses.
const STEPS_A_LIST: u64 = 20;

/// The initial temperature for at least `FEW` tasks, as a fraction of [`scale`].
const HOT: f64 = 0.15;
const FEW: f64 = 25.0;

/// Returns the initial temperature, as a fraction of [`scale`]. For few tasks, the temperature is higher, up to 1,
/// because all changes are soon tried.
fn hottest(tasks: usize) -> f64 {
    (HOT * (FEW / tasks as f64).max(1.0)).min(1.0)
}

/// Returns the mean of the fastest times of all tasks, plus the mean transfer time between different nodes.
fn scale(problem: &GraphProblem) -> f64 {
    let (mut times, mut transfers, mut edges) = (0.0, 0.0, 0.0_f64);
    for task in 0..problem.tasks() as u32 {
        times += problem.times(task).iter().copied().min().unwrap_or(NEVER) as f64;
        for from in problem.incoming(task) {
            transfers += problem.transfers().mean(from.edge);
            edges += 1.0;
        }
    }
    times / problem.tasks() as f64 + transfers / edges.max(1.0)
}

/// One run of the scheduler on tasks that each run on one processor: graphs, or tasks with release dates or closed
/// processors.
pub(super) struct GraphRun<'a> {
    pub(super) instance: &'a Instance,
    pub(super) optimise: &'a Optimise,
}

/// Returns a schedule that ends by `end`, or `None` if the search finds none. The search begins with lists, and makes
/// `steps` steps. The result depends on the seed, but not on the clock.
pub(in crate::scheduler) fn within(
    instance: &Instance,
    problem: &GraphProblem,
    end: i64,
    steps: u64,
    context: &Context,
) -> Option<Vec<TaskPlace>> {
    let weights: Vec<f64> = instance.jobs().iter().map(|job| job.weight.millionths() as f64).collect();
    let (objective, floor) = (Objective::Makespan, end as f64);
    let each = SearchData { problem, objective, weights: &weights, limit: None, known: &[], floor };
    let lists = (steps as f64 * LISTS) as u64 / STEPS_A_LIST + 1;
    let (lists, course) = (SearchCourse::of(lists, &context.stop), SearchCourse::of(steps, &context.stop));
    let (value, places) = each.search(0, ChaCha8Rng::seed_from_u64(context.seed), lists, course);
    (value <= floor).then_some(places)
}

/// The data of each independent search.
struct SearchData<'a> {
    problem: &'a GraphProblem,
    objective: Objective,
    weights: &'a [f64],
    /// Maximum makespan of a schedule.
    limit: Option<i64>,
    /// Schedules to start from, in addition to lists.
    known: &'a [Vec<TaskPlace>],
    /// A proven bound in the unit of the search. A search that reaches the bound ends.
    floor: f64,
}

/// A search for a schedule: its objective, its limit, and its part of the time.
#[derive(Clone, Copy)]
struct Aim {
    objective: Objective,
    limit: Option<i64>,
    from: f64,
    until: f64,
}

/// The problem and its proven bounds.
struct Proved {
    problem: GraphProblem,
    weights: Vec<f64>,
    bounds: Vec<Bound>,
    portfolio: Portfolio,
}

impl GraphRun<'_> {
    /// Returns the best schedules found, and the bounds that were proved.
    pub(super) fn minimise(&self, context: &Context) -> MachineOutcome {
        let portfolio = self.optimise.portfolio(Instant::now(), context);
        let (target, factor) = (self.optimise.target, self.optimise.makespan_at_most);
        let objectives = match target {
            Target::Objective(Objective::Makespan) => vec![Objective::Makespan],
            Target::Objective(objective) if factor.is_none() => vec![objective],
            Target::Objective(objective)
                if objective.of_jobs().is_some() && objective != Objective::WeightedCompletion =>
            {
                vec![Objective::Makespan, Objective::WeightedCompletion, objective]
            }
            Target::Objective(_) | Target::Front => vec![Objective::Makespan, Objective::WeightedCompletion],
        };
        let bounds = prove(self.instance, &portfolio, context, &objectives);
        let weights = self.instance.jobs().iter().map(|job| job.weight.millionths() as f64).collect();
        let known = Proved { problem: GraphProblem::new(self.instance), weights, bounds, portfolio };
        let floor = Time::from_ticks(known.bound(Objective::Makespan).map_or(0, |value| value as i64));
        let limit = Limit::new(factor, floor, context);
        let at = limit.map(|limit| limit.at.ticks());
        let found = match target {
            Target::Objective(objective) => known.of(objective, at),
            Target::Front => known.front(at),
        };
        let points = found.iter().map(|places| proved(&known.bounds, known.problem.schedule(places))).collect();
        MachineOutcome { points, bounds: known.bounds, limit }
    }
}

impl Proved {
    fn of(&self, objective: Objective, limit: Option<i64>) -> Vec<Vec<TaskPlace>> {
        let aim = Aim { objective, limit, from: 0.0, until: 1.0 };
        if limit.is_none() || objective == Objective::Makespan {
            return vec![self.find(Aim { limit: None, ..aim }, &[])];
        }
        // First search for the shortest schedule. This search is most likely to find a schedule within a narrow limit.
        let short = self.find(Aim { objective: Objective::Makespan, limit: None, until: SHORTEST, ..aim }, &[]);
        let found = self.find(Aim { from: SHORTEST, ..aim }, std::slice::from_ref(&short));
        let keeps = self.problem.schedule(&found).makespan().ticks() <= limit.unwrap_or(i64::MAX);
        vec![if keeps { found } else { short }]
    }

    /// Returns the shortest schedule, the schedule with the least weighted completion, and some schedules between
    /// them.
    fn front(&self, limit: Option<i64>) -> Vec<Vec<TaskPlace>> {
        let aim = Aim { objective: Objective::Makespan, limit: None, from: 0.0, until: SHORTEST };
        let short = self.find(aim, &[]);
        let objective = Objective::WeightedCompletion;
        let aim = Aim { objective, limit, from: SHORTEST, until: LIGHTEST };
        let light = self.find(aim, std::slice::from_ref(&short));
        let makespan = |places: &Vec<TaskPlace>| self.problem.schedule(places).makespan();
        let between = limits(makespan(&short), makespan(&light));
        let mut found = vec![short, light];
        let share = (1.0 - LIGHTEST) / between.len().max(1) as f64;
        for (at, limit) in between.iter().enumerate() {
            let from = LIGHTEST + share * at as f64;
            let aim = Aim { objective, limit: Some(limit.ticks()), from, until: from + share };
            found.push(self.find(aim, &found));
        }
        found
    }

    /// Returns the best schedule of all searches. The searches also consider the schedules `known`.
    fn find(&self, aim: Aim, known: &[Vec<TaskPlace>]) -> Vec<TaskPlace> {
        let Self { problem, weights, portfolio, .. } = self;
        let Aim { objective, limit, .. } = aim;
        let bound = self.bound(objective).filter(|_| !objective.is_mean());
        let floor = bound.map_or(f64::NEG_INFINITY, |bound| bound as f64);
        let each = SearchData { problem, objective, weights, limit, known, floor };
        let found = portfolio.each(|index| {
            let lists = course(portfolio, aim, LISTS, STEPS_A_LIST);
            let annealing = course(portfolio, aim, 1.0 - RESERVE, 1);
            each.search(index, portfolio.random(index), lists, watched(annealing, portfolio, aim))
        });
        found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(Vec::new, |(_, places)| places)
    }

    /// Returns the best proven bound on an objective.
    fn bound(&self, objective: Objective) -> Option<i128> {
        self.bounds.iter().filter(|bound| bound.objective == objective).map(|bound| bound.value.integer()).max()
    }
}

/// Reports the values of a search, if they are values of the objective. With a limit, or if the objective is a mean, the
/// search minimises another quantity.
fn watched(course: SearchCourse, portfolio: &Portfolio, aim: Aim) -> SearchCourse {
    let Aim { objective, limit, .. } = aim;
    if limit.is_some() || objective.is_mean() { course } else { course.watched(&portfolio.incumbent, objective) }
}

/// Returns the course of a search that stops after the fraction `share` of the time or steps in `aim`. One step of the
/// course uses `steps_a_step` steps of the budget.
fn course(portfolio: &Portfolio, aim: Aim, share: f64, steps_a_step: u64) -> SearchCourse {
    let part = (aim.until - aim.from) * share;
    portfolio.course(aim.from + part, |steps| (steps as f64 * (aim.until - aim.from) * share) as u64 / steps_a_step + 1)
}

impl SearchData<'_> {
    /// Performs one search. Each search uses a different stream of random numbers.
    fn search(
        &self,
        index: u32,
        mut random: ChaCha8Rng,
        mut lists: SearchCourse,
        mut course: SearchCourse,
    ) -> (f64, Vec<TaskPlace>) {
        if self.problem.tasks() == 0 {
            return (0.0, Vec::new());
        }
        let start = start::best(self, &mut random, &mut lists);
        self.improve(start, random, &mut course, index)
    }

    /// Improves a sequence. There are two methods. The first method relocates one task at a time. It is used if
    /// processors are always open, the choice of processors matters, and the objective depends only on the makespan,
    /// without a limit on the makespan. The second method changes the order of the tasks and makes the schedule again.
    fn improve(
        &self,
        start: Sequence<'_>,
        random: ChaCha8Rng,
        course: &mut SearchCourse,
        index: u32,
    ) -> (f64, Vec<TaskPlace>) {
        let lines = MachineOrders::are_enough(self.problem) && !self.problem.is_plain();
        if let Some(floor) = self.shortest().filter(|_| lines && self.limit.is_none()) {
            let mut search = RelocationSearch::new(self.problem, &start.places(), random, floor);
            anneal(&mut search, course);
            return search.into_best();
        }
        let mut annealing = Annealing::new(self.problem, start, random, index, self.floor);
        anneal(&mut annealing, course);
        annealing.into_best()
    }

    /// If the makespan determines the objective, returns a proven bound on the makespan. Otherwise, returns `None`.
    fn shortest(&self) -> Option<f64> {
        match (self.objective, self.weights) {
            (Objective::Makespan, _) => Some(self.floor),
            (Objective::WeightedCompletion, &[weight]) if weight > 0.0 => Some(self.floor / weight),
            (objective, [_]) if objective.is_sum_of_ends() => Some(f64::NEG_INFINITY),
            _ => None,
        }
    }
}
