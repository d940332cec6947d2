//! Sequential jobs on machines that differ. For the makespan, the search uses prices, rounding and ejection chains. For
//! weighted completion, the search assigns jobs to positions on machines, or anneals mappings in Smith's order.

mod lightest;

use std::time::Instant;

use makespan_bounds::machines::{self, Positions};
use makespan_core::{Instance, Objective, Schedule, TaskId, Time};
use makespan_verify::Bound;
use rand_chacha::ChaCha8Rng;

use super::front::limits;
use super::{Limit, Optimise, Target};
use crate::kernel::mapping::{
    Candidates, Descent, EjectionChains, Loads, MachineId, Mapper, MappingProblem, MinMin, MinimumCompletion, Sufferage,
};
use crate::plan::{Context, FrontPoint};
use crate::scheduler::mapping::{problem_of, schedule_for};
use crate::search::{Budget, Neighbourhood, Portfolio, anneal};

/// Number of changes between two checks of the clock. If the budget counts steps, these changes are one step.
const CHANGES: usize = 512;
/// The fraction of the time that is reserved at the end for work that cannot be interrupted.
const RESERVE: f64 = 0.03;
/// Number of short annealings for each period of the search. All short annealings take place at the beginning of the
/// search. If few large tasks determine the makespan, a short annealing finds mappings as good as the mappings of a
/// long annealing. So several short annealings find better mappings.
const RESTARTS: f64 = 8.0;
/// Number of annealings that begin with the best mapping, for each period of the search. They follow the short
/// annealings.
const RETURNS: f64 = 4.0;
/// The fraction of its cooling that an annealing skips if it begins with the best mapping.
const WARM: f64 = 0.3;
/// Fraction of the time for short annealings.
const SHORT: f64 = 1.0 / 3.0;
/// Maximum number of tasks for short annealings. With more tasks, or with very few tasks, one annealing is made in each
/// period. This annealing begins with the last mapping of the previous annealing.
const MANY_RESTARTS: usize = 2000;
/// Length of a period in seconds, for a budget of time.
const ONE_SECONDS: f64 = 1.5;
/// Length of a period in steps, for a budget of steps.
const ONE_STEPS: u64 = 10_000;
/// The fraction of the time for the search for the shortest schedule, if other schedules are also needed or the
/// makespan is limited.
pub(super) const SHORTEST: f64 = 0.3;
/// For a front, the fraction of the time after which the search for the least weighted completion ends.
pub(super) const LIGHTEST: f64 = 0.45;
/// Maximum number of run times (tasks times machines) for rules that visit all run times repeatedly.
const MANY: usize = 2_000_000;
/// Maximum number of tasks for Sufferage. Sufferage visits the tasks repeatedly and cannot be interrupted. For this
/// number of tasks, it takes half a second.
const MANY_TASKS: usize = 7000;
/// Maximum number of pairs that a descent examines. A descent cannot be interrupted, and its steps take long if there
/// are many tasks on few machines.
const DESCENT: usize = 20_000_000;

/// The schedules and the bounds that a run has found.
pub(super) struct MachineOutcome {
    pub(super) points: Vec<FrontPoint>,
    pub(super) bounds: Vec<Bound>,
    pub(super) limit: Option<Limit>,
}

/// Plans sequential jobs on machines that differ. For the makespan, independent searches anneal mappings, beginning
/// with rounded prices and with rules. For the mean flow, and for the weighted completion of jobs with equal weights,
/// positions are assigned optimally. With different weights, or under a limit on the makespan, a mapping is annealed.
/// Each machine then runs its tasks in the best order.
pub(super) fn optimise(optimise: &Optimise, instance: &Instance, context: &Context) -> MachineOutcome {
    let portfolio = optimise.portfolio(Instant::now(), context);
    let problem = problem_of(instance);
    let prices = machines::prices(instance);
    let bound = machines::bound_by(instance, Objective::Makespan, &prices);
    portfolio.incumbent.proved(&bound);
    let floor = bound.ticks();
    let limit = Limit::new(optimise.makespan_at_most, floor, context);
    let aim = match optimise.target {
        Target::Objective(objective) => objective,
        Target::Front => Objective::WeightedCompletion,
    };
    let positions = machines::are_positions_meant(instance, aim)
        .then(|| machines::positions_by(instance, &portfolio.clock(SHORTEST)));
    let mut bounds = vec![bound];
    bounds.extend(other_bounds(instance, aim, &prices, positions.as_ref(), &portfolio));
    bounds.iter().for_each(|bound| portfolio.incumbent.proved(bound));
    let mut starts = starts(instance, &problem, portfolio.random(0));
    let of_positions = positions.as_ref().and_then(|positions| positions.processors.as_ref());
    starts.extend(of_positions.map(|processors| processors.iter().map(|&id| MachineId(id)).collect()));
    let run = Run {
        problem: &problem,
        instance,
        prices: &prices,
        floor: floor.ticks(),
        optimise,
        portfolio,
        aim,
        is_solved: positions.is_some_and(|positions| positions.processors.is_some()),
    };
    let mappings = run.mappings(starts, limit.map(|limit| limit.at));
    let points = mappings.iter().map(|mapping| proved(&bounds, run.schedule(mapping))).collect();
    MachineOutcome { points, bounds, limit }
}

