//! Tiny instances, and the minimum of an objective over all their schedules.

use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Need, Needs, Objective, Payload, Platform, ProcSet, Profile, Resources,
    Task, Time, Unavailable, Weight,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// An instance of up to four tasks, with times in units of `grid` ticks.
#[derive(Clone, Debug)]
pub struct Tiny {
    pub grid: i64,
    processors: u32,
    licences: u64,
    /// The amount of the consumable, which suffices for some choice of modes.
    budget: u64,
    /// Start and end of a period in which processor 0 is closed.
    closed: Option<(i64, i64)>,
    jobs: Vec<TinyJob>,
    /// Pairs of jobs. The second job of a pair waits for the first one.
    edges: Vec<(usize, usize)>,
    /// True if all jobs are the tasks of one compound job.
    is_compound: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct TinyJob {
    release: i64,
    weight: u64,
    due: Option<i64>,
    /// The times on `first` processors, `first` + 1 processors, and so on.
    times: Vec<i64>,
    first: u32,
    licences: u64,
    /// The amount of the consumable that the job uses up in each mode.
    used: Vec<u64>,
}

impl TinyJob {
    /// Returns the weight of the tardiness, which is 0 without a deadline.
    fn late_weight(&self) -> u64 {
        self.due.map_or(0, |_| self.weight)
    }
}

impl Tiny {
    pub fn draw(rng: &mut ChaCha8Rng) -> Self {
        let processors = rng.random_range(1..4_u32);
        let count = rng.random_range(1..5_usize);
        let licences = rng.random_range(0..3);
        let is_compound = rng.random_range(0..5) == 0;
        let (has_releases, has_edges) = (rng.random_range(0..3) == 0, is_compound || rng.random_range(0..3) == 0);
        let has_budget = rng.random_range(0..2) == 0;
        let mut jobs: Vec<TinyJob> = Vec::new();
        for number in 0..count {
            let first = rng.random_range(1..=processors);
            let modes = if rng.random_range(0..2) == 0 { 1 } else { processors - first + 1 };
            let mut times: Vec<i64> = (0..modes).map(|_| rng.random_range(1..5)).collect();
            times.sort_unstable_by(|a, b| b.cmp(a));
            let weight = [0, 1, 2, 3, 5][rng.random_range(0..5)];
            let release = if has_releases && !is_compound { rng.random_range(0..4) } else { 0 };
            let due = (rng.random_range(0..4) > 0).then(|| release + rng.random_range(1..5));
            let used = times.iter().map(|_| if has_budget { rng.random_range(0..4) } else { 0 }).collect();
            let job = TinyJob { release, weight, due, times, first, licences: rng.random_range(0..=licences), used };
            let copy = number > 0 && rng.random_range(0..3) == 0;
            jobs.push(if copy { jobs[number - 1].clone() } else { job });
        }
        let mut edges = Vec::new();
        for to in 1..count {
            edges.extend((0..to).filter(|_| has_edges && rng.random_range(0..3) == 0).map(|from| (from, to)));
        }
        let closed = (rng.random_range(0..4) == 0).then(|| {
            let start = rng.random_range(0..5);
            (start, start + rng.random_range(1..4))
        });
        let grid = [1, 10, 1_000_000_000][rng.random_range(0..3)];
        let budget = jobs.iter().map(|job| job.used[rng.random_range(0..job.used.len())]).sum();
        Self { grid, processors, licences, budget, closed, jobs, edges, is_compound }
    }

    pub fn instance(&self) -> Instance {
        let time = |units: i64| Time::from_ticks(units * self.grid);
        let licences = Resources::new([("solver", self.licences)]).unwrap();
        let platform = Platform::flat(self.processors).unwrap().with_licences(licences).unwrap();
        let platform = platform.with_consumables(Resources::new([("budget", self.budget)]).unwrap()).unwrap();
        let profile = |job: &TinyJob| match &job.times[..] {
            &[only] => Profile::rigid(job.first, time(only)).unwrap(),
            times => {
                let before = std::iter::repeat_n(times[0], job.first as usize - 1);
                let all = before.chain(times.iter().copied()).map(time).collect();
                Profile::table(all).unwrap().at_least(job.first).unwrap()
            }
        };
        let needs = |job: &TinyJob| {
            let before = std::iter::repeat_n(job.used[0], job.first as usize - 1);
            let used = Need::ByAllotment(before.chain(job.used.iter().copied()).collect());
            Needs::new([("solver", Need::whole(job.licences)), ("budget", used)]).unwrap()
        };
        let closed = self.closed.map(|(start, end)| Unavailable {
            processors: ProcSet::first(1),
            start: time(start),
            end: time(end),
        });
        let jobs = if self.is_compound {
            let task = |(number, job): (usize, &TinyJob)| NamedTask {
                name: number.to_string().into(),
                task: Task { needs: needs(job), ..Task::new(profile(job)) },
            };
            let edge =
                |&(from, to): &(usize, usize)| Edge { from: from as u32, to: to as u32, payload: Payload::Bytes(7) };
            let tasks = self.jobs.iter().enumerate().map(task).collect();
            let graph = Graph::new(tasks, self.edges.iter().map(edge).collect()).unwrap();
            vec![Job::compound("graph", graph).with_deadline(time(3))]
        } else {
            let job = |(number, job): (usize, &TinyJob)| {
                let before = self.edges.iter().filter(|edge| edge.1 == number).map(|edge| edge.0.to_string());
                let weight = Weight::from_millionths(job.weight * 500_000).unwrap();
                let own = Job::new(number.to_string(), profile(job)).with_needs(needs(job)).with_weight(weight);
                let own = own.with_release(time(job.release)).with_after(before);
                job.due.map_or(own.clone(), |due| own.with_deadline(time(due)))
            };
            self.jobs.iter().enumerate().map(job).collect()
        };
        Instance::new(platform, jobs, closed.into_iter().collect()).unwrap()
    }

