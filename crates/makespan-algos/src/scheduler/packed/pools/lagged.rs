//! The search for tasks with time lags: one list, which is annealed.

use makespan_core::{Schedule, TaskId, Unsupported};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::PlanSearch;
use super::super::search::{SearchAim, beyond, of_ends};
use crate::kernel::cumulative::{CumulativeProblem, LagPaths, LaggedScheme};
use crate::kernel::move_to;
use crate::search::{Neighbourhood, SearchCourse, anneal, heat};

/// Maximum number of removals of placed tasks for each task, while a list is executed.
const REMOVALS: usize = 4;
/// The initial temperature, as a fraction of the value.
const HOT: f64 = 0.02;
/// The fraction of changes that move a task only a short distance.
const NEAR: f64 = 0.7;
/// Number of changes of a list after which the search tries another random list, if no schedule has been found.
const TRIES: usize = 20;

/// The data of an instance with time lags that all searches share.
#[derive(Debug)]
pub(in crate::scheduler) struct LaggedPools<'p, 'a> {
    problem: &'p CumulativeProblem<'a>,
    paths: LagPaths,
}

impl<'p, 'a> LaggedPools<'p, 'a> {
    /// Creates the data for searches. Returns an error if lists cannot keep the lags of the problem.
    pub(in crate::scheduler) fn new(problem: Option<&'p CumulativeProblem<'a>>) -> Result<Self, Unsupported> {
        let Some(problem) = problem else {
            return Err(Unsupported(
                "it keeps time lags only if processors are equal, processors close together, and resources are not divided \
                 among nodes"
                    .into(),
            ));
        };
        LagPaths::new(problem).map(|paths| Self { problem, paths }).map_err(Unsupported)
    }

    /// Returns the initial lists: by increasing latest start, by increasing earliest start, and by the middle of both.
    fn starts(&self) -> Vec<Vec<u32>> {
        let tasks = self.problem.tasks() as u32;
        let time = |task: u32| self.problem.mode(self.problem.modes_of(self.problem.row_of(task)).start).time;
        let all = || (0..tasks).map(|other| (other, self.problem.release(self.problem.row_of(other))));
        let head = |task: u32| {
            all().filter_map(|(from, release)| Some(release + self.paths.between(from, task)?)).max().unwrap_or(0)
        };
        let tail =
            |task: u32| all().filter_map(|(to, _)| Some(self.paths.between(task, to)? + time(to))).max().unwrap_or(0);
        let limits: Vec<(i64, i64)> = (0..tasks).map(|task| (head(task), -tail(task))).collect();
        let sorted = |key: &dyn Fn(&(i64, i64)) -> i64| {
            let mut order: Vec<u32> = (0..tasks).collect();
            order.sort_by_key(|&task| key(&limits[task as usize]));
            order
        };
        vec![sorted(&|limit| limit.1), sorted(&|limit| limit.0), sorted(&|limit| limit.0 + limit.1)]
    }
}

impl PlanSearch for LaggedPools<'_, '_> {
    type Found = Vec<u32>;

    fn search(
        &self,
        aim: SearchAim,
        known: &[Vec<u32>],
        random: ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> Option<(f64, Vec<u32>)> {
        let mut search = LaggedSearch::new(self, aim, random);
        for start in known.iter().cloned().chain(self.starts()) {
            search.try_list(start);
        }
        anneal(&mut search, course);
        (search.best.0 < f64::INFINITY).then_some(search.best)
    }

    fn schedule(&self, order: &Vec<u32>) -> Schedule {
        let mut scheme = LaggedScheme::new(self.problem, &self.paths);
        scheme.place(order, REMOVALS * order.len());
        let modes: Vec<u32> =
            (0..order.len() as u32).map(|task| self.problem.modes_of(self.problem.row_of(task)).start).collect();
        self.problem.schedule(scheme.starts(), &modes)
    }
}

/// Annealing of a list, which changes one task at a time.
struct LaggedSearch<'s, 'a> {
    problem: &'s CumulativeProblem<'a>,
    scheme: LaggedScheme<'s, 'a>,
    aim: SearchAim,
    random: ChaCha8Rng,
    job_of: Vec<u32>,
    /// The end of each job in the current schedule, in ticks.
    ends: Vec<i64>,
    order: Vec<u32>,
    value: f64,
    best: (f64, Vec<u32>),
    /// Number of changes since the last random list.
    tries: usize,
}

impl<'s, 'a> LaggedSearch<'s, 'a> {
    fn new(pools: &'s LaggedPools<'_, 'a>, aim: SearchAim, random: ChaCha8Rng) -> Self {
        let (problem, instance) = (pools.problem, pools.problem.instance());
        Self {
            problem,
            scheme: LaggedScheme::new(problem, &pools.paths),
            aim,
            random,
            job_of: (0..problem.tasks() as u64).map(|task| instance.job_id(TaskId(task)).0).collect(),
            ends: vec![0; instance.jobs().len()],
            order: Vec::new(),
            value: f64::INFINITY,
            best: (f64::INFINITY, Vec::new()),
            tries: 0,
        }
    }

    /// Continues with a list if it is better than the current one.
    fn try_list(&mut self, order: Vec<u32>) {
        let old = std::mem::replace(&mut self.order, order);
        let value = self.execute();
        if value < self.value || old.is_empty() {
            self.value = value;
            self.keep();
        } else {
            self.order = old;
        }
    }

    fn keep(&mut self) {
        if self.value < self.best.0 {
            self.best.0 = self.value;
            self.best.1.clone_from(&self.order);
        }
    }

    /// Executes the list, and returns its value, or infinity if no schedule was found.
    fn execute(&mut self) -> f64 {
        if !self.scheme.place(&self.order, REMOVALS * self.order.len()) {
            return f64::INFINITY;
        }
        self.ends.fill(0);
        let mut last = 0;
        for (end, &job) in self.scheme.ends().zip(&self.job_of) {
            let end = self.problem.ticks(end);
            self.ends[job as usize] = self.ends[job as usize].max(end);
            last = last.max(end);
        }
        beyond(of_ends(self.aim.objective, self.problem.instance(), &self.ends, last), self.aim.limit, last)
    }

    /// Shuffles the list.
    fn shuffle(&mut self) {
        for at in (1..self.order.len()).rev() {
            let other = self.random.random_range(0..=at);
            self.order.swap(at, other);
        }
    }
}

impl Neighbourhood for LaggedSearch<'_, '_> {
    fn is_optimal(&self) -> bool {
        self.order.len() < 2 || self.best.0 <= self.aim.floor
    }

    fn best_value(&self) -> Option<f64> {
        Some(self.best.0).filter(|value| *value < f64::INFINITY)
    }

    fn step(&mut self, done: f64) {
        let tasks = self.order.len();
        if self.value == f64::INFINITY && self.tries >= TRIES {
            self.tries = 0;
            self.shuffle();
        }
        self.tries += 1;
        let left = 1.0 - done;
        let hot = if self.value < f64::INFINITY { HOT * self.value.abs() * left * left } else { 0.0 };
        let allowed = self.value + heat(hot, &mut self.random);
        let at = self.random.random_range(0..tasks);
        let far = if self.random.random_bool(NEAR) { (tasks / 10).max(2) } else { tasks };
        let by = self.random.random_range(1..=far);
        let to = if self.random.random() { at.saturating_sub(by) } else { (at + by).min(tasks - 1) };
        if to == at {
            return;
        }
        move_to(&mut self.order, at, to);
        let value = self.execute();
        if value > allowed {
            move_to(&mut self.order, to, at);
        } else {
            self.value = value;
            self.keep();
        }
    }
}
