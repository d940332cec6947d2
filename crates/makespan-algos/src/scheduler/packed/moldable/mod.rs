//! Anneals lists with allotments, for graphs of moldable tasks on equal processors.

mod moves;
mod search;
mod start;

use makespan_core::{Objective, Schedule, Stop};
use rand_chacha::ChaCha8Rng;

use super::{PlanSearch, SearchAim};
use crate::kernel::moldable::{List, ListSchedule, ListScheme, Measure, MoldableProblem, average_times, schedule};
use crate::kernel::packing::Packing;
use crate::search::{SearchCourse, anneal};
use search::{Annealing, Probing};
use start::ListSource;

/// An instance in which only the order of the tasks and their numbers of processors matter.
pub(in crate::scheduler) struct Moldable<'p, 'a> {
    packing: &'p Packing<'a>,
    problem: MoldableProblem<'a>,
    /// The problem with time reversed, or `None` if time cannot be reversed.
    reversed: Option<MoldableProblem<'a>>,
    /// An average time of each task, between the times of its allotments. These averages balance the longest path and
    /// the area.
    average: Vec<f64>,
}

/// A list, and the scheme that turns it into a schedule.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct MoldableList {
    scheme: ListScheme,
    is_reversed: bool,
    list: List,
}

impl<'p, 'a> Moldable<'p, 'a> {
    /// Returns the problem of a packing, or `None` if schedules depend on more than the order of the tasks and their
    /// numbers of processors.
    pub(in crate::scheduler) fn new(packing: &'p Packing<'a>) -> Option<Self> {
        let problem = MoldableProblem::new(packing)?;
        let (reversed, average) = (problem.reversed(), average_times(&problem));
        Some(Self { packing, problem, reversed, average })
    }

    /// Returns pairs of a scheme that turns lists into schedules and the problem for which it does this. If the
    /// makespan is minimised, the reversed problem is also used.
    fn schemes(&self, objective: Objective) -> Vec<(ListScheme, &MoldableProblem<'a>)> {
        let backward = self.reversed.iter().filter(|_| objective == Objective::Makespan);
        let problems = std::iter::once(&self.problem).chain(backward);
        let forward_in_time = Some(ListScheme::Events).filter(|_| self.problem.is_open());
        problems
            .flat_map(|problem| {
                forward_in_time.into_iter().chain([ListScheme::Insertion]).map(move |scheme| (scheme, problem))
            })
            .collect()
    }

    /// Returns the shortest schedule of the initial lists. The lists are executed forward in time or, if processors are
    /// closed at times, by insertion.
    pub(in crate::scheduler) fn shortest_list(&self) -> Schedule {
        let (objective, stop) = (Objective::Makespan, Stop::default());
        let scheme = if self.problem.is_open() { ListScheme::Events } else { ListScheme::Insertion };
        let measure = Measure::new(&self.problem, objective, None);
        let lists = ListSource::new(self, objective, &[]);
        let best = lists.best(&self.problem, &measure, scheme, &mut SearchCourse::of(0, &stop));
        schedule(&self.problem, scheme, best.list())
    }

    fn problem(&self, is_reversed: bool) -> &MoldableProblem<'a> {
        self.reversed.as_ref().filter(|_| is_reversed).unwrap_or(&self.problem)
    }

    /// Returns the start and the end of each task in the schedule of a list.
    fn times(&self, listed: &MoldableList) -> Vec<(i64, i64)> {
        let problem = self.problem(listed.is_reversed);
        let measure = Measure::new(problem, Objective::Makespan, None);
        ListSchedule::new(problem, measure, listed.scheme, listed.list.clone()).times()
    }

    /// Returns the best list found until `course` is over, and its value.
    pub(in crate::scheduler) fn best(
        &self,
        aim: SearchAim,
        known: &[MoldableList],
        random: &ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> (f64, MoldableList) {
        let lists = ListSource::new(self, aim.objective, known);
        let of_scheme = |(number, (scheme, problem)): (u64, (ListScheme, _))| {
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
    type Found = MoldableList;

    fn search(
        &self,
        aim: SearchAim,
        known: &[MoldableList],
        random: ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> Option<(f64, MoldableList)> {
        Some(self.best(aim, known, &random, course))
    }

    fn schedule(&self, found: &MoldableList) -> Schedule {
        schedule(self.problem(found.is_reversed), found.scheme, &found.list)
    }
}
