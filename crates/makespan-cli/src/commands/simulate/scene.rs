//! Reads and prepares the log that the options select.

use makespan::estimate::Medians;
use makespan::{Circumstances, Deviation, SimulationOptions};
use makespan_core::{Actual, Estimate, Estimation, Instance, TaskId, counted};
use makespan_formats::{Format, FormatOption, LoggedStarts, Replay, ReplayOptions};
use miette::{Result, miette};

use super::live;
use super::log::Log;
use crate::args::{EstimatesName, SimulateOptions, TrainingJobs};
use crate::input::{StatedMachines, replay_at};
use crate::past::kinds;
use crate::{machine, present};

/// Reads the log on the machines that the options name.
pub fn read(options: &SimulateOptions) -> Result<Log> {
    if let Some(from) = present::meant(&options.trace, &options.machines)? {
        return live::read(&from, options);
    }
    let machines = StatedMachines::of(&options.machines, options.strict)?;
    let usual = ReplayOptions::default();
    let reading = ReplayOptions {
        processors: machines.processors,
        platform: machines.platform.clone(),
        network: machines.network,
        storage: machines.storage.clone(),
        estimates: options.estimates.into(),
        speedup: options.speedup,
        seed: options.seed,
        queues: options.queues.clone(),
        flops: options.flops.unwrap_or(usual.flops),
        unit_flops: machines.unit_flops.filter(|_| options.flops.is_none()),
        strict: options.strict,
        machine: Some(machine::platform()?),
        ..usual
    };
    let Replay { instance, actual, mut remarks, format, past, week, .. } = replay_at(&options.trace, &reading)?;
    if options.flops.is_some() && !format.takes(FormatOption::Flops) {
        return Err(miette!("--flops is only for workloads of Batsim, but {} is {format}", options.trace.display()));
    }
    if !options.queues.is_empty() && !format.takes(FormatOption::Queues) {
        return Err(miette!("--queues is only for SWF logs, but {} is {format}", options.trace.display()));
    }
    if !options.what_if.scenarios.is_empty()
        && options.deviation.is_none()
        && matches!(format, Format::Swf | Format::Sacct)
    {
        let untold = past.starts.iter().filter(|start| start.is_none()).count();
        if past.starts.is_empty() {
            remarks.push(
                "the column AS LOGGED is missing, because no record states when its job started; some logs omit all waits"
                    .into(),
            );
        } else if untold > 0 {
            remarks.push(format!(
                "AS LOGGED omits {untold} of {}, because their records do not state a start time",
                counted(past.starts.len(), "job")
            ));
        }
    }
    remarks.splice(0..0, machines.remarks.iter().cloned());
    let instance = machines.closing(instance)?;
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    Ok(Log { instance, actual, remarks, week, past, running: Vec::new(), usual: None, live: None })
}

/// Removes the placement rule of a cluster's machines (as few nodes as possible) if the policy `slurm` is simulated.
/// This policy places jobs as Slurm does, and all policies must have equal rules.
pub fn freely_placed(options: &SimulateOptions, policies: &[&str], mut log: Log) -> Result<Log> {
    let is_slurm = |policy: &&str| policy.split('[').next() == Some("slurm");
    let platform = log.instance.platform();
    if options.machines.from.is_none() || !platform.restricts_placement() || !policies.iter().any(is_slurm) {
        return Ok(log);
    }
    let platform = platform.clone().with_placement(None);
    let (jobs, closed) = (log.instance.all_submitted(), log.instance.unavailable().to_vec());
    log.instance = Instance::new(platform, jobs, closed).map_err(|error| miette!("{error}"))?;
    log.remarks.push("the policy `slurm` chooses nodes as Slurm does, so the rule that a job uses as few nodes as possible is ignored for all policies".into());
    Ok(log)
}

