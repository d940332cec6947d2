//! The queue of a cluster as what is simulated.

use makespan_core::{Actual, Instance, ProcSet, Profile, TaskId, Time};
use makespan_formats::{Clock, Past};
use makespan_slurm::forecast::{Known, Options, RunTimes, forecast};
use makespan_slurm::queue::{Present, Queue};
use miette::{Result, miette};

use super::scene::Log;
use crate::args::{EstimatesName, SimulateOptions};
use crate::present;

/// Parameters of Slurm's scheduler that the policy `slurm` has, too.
const PARAMETERS: [&str; 10] = [
    "bf_interval",
    "bf_window",
    "bf_resolution",
    "bf_max_job_test",
    "bf_max_job_part",
    "bf_max_job_user",
    "bf_max_job_start",
    "bf_min_age_reserve",
    "default_queue_depth",
    "partition_job_depth",
];

/// The queue: jobs that run go on, and all end as was learned from those that ended.
pub fn read(from: &str, options: &SimulateOptions) -> Result<Log> {
    let refused = [
        (options.speedup.is_some(), "--speedup"),
        (!options.queues.is_empty(), "--queues"),
        (options.flops.is_some(), "--flops"),
        (options.estimates == EstimatesName::Clairvoyant, "--estimates clairvoyant"),
        (options.deviation.is_some(), "--deviation"),
    ];
    if let Some((_, option)) = refused.iter().find(|one| one.0) {
        return Err(miette!("{option} is for logs and instances, and {from} is the queue of a cluster; leave it out"));
    }
    let (queue, present) = present::read(from)?;
    let (actual, known, usual) = times(&queue, &present);
    let Present { instance, running, remarks, .. } = present;
    let mut remarks = [queue.remarks.clone(), queue.past_missing.clone().into_iter().collect(), remarks].concat();
    remarks.push(format!(
        "time 0 is now; {} jobs run and go on, {} wait; run times of {known} of these are learned from jobs that ended, {usual} use \
         their limits as jobs of public logs do, the others take theirs; policies plan by limits",
        running.len(),
        instance.tasks() - running.len() as u64,
    ));
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    remarks.extend(Clock::unknown_here());
    let past = Past { starts: Vec::new(), clock: Clock::here(queue.now), now: Some(Time::ZERO) };
    let week = past.clock.as_ref().map(Clock::week);
    Ok(Log { instance, actual, remarks, week, past, running, usual: Some(policy(&queue)) })
}

/// How long all jobs of the instance are expected to run from now on, of how many that was learned, and of how many it is what is usual.
fn times(queue: &Queue, present: &Present) -> (Actual, usize, usize) {
    let words = |seconds: i64| seconds.to_string();
    let play = Options { draws: 0, seed: 1, times: RunTimes::Learned, clock: &words };
    let forecast = forecast(queue, &play);
    let mut lasts: Vec<Option<i64>> = vec![None; queue.jobs.len()];
    let (mut known, mut usual) = (0, 0);
    for one in &forecast.expected {
        lasts[one.job] = Some(one.lasts);
    }
    for &(job, end) in &forecast.ends {
        lasts[job] = Some((end - queue.now).max(1));
    }
    let there: std::collections::HashSet<usize> = present.jobs.iter().copied().collect();
    for one in forecast.expected.iter().filter(|one| there.contains(&one.job)) {
        match one.known {
            Known::Limit => {}
            Known::Usual => usual += 1,
            Known::Name(_) | Known::User(_) | Known::Anybody(_) => known += 1,
        }
    }
    let instance = &present.instance;
    let real = |(task, &job): (TaskId, &usize)| {
        let estimate = instance.profile(task);
        let own = lasts[job].map(|seconds| Time::from_seconds(seconds.max(1)));
        own.and_then(|time| Profile::rigid(estimate.min_processors(), time).ok()).unwrap_or_else(|| estimate.clone())
    };
    (Actual::Profiles(instance.task_ids().zip(&present.jobs).map(real).collect()), known, usual)
}

/// The policy `slurm` with the parameters of the cluster.
fn policy(queue: &Queue) -> String {
    let own = PARAMETERS.iter().filter_map(|&name| {
        let value = queue.scheduler_number(name).filter(|&value| value > 0)?;
        Some(format!("{name}={value}"))
    });
    let own: Vec<String> = own.collect();
    if own.is_empty() { "slurm".to_owned() } else { format!("slurm[{}]", own.join(",")) }
}

/// What still runs of it on a platform of so many processors, with how many jobs do not: they wait again.
pub fn left(running: &[(TaskId, ProcSet)], instance: &Instance) -> (Vec<(TaskId, ProcSet)>, usize) {
    let fits = |processors: &ProcSet| processors.last().is_some_and(|last| last < instance.processors());
    let left: Vec<_> = running.iter().filter(|run| fits(&run.1)).cloned().collect();
    let gone = running.len() - left.len();
    (left, gone)
}
