//! Graphs of moldable tasks on equal processors: lists with allotments, annealed.

mod moves;
mod search;
mod start;

use makespan_core::{Objective, Schedule, Stop};
use rand_chacha::ChaCha8Rng;

use super::{Aim, PlanSearch};
use crate::kernel::moldable::{List, ListSchedule, Measure, MoldableProblem, Scheme, average_times, schedule};
use crate::kernel::packing::Packing;
use crate::search::{Course, anneal};
use search::{Annealing, Probing};
use start::Lists;

/// An instance in which counts of processors say all, but for the order of the tasks.
pub(in crate::scheduler) struct Moldable<'p, 'a> {
    packing: &'p Packing<'a>,
    problem: MoldableProblem<'a>,
    /// From the end to the beginning, where that is the same.
    reversed: Option<MoldableProblem<'a>>,
    /// For each task a time between those of its choices.
    average: Vec<f64>,
}

/// A list, and how it becomes a schedule.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct Listed {
    scheme: Scheme,
    is_reversed: bool,
    list: List,
}

impl<'p, 'a> Moldable<'p, 'a> {
    /// The problem of a packing, if it is one.
    pub(in crate::scheduler) fn new(packing: &'p Packing<'a>) -> Option<Self> {
        let problem = MoldableProblem::new(packing)?;
        let (reversed, average) = (problem.reversed(), average_times(&problem));
        Some(Self { packing, problem, reversed, average })
    }

    /// Ways to make schedules of lists, with the problem for each: backward in time, too, where the last end is all that counts.
    fn schemes(&self, objective: Objective) -> Vec<(Scheme, &MoldableProblem<'a>)> {
        let backward = self.reversed.iter().filter(|_| objective == Objective::Makespan);
        let problems = std::iter::once(&self.problem).chain(backward);
        let forward_in_time = Some(Scheme::Events).filter(|_| self.problem.is_open());
        problems
            .flat_map(|problem| {
                forward_in_time.into_iter().chain([Scheme::Insertion]).map(move |scheme| (scheme, problem))
            })
            .collect()
    }

    /// The shortest schedule of the lists that a search begins with, from the beginning.
    pub(in crate::scheduler) fn shortest_list(&self) -> Schedule {
        let (objective, stop) = (Objective::Makespan, Stop::default());
        let scheme = if self.problem.is_open() { Scheme::Events } else { Scheme::Insertion };
        let measure = Measure::new(&self.problem, objective, None);
        let lists = Lists::new(self, objective, &[]);
        let best = lists.best(&self.problem, &measure, scheme, &mut Course::of(0, &stop));
        schedule(&self.problem, scheme, best.list())
    }

    fn problem(&self, is_reversed: bool) -> &MoldableProblem<'a> {
        self.reversed.as_ref().filter(|_| is_reversed).unwrap_or(&self.problem)
    }

    /// When each task of a listed schedule starts and ends.
    fn times(&self, listed: &Listed) -> Vec<(i64, i64)> {
        let problem = self.problem(listed.is_reversed);
        let measure = Measure::new(problem, Objective::Makespan, None);
        ListSchedule::new(problem, measure, listed.scheme, listed.list.clone()).times()
    }

    /// The best list that is found on the course, with its value.
    pub(in crate::scheduler) fn best(
        &self,
        aim: Aim,
        known: &[Listed],
        random: &ChaCha8Rng,
        course: &mut Course,
    ) -> (f64, Listed) {
        let lists = Lists::new(self, aim.objective, known);
        let of_scheme = |(number, (scheme, problem)): (u64, (Scheme, _))| {
            let measure = Measure::new(problem, aim.objective, aim.limit);
            let mut random = random.clone();
            random.set_stream(random.get_stream() | ((number + 1) << 32));
            Annealing::new(lists.best(problem, &measure, scheme, course), scheme, random)
        };
        let searches = (0..).zip(self.schemes(aim.objective)).map(of_scheme).collect();
        let mut probing = Probing::new(searches, aim.floor);
        anneal(&mut probing, course);
        probing.into_best()
    }
}

impl PlanSearch for Moldable<'_, '_> {
    type Found = Listed;

    fn search(&self, aim: Aim, known: &[Listed], random: ChaCha8Rng, course: &mut Course) -> Option<(f64, Listed)> {
        Some(self.best(aim, known, &random, course))
    }

    fn schedule(&self, found: &Listed) -> Schedule {
        schedule(self.problem(found.is_reversed), found.scheme, &found.list)
    }
}
