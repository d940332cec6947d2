//! `makespan run`

mod folder;
mod outcome;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use makespan::Planned;
use makespan::policy::{Follow, Replan};
use makespan_core::{Bound, Expansion, Instance, Policy, Schedule, Scheduler, Trace};
use makespan_exec::{ExecuteOptions, Stop, check, execute};
use makespan_formats::gantt::NamedSchedule;
use makespan_formats::report::Report;
use makespan_formats::{jobs_csv, schedule::ScheduleFile};
use miette::{Result, miette};

use crate::args::RunOptions;
use crate::input::{Loaded, load_plain};
use crate::output::{emit, write_file, write_gantt, write_page};
use crate::summary;
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
    let Loaded { instance, remarks } = load_plain(&options.instance)?;
    let usual = if instance.has_compound_jobs() { "heft" } else { "demt" };
    let algorithm = options.algorithm.as_deref().unwrap_or(usual);
    let scheduler = makespan::scheduler(algorithm).map_err(|error| miette!("{error}"))?;
    let folder = folder::choose(options)?;
    let stop = stop_on_signals()?;
    let execution = ExecuteOptions {
        resume: options.resume,
        retry_failed: options.retry_failed,
        oversubscribe: options.oversubscribe,
        stop: stop.clone(),
        ..ExecuteOptions::new(&folder)
    };
    // Tasks of bags and compound jobs run as jobs of their own; the plan and the outcome are shown in terms of the whole.
    let executed = Expansion::of(&instance).map_err(|error| miette!("{}: {error}", options.instance.display()))?;
    // What cannot run is refused before anything is printed or written.
    check(&executed.instance, &execution).map_err(|error| miette!("{error}"))?;
    let resumed = options.resume.then(|| folder::planned(&folder, &instance)).flatten();
    let fresh = resumed.is_none();
    let begun = match resumed {
        Some(begun) => begun,
        None => plan(&instance, algorithm, options.seed, remarks)?,
    };
    if fresh {
        // The plan is in the folder before the first job starts, so that an interrupted run can be compared with it.
        folder::prepare(&folder)?;
        write_plan(&folder, &instance, &begun)?;
    }
    emit(&format!(
        "{}, planned by {}\n{}\n{}\n{}\n",
        summary::instance(&instance),
        begun.algorithm,
        summary::remarks(&begun.remarks),
        summary::objectives(&instance, &begun.schedule, &begun.bounds),
        summary::placements(&instance, &begun.schedule)
    ))?;
    let mut policy = policy(scheduler, &executed, &begun, options.resume);
    let mut watch = Watch::new(&executed.instance);
    let trace =
        execute(&executed.instance, policy.as_mut(), &execution, &mut watch).map_err(|error| miette!("{error}"))?;
    watch.finish();
    write_results(&folder, &instance, &executed, &begun, &trace)?;
    emit(&outcome::describe(&instance, &executed, &begun.schedule, &trace, watch.reasons()))?;
    emit(&format!("\noutput of the jobs, report.html and gantt.svg are in {}\n", folder.display()))?;
    if stop.is_requested() {
        let oversubscribe = if options.oversubscribe { "--oversubscribe " } else { "" };
        let (instance, folder) = (options.instance.display(), folder.display());
        emit(&format!(
            "the run was stopped; `makespan run {instance} --folder {folder} {oversubscribe}--resume` continues it\n"
        ))?;
    }
    Ok(if trace.all_succeeded(&executed.instance) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Tasks that wait for each other keep the order of the plan; for all others what remains is planned again when the world
/// departs from it.
fn policy(scheduler: Box<dyn Scheduler>, executed: &Expansion, begun: &Begun, resume: bool) -> Box<dyn Policy> {
    let plan = || executed.expanded_schedule(&begun.schedule);
    if executed.instance.precedence().is_some() {
        return Box::new(Follow::with_plan(scheduler, begun.seed, &executed.instance, &plan()));
    }
    Box::new(if resume {
        Replan::new(scheduler, begun.seed)
    } else {
        Replan::following(scheduler, begun.seed, &plan())
    })
}

fn plan(instance: &Instance, algorithm: &str, seed: u64, mut remarks: Vec<String>) -> Result<Begun> {
    let Planned { algorithm, schedule, bounds, remarks: more, .. } =
        makespan::plan(instance, algorithm, seed).map_err(|error| miette!("{error}"))?;
    remarks.extend(more);
    Ok(Begun { algorithm, seed, schedule, bounds, remarks })
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
    write_file(&folder.join(folder::PLAN), |out| file.write(instance, out))
}

fn write_results(folder: &Path, instance: &Instance, executed: &Expansion, begun: &Begun, trace: &Trace) -> Result<()> {
    let happened = executed.original_schedule(&trace.schedule());
    let schedules = [
        NamedSchedule { name: "planned", schedule: &begun.schedule },
        NamedSchedule { name: "happened", schedule: &happened },
    ];
    let report = Report {
        title: "Plan and outcome",
        instance,
        schedules: &schedules,
        algorithm: &begun.algorithm,
        seed: begun.seed,
        bounds: &begun.bounds,
        remarks: &begun.remarks,
        sections: &[],
    };
    write_gantt(&report, &folder.join("gantt.svg"))?;
    write_page(&report, &folder.join("report.html"))?;
    write_file(&folder.join("jobs.csv"), |out| Ok(jobs_csv::write_trace(&executed.instance, "run", trace, out)?))
}
