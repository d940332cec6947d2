use std::sync::{Arc, Mutex};

use makespan_core::{Cluster, Decision, Event, Instance, Job, Platform, Policy, Profile, Running, TaskId, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::follow::{Follower, tests::PlanSetting};
use super::super::future::{range, tests::outlook};
use super::super::owners::{Owners, tests::handed};
use super::super::promise::Promise;
use super::super::rules::{PlannedSlot, StartRules};
use super::*;

const PROCESSORS: u32 = 4;
const USERS: [&str; 3] = ["ann", "bob", "carol"];
/// The instant at which the run began, in seconds since 1970.
const ORIGIN: f64 = 1.7e9;

/// A queue in virtual time, in which jobs arrive at random and take longer or shorter than expected. The first user has a
/// quota.
struct RandomQueue {
    instance: Instance,
    actual: Vec<Time>,
    owners: Owners,
}

impl RandomQueue {
    fn new(count: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut arrival, mut jobs, mut actual, mut owners) = (0.0, Vec::new(), Vec::new(), Owners::default());
        for at in 0..count {
            let (width, expected) = (random.random_range(1_u32..=2), random.random_range(1.0..20.0_f64));
            // The sum of twelve uniform numbers is nearly normal.
            let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            arrival += -random.random::<f64>().max(1e-9).ln() * 4.5;
            let time = |seconds: f64| Time::from_seconds_f64(seconds).unwrap();
            let mut job = Job::new((at + 1).to_string(), Profile::rigid(width, time(expected)).unwrap());
            job.release = time(arrival);
            jobs.push(job);
            actual.push(time(1.1 * expected * (0.6 * normal).exp()));
            owners.push(&handed(at, USERS[at % 3]));
        }
        let instance = Instance::new(Platform::flat(PROCESSORS).unwrap(), jobs, Vec::new()).unwrap();
        Self { instance, actual, owners }
    }

    /// Runs the queue with the planner and the policy of the service. Returns, for random questions, the simulated range,
    /// the calibrated range if there is one, and the start.
    fn answers(&self, folder: &Path) -> Vec<(StartRange, Option<StartRange>, f64)> {
        let owners = Arc::new(Mutex::new(self.owners.clone()));
        let rules = StartRules { processors: [("ann".to_owned(), 2)].into(), ..StartRules::default() };
        let rules = Arc::new(Mutex::new(rules));
        let mut follower = Follower::new(Arc::clone(&owners), Arc::clone(&rules));
        let mut cluster = Cluster::new(&self.instance);
        let mut forecasts = Forecasts::open(folder).unwrap();
        let (mut random, mut promise) = (ChaCha8Rng::seed_from_u64(7), None::<Promise>);
        let (mut starts, mut asked) = (vec![None; self.actual.len()], Vec::new());
        let mut arriving: Vec<TaskId> = self.instance.task_ids().rev().collect();
        let mut wake = None;
        loop {
            let ends = cluster.running().iter().map(|run| run.start + self.actual[run.task.index()]);
            let arrives = arriving.last().map(|&task| self.instance.release(task));
            let Some(now) = ends.chain(wake).chain(arrives).min() else { break };
            cluster.advance(now);
            let mut events = Vec::new();
            while let Some(task) = arriving.pop_if(|task| self.instance.release(*task) <= now) {
                events.extend(cluster.submit(task).then_some(Event::Submitted(task)));
            }
            let is_over = |run: &&Running| run.start + self.actual[run.task.index()] <= now;
            for task in cluster.running().iter().filter(is_over).map(|run| run.task).collect::<Vec<_>>() {
                let run = cluster.end(task).unwrap();
                cluster.succeed(task, now, &run.processors);
                events.push(Event::Finished(task));
            }
            let instant = ORIGIN + now.seconds();
            if !events.is_empty() {
                let setting = PlanSetting { origin: ORIGIN, limits: [("ann".to_owned(), 2)].into(), promise };
                let outlook = setting.plan(&cluster.view(), &owners);
                let first = outlook.expected.iter().min_by_key(|one| one.job);
                promise = first.map(|one| {
                    let submitted = self.instance.release(TaskId(one.job.0 - 1));
                    Promise::renewed(outlook.promise, one.job, submitted, one.slot.0)
                });
                rules.lock().unwrap().renew(outlook.expected.iter().map(PlannedSlot::from).collect());
                forecasts.record(&outlook, instant, |job| starts[job.0 as usize - 1]).unwrap();
                if let Some(one) = outlook.expected.get(random.random_range(0..outlook.expected.len().max(1))) {
                    let planned = outlook.of_waiting(one.job, instant).and_then(|expected| expected.start);
                    let found = range(&outlook, one.job, planned, instant).unwrap();
                    let is_calibrated = forecasts.calibration.known >= makespan_history::ENOUGH;
                    let calibrated = found.calibrated(&forecasts.calibration, one.job, instant);
                    asked.push((one.job, found, is_calibrated.then_some(calibrated)));
                }
            }
            events.sort_by_key(Event::order);
            let events = if events.is_empty() { vec![Event::Wake] } else { events };
            let mut decisions = Vec::new();
            follower.on(&events, &cluster.view(), &mut decisions);
            wake = None;
            for decision in decisions {
                match decision {
                    Decision::Start { task, processors } => {
                        cluster.start(task, processors).unwrap();
                        starts[task.index()] = Some(instant);
                    }
                    Decision::WakeAt(at) => wake = Some(at),
                    other => panic!("{other:?}"),
                }
            }
        }
        let start = |job: JobNumber| starts[job.0 as usize - 1].unwrap();
        asked.into_iter().map(|(job, found, calibrated)| (found, calibrated, start(job))).collect()
    }
}