/// Returns a schedule together with the best of `bounds` on the weighted completion.
pub(super) fn proved(bounds: &[Bound], schedule: Schedule) -> FrontPoint {
    let of_completion = bounds.iter().filter(|bound| bound.objective == Objective::WeightedCompletion);
    FrontPoint { schedule, bound: of_completion.max_by_key(|bound| bound.value.integer()).cloned() }
}

/// Returns bounds on the weighted completion. If the objective is not the weighted completion, also returns bounds on
/// the objective.
fn other_bounds(
    instance: &Instance,
    aim: Objective,
    prices: &[f64],
    positions: Option<&Positions>,
    portfolio: &Portfolio,
) -> Vec<Bound> {
    let closed = !instance.unavailable().is_empty();
    let prices = if closed { &machines::open_prices(instance) } else { prices };
    let completion = |aim, share| machines::completion_by(instance, aim, prices, positions, &portfolio.clock(share));
    let mut bounds = vec![completion(Objective::WeightedCompletion, 0.3)];
    if aim.is_mean() {
        bounds.push(completion(aim, 0.45));
    }
    bounds
}

/// Returns mappings that rules make. If there are very many run times, some rules are omitted.
fn starts(instance: &Instance, problem: &MappingProblem<'_>, mut random: ChaCha8Rng) -> Vec<Vec<MachineId>> {
    let mut starts = vec![MinimumCompletion.map(problem, &mut random), MinMin.map(problem, &mut random)];
    if problem.tasks() * problem.machines() <= MANY {
        if problem.tasks() <= MANY_TASKS {
            starts.push(Sufferage { greedy: false }.map(problem, &mut random));
        }
        let mut loads = Loads::new(problem, starts[1].clone());
        Descent::improve(problem, &mut loads, DESCENT);
        starts.push(loads.into_mapping());
    }
    starts.push(by_smith(instance, problem));
    starts
}

/// Maps tasks in Smith's order of their shortest times, each to the machine on which it ends first.
fn by_smith(instance: &Instance, problem: &MappingProblem<'_>) -> Vec<MachineId> {
    let weight = |task: usize| i128::from(instance.weight(TaskId::at(task)).millionths());
    let key: Vec<(i128, i128)> =
        (0..problem.tasks()).map(|task| (i128::from(problem.shortest(task).ticks()), weight(task))).collect();
    let mut order: Vec<usize> = (0..problem.tasks()).collect();
    order.sort_by(|&a, &b| (key[a].0 * key[b].1).cmp(&(key[b].0 * key[a].1)).then(a.cmp(&b)));
    problem.in_order(order)
}

/// The data that all searches share.
struct Run<'a> {
    problem: &'a MappingProblem<'a>,
    instance: &'a Instance,
    prices: &'a [f64],
    floor: i64,
    optimise: &'a Optimise,
    portfolio: Portfolio,
    /// The second objective, in addition to the makespan.
    aim: Objective,
    /// Whether one of the initial mappings is optimal if there is no limit.
    is_solved: bool,
}

