//! `makespan run`

mod cluster;
mod decider;
mod elsewhere;
mod folder;
mod jobs;
mod outcome;
mod results;
mod scratch;
mod source;
mod strangers;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use makespan::estimate::Medians;
use makespan_core::{Bound, Estimation, Instance, Schedule, TaskId};
use makespan_exec::{
    ExecuteOptions, Stop, check, check_folder, check_machine, check_tasks, notes, reserve, reserve_folder, settle,
};
use makespan_formats::list::quoted;
use makespan_formats::schedule::ScheduleFile;
use makespan_formats::{Language, write_instance};
use miette::{Result, miette};

use crate::args::RunOptions;
use crate::loaded::Loaded;
use crate::output::{complain, emit, emit_lines, shown, write_file};
use crate::past::{Past, kinds};
use crate::summary;
#[cfg(feature = "service")]
pub use cluster::Cluster;
use decider::Decider;
use elsewhere::Elsewhere;
use outcome::Outcomes;
use source::Source;
#[cfg(feature = "service")]
pub use source::operator;
use watch::Watch;

/// What a run begins with.
pub struct Begun {
    algorithm: String,
    seed: u64,
    schedule: Schedule,
    bounds: Vec<Bound>,
    remarks: Vec<String>,
}

/// How a run ended.
pub struct Ended {
    /// Of the command.
    pub status: u8,
    /// Whether somebody stopped it.
    pub stopped: bool,
    /// The jobs that this session saw fail, and why.
    pub failures: Vec<(String, String)>,
}

pub fn run(options: &RunOptions) -> Result<ExitCode> {
    carry_out(options).map(|ended| ExitCode::from(ended.status))
}

/// How many processors a cluster gives to a run, if it is to be on one.
pub fn processors(options: &RunOptions) -> Result<Option<u32>> {
    Ok(Elsewhere::of(options)?.map(|elsewhere| elsewhere.platform().processors()))
}

