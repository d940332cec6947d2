//! Jobs that are parts of larger jobs, which are called wholes. A whole ends when its last part ends.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::Duration;

use makespan_core::{Instance, Objective, Schedule, Unsupported, Weight};

use super::Optimise;
use super::change::Solution;
use crate::kernel::choices::{Choice, Choices};
use crate::plan::{Context, ForHardDeadlines, Guarantee, Plan, ScheduleError, Scheduler};

/// The scheduler `optimise` for jobs that are parts of wholes.
#[derive(Debug)]
pub(super) struct OfWholes {
    pub(super) optimise: Optimise,
    /// The index of the whole of each job.
    pub(super) wholes: Vec<u32>,
}

// Implement every method, because a default method of the trait would not call `optimise`.
#[deny(clippy::missing_trait_methods)]
impl Scheduler for OfWholes {
    fn name(&self) -> String {
        self.optimise.name()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        self.optimise.supports(instance)
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        self.optimise.guarantee(instance, objective)
    }

    fn supports_setups(&self) -> bool {
        false
    }

    fn supports_gangs(&self) -> bool {
        false
    }

    fn supports_lags(&self) -> bool {
        self.optimise.supports_lags()
    }

    fn is_anytime(&self) -> bool {
        self.optimise.is_anytime()
    }

    fn makespan_at_most(&self) -> Option<f64> {
        self.optimise.makespan_at_most()
    }

    fn time_limit(&self) -> Option<Duration> {
        self.optimise.time_limit()
    }

    fn by_weight(&self) -> Option<Box<dyn Scheduler>> {
        self.optimise.by_weight()?.of_wholes(self.wholes.clone())
    }

    fn of_wholes(&self, wholes: Vec<u32>) -> Option<Box<dyn Scheduler>> {
        self.optimise.of_wholes(wholes)
    }

    fn derived(&self) -> Option<(Objective, Box<dyn Scheduler>)> {
        let (objective, base) = self.optimise.derived()?;
        Some((objective, base.of_wholes(self.wholes.clone())?))
    }

    fn for_hard_deadlines(&self) -> Option<ForHardDeadlines> {
        // The parts of a job have no hard deadlines: the scheduler of the whole jobs removes them first.
        None
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        self.optimise.schedule_wholes(instance, Some(&self.wholes), context)
    }
}

/// The wholes, numbered from zero.
#[derive(Debug)]
pub(crate) struct NumberedWholes {
    /// The whole of each task.
    pub(crate) of: Vec<u32>,
    /// The total weight of the parts of each whole, in millionths.
    pub(crate) weights: Vec<u64>,
}

impl NumberedWholes {
    pub(super) fn new(instance: &Instance, given: &[u32]) -> Self {
        let mut numbers = given.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let number = |whole: &u32| numbers.partition_point(|other| other < whole) as u32;
        let of: Vec<u32> = given.iter().map(number).collect();
        let mut weights = vec![0; numbers.len()];
        for (job, &whole) in instance.jobs().iter().zip(&of) {
            weights[whole as usize] += job.weight.millionths();
        }
        Self { of, weights }
    }

    /// Returns the weight of a whole.
    pub(super) fn weight(&self, whole: usize) -> f64 {
        self.weights[whole] as f64 / Weight::MILLIONTHS as f64
    }

    /// Returns the value of an objective for a schedule, with wholes as jobs. The parts of a whole must have equal
    /// releases and deadlines.
    pub(super) fn value(&self, objective: Objective, instance: &Instance, schedule: &Schedule) -> i128 {
        let Some(shape) = objective.shape().filter(|shape| shape.is_weighted() && !shape.is_penalty()) else {
            return objective.value(instance, schedule);
        };
        let mut ends = vec![0; self.weights.len()];
        for placement in schedule.placements() {
            let end = shape.cost(instance.job_of(placement.task)).ticks(placement.end.ticks());
            let own = &mut ends[self.of[placement.task.index()] as usize];
            *own = end.max(*own);
        }
        self.weights.iter().zip(ends).map(|(&weight, end)| i128::from(weight) * i128::from(end)).sum()
    }

