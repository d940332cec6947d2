//! `makespan run`

mod decider;
mod folder;
mod outcome;
mod results;
mod source;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use makespan_core::{Bound, Instance, Schedule};
use makespan_exec::{ExecuteOptions, Stop, check, notes, reserve};
use makespan_formats::schedule::ScheduleFile;
use miette::{Result, miette};

use crate::args::RunOptions;
use crate::input::Loaded;
use crate::output::{emit, shown, write_file};
use crate::summary;
use decider::Decider;
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
    let Some(source) = Source::read(&options.source)? else {
        emit(&format!("{}: nothing is to be done; every target is up to date\n", options.source.name()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let Source { loaded: Loaded { instance, remarks }, oversubscribed } = source;
    let decider = Decider::new(options, &instance)?;
    let folder = folder::choose(options)?;
    let stop = stop_on_signals()?;
    let execution = ExecuteOptions {
        resume: options.resume,
        retry_failed: options.retry_failed,
        recover: options.recover,
        oversubscribe: options.oversubscribe || oversubscribed,
        stop: stop.clone(),
        ..ExecuteOptions::new(&folder)
    };
    instance.check_task_names().map_err(|error| miette!("{}: {error}", options.source.name()))?;
    decider.check(&instance, options.seed)?;
    // What cannot run is refused before anything is printed or written.
    check(&instance, &execution).map_err(|error| miette!("{error}"))?;
    let earlier = || options.resume.then(|| folder::planned(&folder, &instance)).flatten();
    let planned = match earlier() {
        Some(begun) => begun,
        None => decider.plan(&instance, options.seed, remarks)?,
    };
    // Nobody else began a run here while this one was planned, and nobody will.
    let reserved = reserve(&instance, &execution).map_err(|error| miette!("{error}"))?;
    let begun = match earlier() {
        Some(begun) => begun,
        None => {
            // The plan is in the folder before the first job starts, so that an interrupted run can be compared with it.
            write_plan(&folder, &instance, &planned)?;
            planned
        }
    };
    let remarks: Vec<String> = begun.remarks.iter().cloned().chain(notes(&instance)).collect();
    emit(&format!(
        "{}, planned by {}\n{}\n{}\n{}\n",
        summary::instance(&instance),
        begun.algorithm,
        summary::remarks(&remarks),
        summary::objectives(&instance, &begun.schedule, &begun.bounds),
        summary::placements(&instance, &begun.schedule)
    ))?;
    let hint = options.policy.as_ref().map_or_else(String::new, |spec| format!("--policy '{spec}' "));
    let mut policy = decider.policy(&instance, &begun, options.resume)?;
    let mut watch = Watch::new(&instance);
    let trace = reserved.execute(policy.as_mut(), &mut watch).map_err(|error| miette!("{error}"))?;
    watch.finish();
    let written = results::write(&folder, &instance, &begun, &trace, watch.log());
    // A report that cannot be written does not hide what happened.
    emit(&outcome::describe(&instance, &begun.schedule, &trace, watch.reasons()))?;
    let which =
        if written.is_ok() { "output of the jobs, report.html and gantt.svg are" } else { "output of the jobs is" };
    emit(&format!("\n{which} in {}\n", shown(&folder.display().to_string())))?;
    if stop.is_requested() {
        let oversubscribe = if options.oversubscribe { "--oversubscribe " } else { "" };
        let (source, last) = options.source.words();
        let (source, last, folder) = (shown(&source), shown(&last), folder.display().to_string());
        let folder = shown(&folder);
        emit(&format!(
            "the run was stopped; `makespan run {source}--folder {folder} {oversubscribe}{hint}--resume{last}` continues it\n"
        ))?;
    }
    written?;
    Ok(if trace.all_succeeded(&instance) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first Ctrl-C or SIGTERM ends the running jobs, the second kills them.
fn stop_on_signals() -> Result<Stop> {
    let stop = Stop::default();
    let requested = stop.clone();
    ctrlc::set_handler(move || requested.request()).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))?;
    Ok(stop)
}

fn write_plan(folder: &Path, instance: &Instance, begun: &Begun) -> Result<()> {
    let mut file = ScheduleFile::new(instance, begun.algorithm.clone(), begun.schedule.clone());
    file.seed = Some(begun.seed);
    file.bounds.clone_from(&begun.bounds);
    file.remarks.clone_from(&begun.remarks);
    write_file(&folder::own(folder, folder::PLAN)?, |out| file.write(instance, out))
}
