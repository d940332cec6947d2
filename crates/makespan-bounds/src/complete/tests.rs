//! Tiny instances, for which a brute-force search finds the optimum.

mod limits;
mod machines;
mod nodes;

use makespan_core::{
    Instance, Job, Need, Needs, Objective, Platform, Profile, Resources, Schedule, ScheduleBuilder, Time, Weight,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::model::Model;
use super::{CompleteWork, scales, search, search_in};
use crate::Clock;

/// Jobs on up to three processors, with up to two licences.
#[derive(Clone, Debug)]
struct Tiny {
    processors: u32,
    licences: u64,
    /// The amount of the consumable, which suffices if each job runs in its mode `known`.
    budget: u64,
    jobs: Vec<TinyJob>,
    /// Pairs of jobs. The second job of a pair waits for the first one.
    edges: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct TinyJob {
    release: i64,
    due: Option<i64>,
    weight: u64,
    /// The time on `first` processors, on one processor more, and so on.
    times: Vec<i64>,
    first: u32,
    licences: u64,
    /// The amount of the consumable that the job uses up in each mode.
    used: Vec<u64>,
    /// The mode of the job in [`Tiny::one_by_one`].
    known: usize,
}

impl TinyJob {
    /// Returns a job with one mode, on one processor.
    fn sequential(time: i64) -> Self {
        Self { release: 0, due: None, weight: 1, times: vec![time], first: 1, licences: 0, used: vec![0], known: 0 }
    }
}

/// The start, the end, the number of processors, and the index of a job.
type Placed = (i64, i64, u32, usize);

impl Tiny {
    fn draw(rng: &mut ChaCha8Rng, most: usize) -> Self {
        let processors = rng.random_range(1..4_u32);
        let count = rng.random_range(1..=most);
        let licences = rng.random_range(0..3);
        let (has_releases, has_edges) = (rng.random_range(0..3) == 0, rng.random_range(0..3) == 0);
        let has_budget = rng.random_range(0..2) == 0;
        let mut jobs: Vec<TinyJob> = Vec::new();
        for number in 0..count {
            let first = rng.random_range(1..=processors);
            let modes = if rng.random_range(0..2) == 0 { 1 } else { processors - first + 1 };
            let mut times: Vec<i64> = (0..modes).map(|_| rng.random_range(1..6)).collect();
            times.sort_unstable_by(|a, b| b.cmp(a));
            let release = if has_releases { rng.random_range(0..4) } else { 0 };
            let weight = [0, 1, 2, 3, 5][rng.random_range(0..5)];
            let due = (rng.random_range(0..3) > 0).then(|| release + rng.random_range(1..6));
            let used: Vec<u64> = times.iter().map(|_| if has_budget { rng.random_range(0..4) } else { 0 }).collect();
            let (licences, known) = (rng.random_range(0..=licences), rng.random_range(0..used.len()));
            let job = TinyJob { release, due, weight, times, first, licences, used, known };
            let is_copy = number > 0 && rng.random_range(0..3) == 0;
            jobs.push(if is_copy { jobs[number - 1].clone() } else { job });
        }
        let mut edges = Vec::new();
        for to in 1..count {
            edges.extend((0..to).filter(|_| has_edges && rng.random_range(0..3) == 0).map(|from| (from, to)));
        }
        let budget = jobs.iter().map(|job| job.used[job.known]).sum();
        Self { processors, licences, budget, jobs, edges }
    }

    fn instance(&self) -> Instance {
        let licences = Resources::new([("solver", self.licences)]).unwrap();
        let platform = Platform::flat(self.processors).unwrap().with_licences(licences).unwrap();
        let platform = platform.with_consumables(Resources::new([("budget", self.budget)]).unwrap()).unwrap();
        let time = Time::from_seconds;
        let profile = |job: &TinyJob| match job.times[..] {
            [only] => Profile::rigid(job.first, time(only)).unwrap(),
            _ => {
                let before = std::iter::repeat_n(job.times[0], job.first as usize - 1);
                let all = before.chain(job.times.iter().copied()).map(time).collect();
                Profile::table(all).unwrap().at_least(job.first).unwrap()
            }
        };
        let job = |(number, job): (usize, &TinyJob)| {
            let before = self.edges.iter().filter(|edge| edge.1 == number).map(|edge| edge.0.to_string());
            let unused = std::iter::repeat_n(job.used[0], job.first as usize - 1);
            let used = Need::ByAllotment(unused.chain(job.used.iter().copied()).collect());
            let needs = Needs::new([("solver", Need::whole(job.licences)), ("budget", used)]).unwrap();
            let weight = Weight::from_millionths(job.weight * 500_000).unwrap();
            let own = Job::new(number.to_string(), profile(job)).with_needs(needs).with_weight(weight);
            let own = own.with_release(time(job.release)).with_after(before);
            Job { deadline: job.due.map(time), ..own }
        };
        Instance::new(platform, self.jobs.iter().enumerate().map(job).collect(), vec![]).unwrap()
    }

    /// Returns the schedule that runs the jobs one after the other.
    fn one_by_one(&self, instance: &Instance) -> Schedule {
        let mut builder = ScheduleBuilder::new(instance);
        let mut end = Time::ZERO;
        for (task, job) in instance.task_ids().zip(&self.jobs) {
            end = builder.place_earliest(task, job.first + job.known as u32, end).1;
        }
        builder.finish()
    }

    /// Returns the minimum of an objective, in ticks, by brute force.
    fn least(&self, objective: Objective) -> i128 {
        let mut best = i128::MAX;
        self.extend(&mut Vec::new(), objective, &mut best);
        best * i128::from(Time::TICKS_PER_SECOND)
    }

    /// Adds one more job to a partial schedule in every possible way. Each job starts as early as possible.
    fn extend(&self, placed: &mut Vec<Placed>, objective: Objective, best: &mut i128) {
        if placed.len() == self.jobs.len() {
            let used = |one: &Placed| self.jobs[one.3].used[(one.2 - self.jobs[one.3].first) as usize];
            if placed.iter().map(used).sum::<u64>() <= self.budget {
                *best = self.value(placed, objective).min(*best);
            }
            return;
        }
        for (number, job) in self.jobs.iter().enumerate() {
            let end_of = |job: usize| placed.iter().find(|one| one.3 == job).map(|one| one.1);
            let before: Vec<_> = self.edges.iter().filter(|edge| edge.1 == number).map(|edge| end_of(edge.0)).collect();
            if end_of(number).is_some() || before.contains(&None) {
                continue;
            }
            let ready = before.into_iter().flatten().max().unwrap_or(0).max(job.release);
            for (&time, width) in job.times.iter().zip(job.first..) {
                let fits = |&start: &i64| (start..start + time).all(|at| self.has_room(placed, job, at, width));
                let start = (ready..).find(fits).unwrap();
                placed.push((start, start + time, width, number));
                self.extend(placed, objective, best);
                placed.pop();
            }
        }
    }

    fn has_room(&self, placed: &[Placed], job: &TinyJob, at: i64, width: u32) -> bool {
        let beside = || placed.iter().filter(|one| one.0 <= at && at < one.1);
        let wide: u32 = beside().map(|one| one.2).sum();
        let held: u64 = beside().map(|one| self.jobs[one.3].licences).sum();
        wide + width <= self.processors && held + job.licences <= self.licences
    }

    fn value(&self, placed: &[Placed], objective: Objective) -> i128 {
        if objective == Objective::Makespan {
            return placed.iter().map(|one| i128::from(one.1)).max().unwrap_or(0);
        }
        let cost = |one: &Placed| {
            let job = &self.jobs[one.3];
            let late = if objective.is_tardiness() { job.due.map_or(0, |due| (one.1 - due).max(0)) } else { one.1 };
            i128::from(job.weight) * 500_000 * i128::from(late)
        };
        placed.iter().map(cost).sum()
    }
}

/// Checks that the search finds and proves the optimum of tiny instances. The times in the model are multiples of
/// `grid` ticks.
fn all_are_proved(seed: u64, count: usize, most: usize, grid: i64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..count {
        let tiny = Tiny::draw(&mut rng, most);
        let instance = tiny.instance();
        for objective in [Objective::Makespan, Objective::WeightedCompletion, Objective::WeightedTardiness] {
            // A search proves no bound if the minimum is zero.
            if tiny.least(objective) == 0 {
                continue;
            }
            let known = tiny.one_by_one(&instance);
            let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 1_000_000 };
            let model = Model::new(&instance, objective, grid).unwrap();
            let completed = search_in(&model, &instance, &known, None, work);
            let best = completed.schedule.as_ref().unwrap_or(&known);
            let least = tiny.least(objective);
            assert_eq!(objective.value(&instance, best), least, "{objective} {tiny:?}");
            let bound = completed.bound.unwrap_or_else(|| panic!("no bound: {objective} {tiny:?}"));
            assert_eq!(bound.value.integer(), least, "{objective} {tiny:?}");
            assert_eq!(bound.verify(&instance), Ok(()));
        }
    }
}

#[test]
fn optima_of_tiny_instances_are_proved() {
    all_are_proved(0, 150, 4, Time::TICKS_PER_SECOND);
}

#[test]
#[ignore = "long: 2,000 instances"]
fn optima_of_many_tiny_instances_are_proved() {
    all_are_proved(1, 2000, 5, Time::TICKS_PER_SECOND);
}

#[test]
fn optima_are_proved_on_a_fine_grid() {
    // The horizon has too many units for a price in each unit. So prices are constant within intervals of several
    // units.
    all_are_proved(3, 40, 3, Time::TICKS_PER_SECOND / 1000);
}

#[test]
#[ignore = "long: 300 instances"]
fn many_optima_are_proved_on_a_fine_grid() {
    all_are_proved(4, 300, 4, Time::TICKS_PER_SECOND / 1000);
}

#[test]
fn a_scale_of_tasks_proves_that_tasks_exclude_each_other() {
    // On 4 processors, no two of the first three tasks can run at the same time. The times of these tasks sum to 20 s.
    // The work of all six tasks takes only 17 s on 4 processors.
    let job = |(first, time)| TinyJob { first, ..TinyJob::sequential(time) };
    let jobs = [(3, 7), (3, 6), (2, 7), (1, 4), (1, 3), (1, 6)].map(job).into();
    let tiny = Tiny { processors: 4, licences: 0, budget: 0, jobs, edges: vec![] };
    let instance = tiny.instance();
    let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 1000 };
    let known = search(&instance, Objective::Makespan, &tiny.one_by_one(&instance), None, work).schedule.unwrap();
    assert_eq!(known.makespan(), Time::from_seconds(20));
    let completed = search(&instance, Objective::Makespan, &known, None, work);
    assert_eq!((completed.conflicts, completed.bound.map(|bound| bound.ticks())), (0, Some(Time::from_seconds(20))));
}

