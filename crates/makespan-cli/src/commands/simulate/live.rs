//! Simulates the queue of a cluster.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use makespan_core::{Actual, Instance, ProcSet, Profile, Run, TaskId, Time, counted};
use makespan_formats::{Clock, LoggedStarts};
use makespan_slurm::forecast::{
    ExpectedJob, Forecast, ForecastOptions, PredictionSource, RandomRunTimes, RunTimes, forecast,
};
use makespan_slurm::queue::{Present, Queue, QueueJob};
use miette::{Result, miette};

use super::log::{LiveQueue, Log};
use super::words::{left_out, named};
use crate::args::{EstimatesName, SimulateOptions};
use crate::present;
use crate::slurm_policy::merged;

/// Reads the queue of a cluster as a log. Running jobs continue. The run times of all jobs are predicted from ended
/// jobs.
pub fn read(from: &str, options: &SimulateOptions) -> Result<Log> {
    let refused = [
        (options.speedup.is_some(), "--speedup"),
        (!options.queues.is_empty(), "--queues"),
        (options.flops.is_some(), "--flops"),
        (options.estimates == EstimatesName::Clairvoyant, "--estimates clairvoyant"),
        (options.deviation.is_some(), "--deviation"),
    ];
    if let Some((_, option)) = refused.iter().find(|one| one.0) {
        return Err(miette!(
            "{option} is only for logs and instances, but {from} is the queue of a cluster; remove {option}"
        ));
    }
    let (mut queue, mut present) = present::read(from)?;
    // If the shares and the usage of users are known, priorities change in the simulation as in `makespan queue`.
    if !queue.fair_share_parameters().is_empty() && queue.separate_fair_share().is_ok() {
        present = queue.present().map_err(|error| miette!("{from}: {error}"))?;
    }
    Ok(log(queue, present))
}

/// Returns the log of a changed queue, and the names of the jobs that only this queue can start.
pub fn changed(mut queue: Queue, before: &Instance) -> Result<(Log, Vec<String>), String> {
    let gone = withheld(&mut queue);
    let present = queue.present().map_err(|error| error.to_string())?;
    let known: HashSet<&str> = before.jobs().iter().map(|job| job.name.as_str()).collect();
    let new = present.instance.jobs().iter().filter(|job| !known.contains(job.name.as_str()));
    let new = new.map(|job| job.name.clone()).collect();
    let mut log = log(queue, present);
    if !gone.is_empty() {
        log.remarks.push(format!(
            "{}: these jobs can start only on nodes that remain unavailable: {}",
            left_out(gone.len()),
            named(&gone)
        ));
    }
    Ok((log, new))
}

/// Removes the jobs that can start only after a period without an end. Returns their names.
fn withheld(queue: &mut Queue) -> Vec<String> {
    if !queue.reservations.iter().any(|kept| queue.is_never(kept.end)) {
        return Vec::new();
    }
    let words = |seconds: i64| seconds.to_string();
    let play = ForecastOptions { draws: 0, times: RunTimes::Limits, clock: &words, ..ForecastOptions::default() };
    let expected = forecast(queue, &play).expected;
    let gone = expected.iter().filter(|one| one.outlook.start.is_some_and(|at| queue.is_never(at)));
    let mut gone: Vec<usize> = gone.map(|one| one.job).collect();
    let names = gone.iter().map(|&job| queue.jobs[job].shown.clone()).collect();
    gone.sort_unstable();
    gone.into_iter().rev().for_each(|job| drop(queue.jobs.remove(job)));
    names
}

