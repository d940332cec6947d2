//! Simulates futures with random run times, to predict the range of the start of a job.

use std::collections::BTreeMap;

use makespan_core::{ProcSet, Time, remaining_after};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::outlook::{ExpectedTask, Outlook};
use crate::words::JobNumber;

/// Number of simulated futures.
const FUTURES: u64 = 50;
/// Spread of the remaining time of a task that has run longer than expected: the standard deviation of the logarithm
/// of this time.
const UNKNOWN: f64 = 1.0;

/// The expected start of a job, with its range. All instants are in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StartRange {
    pub early: f64,
    pub start: f64,
    pub late: f64,
}

/// Returns the ranges of the starts of jobs: the 10th and the 90th percentile of the start in [`FUTURES`] simulated
/// futures. `planned` contains the jobs with their expected starts. A range includes the expected start. If the expected
/// start is unknown, the median of the futures replaces it. Each future has random run times around the expected values.
/// Tasks start in the order of the plan as soon as processors are free, and respect the users' limits, reservations and
/// processors that are down. Omits jobs that start in no future.
pub(super) fn ranges(
    outlook: &Outlook,
    planned: &BTreeMap<JobNumber, Option<f64>>,
    now: f64,
) -> BTreeMap<JobNumber, StartRange> {
    if planned.is_empty() {
        return BTreeMap::new();
    }
    let mut starts: BTreeMap<JobNumber, Vec<f64>> = BTreeMap::new();
    for seed in 0..FUTURES {
        // Each future has its own seed, so the range of a job does not depend on the other jobs in `planned`.
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for (job, start) in Future::new(outlook, now, &mut random).starts_of(planned) {
            starts.entry(job).or_default().push(start);
        }
    }
    let range = |(job, mut starts): (JobNumber, Vec<f64>)| {
        starts.sort_by(f64::total_cmp);
        let at = |part: f64| starts.get((part * starts.len() as f64) as usize).copied();
        let start = planned.get(&job).copied().flatten().or(at(0.5))?;
        // The plan may know more than the simulation, for example about licences.
        Some((job, StartRange { early: at(0.1)?.min(start), start, late: at(0.9)?.max(start) }))
    };
    starts.into_iter().filter_map(range).collect()
}

/// Returns the range of the start of one job, as in [`ranges`].
#[cfg(test)]
pub(super) fn range(outlook: &Outlook, job: JobNumber, planned: Option<f64>, now: f64) -> Option<StartRange> {
    ranges(outlook, &[(job, planned)].into(), now).remove(&job)
}

/// Draws a random factor with a median of 1.
fn factor(spread: f64, random: &mut ChaCha8Rng) -> f64 {
    // The sum of twelve uniform numbers is nearly normal.
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    (normal * spread).exp()
}

/// A running task in a simulated future.
struct SimulatedRun<'a> {
    job: JobNumber,
    user: &'a str,
    width: u32,
    /// The processors, if they are known because the task was running at the beginning.
    place: Option<&'a ProcSet>,
    end: f64,
}

/// The state of a simulated future at one instant.
struct Future<'a> {
    outlook: &'a Outlook,
    random: &'a mut ChaCha8Rng,
    now: f64,
    running: Vec<SimulatedRun<'a>>,
    /// The waiting tasks in the order of the plan.
    waiting: Vec<&'a ExpectedTask>,
    /// The number of unfinished tasks of each job.
    unfinished: BTreeMap<JobNumber, usize>,
}

impl<'a> Future<'a> {
    fn new(outlook: &'a Outlook, now: f64, random: &'a mut ChaCha8Rng) -> Self {
        let mut running = Vec::with_capacity(outlook.running.len());
        for runs in &outlook.running {
            let left = if runs.is_overdue(now) {
                // No similar task has run as long, so the remaining time depends only on the time so far.
                let elapsed = Time::from_ticks(((now - runs.start).max(0.0) * 1e9) as i64);
                Time::from_ticks(remaining_after(elapsed.ticks())).seconds() * factor(UNKNOWN, random)
            } else {
                (runs.end - now).max(0.0) * factor(runs.spread, random)
            };
            let end = (now + left).min(runs.latest.unwrap_or(f64::INFINITY).max(now));
            let (job, user, width) = (runs.job, runs.user.as_str(), runs.processors);
            running.push(SimulatedRun { job, user, width, place: Some(&runs.place), end });
        }
        let waiting: Vec<&ExpectedTask> = outlook.expected.iter().collect();
        let mut unfinished = BTreeMap::new();
        let jobs = running.iter().map(|run| run.job).chain(waiting.iter().map(|one| one.job));
        jobs.for_each(|job| *unfinished.entry(job).or_insert(0) += 1);
        Self { outlook, random, now, running, waiting, unfinished }
    }