    /// Returns the minimum of the objective over all schedules of the relaxed problem, in the unit of a refutation's
    /// value. Returns `None` if the minimum is not positive.
    pub fn least(&self, objective: Objective) -> Option<i64> {
        let mut best = i64::MAX;
        self.extend(&mut Vec::new(), objective, &mut best);
        (best > 0).then_some(best)
    }

    /// Returns the value of the objective that a refutation of all values below `least` proves.
    pub fn value(&self, objective: Objective, least: i64) -> i128 {
        let ticks = i128::from(least) * i128::from(self.grid);
        match objective {
            Objective::WeightedCompletion => {
                let weights = if self.is_compound { vec![2] } else { self.jobs.iter().map(|job| job.weight).collect() };
                ticks * i128::from(weights.into_iter().fold(0, gcd)) * 500_000
            }
            Objective::WeightedTardiness => {
                let unit = if self.is_compound { 2 } else { self.jobs.iter().map(TinyJob::late_weight).fold(0, gcd) };
                ticks * i128::from(unit) * 500_000
            }
            Objective::MeanFlow => {
                let released: i64 = self.jobs.iter().map(|job| job.release * self.grid).sum();
                let jobs = if self.is_compound { 1 } else { self.jobs.len() as i128 };
                ((ticks - i128::from(released)).max(0) * 1000).div_euclid(jobs)
            }
            _ => ticks,
        }
    }

    /// Adds one more task to a partial schedule in every possible way. Each task starts as early as possible. An entry
    /// of `placed` contains the position, start, end and width of a task.
    fn extend(&self, placed: &mut Vec<(usize, i64, i64, u32)>, objective: Objective, best: &mut i64) {
        if placed.len() == self.jobs.len() {
            let used = |&(job, .., width): &(usize, i64, i64, u32)| {
                let job = &self.jobs[job];
                job.used[(width - job.first) as usize]
            };
            if placed.iter().map(used).sum::<u64>() <= self.budget {
                *best = self.cost(placed, objective).min(*best);
            }
            return;
        }
        for (number, job) in self.jobs.iter().enumerate() {
            let end_of = |task: usize| placed.iter().find(|one| one.0 == task).map(|one| one.2);
            let before: Vec<_> = self.edges.iter().filter(|edge| edge.1 == number).map(|edge| end_of(edge.0)).collect();
            if end_of(number).is_some() || before.contains(&None) {
                continue;
            }
            let ready = before.into_iter().flatten().max().unwrap_or(0).max(job.release);
            for (&time, width) in job.times.iter().zip(job.first..) {
                let start = (ready..).find(|&start| self.fits(placed, job, start, time, width)).unwrap();
                placed.push((number, start, start + time, width));
                self.extend(placed, objective, best);
                placed.pop();
            }
        }
    }

    fn fits(&self, placed: &[(usize, i64, i64, u32)], job: &TinyJob, start: i64, time: i64, width: u32) -> bool {
        (start..start + time).all(|at| {
            let beside = || placed.iter().filter(|one| one.1 <= at && at < one.2);
            let closed = self.closed.is_some_and(|(from, until)| from <= at && at < until);
            let wide: u32 = beside().map(|one| one.3).sum();
            let held: u64 = beside().map(|one| self.jobs[one.0].licences).sum();
            wide + width + u32::from(closed) <= self.processors && held + job.licences <= self.licences
        })
    }

    fn cost(&self, placed: &[(usize, i64, i64, u32)], objective: Objective) -> i64 {
        let last = placed.iter().map(|one| one.2).max().unwrap_or(0);
        if self.is_compound {
            // If several last tasks share the weight of the job, a refutation may prove less than the minimum. The
            // value 0 skips such instances.
            let sinks: Vec<usize> =
                (0..self.jobs.len()).filter(|task| self.edges.iter().all(|edge| edge.0 != *task)).collect();
            let end = |sink: &usize| placed.iter().find(|one| one.0 == *sink).map_or(0, |one| one.2);
            return match objective {
                Objective::Makespan => last,
                Objective::MaxTardiness => (last - 3).max(0),
                Objective::WeightedTardiness if sinks.len() == 1 => (last - 3).max(0),
                _ if sinks.len() > 1 => 0,
                _ => end(&sinks[0]),
            };
        }
        let unit = self.jobs.iter().map(|job| job.weight).fold(0, gcd).max(1) as i64;
        let late = |one: &(usize, i64, i64, u32)| self.jobs[one.0].due.map_or(0, |due| one.2 - due);
        match objective {
            Objective::Makespan => last,
            Objective::MaxTardiness => placed.iter().map(late).max().unwrap_or(0).max(0),
            Objective::WeightedTardiness => {
                let unit = self.jobs.iter().map(TinyJob::late_weight).fold(0, gcd).max(1) as i64;
                placed.iter().map(|one| self.jobs[one.0].late_weight() as i64 * late(one).max(0)).sum::<i64>() / unit
            }
            Objective::WeightedCompletion => {
                placed.iter().map(|one| self.jobs[one.0].weight as i64 * one.2).sum::<i64>() / unit
            }
            _ => placed.iter().map(|one| one.2).sum(),
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