fn log(queue: Queue, present: Present) -> Log {
    let words = |seconds: i64| seconds.to_string();
    let play = ForecastOptions { draws: 0, clock: &words, ..ForecastOptions::default() };
    let forecast = forecast(&queue, &play);
    let (actual, known, usual) = times(&queue, &present, &forecast);
    let Present { instance, running, remarks, .. } = present;
    let mut remarks = [queue.remarks.clone(), queue.past_missing.clone().into_iter().collect(), remarks].concat();
    let waiting = instance.tasks() as usize - running.len();
    let ways = [
        (known, "learned from ended jobs"),
        (usual, "the usual fraction of their time limits in public logs"),
        (waiting.saturating_sub(known + usual), "their time limits"),
    ];
    let ways: Vec<String> = ways.iter().filter(|way| way.0 > 0).map(|(jobs, what)| format!("{jobs} {what}")).collect();
    let go_on = if running.len() == 1 { "job runs and continues" } else { "jobs run and continue" };
    remarks.push(format!(
        "time 0 is now; {} {go_on}, {waiting} wait; run times of the waiting jobs: {}; policies plan by time limits; \
         waits, flows and slowdowns are those of the waiting jobs",
        running.len(),
        if ways.is_empty() { "none".to_owned() } else { ways.join(", ") },
    ));
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    remarks.extend(Clock::unknown_here());
    let past = LoggedStarts { starts: Vec::new(), clock: Clock::here(queue.now), now: Some(Time::ZERO) };
    let week = past.clock.as_ref().map(Clock::week);
    let start = |one: &ExpectedJob| {
        let from_now = one.outlook.start?.saturating_sub(queue.now);
        Some((queue.jobs[one.job].shown.clone(), Time::from_seconds(from_now)))
    };
    let expected = forecast.expected.iter().filter_map(start).collect();
    let (usual, told) = policy(&queue);
    remarks.extend(told);
    let usual = Some(usual);
    Log { instance, actual, remarks, week, past, running, usual, live: Some(Arc::new(LiveQueue { queue, expected })) }
}

impl LiveQueue {
    /// Describes the additional nodes of a scenario.
    pub fn new_nodes(&self) -> Option<String> {
        let like = self.queue.like_new_nodes()?;
        let mut parts = vec![counted(like.usable_cpus, "processor")];
        parts.extend(like.memory.map(|bytes| format!("{} MiB of memory", bytes >> 20)));
        parts.extend(like.gres.iter().map(|gres| format!("{} {}", gres.count, gres.name)));
        if !like.features.is_empty() {
            parts.push(format!("features {}", like.features.join(",")));
        }
        let homes =
            if like.partitions.is_empty() { String::new() } else { format!(", in {}", like.partitions.join(",")) };
        Some(format!("each additional node is a copy of {}: {}{homes}", like.name, parts.join(", ")))
    }

    /// Returns the policy `slurm` with the parameters of the cluster, except those that `spec` states. Returns `None` if
    /// `spec` is another policy.
    pub fn policy(&self, spec: &str) -> Option<String> {
        merged(&policy(&self.queue).0, spec)
    }

    /// Returns the run times that `times` draws for the jobs of `instance` in simulation `number`.
    pub fn drawn(&self, instance: &Instance, times: &RandomRunTimes, number: u32) -> Actual {
        let now = self.queue.now;
        let left = |job: &QueueJob, seconds: i64| {
            let Some(run) = &job.run else { return seconds };
            run.started.saturating_add(seconds).min(run.ends_by.unwrap_or(i64::MAX)) - now
        };
        let drawn = self.queue.jobs.iter().zip(times.draw(number));
        let lasts = drawn.map(|(job, seconds)| (job.shown.as_str(), left(job, seconds))).collect();
        actual(instance, &lasts)
    }