impl Run<'_> {
    /// Returns one mapping, or the mappings of a front.
    fn mappings(&self, starts: Vec<Vec<MachineId>>, limit: Option<Time>) -> Vec<Vec<MachineId>> {
        let limit = limit.map(Time::ticks);
        match self.optimise.target {
            Target::Objective(Objective::Makespan) => vec![self.shortest(&starts, 1.0)],
            Target::Objective(_) => match limit {
                None => vec![self.lightest(&starts, None, 0.0..1.0)],
                Some(_) => {
                    // First search for the shortest schedule. This search finds a mapping even if the limit is narrow.
                    let short = self.shortest(&starts, SHORTEST);
                    let starts = [starts, vec![short]].concat();
                    vec![self.lightest(&starts, limit, SHORTEST..1.0)]
                }
            },
            Target::Front => self.front(starts, limit),
        }
    }

    /// Returns the shortest mapping, the mapping with the least weighted completion, and some mappings between them.
    fn front(&self, starts: Vec<Vec<MachineId>>, limit: Option<i64>) -> Vec<Vec<MachineId>> {
        let short = self.shortest(&starts, SHORTEST);
        let mut known = [starts, vec![short.clone()]].concat();
        let light = self.lightest(&known, limit, SHORTEST..LIGHTEST);
        let makespan = |mapping: &Vec<MachineId>| Time::from_ticks(self.problem.makespan(mapping));
        let between = limits(makespan(&short), makespan(&light));
        let share = (1.0 - LIGHTEST) / between.len().max(1) as f64;
        known.push(light);
        for (at, limit) in between.iter().enumerate() {
            let from = LIGHTEST + share * at as f64;
            let found = self.lightest(&known, Some(limit.ticks()), from..from + share);
            known.push(found);
        }
        known
    }

    fn schedule(&self, mapping: &[MachineId]) -> Schedule {
        schedule_for(self.instance, self.problem, mapping, self.aim)
    }

    /// Returns the mapping with the least makespan among the mappings `starts` and the results of all searches. The
    /// searches end after the fraction `share` of the time.
    fn shortest(&self, starts: &[Vec<MachineId>], share: f64) -> Vec<MachineId> {
        let problem = self.problem;
        let rank = |mapping: &Vec<MachineId>| problem.makespan(mapping);
        let Some(first) = starts.iter().min_by_key(|mapping| rank(mapping)).cloned() else { return Vec::new() };
        if rank(&first) <= self.floor || problem.machines() == 1 {
            return first;
        }
        let platform = self.instance.platform();
        let nodes = 0..platform.nodes().len();
        let of_node = |node: usize| std::iter::repeat_n(self.prices[node], platform.nodes()[node].processors as usize);
        let prices: Vec<f64> = nodes.flat_map(of_node).collect();
        let candidates = Candidates::new(problem, &prices, self.floor, rank(&first));
        let times = share
            * match self.optimise.budget {
                Budget::Steps(steps) => (steps / ONE_STEPS) as f64,
                Budget::Time(time) => (time.as_secs_f64() / ONE_SECONDS).round(),
            };
        let found = self.portfolio.each(|index| {
            let chains = EjectionChains::new(problem, &candidates, candidates.cheapest());
            let random = self.portfolio.random(index + 1);
            let restarts = !candidates.is_few() && problem.tasks() <= MANY_RESTARTS;
            let (times, floor) = (times.max(1.0), self.floor as f64);
            let mut search = Shortening { chains, random, floor, times, restarts, number: 0.0 };
            let steps = |steps: u64| (steps as f64 * share) as u64;
            let course = self.portfolio.course(share * (1.0 - RESERVE), steps);
            anneal(&mut search, &mut course.watched(&self.portfolio.incumbent, Objective::Makespan));
            let mut loads = Loads::new(problem, search.chains.into_best());
            Descent::improve(problem, &mut loads, DESCENT);
            loads.into_mapping()
        });
        found.into_iter().chain([first]).min_by_key(rank).unwrap_or_default()
    }
}

/// A search for the mapping with the least makespan.
struct Shortening<'a> {
    chains: EjectionChains<'a>,
    random: ChaCha8Rng,
    floor: f64,
    /// The number of periods for which there is time.
    times: f64,
    /// Whether the search consists of short annealings, followed by annealings that begin with the best mapping.
    restarts: bool,
    /// The index of the current annealing.
    number: f64,
}

impl Neighbourhood for Shortening<'_> {
    fn is_optimal(&self) -> bool {
        self.chains.best() <= self.floor
    }

    fn best_value(&self) -> Option<f64> {
        Some(self.chains.best())
    }

    fn step(&mut self, done: f64) {
        let (number, part) = if !self.restarts {
            (0.0, (done * self.times).fract())
        } else if done < SHORT {
            (0.0, (done / SHORT * self.times * RESTARTS).fract())
        } else {
            let at = (done - SHORT) / (1.0 - SHORT) * (self.times * RETURNS).max(1.0);
            (1.0 + at.floor(), WARM + (1.0 - WARM) * at.fract())
        };
        if number > self.number {
            self.chains.go_back();
        }
        self.number = number;
        self.chains.round(part, CHANGES, &mut self.random);
    }
}
