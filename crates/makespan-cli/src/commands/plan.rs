//! `makespan plan`

mod chains;
mod front;
mod search;
mod strategy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use makespan::Plan;
use makespan::{Planned, Planner};
use makespan_core::{Instance, Schedule, Stop};
use makespan_exec::Pinning;
use makespan_formats::gantt::{Marks, NamedSchedule};
use makespan_formats::report::{Report, Section};
use makespan_formats::schedule::{FrontEntry, ScheduleFile, StrategyEntry};
use makespan_formats::write_swf;
use makespan_verify::Bound;
use makespan_verify::native::PlanOrigin;
use miette::{Result, miette};

use crate::args::{Format, InstanceOptions, MemorySource, PictureOptions, PlanOptions};
use crate::commands::run::{arguments, made};
use crate::input::{StatedMachines, load};
use crate::loaded::LoadedInstance;
use crate::output::{check_kind, check_pictures, check_targets, emit, write_file, write_pictures};
use crate::past::{MemoryRoom, NO_BOUND, RunHistory, has_shared_times};
use crate::summary;

pub fn plan(options: &PlanOptions) -> Result<ExitCode> {
    let begin = Instant::now();
    let mut loaded = loaded(options)?;
    if let Some(file) = &options.history {
        let mut past = RunHistory::read(file)?;
        let mut taught = past.teach(loaded)?;
        if options.memory == MemorySource::Learned {
            let machines = StatedMachines::of(&options.input.machines, options.input.strict)?.machine()?;
            let room = MemoryRoom::of(machines, true, false);
            taught = past.teach_memory(taught, &room)?;
        }
        loaded = taught.loaded;
    }
    let LoadedInstance { instance, mut remarks, .. } = loaded;
    // The time limit applies to the whole command. Checking and writing a plan takes about as long as reading the
    // instance, so the reading time is subtracted twice.
    let spent = begin.elapsed() * 2;
    let spec = search::spec(options, &instance)?;
    tree::check_options(&spec, options)?;
    if options.explain {
        chains::check(&spec)?;
    }
    let PictureOptions { gantt, report, jobs, raw_names: _ } = &options.pictures;
    let targets = [&options.output, &options.swf, report, jobs, &options.period.unroll];
    let targets: Vec<&Path> = targets.into_iter().flatten().chain(gantt).map(PathBuf::as_path).collect();
    check_targets(options.input.path(), &targets)?;
    check_pictures(&options.pictures)?;
    check_kind("--output", options.output.as_ref(), &["json"])?;
    check_kind("--swf", options.swf.as_ref(), &["swf"])?;
    let length = options.period.period.as_deref().map(tree::length).transpose()?;
    let Planned { algorithm, spec, plan, bounds, remarks: more } = planned(&instance, &spec, options, spent)?;
    remarks.extend(more);
    if has_shared_times(&instance, Pinning::Stated) {
        remarks.push(NO_BOUND.into());
    }
    let title = options.input.instance.as_deref().and_then(Path::file_stem);
    let title = title.map_or("plan".into(), |stem| stem.to_string_lossy());
    // The hash of a large instance takes long, so it is computed only for a file.
    let has_file = options.output.is_some() || matches!(options.format, Format::Json);
    let origin = has_file.then(|| PlanOrigin::new(spec, &instance));
    let facts = PlanFacts { instance: &instance, options, title: &title, algorithm, origin, bounds, remarks };
    match plan {
        Plan::Periodic(state) => tree::tell(facts, *state, length)?,
        plan => tell(facts, plan)?,
    }
    // The process ends here, so it does not free the memory of the instance, which may have a million jobs.
    std::mem::forget(instance);
    Ok(ExitCode::SUCCESS)
}