/// Carries it out, and prints what became of it unless it is a part of something.
pub fn carry_out(options: &RunOptions) -> Result<Ended> {
    let mut elsewhere = Elsewhere::of(options)?;
    let is_asked = source::is_asked(&options.source);
    if is_asked && options.failures.resume && elsewhere.is_none() {
        settle_first(options)?;
    }
    let Some(source) = Source::read(&options.source, elsewhere.as_ref().map(Elsewhere::platform))? else {
        emit(&format!("{}: nothing is to be done; every target is up to date\n", options.source.name()))?;
        return Ok(Ended { status: 0, stopped: false, failures: Vec::new() });
    };
    let Source { loaded, oversubscribed } = source;
    let mut past = Past::open(&options.history, options.source.stated_template());
    let taught = past.teach(loaded)?;
    let memory = past.memory(&taught);
    let learned = taught.learned;
    let Loaded { instance, remarks, has_made_up_names } = taught.loaded;
    let (instance, decider) = on_chosen_machines(options, instance, elsewhere.as_mut())?;
    let mut folder = folder::choose(options)?;
    if let Some(elsewhere) = &elsewhere {
        elsewhere.prepare();
    }
    let stop = stop_on_signals()?;
    let (resume, quiet) = (options.failures.resume, options.failures.quiet);
    let silent = quiet || options.is_part;
    let mut execution = ExecuteOptions {
        results: folder::results(elsewhere.is_some()),
        scratch: scratch::scratch(options, &instance)?,
        oversubscribe: options.oversubscribe || oversubscribed,
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
    check_all(&instance, &execution, is_new, elsewhere.is_some()).map_err(|error| miette!("{error}"))?;
    let earlier = |folder: &Path| resume.then(|| folder::planned(folder, &instance)).flatten();
    let planned = match earlier(&folder) {
        Some(begun) => begun,
        None => match &elsewhere {
            Some(elsewhere) => elsewhere.plan(&decider, &instance, options.seed, remarks)?,
            None => decider.plan(&instance, options.seed, remarks)?,
        },
    };
    if let Some(elsewhere) = &elsewhere {
        elsewhere.check(&instance, &planned.schedule)?;
    }
    if is_new {
        folder = folder::claim(options)?;
        execution.folder.clone_from(&folder);
    }
    // Nobody else began a run here while this one was planned, and nobody will.
    let reserved = if elsewhere.is_some() { reserve_folder } else { reserve };
    let reserved = reserved(&instance, &execution).map_err(|error| miette!("{error}"))?;
    let begun = match earlier(&folder) {
        Some(begun) => begun,
        None => {
            write_begun(&folder, &instance, &planned, learned)?;
            planned
        }
    };
    let own_notes = elsewhere.as_ref().map_or_else(|| notes(&instance), Elsewhere::remarks);
    let remarks: Vec<String> = begun.remarks.iter().cloned().chain(own_notes).collect();
    if !silent {
        emit(&announced(&instance, &begun, &remarks))?;
    }
    let mut policy = decider.policy(&instance, &begun, resume)?;
    let mut watch = Watch::new(&instance, quiet, memory);
    let mut trace = match &elsewhere {
        None => reserved.execute(policy.as_mut(), &mut watch).map_err(|error| miette!("{error}"))?,
        Some(elsewhere) => {
            let stem = options.source.stem();
            let what = (&instance, &begun, stem.as_str());
            // When pilots end becomes known when they begin.
            let again = |instance: &Instance| decider.policy(instance, &begun, true).ok();
            elsewhere.execute(reserved, what, &execution, (&decider, policy, &again), &mut watch)?
        }
    };
    watch.finish();
    let succeeded = trace.all_succeeded(&instance);
    trace.runs.extend(watch.interrupted().iter().cloned());
    let outcomes = Outcomes::new(&instance, &begun.schedule, &trace, watch.reasons(), &folder);
    let outcomes = outcomes.with_restated(watch.restated()).with_stopped(stop.is_requested());
    let written = results::write(&folder, &begun, &outcomes, watch.log());
    // A report that cannot be written does not hide what happened.
    if !silent {
        emit_lines(&outcomes.lines())?;
        emit(&where_it_is(&folder, written.is_ok()))?;
        if !succeeded {
            emit(&goes_on(options, &folder, stop.is_requested()))?;
        }
    }
    let status = u8::from(!succeeded || written.is_err());
    if !options.is_part {
        emit(&format!("{}\n", outcomes.machine_line(status)))?;
    }
    written?;
    Ok(Ended { status, stopped: stop.is_requested(), failures: failures(&instance, &watch) })
}

/// The instance on the machines that the plan chooses, where it is to choose, and who decides.
fn on_chosen_machines(
    options: &RunOptions,
    instance: Instance,
    elsewhere: Option<&mut Elsewhere>,
) -> Result<(Instance, Decider)> {
    let decider = Decider::new(options, &instance)?;
    match elsewhere.map(|elsewhere| elsewhere.choose(&decider, &instance, options.seed)).transpose()?.flatten() {
        Some(instance) => {
            let decider = Decider::new(options, &instance)?;
            Ok((instance, decider))
        }
        None => Ok((instance, decider)),
    }
}

/// What is said before the first job starts.
fn announced(instance: &Instance, begun: &Begun, remarks: &[String]) -> String {
    format!(
        "{}, planned by {}\n{}\n{}\n{}\n",
        summary::instance(instance),
        begun.algorithm,
        summary::remarks(remarks),
        summary::objectives(instance, &begun.schedule, &begun.bounds, makespan::minimised(&begun.algorithm)),
        summary::placements(instance, &begun.schedule, "the report in the folder of the run shows them")
    )
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

/// The jobs that failed, and why.
fn failures(instance: &Instance, watch: &Watch<'_>) -> Vec<(String, String)> {
    let named = |(&task, reason): (&TaskId, &String)| (instance.name(task).into_owned(), reason.clone());
    watch.reasons().iter().map(named).collect()
}

/// In which folder what is.
fn where_it_is(folder: &Path, has_report: bool) -> String {
    let which = if has_report { "output of the jobs, report.html and gantt.svg are" } else { "output of the jobs is" };
    format!("\n{which} in {}\n", shown(&folder.display().to_string()))
}

/// How a run that is not done goes on.
fn goes_on(options: &RunOptions, folder: &Path, stopped: bool) -> String {
    let hint = options.policy.as_ref().map_or_else(String::new, |spec| format!("--policy '{spec}' "));
    let oversubscribe = if options.oversubscribe { "--oversubscribe " } else { "" };
    let (source, last) = options.source.words();
    let (source, last, folder) = (shown(&source), shown(&last), folder.display().to_string());
    let folder = quoted(&folder);
    let folder = shown(&folder);
    let scratch = options.scratch.as_ref().map_or_else(String::new, |folder| format!("--scratch {} ", quoted(folder)));
    let failures = scratch + &options.slurm.hint() + &options.failures.hint();
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