#[test]
fn large_graphs_of_moldable_tasks_get_no_scales() {
    // Finding scales for 100 tasks with 40 modes each would take seconds.
    let jobs = |count: usize| {
        let profile = || Profile::table((1..=40).map(|width| Time::from_seconds(100 - width)).collect()).unwrap();
        let job = |number: usize| Job::new(number.to_string(), profile());
        std::iter::once(job(0)).chain((1..count).map(|number| job(number).with_after(["0"]))).collect()
    };
    let scales = |count| {
        let instance = Instance::new(Platform::flat(64).unwrap(), jobs(count), vec![]).unwrap();
        scales::all(&Model::new(&instance, Objective::Makespan, Time::TICKS_PER_SECOND).unwrap()).len()
    };
    assert_eq!((scales(5) > 0, scales(100)), (true, 0));
}

#[test]
fn equal_conflict_budgets_give_equal_certificates() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let tiny = Tiny::draw(&mut rng, 5);
    let (instance, clock) = (tiny.instance(), Clock::ENDLESS);
    let work = CompleteWork { clock: &clock, conflicts: 50 };
    let bound = || search(&instance, Objective::Makespan, &tiny.one_by_one(&instance), None, work).bound;
    assert_eq!(bound(), bound());
}

#[test]
fn long_horizons_need_no_memory() {
    // The greatest common divisor of the times is 1 ns, so the horizon has about 10^13 units.
    let tiny = Tiny {
        processors: 2,
        licences: 0,
        budget: 0,
        jobs: [3001, 2003, 2999].map(TinyJob::sequential).into(),
        edges: vec![],
    };
    let instance = tiny.instance();
    let nanosecond = Job::new("short", Profile::rigid(1, Time::from_ticks(1)).unwrap());
    let jobs = instance.all_submitted().into_iter().chain([nanosecond]).collect();
    let instance = instance.with_jobs(jobs);
    let mut builder = ScheduleBuilder::new(&instance);
    let mut end = Time::ZERO;
    for task in instance.task_ids() {
        end = builder.place_earliest(task, 1, end).1;
    }
    let known = builder.finish();
    for objective in Objective::STANDARD {
        let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 1000 };
        let bound = search(&instance, objective, &known, None, work).bound;
        // The horizon is too long for prices. The earliest ends of all tasks still refute small sums of weighted ends.
        assert_eq!(bound.map(|bound| bound.verify(&instance)), Some(Ok(())), "{objective}");
    }
}

#[test]
fn tardiness_values_between_the_points_of_the_time_grid_are_proved() {
    // All times are multiples of 3 s, but the deadline is not.
    let job = TinyJob { due: Some(2), ..TinyJob::sequential(3) };
    let instance = Tiny { processors: 1, licences: 0, budget: 0, jobs: vec![job; 2], edges: vec![] }.instance();
    let mut builder = ScheduleBuilder::new(&instance);
    instance.task_ids().for_each(|task| {
        builder.place_earliest(task, 1, Time::ZERO);
    });
    let known = builder.finish();
    for objective in [Objective::MaxTardiness, Objective::WeightedTardiness] {
        let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 1000 };
        let bound = search(&instance, objective, &known, None, work).bound.unwrap();
        assert_eq!(bound.verify(&instance), Ok(()));
        assert_eq!(bound.value, objective.value(&instance, &known).into(), "{objective}");
    }
}