    /// Simulates until the first task of each given job has started, and returns the instants.
    fn starts_of(mut self, jobs: &BTreeMap<JobNumber, Option<f64>>) -> BTreeMap<JobNumber, f64> {
        let wanted = jobs.keys().filter(|job| self.outlook.jobs.contains_key(job)).count();
        let mut found = BTreeMap::new();
        while found.len() < wanted {
            let started = self.start();
            for job in started.into_iter().filter(|job| jobs.contains_key(job)) {
                found.entry(job).or_insert(self.now);
            }
            let ends = self.running.iter().map(|run| run.end);
            let begins = self.waiting.iter().filter_map(|one| one.begin);
            let closed = self.outlook.closed.iter().map(|period| period.end);
            let later = ends.chain(begins).chain(closed).filter(|&at| at > self.now);
            let Some(next) = later.reduce(f64::min) else { break };
            self.now = next;
        }
        found
    }

    /// Ends the tasks with ends up to the current instant, and starts tasks. Returns the jobs of the started tasks.
    fn start(&mut self) -> Vec<JobNumber> {
        let Self { running, unfinished, now, .. } = self;
        running.retain(|run| {
            if run.end <= *now {
                unfinished.entry(run.job).and_modify(|count| *count -= 1);
            }
            run.end > *now
        });
        let (mut at, mut started) = (0, Vec::new());
        while let Some(&one) = self.waiting.get(at) {
            if self.is_withheld(one) {
                at += 1;
                continue;
            }
            // A task that finds no free processors also delays all later tasks in the queue.
            let length = one.end - one.start;
            if self.free(length) < one.processors.len() {
                break;
            }
            started.push(one.job);
            self.waiting.remove(at);
            let end = self.now + length * factor(one.spread, self.random);
            let (job, user, width) = (one.job, one.user.as_str(), one.processors.len());
            self.running.push(SimulatedRun { job, user, width, place: None, end });
        }
        started
    }

    /// Returns true if a task waits for other jobs, for its earliest start or for its user's limit.
    fn is_withheld(&self, one: &ExpectedTask) -> bool {
        let waits = |job: &JobNumber| self.unfinished.get(job).is_some_and(|&count| count > 0);
        if one.begin.is_some_and(|begin| begin > self.now) || one.after.iter().any(waits) {
            return true;
        }
        let Some(&limit) = self.outlook.limits.get(&one.user) else { return false };
        let used: u32 = self.running.iter().filter(|run| run.user == one.user).map(|run| run.width).sum();
        used + one.processors.len() > limit
    }

