//! Compares the starts that the forecast of a queue predicts with the starts in a simulation of the policy `slurm`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use makespan_core::{Actual, Outcome, Profile, Time};
use makespan_sim::{Silent, SimulationOptions, simulate};
use makespan_slurm::forecast::{ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::{Queue, QueueJob};

use super::random_queue::{MEMORIES, RULES, random};

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("queue-{version}"))
}

/// Returns the starts of the pending jobs by both engines, in seconds after the instant of the queue.
pub(super) fn starts(queue: &Queue, times: RunTimes, spec: &str) -> Vec<(String, Option<i64>, Option<i64>)> {
    let options = ForecastOptions { draws: 0, times, ..ForecastOptions::default() };
    let told = forecast(queue, &options);
    let present = queue.present().unwrap();
    let mut lasts: HashMap<usize, i64> = told.expected.iter().map(|one| (one.job, one.lasts)).collect();
    lasts.extend(told.ends.iter().map(|&(job, end)| (job, end - queue.now)));
    let instance = &present.instance;
    let real = |(task, job): (_, &usize)| {
        let width = instance.profile(task).min_processors();
        Profile::rigid(width, Time::from_seconds(lasts[job].max(1))).unwrap()
    };
    let actual = Actual::Profiles(instance.task_ids().zip(&present.jobs).map(real).collect());
    let mut policy = makespan_algos::policy::policy(spec, 1).unwrap();
    let options = SimulationOptions { running: present.running.clone(), ..SimulationOptions::default() };
    let simulation = simulate(instance, &actual, policy.as_mut(), &options, &mut Silent).unwrap();
    let began: HashMap<usize, i64> = simulation
        .trace
        .runs
        .iter()
        .filter(|run| run.outcome != Outcome::NotStarted)
        .map(|run| (present.jobs[run.task.0 as usize], run.start.seconds() as i64))
        .collect();
    let found = told.expected.iter().map(|one| {
        let name = queue.jobs[one.job].shown.clone();
        (name, one.outlook.start.map(|start| start - queue.now), began.get(&one.job).copied())
    });
    found.collect()
}

/// Differences between the starts of both engines over random queues.
#[derive(Default)]
struct Comparison {
    compared: usize,
    different: usize,
    started_by_one: usize,
    /// Sum of the absolute differences, and the maximum, in seconds.
    sum: i64,
    most: i64,
    /// The first difference: seed, job, start by the forecast, start by the simulation.
    first: Option<(u64, String, Option<i64>, Option<i64>)>,
}

impl Comparison {
    fn of(rules: u32, rounds: u64) -> Self {
        let mut all = Self::default();
        for seed in 0..rounds {
            let queue = random(seed * 7919 + 13, rules);
            for one in starts(&queue, RunTimes::Usual, &queue.policy_spec(&[])) {
                all.add(seed, one);
            }
        }
        all
    }

    fn add(&mut self, seed: u64, (name, told, simulated): (String, Option<i64>, Option<i64>)) {
        match (told, simulated) {
            (Some(one), Some(two)) => {
                self.compared += 1;
                self.different += usize::from(one != two);
                self.sum += (one - two).abs();
                self.most = self.most.max((one - two).abs());
            }
            (None, None) => {}
            _ => self.started_by_one += 1,
        }
        if told != simulated {
            self.first.get_or_insert((seed, name, told, simulated));
        }
    }
}

/// Returns sets of rules: none, several processors per node, each other rule with several processors per node, limits
/// with whole nodes, held jobs with dependencies and arrays, nodes with different amounts of memory, and all rules.
fn rule_sets() -> impl Iterator<Item = u32> {
    let held = 1 | 1 << 6 | 1 << 18;
    let several = [1 | 1 << 10 | 1 << 13, held, held | 1 << 5, 1 | 1 << MEMORIES, (1 << RULES) - 1];
    [0, 1].into_iter().chain((1..RULES).map(|bit| 1 | 1 << bit)).chain(several)
}