    /// Returns a list that is made forward in time. Whenever a task ends or is released, tasks start, whole by whole.
    /// The whole with the least remaining work divided by its weight comes first. The free processors are divided
    /// equally among the tasks, but the area of a task is at most `waste` times its least area. Closed processors are
    /// ignored.
    ///
    /// For one machine and wholes that can be interrupted, shortest remaining time first is optimal for the mean flow
    /// (L. Schrage, Operations Research 16, 1968, DOI 10.1287/opre.16.3.687). Complexity: O(n w) in the worst case for
    /// n tasks in w wholes.
    pub(super) fn by_least_left(&self, instance: &Instance, choices: &Choices, waste: f64) -> Solution {
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); self.weights.len()];
        (0..).zip(&self.of).for_each(|(task, &whole)| parts[whole as usize].push(task));
        let area = |choice: &Choice| f64::from(choice.processors) * choice.time as f64;
        let least = |own: &Vec<u32>| choices.of(own[0]).iter().map(area).fold(f64::INFINITY, f64::min);
        let least: Vec<f64> = parts.iter().map(least).collect();
        let left = |whole: usize, count: usize| {
            let weight = self.weights[whole].max(1) as f64;
            // The bits of nonnegative floating-point numbers sort like the numbers.
            (count as f64 * least[whole] / weight).to_bits()
        };
        let mut coming: Vec<(i64, usize)> = parts.iter().map(|own| choices.release(own[0])).zip(0..).collect();
        coming.sort_unstable_by_key(|&coming| Reverse(coming));
        let mut waiting: BTreeSet<(u64, usize)> = BTreeSet::new();
        let mut running: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
        let mut free = instance.processors();
        let mut looked_at: Vec<(u64, usize)> = Vec::new();
        let (mut order, mut chosen) = (Vec::with_capacity(self.of.len()), vec![0; self.of.len()]);
        loop {
            let ends = running.peek().map(|Reverse((end, _))| *end);
            let next = ends.into_iter().chain(coming.last().map(|coming| coming.0)).min();
            let Some(now) = next else { break };
            while running.peek().is_some_and(|Reverse((end, _))| *end <= now) {
                free += running.pop().map_or(0, |Reverse((_, processors))| processors);
            }
            while coming.last().is_some_and(|coming| coming.0 <= now) {
                waiting.extend(coming.pop().map(|(_, whole)| (left(whole, parts[whole].len()), whole)));
            }
            looked_at.clear();
            looked_at.extend(waiting.iter().filter(|_| free > 0));
            for &(key, whole) in &looked_at {
                let before = parts[whole].len();
                while let Some(&task) = parts[whole].last() {
                    let share = free / u32::try_from(parts[whole].len()).unwrap_or(u32::MAX);
                    let own = choices.of(task);
                    let is_fair = |choice: &Choice| choice.processors <= share && area(choice) <= waste * least[whole];
                    let choice = own.iter().rposition(is_fair).unwrap_or(0);
                    if own[choice].processors > free {
                        break;
                    }
                    free -= own[choice].processors;
                    running.push(Reverse((now + own[choice].time, own[choice].processors)));
                    chosen[task as usize] = choice as u32;
                    order.push(task);
                    parts[whole].pop();
                }
                let rest = parts[whole].len();
                if rest < before {
                    waiting.remove(&(key, whole));
                    waiting.extend((rest > 0).then(|| (left(whole, rest), whole)));
                }
            }
        }
        Solution { order, chosen }
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, Profile, Time};
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::annealing::Annealing;
    use super::super::goal::Goal;
    use super::super::start;
    use super::*;
    use crate::search::SearchCourse;

    /// Returns an instance with one job for each task of the bags `bags`, and the whole of each job. Each tuple of
    /// `bags` contains the release of a bag, its weight, its deadline after the release, its number of tasks, and the
    /// number of processors and the time of each task.
    fn parts(bags: &[(i64, u32, i64, u32, u32, i64)]) -> (Instance, Vec<u32>) {
        let (mut jobs, mut wholes) = (Vec::new(), Vec::new());
        for (number, &(release, weight, due, count, width, time)) in (0..).zip(bags) {
            for _ in 0..count {
                let profile = Profile::rigid(width, Time::from_ticks(time)).unwrap();
                let weight =
                    Weight::from_millionths(u64::from(weight) * Weight::MILLIONTHS / u64::from(count)).unwrap();
                let job = Job::new(jobs.len().to_string(), profile).with_release(Time::from_ticks(release));
                jobs.push(job.with_weight(weight).with_deadline(Time::from_ticks(release + due)));
                wholes.push(number * 7 % 5);
            }
        }
        (Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap(), wholes)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn what_is_annealed_is_what_the_schedule_is_worth(
            bags in prop::collection::vec((0_i64..40, 0_u32..9, 1_i64..60, 1_u32..7, 1_u32..5, 1_i64..20), 1..6),
            steps in 0_u64..200,
            waste in 1.0_f64..3.0,
        ) {
            let (instance, given) = parts(&bags);
            let (choices, wholes) = (Choices::new(&instance), NumberedWholes::new(&instance, &given));
            let solution = wholes.by_least_left(&instance, &choices, waste);
            let mut placed = solution.order.clone();
            placed.sort_unstable();
            prop_assert!(placed.into_iter().eq(0..given.len() as u32));
            for objective in Objective::SUMS.into_iter().filter(|objective| objective.is_weighted()) {
                let goal = Goal::new(&instance, objective, Some(&wholes), None);
                let random = ChaCha8Rng::seed_from_u64(steps);
                let mut annealing = Annealing::new(&instance, &choices, 0, goal.clone(), solution.clone(), random);
                let stop = makespan_core::Stop::default();
                annealing.run(&mut SearchCourse::of(steps, &stop), false);
                let best = annealing.into_best();
                let schedule = start::schedule(&instance, &choices, &best.solution);
                let none = wholes.value(objective, &instance, &Schedule::default());
                let worth = wholes.value(objective, &instance, &schedule) - none;
                // The cost of a whole begins at the earliest possible end of all its parts. The tardiness of a whole
                // begins at this end or at the deadline, whichever is later.
                let mut earliest = vec![0; wholes.weights.len()];
                for (job, &whole) in instance.simple_jobs().zip(&wholes.of) {
                    let alone = (job.release + job.profile().shortest()).ticks();
                    let due = job.deadline.map_or(0, Time::ticks);
                    let from = if objective.is_tardiness() { (alone - due).max(0) } else { alone };
                    earliest[whole as usize] = from.max(earliest[whole as usize]);
                }
                let first: i128 = wholes.weights.iter().zip(earliest).map(|(&weight, at)| i128::from(weight) * i128::from(at)).sum();
                let rank = best.rank * Weight::MILLIONTHS as f64;
                prop_assert!((worth as f64 - first as f64 - rank).abs() <= 1e-6 * (1.0 + worth as f64), "{worth} {first} {rank}");
            }
        }
    }
}
