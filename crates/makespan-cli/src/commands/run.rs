//! `makespan run`

mod cluster;
mod decider;
mod folder;
mod jobs;
mod outcome;
mod results;
mod source;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use makespan::estimate::Medians;
use makespan_core::{Bound, Estimation, Instance, Schedule};
use makespan_exec::{
    ExecuteOptions, Stop, check, check_folder, check_machine, check_tasks, notes, reserve, reserve_folder, settle,
};
use makespan_formats::list::quoted;
use makespan_formats::schedule::ScheduleFile;
use makespan_formats::{Language, write_instance};
use miette::{Result, miette};

use crate::args::RunOptions;
use crate::input::Loaded;
use crate::output::{complain, emit, emit_lines, shown, write_file};
use crate::past::{Past, kinds};
use crate::summary;
use cluster::Cluster;
use decider::Decider;
use jobs::ClusterOfJobs;
use outcome::Outcomes;
use source::Source;
use watch::Watch;

/// What a run begins with.
struct Begun {
    algorithm: String,
    seed: u64,
    schedule: Schedule,
    bounds: Vec<Bound>,
    remarks: Vec<String>,
}

pub fn run(options: &RunOptions) -> Result<ExitCode> {
    let jobs = ClusterOfJobs::of(options)?;
    let cluster = if jobs.is_none() { Cluster::of(options)? } else { None };
    let elsewhere = cluster.as_ref().map(|cluster| &cluster.platform).or(jobs.as_ref().map(|jobs| &jobs.platform));
    let on_cluster = elsewhere.is_some();
    let is_asked = source::is_asked(&options.source);
    if is_asked && options.failures.resume && !on_cluster {
        settle_first(options)?;
    }
    let Some(source) = Source::read(&options.source, elsewhere)? else {
        emit(&format!("{}: nothing is to be done; every target is up to date\n", options.source.name()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let Source { loaded, oversubscribed } = source;
    let mut past = Past::open(&options.history, options.source.stated_template());
    let taught = past.teach(loaded)?;
    let memory = past.memory(&taught);
    let learned = taught.learned;
    let Loaded { instance, remarks, has_made_up_names } = taught.loaded;
    let decider = Decider::new(options, &instance)?;
    let mut folder = folder::choose(options)?;
    if jobs.is_some() {
        jobs::outlive_the_terminal();
    }
    let stop = stop_on_signals()?;
    let (resume, quiet) = (options.failures.resume, options.failures.quiet);
    let oversubscribe = options.oversubscribe || oversubscribed;
    let mut execution = ExecuteOptions {
        oversubscribe,
        made_up_names: has_made_up_names,
        run_all: is_asked,
        stop: stop.clone(),
        estimation: Some(learning(options.source.stated_template())),
        ..ExecuteOptions::new(&folder)
    };
    options.failures.apply(&mut execution)?;
    instance.check_task_names().map_err(|error| miette!("{}: {error}", options.source.name()))?;
    decider.check(&instance, options.seed)?;
    let is_new = options.folder.is_none() && !resume;
    if resume && folder::is_empty(&folder) {
        complain(&format!("note: {} is empty, so that this run begins anew", shown(&folder.display().to_string())));
    }
    // What cannot run is refused before anything is printed or written.
    check_all(&instance, &execution, is_new, on_cluster).map_err(|error| miette!("{error}"))?;
    let earlier = |folder: &Path| resume.then(|| folder::planned(folder, &instance)).flatten();
    let planned = match earlier(&folder) {
        Some(begun) => begun,
        None => match &jobs {
            Some(jobs) => jobs.plan(&decider, &instance, options.seed, remarks)?,
            None => decider.plan(&instance, options.seed, remarks)?,
        },
    };
    if let Some(cluster) = &cluster {
        cluster.check(&instance, &planned.schedule)?;
    }
    if let Some(jobs) = &jobs {
        jobs.check(&instance, &planned.schedule)?;
    }
    if is_new {
        folder = folder::claim(options)?;
        execution.folder.clone_from(&folder);
    }
    // Nobody else began a run here while this one was planned, and nobody will.
    let reserved = if on_cluster { reserve_folder } else { reserve };
    let reserved = reserved(&instance, &execution).map_err(|error| miette!("{error}"))?;
    let begun = match earlier(&folder) {
        Some(begun) => begun,
        None => {
            write_begun(&folder, &instance, &planned, learned)?;
            planned
        }
    };
    let own_notes = if on_cluster { Vec::new() } else { notes(&instance) };
    let remarks: Vec<String> = begun.remarks.iter().cloned().chain(own_notes).collect();
    let say = |text: &str| if quiet { Ok(()) } else { emit(text) };
    say(&format!(
        "{}, planned by {}\n{}\n{}\n{}\n",
        summary::instance(&instance),
        begun.algorithm,
        summary::remarks(&remarks),
        summary::objectives_of(&instance, &begun.schedule, &begun.bounds, makespan::minimised(&begun.algorithm)),
        summary::placements(&instance, &begun.schedule, "the report in the folder of the run shows them")
    ))?;
    let mut policy = decider.policy(&instance, &begun, resume)?;
    let mut watch = Watch::new(&instance, quiet, memory);
    let executed = match (&cluster, &jobs) {
        (None, None) => reserved.execute(policy.as_mut(), &mut watch),
        (_, Some(jobs)) => {
            let mut engine = jobs.begin(&instance, reserved.folder(), execution.grace)?;
            reserved.hand_over(&mut engine, &begun.schedule, &mut watch)
        }
        (Some(cluster), None) => {
            let (platform, grace) = (instance.platform(), execution.grace);
            let mut pilots = cluster.begin(platform, reserved.folder(), &options.source.stem(), grace)?;
            reserved.execute_on(&mut pilots, policy.as_mut(), &mut watch)
        }
    };
    let mut trace = executed.map_err(|error| miette!("{error}"))?;
    watch.finish();
    let succeeded = trace.all_succeeded(&instance);
    trace.runs.extend(watch.interrupted().iter().cloned());
    let outcomes = Outcomes::new(&instance, &begun.schedule, &trace, watch.reasons(), &folder);
    let outcomes = outcomes.with_restated(watch.restated());
    let written = results::write(&folder, &begun, &outcomes, watch.log());
    // A report that cannot be written does not hide what happened.
    if !quiet {
        emit_lines(&outcomes.lines())?;
        let which =
            if written.is_ok() { "output of the jobs, report.html and gantt.svg are" } else { "output of the jobs is" };
        emit(&format!("\n{which} in {}\n", shown(&folder.display().to_string())))?;
        if !succeeded {
            emit(&goes_on(options, &folder, stop.is_requested()))?;
        }
    }
    let status = u8::from(!succeeded || written.is_err());
    emit(&format!("{}\n", outcomes.machine_line(status)))?;
    written?;
    Ok(ExitCode::from(status))
}

/// What a dead session left may be writing the files that decide what is to be done.
fn settle_first(options: &RunOptions) -> Result<()> {
    let execution = ExecuteOptions::new(folder::choose(options)?);
    settle(&execution, &mut watch::Messages { quiet: options.failures.quiet }).map_err(|error| miette!("{error}"))
}

/// Refuses what cannot run. A new folder is nobody's once it is claimed, and others may take its name until then.
fn check_all(
    instance: &Instance,
    execution: &ExecuteOptions,
    is_new: bool,
    on_cluster: bool,
) -> Result<(), makespan_exec::ExecuteError> {
    match (is_new, on_cluster) {
        (true, true) => check_tasks(instance),
        (true, false) => check_machine(instance, execution),
        (false, true) => check_folder(instance, execution),
        (false, false) => check(instance, execution),
    }
}

/// What ends in a run teaches how long the others take: those of the same command first, then those of commands like it, then all.
fn learning(template: Option<String>) -> Estimation {
    Estimation::new(move |instance| Box::new(Medians::new(instance, |task| kinds(instance, task, template.as_deref()))))
}

/// How a run that is not done goes on.
fn goes_on(options: &RunOptions, folder: &Path, stopped: bool) -> String {
    let hint = options.policy.as_ref().map_or_else(String::new, |spec| format!("--policy '{spec}' "));
    let oversubscribe = if options.oversubscribe { "--oversubscribe " } else { "" };
    let (source, last) = options.source.words();
    let (source, last, folder) = (shown(&source), shown(&last), folder.display().to_string());
    let folder = quoted(&folder);
    let folder = shown(&folder);
    let failures = options.slurm.hint() + &options.failures.hint();
    let command = format!("`makespan run {source}--folder {folder} {oversubscribe}{hint}{failures}--resume{last}");
    if stopped {
        format!("the run was stopped; {command}` continues it\n")
    } else if source::is_asked(&options.source) {
        format!("{command}` runs what is then to be done\n")
    } else {
        format!("{command}` runs what was edited since;\nwith `--retry-failed` it runs all that did not succeed\n")
    }
}

/// The first Ctrl-C or SIGTERM ends the running jobs, the second kills them.
fn stop_on_signals() -> Result<Stop> {
    let stop = Stop::default();
    let requested = stop.clone();
    ctrlc::set_handler(move || requested.request()).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))?;
    Ok(stop)
}

/// The plan is in the folder before the first job starts, so that an interrupted run can be compared with it.
fn write_begun(folder: &Path, instance: &Instance, planned: &Begun, learned: bool) -> Result<()> {
    write_plan(folder, instance, planned)?;
    if learned {
        // The plan is of these times, which no other file states.
        write_file(&folder::own(folder, folder::INSTANCE)?, |out| write_instance(instance, Language::Json, out))?;
    }
    Ok(())
}

fn write_plan(folder: &Path, instance: &Instance, begun: &Begun) -> Result<()> {
    let mut file = ScheduleFile::new(instance, begun.algorithm.clone(), begun.schedule.clone());
    file.seed = Some(begun.seed);
    file.bounds.clone_from(&begun.bounds);
    file.remarks.clone_from(&begun.remarks);
    write_file(&folder::own(folder, folder::PLAN)?, |out| file.write(instance, out))
}
