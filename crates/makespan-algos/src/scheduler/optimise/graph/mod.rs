//! Graphs of tasks: the best of the list schedules, then annealing: one task after the other to another place, or of an
//! order and a processor for each task.

mod annealing;
pub(super) mod cost;
mod relocating;
mod start;

use std::panic::resume_unwind;
use std::time::Instant;

use makespan_core::{Bound, Context, Instance, Objective, Schedule, Stop};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::course::{Budget, Course};
use crate::kernel::graph::lines::Lines;
use crate::kernel::graph::sequence::Sequence;
use crate::kernel::graph::{NEVER, Place, Problem};
use annealing::Annealing;
use relocating::Relocating;

/// The share of the time for lists by changed ranks, before annealing.
const LISTS: f64 = 0.1;
/// The end is kept for what cannot be interrupted: the last schedule and its proof.
const RESERVE: f64 = 0.01;
/// Steps of a search for each list, where steps are counted.
const STEPS_A_LIST: u64 = 20;

/// Temperatures begin at this share of the mean time of a task and a transfer for at least `FEW` tasks.
const HOT: f64 = 0.15;
const FEW: f64 = 25.0;

/// Where the temperature begins, as a share of these mean times: higher for few, up to the whole, since all their
/// changes are soon tried.
fn hottest(tasks: usize) -> f64 {
    (HOT * (FEW / tasks as f64).max(1.0)).min(1.0)
}

/// The mean time of a task where it is fastest, and of a transfer between different nodes.
fn scale(problem: &Problem) -> f64 {
    let (mut times, mut transfers, mut edges) = (0.0, 0.0, 0.0_f64);
    for task in 0..problem.tasks() as u32 {
        times += problem.times(task).iter().copied().min().unwrap_or(NEVER) as f64;
        for from in problem.incoming(task) {
            transfers += problem.network().mean(from.edge);
            edges += 1.0;
        }
    }
    times / problem.tasks() as f64 + transfers / edges.max(1.0)
}

/// One run of the scheduler on an instance with graphs.
pub(super) struct Run<'a> {
    pub(super) instance: &'a Instance,
    pub(super) objective: Objective,
    pub(super) budget: Budget,
    pub(super) searches: u32,
}

/// What each of the independent searches knows.
struct Each<'a> {
    problem: &'a Problem,
    objective: Objective,
    weights: &'a [f64],
    /// A proven bound in the unit of the search; a search that reaches it ends.
    floor: f64,
    seed: u64,
}

impl Run<'_> {
    /// The best schedule that is found, and what was proved on the way.
    pub(super) fn minimise(&self, context: &Context) -> (Schedule, Vec<Bound>) {
        let begin = Instant::now();
        let problem = Problem::new(self.instance);
        let bound = makespan_bounds::best(self.instance, self.objective).ok();
        let weights: Vec<f64> = self.instance.jobs().iter().map(|job| job.weight.millionths() as f64).collect();
        let floor = match (&bound, self.objective) {
            (Some(bound), Objective::Makespan | Objective::WeightedCompletion) => bound.value as f64,
            _ => f64::NEG_INFINITY,
        };
        let each = Each { problem: &problem, objective: self.objective, weights: &weights, floor, seed: context.seed };
        let courses = || {
            (
                self.course(begin, LISTS, STEPS_A_LIST, &context.stop),
                self.course(begin, 1.0 - RESERVE, 1, &context.stop),
            )
        };
        let found = std::thread::scope(|scope| {
            let each = &each;
            let others: Vec<_> = (1..self.searches)
                .map(|index| (index, courses()))
                .map(|(index, courses)| scope.spawn(move || each.search(index, courses)))
                .collect();
            let own = each.search(0, courses());
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(own).chain(others).min_by(|a, b| a.0.total_cmp(&b.0))
        });
        let schedule = found.map_or_else(Schedule::default, |(_, schedule)| schedule);
        (schedule, bound.into_iter().collect())
    }

    /// Until a share of the time, or of the steps, is over; one step of the course counts for so many.
    fn course(&self, begin: Instant, share: f64, steps_a_step: u64, stop: &Stop) -> Course {
        match self.budget {
            Budget::Time(time) => Course::until(begin + time.mul_f64(share), stop),
            Budget::Steps(steps) => Course::of((steps as f64 * share) as u64 / steps_a_step + 1, stop),
        }
    }
}

impl Each<'_> {
    /// One search on its own stream of random numbers.
    fn search(&self, index: u32, (mut lists, mut course): (Course, Course)) -> (f64, Schedule) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(u64::from(index));
        if self.problem.tasks() == 0 {
            return (0.0, Schedule::default());
        }
        let start = start::best(self, &mut random, &mut lists);
        let (value, places) = self.improve(start, random, &mut course, index);
        (value, self.problem.schedule(&places))
    }

    /// The makespan, and what only one job's end decides, on processors that are always open by places for one task at
    /// a time. Otherwise, and where only the order counts, by decoding changed orders.
    fn improve(&self, start: Sequence<'_>, random: ChaCha8Rng, course: &mut Course, index: u32) -> (f64, Vec<Place>) {
        let lines = Lines::are_enough(self.problem) && !self.problem.is_plain();
        if let Some(floor) = self.shortest().filter(|_| lines) {
            let mut search = Relocating::new(self.problem, &start.places(), random, floor);
            search.run(course);
            return search.into_best();
        }
        let mut annealing = Annealing::new(self.problem, start, random, self.floor);
        annealing.run(course, index);
        annealing.into_best()
    }
    /// Where the makespan decides: a proven bound on it.
    fn shortest(&self) -> Option<f64> {
        match (self.objective, self.weights) {
            (Objective::Makespan, _) => Some(self.floor),
            (Objective::WeightedCompletion, &[weight]) if weight > 0.0 => Some(self.floor / weight),
            (Objective::WeightedCompletion | Objective::MeanFlow, [_]) => Some(f64::NEG_INFINITY),
            _ => None,
        }
    }
}
