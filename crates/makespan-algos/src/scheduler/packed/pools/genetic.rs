//! A genetic algorithm on lists with modes.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::ModeSolution;
use super::decoder::{Decoder, Scheme};
use super::modes::{self, Repair};
use super::start::ModeStarts;
use crate::kernel::cumulative::CumulativeProblem;
use crate::search::Neighbourhood;

/// The fraction of the search after which the population stops growing. Larger populations end at better values, but
/// take longer.
const SAMPLED: f64 = 0.02;
/// Minimum size of the population.
const LEAST: usize = 30;
/// Maximum size of the population.
const MOST: usize = 500;
/// Maximum fraction of the search in which the given (initial) lists are tried.
const GIVEN: f64 = 0.3;
/// Fraction of the tasks of a child that are moved.
const MOVED: f64 = 0.05;
/// The length of a list divided by the maximum distance that a task of a child is moved.
const FAR: usize = 8;
/// Fraction of the tasks of a child that get another mode.
const CHANGED: f64 = 0.05;
/// Maximum length of the first schedule of a child, as a multiple of the longest schedule of the population. A child
/// with a longer schedule is not justified.
const LONGER: f64 = 1.06;
/// Maximum number of consecutive failed children, as a multiple of the size of the population. After more failed
/// children, a new population replaces the old one. A child fails if its value is not lower than the value of the worst
/// member.
const IN_VAIN: usize = 10;

/// A genetic algorithm that crosses lists. A child has the head and the tail of its mother. Between them, it has tasks
/// in the order of its father. Each task has its mode in the parent from which it comes. The child is justified, and
/// replaces the worst list.
///
/// Source: the two-point crossover of S. Hartmann, Naval Research Logistics 45, 1998, DOI
/// `10.1002/(SICI)1520-6750(199810)45:7<733::AID-NAV5>3.0.CO;2-C`; double justification of each child as in V. Valls,
/// F. Ballestin, S. Quintanilla, "A hybrid genetic algorithm for the resource-constrained project scheduling problem",
/// EJOR 185, 2008, DOI 10.1016/j.ejor.2006.12.033. Deviations: children are made one at a time, and each replaces the
/// worst list; if the population stagnates, a new population is started.
#[derive(Debug)]
pub(super) struct Genetic<'s, 'p, 'a> {
    decoder: Decoder<'p, 'a>,
    starts: &'s ModeStarts,
    random: ChaCha8Rng,
    repair: Repair,
    population: Vec<ModeSolution>,
    best: Option<ModeSolution>,
    child: ModeSolution,
    /// The best of the given lists under the parallel scheme.
    first: ModeSolution,
    /// The number of trials of given lists so far. Each given list is tried twice: once under each scheme.
    given: usize,
    /// The final size of the population, or `None` while it grows.
    size: Option<usize>,
    in_vain: usize,
    /// For each task, the index of the last child that contained the task.
    stamps: Vec<u32>,
    children: u32,
}

/// The results of a finished search, and the decoder and the random numbers for the next search.
pub(super) struct SearchParts<'p, 'a> {
    pub best: ModeSolution,
    pub first: ModeSolution,
    pub decoder: Decoder<'p, 'a>,
    pub random: ChaCha8Rng,
}

impl<'s, 'p, 'a> Genetic<'s, 'p, 'a> {
    pub fn new(decoder: Decoder<'p, 'a>, starts: &'s ModeStarts, known: &[ModeSolution], random: ChaCha8Rng) -> Self {
        let problem = decoder.problem;
        let mut search = Self {
            decoder,
            starts,
            random,
            repair: Repair::new(problem),
            population: Vec::new(),
            best: None,
            child: ModeSolution { order: Vec::new(), modes: Vec::new(), value: 0.0 },
            first: ModeSolution { order: Vec::new(), modes: Vec::new(), value: 0.0 },
            given: 0,
            size: None,
            in_vain: 0,
            stamps: vec![0; problem.tasks()],
            children: 0,
        };
        for solution in known {
            search.add(solution.order.clone(), solution.modes.clone());
        }
        // First find the best given list under the parallel scheme, so that it is available even if the search is very
        // short.
        let first = search.best_given();
        let ModeSolution { mut order, modes, .. } = first.clone();
        search.decoder.order_by_starts(&mut order, &modes);
        search.add(order, modes);
        search.first = first;
        search
    }

