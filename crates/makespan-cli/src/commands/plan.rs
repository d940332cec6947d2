//! `makespan plan`

mod front;
mod search;
mod strategy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use makespan::Planned;
use makespan_core::{Context, Instance, Objective, Stop};
use makespan_formats::gantt::NamedSchedule;
use makespan_formats::report::{Report, Section};
use makespan_formats::schedule::{FrontEntry, ScheduleFile, StrategyEntry};
use makespan_formats::write_swf;
use miette::{Result, miette};

use crate::args::{Format, PictureOptions, PlanOptions};
use crate::input::{Loaded, load};
use crate::output::{check_targets, emit, write_file, write_pictures};
use crate::summary;

pub fn plan(options: &PlanOptions) -> Result<ExitCode> {
    let begin = Instant::now();
    let Loaded { instance, mut remarks } = load(&options.input)?;
    // A time limit is for the whole command: checking and writing a plan take about as long as reading.
    let spent = begin.elapsed() * 2;
    if tree::is_meant(&instance, options) {
        return tree::plan(&instance, remarks, options);
    }
    tree::refuse_options_of_trees(options)?;
    let PictureOptions { gantt, report, jobs, raw_names: _ } = &options.pictures;
    let targets = [&options.output, &options.swf, gantt, report, jobs];
    let targets: Vec<&Path> = targets.into_iter().flatten().map(PathBuf::as_path).collect();
    check_targets(&options.input.instance, &targets)?;
    let Planned { algorithm, schedule, bounds, front, strategy, remarks: more } = planned(&instance, options, spent)?;
    remarks.extend(more);
    let mut file = ScheduleFile::new(&instance, algorithm.clone(), schedule.clone());
    file.seed = Some(options.seed);
    file.bounds.clone_from(&bounds);
    let stated = |objective| file.bound(objective).map(|bound| bound.objective.value(&instance, &file.schedule));
    (file.mean_flow, file.cost) = (stated(Objective::MeanFlow), stated(Objective::Cost));
    file.remarks.clone_from(&remarks);
    file.front =
        front.iter().flat_map(makespan_core::Front::points).map(|point| FrontEntry::new(&instance, point)).collect();
    file.strategy = strategy.as_ref().map(StrategyEntry::new);
    if let Some(path) = &options.output {
        write_file(path, |out| file.write(&instance, out))?;
    }
    if let Some(path) = &options.swf {
        write_file(path, |out| write_swf(&instance, Some(&schedule), out))?;
    }
    let title = options.input.instance.file_stem().map_or("plan".into(), |stem| stem.to_string_lossy());
    let schedules = [NamedSchedule { name: "plan", schedule: &schedule }];
    let fronts = front.iter().map(|front| front::section(&instance, front, &bounds));
    let sections: Vec<Section> = fronts.chain(strategy.iter().map(strategy::section)).collect();
    let report = Report {
        title: &title,
        instance: &instance,
        schedules: &schedules,
        marks: &[],
        algorithm: &algorithm,
        seed: options.seed,
        bounds: &bounds,
        remarks: &remarks,
        sections: &sections,
    };
    write_pictures(&report, &options.pictures)?;
    match options.format {
        Format::Json => {
            let mut text = Vec::new();
            file.write(&instance, &mut text).map_err(|error| miette!("{error}"))?;
            emit(&String::from_utf8_lossy(&text))?;
        }
        Format::Text => emit(&format!(
            "{}, planned by {algorithm}\n{}\n{}{}\n{}",
            summary::instance(&instance),
            summary::remarks(&remarks),
            summary::objectives(&instance, &schedule, &bounds),
            front.as_ref().map_or(String::new(), |front| summary::front(&instance, front, &bounds))
                + &strategy.as_ref().map_or(String::new(), strategy::text),
            summary::placements(&instance, &schedule)
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn planned(instance: &Instance, options: &PlanOptions, spent: Duration) -> Result<Planned> {
    let spec = search::spec(options, instance);
    let scheduler = makespan::scheduler(&spec).map_err(|error| miette!("{error}"))?;
    // Others are interrupted as any program is.
    let stop = if scheduler.is_anytime() { search::stop_on_signals()? } else { Stop::default() };
    let clock = search::watch(&spec);
    let context = Context { stop: stop.clone(), spent, ..Context::with_seed(options.seed) };
    let planned = makespan::plan_in(instance, &spec, context);
    clock.finish_and_clear();
    let mut planned = planned.map_err(|error| miette!("{error}"))?;
    if stop.is_requested() {
        planned.remarks.push("the search was stopped before its time".into());
    }
    Ok(planned)
}