/// Checks that all task names differ, and adds notes about bags, compound jobs and dependences.
pub fn checked(options: &SimulateOptions, mut log: Log) -> Result<Log> {
    let checked = log.instance.check_task_names();
    checked.map_err(|error| miette!("{}: {error}", options.trace.display()))?;
    if log.instance.has_bags() {
        let remark =
            "each task of a bag is submitted as a separate job; queues treat best-effort tasks like all other jobs";
        log.remarks.push(remark.into());
    }
    if log.instance.has_compound_jobs() {
        log.remarks.push(
            "compound jobs: each task is submitted when all tasks that it depends on have ended; the figures are for whole jobs"
                .into(),
        );
    }
    if log.instance.has_edges_between_jobs() {
        log.remarks.push("a job that waits for other jobs is submitted when all these jobs have ended".into());
    }
    Ok(log)
}

/// Draws the random run times for `--deviation`, with one factor for each task.
pub fn deviated(options: &SimulateOptions, log: Log) -> Result<Log> {
    let Some(share) = options.deviation else { return Ok(log) };
    let deviation = Deviation::new(share, options.seed).map_err(|error| miette!("--deviation {share}: {error}"))?;
    if log.actual != Actual::AsEstimated {
        return Err(miette!(
            "--deviation draws actual run times, but {} states them; remove --deviation, or add --estimates \
             clairvoyant to deviate from the run times of the log",
            options.trace.display()
        ));
    }
    let mut remarks = log.remarks;
    // The recorded starts are removed, because the run times have changed.
    let past = LoggedStarts { starts: Vec::new(), ..log.past };
    remarks.push(format!(
        "actual run times are drawn with seed {}: the run time of each task is its estimate times a random factor \
         with mean 1 and standard deviation {share}; policies know only the estimates",
        options.seed
    ));
    let actual = deviation.draw(log.instance.tasks() as usize);
    Ok(Log { actual, remarks, past, ..log })
}

/// Replaces all run times by guesses, for `--estimates unknown`.
pub fn forgotten(options: &SimulateOptions, log: Log) -> Result<Log> {
    if options.estimates != EstimatesName::Unknown {
        return Ok(log);
    }
    let Log { instance, actual, mut remarks, .. } = log;
    let before: Vec<String> = instance.notes().iter().map(|note| note.describe(&instance)).collect();
    remarks.retain(|remark| !before.contains(remark));
    let (instance, actual) = makespan::unknown(&instance, &actual).map_err(|error| miette!("{error}"))?;
    remarks.push(
        "policies know no run times, only speed-ups: they assume that each job takes 1 minute on its minimum number \
         of processors"
            .into(),
    );
    // The queue states run times, so the log no longer contains the queue.
    Ok(Log { instance, actual, remarks, live: None, ..log })
}

/// Returns the estimator that learns times during the simulation, for `--learn`.
fn estimation(options: &SimulateOptions, instance: &Instance) -> Result<Option<Estimation>> {
    let Some(teachers) = options.learn else { return Ok(None) };
    let stated = |task: TaskId| instance.task(task).estimate == Estimate::Stated;
    let mut different = instance.different_task_ids();
    if different.all(stated) {
        return Err(miette!(
            "--learn replaces run times that are not stated, but {} states all run times; add --estimates unknown",
            options.trace.display()
        ));
    }
    Ok(Some(Estimation::new(move |instance| {
        let of = |task| if teachers == TrainingJobs::Alike { kinds(instance, task, None) } else { Vec::new() };
        Box::new(Medians::new(instance, of))
    })))
}

/// Returns the simulation rules in the options, such as kills at the walltime, failures and requeues.
pub fn rules(options: &SimulateOptions, log: &Log) -> Result<SimulationOptions> {
    let stated = Circumstances {
        kill_at_walltime: options.kill_at_walltime,
        is_clairvoyant: options.estimates == EstimatesName::Clairvoyant && options.deviation.is_none(),
        failures: options.breakdowns.failures.clone(),
        requeues: options.breakdowns.requeue,
        seed: options.seed,
    };
    let rules = stated.rules(&log.instance).map_err(|error| match error.option() {
        Some(option) => miette!("--{}: {error}", option.replace('_', "-")),
        None => miette!("{error}"),
    })?;
    let estimation = estimation(options, &log.instance)?;
    Ok(SimulationOptions { estimation, running: log.running.clone(), ..rules })
}