    /// Returns the given list with the lowest value under the parallel scheme.
    fn best_given(&mut self) -> ModeSolution {
        let mut best = ModeSolution { order: Vec::new(), modes: Vec::new(), value: f64::INFINITY };
        for at in 0..self.starts.len() {
            let (order, modes) = self.starts.as_given(at);
            let mut solution = ModeSolution { order, modes, value: 0.0 };
            solution.value = self.decoder.value_by(Scheme::Parallel, &solution);
            if best.order.is_empty() || solution.value < best.value {
                best = solution;
            }
        }
        best
    }

    /// Returns this search, limited to the fraction `share` of its time or steps.
    pub fn until(&mut self, share: f64) -> impl Neighbourhood {
        PartialSearch { search: self, share }
    }

    /// Returns the best list, and also the best given list under the parallel scheme.
    pub fn into_parts(self) -> Option<SearchParts<'p, 'a>> {
        Some(SearchParts { best: self.best?, first: self.first, decoder: self.decoder, random: self.random })
    }

    fn problem(&self) -> &'p CumulativeProblem<'a> {
        self.decoder.problem
    }

    fn is_optimal(&self) -> bool {
        let few = self.problem().tasks() < 2 && !self.starts.has_modes();
        self.best.as_ref().is_some_and(|best| few || best.value <= self.decoder.aim.floor)
    }

    fn step(&mut self, done: f64) {
        if self.given < 2 * self.starts.len() && done < GIVEN {
            let at = self.given / 2;
            let (order, modes) = if self.given.is_multiple_of(2) {
                self.starts.given(self.problem(), at)
            } else {
                let (mut order, modes) = self.starts.as_given(at);
                self.decoder.order_by_starts(&mut order, &modes);
                (order, modes)
            };
            self.given += 1;
            self.add(order, modes);
        } else if self.is_growing(done) {
            let Self { decoder, starts, repair, random, .. } = self;
            let by_paths = decoder.is_justified() && random.random_bool(0.75);
            let (order, modes) = starts.random(decoder.problem, by_paths, repair, random);
            self.add(order, modes);
        } else {
            self.breed();
        }
    }

    /// Returns whether the population needs more members.
    fn is_growing(&mut self, done: f64) -> bool {
        let present = self.population.len();
        match self.size {
            Some(size) => present < size,
            None if present < LEAST || (done < SAMPLED && present < MOST) => true,
            None => {
                self.size = Some(present);
                false
            }
        }
    }

    /// Adds a new member.
    fn add(&mut self, order: Vec<u32>, modes: Vec<u32>) {
        let mut solution = ModeSolution { order, modes, value: f64::INFINITY };
        self.decoder.improve(&mut solution, i64::MAX);
        self.see(&solution);
        self.population.push(solution);
    }

    fn see(&mut self, solution: &ModeSolution) {
        if self.best.as_ref().is_none_or(|best| solution.value < best.value) {
            self.best = Some(solution.clone());
        }
    }

    fn breed(&mut self) {
        let (mother, father) = (self.better_of_two(), self.better_of_two());
        let mut child = std::mem::replace(
            &mut self.child,
            ModeSolution { order: Vec::new(), modes: Vec::new(), value: f64::INFINITY },
        );
        self.cross(mother, father, &mut child);
        self.mutate(&mut child);
        if self.repair.repair(self.decoder.problem, &mut child.modes, &mut self.random) {
            let worst = self.worst();
            let limit = self.limit(self.population[worst].value);
            self.decoder.improve(&mut child, limit);
            let known = |other: &ModeSolution| {
                other.value.to_bits() == child.value.to_bits()
                    && other.order == child.order
                    && other.modes == child.modes
            };
            self.in_vain += 1;
            if child.value <= self.population[worst].value && !self.population.iter().any(known) {
                if child.value < self.population[worst].value {
                    self.in_vain = 0;
                }
                self.see(&child);
                std::mem::swap(&mut self.population[worst], &mut child);
            }
        } else {
            self.in_vain += 1;
        }
        self.child = child;
        if self.in_vain > IN_VAIN * self.population.len() {
            self.in_vain = 0;
            self.population.clear();
        }
    }