    /// Compares the simulated starts of pending jobs with the starts that `makespan queue` predicts. Returns `None` if
    /// the starts are equal, otherwise a sentence about the difference.
    pub fn differs(&self, instance: &Instance, waited: &[&Run]) -> Option<String> {
        let apart = |run: &&Run| {
            let expected = *self.expected.get(instance.name(run.task).as_ref())?;
            Some((run.start - expected).seconds().abs())
        };
        let all: Vec<f64> = waited.iter().filter_map(apart).collect();
        let (mean, most) = (all.iter().sum::<f64>() / all.len().max(1) as f64, all.iter().copied().fold(0.0, f64::max));
        let other = all.iter().filter(|apart| **apart > 1.0).count();
        (other > 0).then(|| {
            format!(
                "{other} of {1} jobs {0} at another instant than `makespan queue` predicts, with a mean difference of {mean:.0} s and a \
                 maximum of {most:.0} s, because a simulation ignores parts of some requests and rules; compare scenarios only with each other",
                if other == 1 { "starts" } else { "start" },
                all.len()
            )
        })
    }
}

/// Returns the predicted remaining run times of all jobs, the number of jobs with learned times, and the number of
/// jobs with the default share of their time limit.
fn times(queue: &Queue, present: &Present, forecast: &Forecast) -> (Actual, usize, usize) {
    let (mut known, mut usual) = (0, 0);
    let waiting = forecast.expected.iter().map(|one| (one.job, one.lasts));
    let all = waiting.chain(forecast.ends.iter().map(|&(job, end)| (job, end - queue.now)));
    let lasts = all.map(|(job, seconds)| (queue.jobs[job].shown.as_str(), seconds)).collect();
    let there: HashSet<usize> = present.jobs.iter().copied().collect();
    for one in forecast.expected.iter().filter(|one| there.contains(&one.job)) {
        match one.known {
            PredictionSource::Limit => {}
            PredictionSource::Usual => usual += 1,
            PredictionSource::Name(_) | PredictionSource::User(_) | PredictionSource::Anybody(_) => known += 1,
        }
    }
    (actual(&present.instance, &lasts), known, usual)
}

/// Returns the run times of all jobs. `lasts` contains the run times, and the remaining run times of running jobs, in
/// seconds, by the name of the job. A job that it lacks runs until its limit.
fn actual(instance: &Instance, lasts: &HashMap<&str, i64>) -> Actual {
    let real = |task: TaskId| {
        let estimate = instance.profile(task);
        let own = lasts.get(instance.job_of(task).name.as_str()).map(|&seconds| Time::from_seconds(seconds.max(1)));
        own.and_then(|time| Profile::rigid(estimate.min_processors(), time).ok()).unwrap_or_else(|| estimate.clone())
    };
    Actual::Profiles(instance.task_ids().map(real).collect())
}

/// Limit for the number of pending jobs times the number of nodes. Above this limit, the policy `slurm` backfills less
/// often and considers fewer jobs than Slurm.
const MUCH: usize = 2_000_000;
/// Parameters of the policy `slurm` above the limit [`MUCH`].
const RARELY: [(&str, i64); 3] = [("bf_interval", 300), ("bf_max_job_test", 10), ("default_queue_depth", 10)];

/// Returns the policy `slurm` with the parameters of the cluster, and a note if some parameters were replaced.
fn policy(queue: &Queue) -> (String, Option<String>) {
    let waiting = queue.jobs.iter().filter(|job| job.run.is_none()).count();
    let is_much = waiting.saturating_mul(queue.nodes.len()) > MUCH;
    let spec = queue.policy_spec(if is_much { &RARELY } else { &[] });
    let told = format!(
        "{waiting} pending jobs and {} nodes are many for the policy `slurm`: this policy considers fewer jobs than Slurm, and less often \
         ({spec}); name another policy with --policy",
        queue.nodes.len()
    );
    (spec, is_much.then_some(told))
}

/// Returns the running jobs that fit on the platform of `instance`, and the number of running jobs that do not fit.
/// Jobs that do not fit become pending.
pub fn left(running: &[(TaskId, ProcSet)], instance: &Instance) -> (Vec<(TaskId, ProcSet)>, usize) {
    let fits = |processors: &ProcSet| processors.last().is_some_and(|last| last < instance.processors());
    let left: Vec<_> = running.iter().filter(|run| fits(&run.1)).cloned().collect();
    let gone = running.len() - left.len();
    (left, gone)
}