/// Returns the shares of starts within the simulated and within the calibrated ranges, in percent, and the number of
/// answers with a calibrated range.
fn shares(count: usize, seed: u64) -> (f64, f64, usize) {
    let folder = tempfile::tempdir().unwrap();
    let answers = RandomQueue::new(count, seed).answers(folder.path());
    let known: Vec<(StartRange, StartRange, f64)> =
        answers.into_iter().filter_map(|(found, calibrated, start)| Some((found, calibrated?, start))).collect();
    let holds = |range: &StartRange, start: f64| range.early - 0.001 <= start && start <= range.late + 0.001;
    let share = |within: usize| 100.0 * within as f64 / known.len() as f64;
    let simulated = share(known.iter().filter(|one| holds(&one.0, one.2)).count());
    (simulated, share(known.iter().filter(|one| holds(&one.1, one.2)).count()), known.len())
}

/// Records forecasts of 60 jobs that start 100 s later than expected. Checks that ranges then include such a delay, also
/// after the file is opened again.
#[test]
fn the_first_forecast_of_each_job_is_compared_with_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut forecasts = Forecasts::open(folder.path()).unwrap();
    let all = outlook(Vec::new(), &[(PROCESSORS, 5, 0); 60], PROCESSORS, Vec::new());
    for now in 0..4 {
        forecasts.record(&all, f64::from(now), |_| None).unwrap();
    }
    assert_eq!(forecasts.calibration.known, 0);
    let job = JobNumber(150);
    let found = range(&all, job, Some(50.0), 0.0).unwrap();
    assert_eq!(found.calibrated(&forecasts.calibration, job, 0.0), found);
    let none = outlook(Vec::new(), &[], PROCESSORS, Vec::new());
    forecasts.record(&none, 200.0, |job| Some(job.0 as f64)).unwrap();
    assert_eq!(forecasts.calibration.known, 60);
    let calibrated = found.calibrated(&forecasts.calibration, job, 0.0);
    assert!(calibrated.early <= 50.0 && 150.0 <= calibrated.late, "{calibrated:?}");
    assert_eq!(Forecasts::open(folder.path()).unwrap().calibration, forecasts.calibration);
}

#[test]
#[ignore = "long: makes several hundred plans"]
fn calibrated_ranges_contain_the_stated_share_of_starts() {
    for seed in 1..=4 {
        let (simulated, calibrated, answers) = shares(120, seed);
        println!(
            "{simulated:.0} % within simulated ranges, {calibrated:.0} % within calibrated ranges, {answers} answers"
        );
        assert!(answers >= 60 && (65.0..=95.0).contains(&calibrated), "{simulated} {calibrated} {answers}");
    }
}
