//! First fit of moldable tasks under a deadline.

use makespan_core::{FreeTime, Instance};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::free_time::Skyline;
use crate::kernel::choices::Choices;

/// First fit under a deadline. Callers try different deadlines and orders.
///
/// The tasks are placed longest first. The order uses the time of each task on its smallest allotment that could meet
/// the deadline. For each task, this allotment is tried first, and then larger allotments. The task gets the first
/// allotment with an earliest fit that ends by the deadline. The attempt fails if a task fits on none of its
/// allotments.
///
/// The method follows first fit decreasing for bin packing, which multifit (E. G. Coffman, M. R. Garey, D. S. Johnson,
/// SIAM J. Comput. 7, 1978, DOI 10.1137/0207001) turned into a scheduler. The variable allotments and the perturbed
/// orders are not from the literature. No ratio to the optimum is guaranteed.
#[derive(Debug)]
pub struct Fit<'a> {
    choices: &'a Choices,
    empty: Skyline,
    skyline: Skyline,
    /// The tasks, each with its sort key.
    keyed: Vec<(f64, u32)>,
    placed: Vec<PlacedTask>,
    /// The factors of the sort keys in the last successful attempt.
    factors: Vec<f64>,
    tried: Vec<f64>,
}

/// A task with its allotment and its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedTask {
    /// The task.
    pub task: u32,
    /// The index of the allotment among the choices of the task.
    pub chosen: u32,
    /// The start, in ticks.
    pub start: i64,
}

/// Maximum relative difference between a new factor of a sort key and one. If new factors are close to the factors of
/// the last success instead, the maximum relative difference from those factors is 0.3 times this number.
const WIDEST: f64 = 0.3;

impl<'a> Fit<'a> {
    /// Returns a first fit for the tasks of the instance. `choices` contains their allotments.
    pub fn new(instance: &Instance, choices: &'a Choices) -> Self {
        let empty = Skyline::new(instance);
        let tasks = choices.tasks();
        Self {
            choices,
            skyline: empty.clone(),
            empty,
            keyed: Vec::with_capacity(tasks),
            placed: Vec::with_capacity(tasks),
            factors: vec![1.0; tasks],
            tried: vec![1.0; tasks],
        }
    }

    /// Tries a deadline once, with a perturbed order if `random` is given. On success, returns the end of the last
    /// task, and [`Fit::placed`] returns the schedule.
    pub fn meet(&mut self, deadline: i64, random: Option<&mut ChaCha8Rng>) -> Option<i64> {
        self.perturb(random);
        self.keyed.clear();
        for task in 0..self.choices.tasks() as u32 {
            let first = self.first(task, deadline)?;
            let time = self.choices.of(task)[first].time as f64;
            self.keyed.push((-time * self.tried[task as usize], task));
        }
        self.keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.skyline.clone_from(&self.empty);
        self.placed.clear();
        for index in 0..self.keyed.len() {
            let placed = self.place(self.keyed[index].1, deadline)?;
            self.placed.push(placed);
        }
        self.factors.copy_from_slice(&self.tried);
        Some(self.skyline.latest())
    }

    /// Returns the tasks that the last attempt placed.
    pub fn placed(&self) -> &[PlacedTask] {
        &self.placed
    }

    /// Draws new factors of the sort keys. In half of the calls, the new factors are close to the factors of the last
    /// success. In all other calls, the new factors are close to one. Without `random`, all factors are one.
    fn perturb(&mut self, random: Option<&mut ChaCha8Rng>) {
        let Some(random) = random else { return self.tried.fill(1.0) };
        let near_best = random.random_bool(0.5);
        let spread = WIDEST * random.random::<f64>() * if near_best { 0.3 } else { 1.0 };
        for (tried, &best) in self.tried.iter_mut().zip(&self.factors) {
            let base = if near_best { best } else { 1.0 };
            *tried = base * (1.0 + spread * (random.random::<f64>() * 2.0 - 1.0));
        }
    }

    /// Returns the smallest allotment on which the task could meet the deadline on an idle platform.
    fn first(&self, task: u32, deadline: i64) -> Option<usize> {
        let longest = deadline - self.choices.release(task);
        let choices = self.choices.of(task);
        let first = choices.partition_point(|choice| choice.time > longest);
        (first < choices.len()).then_some(first)
    }

    fn place(&mut self, task: u32, deadline: i64) -> Option<PlacedTask> {
        let first = self.first(task, deadline)?;
        let release = self.choices.release(task);
        for (index, choice) in self.choices.of(task).iter().enumerate().skip(first) {
            if self.skyline.earliest_fit(choice.processors, choice.time, release) + choice.time <= deadline {
                let start = self.skyline.place(choice.processors, choice.time, release);
                return Some(PlacedTask { task, chosen: index as u32, start });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, Profile, Time};

    use super::*;

    fn instance(processors: u32, tables: &[&[i64]]) -> Instance {
        let job = |(index, times): (usize, &&[i64])| {
            let times = times.iter().map(|&time| Time::from_ticks(time)).collect();
            Job::new(index.to_string(), Profile::table(times).unwrap())
        };
        let jobs = tables.iter().enumerate().map(job).collect();
        Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap()
    }

    #[test]
    fn a_task_is_bent_until_it_fits() {
        // The task that takes 10 occupies one processor. On the other two processors, the tasks that take 7 start
        // first. The task that takes 6 starts after them, so it must run on both processors.
        let instance = instance(3, &[&[10], &[6, 3], &[7, 4], &[7, 4]]);
        let choices = Choices::new(&instance);
        let mut fit = Fit::new(&instance, &choices);
        assert_eq!(fit.meet(9, None), None, "the long task takes 10");
        // The two tasks that take 7 are on the second and the third processor. After these tasks, the third task ends
        // at 13 on one processor and at 10 on two processors.
        assert_eq!(fit.meet(10, None), Some(10));
        let bent = fit.placed().iter().find(|placed| placed.task == 1).unwrap();
        assert_eq!((choices.of(1)[bent.chosen as usize].processors, bent.start), (2, 7));
    }

    #[test]
    fn what_is_met_is_met() {
        use rand::SeedableRng;
        let tables: Vec<Vec<i64>> =
            (0..30).map(|task| (1..=8).map(|p| (90 + 7 * task) / p + 3 * (task % 4)).collect()).collect();
        let instance = instance(8, &tables.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let choices = Choices::new(&instance);
        let mut fit = Fit::new(&instance, &choices);
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut met = 0;
        for deadline in (600..1200).step_by(20) {
            let Some(makespan) = fit.meet(deadline, Some(&mut random)) else { continue };
            met += 1;
            let mut skyline = Skyline::new(&instance);
            for placed in fit.placed() {
                let choice = choices.of(placed.task)[placed.chosen as usize];
                assert_eq!(skyline.place(choice.processors, choice.time, 0), placed.start);
            }
            assert!(makespan <= deadline && skyline.latest() == makespan && fit.placed().len() == 30);
        }
        assert!(met > 5, "only {met} deadlines are met");
    }
}