/// Reads the instance, or makes an instance from a command template and its arguments.
fn loaded(options: &PlanOptions) -> Result<LoadedInstance> {
    let template = &options.template;
    let InstanceOptions { instance, machines, strict, speedup, nextflow_trace, .. } = &options.input;
    match instance {
        Some(path) if !template.is_empty() => Err(miette!(
            "{}: a file and a command cannot be planned together; write either plan FILE or plan -- 'COMMAND {{}}' \
             ::: ARGUMENT ..",
            path.display()
        )),
        Some(_) if template.arguments.is_stated() => Err(miette!(
            "options about arguments need a command; write the command after the options: plan --args-from FILE -- \
             'COMMAND {{}}'"
        )),
        Some(_) => load(&options.input),
        None if speedup.is_some() || nextflow_trace.is_some() => Err(miette!(
            "--speedup and --nextflow-trace apply only to instance files, not to a command; remove these options"
        )),
        None => {
            let machines = StatedMachines::of(machines, *strict)?;
            made(template, machines, &arguments(template)?, None, None)
        }
    }
}

/// The facts about a plan that are printed and written.
struct PlanFacts<'a> {
    instance: &'a Instance,
    options: &'a PlanOptions,
    title: &'a str,
    algorithm: String,
    origin: Option<PlanOrigin>,
    bounds: Vec<Bound>,
    remarks: Vec<String>,
}

/// Writes and prints a plan that has placements.
fn tell(facts: PlanFacts<'_>, plan: Plan) -> Result<()> {
    let PlanFacts { instance, options, title, algorithm, origin, bounds, remarks } = facts;
    // A single schedule is moved and not cloned, because it may have a million placements.
    let (schedule, plan) = match plan {
        Plan::Schedule(schedule) => (schedule, None),
        plan => (plan.schedule().cloned().unwrap_or_default(), Some(plan)),
    };
    let front = if let Some(Plan::Front(front)) = &plan { Some(front) } else { None };
    let strategy = if let Some(Plan::Strategy(strategy)) = &plan { Some(strategy) } else { None };
    let mut file = ScheduleFile::new(instance, algorithm.clone(), schedule).with_bounds(instance, &bounds);
    file.seed = Some(options.seed);
    file.origin = origin;
    // The file always contains the bounds, because `verify` checks the bounds with the run times that the instance
    // states.
    let has_bounds = !remarks.iter().any(|remark| remark == NO_BOUND);
    let values = if has_bounds { summary::objectives } else { summary::values };
    file.remarks.clone_from(&remarks);
    let points = front.into_iter().flat_map(makespan::Front::points);
    file.front = points.map(|point| FrontEntry::new(instance, &point.schedule, point.bound.as_ref())).collect();
    file.strategy = strategy.map(StrategyEntry::new);
    if let Some(path) = &options.output {
        write_file(path, |out| file.write(instance, out))?;
    }
    if let Some(path) = &options.swf {
        write_file(path, |out| write_swf(instance, Some(&file.schedule), out))?;
    }
    let others = plan.as_ref().map(Alternatives::of).unwrap_or_default();
    let first = others.chosen.as_deref().unwrap_or("plan");
    let first = std::iter::once(NamedSchedule { name: first, schedule: &file.schedule });
    let others = others.rest.iter().map(|(name, schedule)| NamedSchedule { name, schedule });
    let schedules: Vec<NamedSchedule<'_>> = first.chain(others).collect();
    let fronts = front.iter().map(|front| front::section(instance, front, &bounds));
    let mut sections: Vec<Section> = fronts.chain(strategy.into_iter().map(strategy::section)).collect();
    let strategy_chains = strategy.map(makespan_core::Strategy::chains);
    if schedules.len() > 1 {
        let chosen = front.map_or_else(|| strategy.map_or(0, makespan_core::Strategy::chosen), makespan::Front::chosen);
        sections.iter_mut().for_each(|one| one.schedules = Alternatives::positions(chosen, schedules.len()));
    }
    sections.extend(strategy_chains.into_iter().flat_map(|report| chains::sections(instance, report)));
    let marks: Vec<Marks> = strategy_chains.into_iter().map(chains::marks).collect();
    let report = Report {
        title,
        instance,
        schedules: &schedules,
        marks: &marks,
        algorithm: &algorithm,
        minimised: makespan::minimised(&algorithm),
        seed: options.seed,
        bounds: if has_bounds { &bounds } else { &[] },
        remarks: &remarks,
        sections: &sections,
        choose: schedules.len() > 1,
        run: None,
    };
    write_pictures(&report, &options.pictures)?;
    let explained = match strategy_chains {
        Some(report) if options.explain => chains::text(instance, report),
        _ => String::new(),
    };
    let text = match options.format {
        Format::Json => {
            let mut text = Vec::new();
            file.write(instance, &mut text).map_err(|error| miette!("{error}"))?;
            String::from_utf8_lossy(&text).into_owned()
        }
        Format::Text => format!(
            "{}, planned by {algorithm}\n{}\n{}{}\n{}",
            summary::instance(instance),
            summary::remarks(&remarks),
            values(instance, &file.schedule, &bounds, makespan::minimised(&algorithm)),
            front.map_or(String::new(), |front| summary::front(instance, front, &bounds))
                + &strategy.map_or(String::new(), strategy::text)
                + &explained,
            summary::placements(instance, &file.schedule, "to see the placements, add --output, --gantt or --report")
        ),
    };
    // The process ends soon, so it does not free the memory of the file, which may have a million placements.
    std::mem::forget(file);
    emit(&text)
}