    /// Returns the maximum length of the first schedule of a child.
    fn limit(&self, worst: f64) -> i64 {
        use makespan_core::Objective;
        if self.decoder.aim.objective != Objective::Makespan || !worst.is_finite() {
            return i64::MAX;
        }
        self.problem().instant((worst * LONGER) as i64)
    }

    fn better_of_two(&mut self) -> usize {
        let all = self.population.len();
        let (one, other) = (self.random.random_range(0..all), self.random.random_range(0..all));
        if self.population[one].value <= self.population[other].value { one } else { other }
    }

    fn worst(&self) -> usize {
        let values = self.population.iter().enumerate();
        values.max_by(|a, b| a.1.value.total_cmp(&b.1.value)).map_or(0, |(at, _)| at)
    }

    fn cross(&mut self, mother: usize, father: usize, child: &mut ModeSolution) {
        let Self { population, random, stamps, children, .. } = self;
        let (mother, father) = (&population[mother], &population[father]);
        let tasks = mother.order.len();
        let (one, other) = (random.random_range(0..=tasks), random.random_range(0..=tasks));
        let (head, middle) = (one.min(other), one.max(other));
        // The index may wrap around: it repeats only after 2^32 children, and by then all stamps with the old index
        // have been overwritten.
        *children = children.wrapping_add(1);
        let own = *children;
        child.modes.clone_from(&mother.modes);
        child.order.clear();
        child.order.extend_from_slice(&mother.order[..head]);
        mother.order[..head].iter().for_each(|&task| stamps[task as usize] = own);
        for &task in &father.order {
            if child.order.len() == middle {
                break;
            }
            if stamps[task as usize] != own {
                stamps[task as usize] = own;
                child.order.push(task);
                child.modes[task as usize] = father.modes[task as usize];
            }
        }
        child.order.extend(mother.order[head..].iter().copied().filter(|&task| stamps[task as usize] != own));
    }

    fn mutate(&mut self, child: &mut ModeSolution) {
        let Self { decoder, random, starts, .. } = self;
        let problem = decoder.problem;
        let tasks = child.order.len();
        let far = (tasks / FAR).max(3);
        for _ in 0..times(MOVED * tasks as f64, random) {
            let at = random.random_range(0..tasks);
            let by = random.random_range(1..=far);
            shift(problem, &mut child.order, at, by, random.random());
        }
        if starts.has_modes() {
            for _ in 0..times(CHANGED * tasks as f64, random) {
                let task = random.random_range(0..tasks);
                child.modes[task] = modes::other(problem, task as u32, child.modes[task], random);
            }
        }
    }
}

/// Returns a random whole number: `mean` rounded down or up, with the expected value `mean`.
fn times(mean: f64, random: &mut impl Rng) -> usize {
    mean as usize + usize::from(random.random_bool(mean.fract()))
}

/// Moves a task by at most `by` positions forward or backward, but not past its predecessors or successors. Returns the
/// new position of the task.
pub(super) fn shift(problem: &CumulativeProblem<'_>, order: &mut [u32], at: usize, by: usize, to_front: bool) -> usize {
    let row = problem.row_of(order[at]);
    let mut to = at;
    if to_front {
        let before = problem.before(row);
        while to > at.saturating_sub(by) && !before.contains(&problem.row_of(order[to - 1])) {
            to -= 1;
        }
        order[to..=at].rotate_right(1);
    } else {
        let behind = problem.behind(row);
        while to < (at + by).min(order.len() - 1) && !behind.contains(&problem.row_of(order[to + 1])) {
            to += 1;
        }
        order[at..=to].rotate_left(1);
    }
    to
}

/// A search that ends after a fraction of its time or steps.
struct PartialSearch<'g, 's, 'p, 'a> {
    search: &'g mut Genetic<'s, 'p, 'a>,
    share: f64,
}

impl Neighbourhood for PartialSearch<'_, '_, '_, '_> {
    fn is_optimal(&self) -> bool {
        self.search.is_optimal()
    }

    fn best_value(&self) -> Option<f64> {
        self.search.best.as_ref().map(|best| best.value)
    }

    fn step(&mut self, done: f64) {
        self.search.step(done / self.share);
    }

    fn is_over(&self, done: f64) -> bool {
        done >= self.share
    }
}