fn agree(rounds: u64) {
    for rules in rule_sets() {
        let found = Comparison::of(rules, rounds);
        assert!(found.first.is_none(), "rules {rules:#b}: {:?}", found.first);
    }
}

#[test]
fn the_forecast_and_the_simulation_start_jobs_at_the_same_instants() {
    agree(20);
}

/// In this queue, a main cycle of the forecast skips jobs that a limit delays, and the last of these jobs is beyond
/// `default_queue_depth`.
#[test]
fn skipped_jobs_are_jobs_that_a_main_cycle_left_out() {
    let queue = random(564 * 7919 + 13, (1 << RULES) - 1);
    let found = starts(&queue, RunTimes::Usual, &queue.policy_spec(&[]));
    let different: Vec<_> = found.iter().filter(|one| one.1 != one.2).collect();
    assert!(different.is_empty(), "{different:?}");
}

#[test]
#[ignore = "long: it compares many random queues"]
fn the_forecast_and_the_simulation_agree_on_many_queues() {
    agree(1000);
}

#[test]
fn the_forecast_and_the_simulation_agree_on_recorded_queues() {
    for version in ["22.05", "24.11", "26.05"] {
        let mut queue = Queue::from_folder(&recorded(version), None).unwrap();
        // The simulation starts the components of a heterogeneous job one by one, and treats a range of nodes for one
        // processor as one node.
        let has_range = |job: &QueueJob| job.request.max_nodes.is_some_and(|most| most > job.request.min_nodes);
        let is_left_out = |job: &QueueJob| job.run.is_none() && (job.together.is_some() || has_range(job));
        let gone: Vec<u64> = queue.jobs.iter().filter(|job| is_left_out(job)).map(|job| job.id).collect();
        queue.jobs.retain(|job| !is_left_out(job));
        queue.jobs.iter_mut().for_each(|job| job.waits_for.retain(|other| !gone.contains(&other.job)));
        let found = starts(&queue, RunTimes::Learned, &queue.policy_spec(&[]));
        let different: Vec<_> = found.iter().filter(|one| one.1 != one.2).collect();
        assert!(different.is_empty(), "{version}: {different:?}");
    }
}

/// Prints the share of starts that differ, for each set of rules. The environment variable `ROUNDS` is the number of
/// queues, `RULES` selects one set, and `SHOW` prints the queue with this seed.
#[test]
#[ignore = "long: it is a measurement"]
fn measure() {
    let variable = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let sets = match variable("RULES") {
        Some(only) => vec![only as u32],
        None => rule_sets().collect(),
    };
    for rules in sets {
        if let Some(seed) = variable("SHOW") {
            show(&random(seed * 7919 + 13, rules));
            continue;
        }
        let Comparison { compared, different, started_by_one, sum, most, first } =
            Comparison::of(rules, variable("ROUNDS").unwrap_or(100));
        println!(
            "rules {rules:#020b}: {different} of {compared} starts differ ({:.1} %), mean {:.1} s, maximum {most} s, started by one engine \
             only {started_by_one}, first {first:?}",
            100.0 * different as f64 / compared.max(1) as f64,
            sum as f64 / compared.max(1) as f64
        );
    }
}

fn show(queue: &Queue) {
    println!("{} {:?}", queue.policy_spec(&[]), queue.present().unwrap().remarks);
    queue.nodes.iter().for_each(|node| println!("{} {:?} {}", node.name, node.features, node.weight));
    for kept in &queue.reservations {
        println!("{} {} {} {:?}", kept.name, kept.start - queue.now, kept.end - queue.now, kept.nodes);
    }
    for job in &queue.jobs {
        println!("{} {} {:?} {:?} {:?}", job.shown, job.priority, job.limit, job.partitions, job.request);
        println!("  {:?} {:?} {:?} {:?} {:?}", job.waits_for, job.qos, job.deadline, job.eligible, job.run);
    }
    for (name, told, simulated) in starts(queue, RunTimes::Usual, &queue.policy_spec(&[])) {
        println!("{name} {told:?} {simulated:?}");
    }
}