/// Maximum number of placements on a page with alternatives. A page with more placements shows only the chosen
/// schedule.
const MAX_ALTERNATIVES: usize = 1_500_000;

/// The schedules of a front or the variants of a strategy. The page shows one schedule at a time, first the chosen
/// one.
#[derive(Default)]
struct Alternatives<'a> {
    chosen: Option<String>,
    rest: Vec<(String, &'a Schedule)>,
}

impl<'a> Alternatives<'a> {
    fn of(plan: &'a Plan) -> Self {
        let (chosen, schedules): (usize, Vec<&Schedule>) = match plan {
            Plan::Front(front) => (front.chosen(), front.points().iter().map(|point| &point.schedule).collect()),
            Plan::Strategy(strategy) => {
                (strategy.chosen(), strategy.variants().iter().map(|variant| &variant.schedule).collect())
            }
            _ => return Self::default(),
        };
        let placements: usize = schedules.iter().map(|schedule| schedule.placements().len()).sum();
        if schedules.len() < 2 || placements > MAX_ALTERNATIVES {
            return Self::default();
        }
        let name = |at: usize| format!("{} of {}", at + 1, schedules.len());
        let rest = schedules.iter().enumerate().filter(|&(at, _)| at != chosen);
        Self {
            chosen: Some(format!("{}, chosen", name(chosen))),
            rest: rest.map(|(at, schedule)| (name(at), *schedule)).collect(),
        }
    }

    /// Returns the page position of each schedule, in the order of the table of alternatives. The chosen schedule
    /// comes first on the page.
    fn positions(chosen: usize, count: usize) -> Vec<usize> {
        (0..count).map(|at| if at == chosen { 0 } else { at + usize::from(at < chosen) }).collect()
    }
}

fn planned(instance: &Instance, spec: &str, options: &PlanOptions, spent: Duration) -> Result<Planned> {
    let scheduler = makespan::scheduler(spec).map_err(|error| miette!("{error}"))?;
    // If the algorithm can return its best plan at any time, a signal ends the search. Otherwise, a signal ends the
    // program.
    let stop = if scheduler.is_anytime() { search::stop_on_signals()? } else { Stop::default() };
    let clock = search::watch(spec);
    let planner = Planner::new().algorithm(spec).seed(options.seed).stop(&stop).spent(spent);
    let planner = match options.threads {
        Some(threads) => planner.threads(threads),
        None => planner,
    };
    let planned = planner.plan(instance);
    clock.finish_and_clear();
    let mut planned = planned.map_err(|error| miette!("{error}"))?;
    if stop.is_requested() {
        planned.remarks.push("the search was stopped before its search time was over".into());
    }
    Ok(planned)
}