    /// Returns the number of processors that are free now and not closed within the next `length` seconds.
    fn free(&self, length: f64) -> u32 {
        let used: u32 = self.running.iter().map(|run| run.width).sum();
        let mut closed = ProcSet::new();
        for period in self.outlook.closed.iter().filter(|period| period.overlaps(self.now, self.now + length)) {
            closed = closed.union(&period.processors);
        }
        // A task may still run on processors that were reserved after its start.
        let places = self.running.iter().filter_map(|run| run.place);
        let closed = places.fold(closed, |closed, place| closed.difference(place));
        let platform = self.outlook.instance.platform().processors();
        platform.saturating_sub(used + closed.len())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use makespan_core::Platform;
    use proptest::prelude::*;

    use super::super::outlook::{ClosedPeriod, PlanState, Runs};
    use super::*;

    const PROCESSORS: u32 = 4;

    fn set(first: u32, width: u32) -> ProcSet {
        ProcSet::from_intervals(vec![(first, first + width - 1)])
    }

    /// Returns the plan of waiting jobs with the numbers 100, 101 and so on. Each job has a number of processors, a run
    /// time in seconds, and a user. `limit` is the quota of the first user.
    pub(in super::super) fn outlook(
        running: Vec<Runs>,
        tasks: &[(u32, u32, usize)],
        limit: u32,
        closed: Vec<ClosedPeriod>,
    ) -> Outlook {
        let one = |(at, &(width, length, user)): (usize, &(u32, u32, usize))| {
            let times = (f64::from(at as u32), f64::from(at as u32 + length));
            ExpectedTask::of_job(100 + at as u64, ["ann", "bob"][user], times, set(0, width))
        };
        let expected = tasks.iter().enumerate().map(one).collect();
        let state = PlanState::of_running(Platform::flat(PROCESSORS).unwrap(), running);
        Outlook::of_tasks(PlanState { limits: [("ann".to_owned(), limit)].into(), closed, ..state }, expected)
    }

    /// A task has run longer than every similar task. Checks that the jobs that start after it have a range. The range
    /// begins after the present, and the walltime limit of the task limits the range.
    #[test]
    fn a_task_that_runs_too_long_leaves_a_range() {
        let now = 30.0;
        for (longer_than, latest) in [(Some(10.0), None), (None, None), (Some(10.0), Some(31.0))] {
            let runs = Runs {
                job: JobNumber(1),
                user: "ann".into(),
                task: 0,
                processors: PROCESSORS,
                place: set(0, PROCESSORS),
                resources: Vec::new(),
                start: 0.0,
                end: longer_than.map_or(10.0, |_| 32.5),
                longer_than,
                latest,
                spread: 0.3,
            };
            let outlook = outlook(vec![runs], &[(4, 5, 0), (2, 5, 1)], 4, Vec::new());
            let [first, next] = [100, 101]
                .map(|job| range(&outlook, JobNumber(job), None, now).unwrap())
                .map(|one| (one.early, one.late));
            match latest {
                Some(latest) => assert_eq!((first, next), ((latest, latest), (latest + 5.0, latest + 5.0))),
                None => assert!(now < first.0 && first.0 < 37.5 && 37.5 < first.1 && now + 5.0 < next.0, "{first:?}"),
            }
            assert_eq!(range(&outlook, JobNumber(7), None, now), None);
        }
    }

    proptest! {
        /// Checks that a simulated start respects the closed periods and the limit of a user, and that the expected
        /// start is in the range.
        #[test]
        fn a_future_respects_reservations_and_limits(
            ends in proptest::collection::vec((1_u32..20, 0_usize..2), 0..3),
            tasks in proptest::collection::vec((1_u32..=4, 1_u32..9, 0_usize..2), 1..10),
            limit in 1_u32..=4,
            (start, length, first) in (0_u32..30, 1_u32..30, 0_u32..4),
        ) {
            let runs = |(at, &(end, user)): (usize, &(u32, usize))| Runs {
                job: JobNumber(at as u64 + 1), user: ["ann", "bob"][user].into(), task: 0, processors: 1,
                place: set(at as u32, 1), resources: Vec::new(), start: 0.0, end: f64::from(end), longer_than: None, latest: None, spread: 0.0,
            };
            let running: Vec<Runs> = ends.iter().enumerate().map(runs).collect();
            // No job may need more processors than its user's limit allows.
            let tasks: Vec<(u32, u32, usize)> = tasks.into_iter()
                .map(|(width, length, user)| (if user == 0 { width.min(limit) } else { width }, length, user)).collect();
            let (start, end) = (f64::from(start), f64::from(start + length));
            let closed = ClosedPeriod { reservation: Some("demo".into()), start, end, processors: set(first, 4 - first) };
            let outlook = outlook(running, &tasks, limit, vec![closed]);
            let mut starts: Vec<f64> = Vec::new();
            for one in &outlook.expected {
                let mut random = ChaCha8Rng::seed_from_u64(1);
                let at = Future::new(&outlook, 0.0, &mut random).starts_of(&[(one.job, None)].into())[&one.job];
                let (width, length) = (one.processors.len(), one.end - one.start);
                prop_assert!(width <= first || !outlook.closed[0].overlaps(at, at + length), "{at}");
                let of_user = |user: &str, width: u32| if user == one.user { width } else { 0 };
                let at_once: u32 = outlook.running.iter().filter(|runs| runs.end > at).map(|runs| of_user(&runs.user, 1)).sum::<u32>()
                    + outlook.expected.iter().zip(&starts).filter(|(other, start)| **start <= at && **start + other.end - other.start > at)
                        .map(|(other, _)| of_user(&other.user, other.processors.len())).sum::<u32>();
                prop_assert!(one.user != "ann" || at_once == 0 || at_once + width <= limit, "{at_once} {at}");
                starts.push(at);
                let StartRange { early, start, late } = range(&outlook, one.job, Some(one.start), 0.0).unwrap();
                prop_assert!(start.total_cmp(&one.start).is_eq() && early <= start && start <= late && early <= at && at <= late);
            }
        }
    }
}
