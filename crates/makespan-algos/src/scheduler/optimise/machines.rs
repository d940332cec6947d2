//! Sequential jobs on machines that differ: prices, rounding, chains.

use std::panic::resume_unwind;
use std::time::Instant;

use makespan_bounds::machines;
use makespan_core::{Bound, Context, FrontPoint, Instance, Objective, Schedule, Stop, Time};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::course::{Budget, Course};
use super::{Optimise, Target, floor_times};
use crate::kernel::mapping::{
    Candidates, Chains, Descent, Loads, Mapper, MinMin, MinimumCompletion, Problem, Sufferage,
};
use crate::scheduler::mapping::{problem_of, schedule_of};

/// Changes that are tried between two looks at the clock; where steps are counted, this is one.
const CHANGES: usize = 512;
/// The end is kept for what cannot be interrupted.
const RESERVE: f64 = 0.03;
/// After so much time, or so many steps, an annealing begins anew from where it is: longer ones end no lower, and the best of
/// several does.
const ONE_SECONDS: f64 = 1.5;
const ONE_STEPS: u64 = 10_000;
/// More times than this are too many for rules that look at all of them again and again.
const MANY: usize = 2_000_000;
/// Sufferage looks at the tasks again and again, and cannot be interrupted: of more than these it takes half a second.
const MANY_TASKS: usize = 7000;
/// Pairs that a descent looks at, at most: it cannot be interrupted, and a step of many tasks on few machines is long.
const DESCENT: usize = 20_000_000;

/// The schedules and the bounds.
pub(super) struct Outcome {
    pub(super) points: Vec<FrontPoint>,
    pub(super) bounds: Vec<Bound>,
    pub(super) limit: Option<Time>,
    pub(super) floor: Time,
}

/// Minimises the makespan by annealing from the rounded prices and the rules, in independent searches. For the other
/// objectives the best of the rules is taken, each machine in the order of Smith.
pub(super) fn optimise(optimise: &Optimise, instance: &Instance, context: &Context) -> Outcome {
    let begin = Instant::now();
    let problem = problem_of(instance);
    let prices = machines::prices(instance);
    let bound = machines::bound_by(instance, Objective::Makespan, &prices);
    let floor = Time::from_ticks(i64::try_from(bound.value).unwrap_or(i64::MAX));
    let limit = optimise.makespan_at_most.map(|factor| floor_times(floor, factor));
    let others = [Objective::WeightedCompletion, Objective::MeanFlow].into_iter().filter(|&objective| {
        objective == Objective::WeightedCompletion || optimise.target == Target::Objective(objective)
    });
    let bounds = others.map(|objective| machines::bound_by(instance, objective, &prices)).collect::<Vec<_>>();
    let bounds = std::iter::once(bound).chain(bounds).collect();
    let starts = starts(instance, &problem, context);
    let schedule = |mapping: &Vec<u32>| schedule_of(instance, &problem, mapping);
    let kept = |schedule: &Schedule| limit.map_or(Time::ZERO, |limit| schedule.makespan().saturating_since(limit));
    let best_of = |objective: Objective| {
        let order = |schedule: &Schedule| (kept(schedule), objective.value(instance, schedule));
        starts.iter().map(schedule).min_by_key(order).unwrap_or_default()
    };
    let shortest = || {
        let search = Search { problem: &problem, instance, prices: &prices, floor: floor.ticks(), optimise, begin };
        schedule(&search.run(&starts, context.seed, &context.stop))
    };
    let schedules = match optimise.target {
        Target::Objective(Objective::Makespan) => vec![shortest()],
        Target::Objective(objective) if limit.is_none() => vec![best_of(objective)],
        Target::Objective(objective) => {
            // What keeps a narrow limit is found by looking for the shortest.
            let (best, short) = (best_of(objective), shortest());
            vec![if kept(&best) <= kept(&short) { best } else { short }]
        }
        Target::Front => vec![shortest(), best_of(Objective::WeightedCompletion)],
    };
    let points = schedules.into_iter().map(|schedule| FrontPoint { schedule, bound: None }).collect();
    Outcome { points, bounds, limit, floor }
}

/// Mappings by rules; not all of them where there are very many times.
fn starts(instance: &Instance, problem: &Problem<'_>, context: &Context) -> Vec<Vec<u32>> {
    let mut random = ChaCha8Rng::seed_from_u64(context.seed);
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

/// In the order of Smith of the shortest times, each job to the machine on which it ends first.
fn by_smith(instance: &Instance, problem: &Problem<'_>) -> Vec<u32> {
    let weight = |task: usize| i128::from(instance.jobs()[task].weight.millionths());
    let key: Vec<(i128, i128)> =
        (0..problem.tasks()).map(|task| (i128::from(problem.shortest(task).ticks()), weight(task))).collect();
    let mut order: Vec<usize> = (0..problem.tasks()).collect();
    order.sort_by(|&a, &b| (key[a].0 * key[b].1).cmp(&(key[b].0 * key[a].1)).then(a.cmp(&b)));
    problem.in_order(order)
}

/// The searches for the shortest makespan.
struct Search<'a> {
    problem: &'a Problem<'a>,
    instance: &'a Instance,
    prices: &'a [f64],
    floor: i64,
    optimise: &'a Optimise,
    begin: Instant,
}

impl Search<'_> {
    /// The best mapping of all searches and of these starts.
    fn run(&self, starts: &[Vec<u32>], seed: u64, stop: &Stop) -> Vec<u32> {
        let problem = self.problem;
        let rank = |mapping: &Vec<u32>| problem.makespan(mapping);
        let Some(first) = starts.iter().min_by_key(|mapping| rank(mapping)).cloned() else { return Vec::new() };
        if rank(&first) <= self.floor || problem.machines() == 1 {
            return first;
        }
        let platform = self.instance.platform();
        let nodes = 0..platform.nodes().len();
        let of_node = |node: usize| std::iter::repeat_n(self.prices[node], platform.nodes()[node].processors as usize);
        let prices: Vec<f64> = nodes.flat_map(of_node).collect();
        let candidates = Candidates::new(problem, &prices, self.floor);
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let searches = self.optimise.searches.unwrap_or_else(cores).max(1);
        let times = match self.optimise.budget {
            Budget::Steps(steps) => (steps / ONE_STEPS) as f64,
            Budget::Time(time) => (time.as_secs_f64() / ONE_SECONDS).round(),
        };
        let search = |index: u32| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(u64::from(index) + 1);
            let mut course = self.course(stop);
            let mut chains = Chains::new(problem, &candidates, candidates.cheapest());
            while let Some(done) = course.step() {
                chains.round((done * times.max(1.0)).fract(), CHANGES, &mut random);
                if chains.best() <= self.floor as f64 {
                    break;
                }
            }
            let mut loads = Loads::new(problem, chains.into_best());
            Descent::improve(problem, &mut loads, DESCENT);
            loads.into_mapping()
        };
        let found: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let search = &search;
            let others: Vec<_> = (1..searches).map(|index| scope.spawn(move || search(index))).collect();
            let own = search(0);
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(own).chain(others).collect()
        });
        found.into_iter().chain([first]).min_by_key(rank).unwrap_or_default()
    }

    fn course(&self, stop: &Stop) -> Course {
        match self.optimise.budget {
            Budget::Steps(steps) => Course::of(steps, stop),
            Budget::Time(time) => Course::until(self.begin + time.mul_f64(1.0 - RESERVE), stop),
        }
    }
}
