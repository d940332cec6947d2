//! `makespan verify`

use std::fs;
use std::process::ExitCode;

use makespan_core::tree::{TreeProblem, decimal_text};
use makespan_core::{Instance, Objective, Schedule, validate};
use makespan_formats::PlanFile;
use makespan_formats::schedule::{FrontEntry, ScheduleFile};
use makespan_verify::Bound;
use miette::{Result, miette};

use crate::args::{Format, VerifyOptions};
use crate::input::load;
use crate::output::{emit, shown};
use crate::summary;

/// Maximum number of violations to print. If there are more, only the number of the remaining violations is printed.
const LISTED: usize = 20;

pub fn verify(options: &VerifyOptions) -> Result<ExitCode> {
    let instance = load(&options.input)?.instance;
    let name = options.schedule.display().to_string();
    let bytes = fs::read(&options.schedule).map_err(|error| miette!("{name}: cannot open: {error}"))?;
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(miette!("{name} is no schedule; give a JSON file as `makespan plan --output` writes it"));
    }
    match PlanFile::read(&name, &bytes, &instance).map_err(|error| miette!("{error}"))? {
        PlanFile::Schedule(file) => verdict(options.format, &name, &problems(&instance, &file), || {
            let what = if instance.has_bags() || instance.has_compound_jobs() { "task of every job" } else { "job" };
            let header = format!("valid: every {what} is placed once, and the stated values and bounds are proved");
            let condition = instance.condition();
            format!(
                "{header}{condition}\n{}",
                summary::objectives(&instance, &file.schedule, &file.bounds, makespan::minimised(&file.algorithm))
            )
        }),
        PlanFile::Periodic(file) => {
            let problem = TreeProblem::new(&instance).map_err(|error| miette!("{error}"))?;
            verdict(options.format, &name, &file.problems(&instance, &problem), || {
                let (value, bound) =
                    (decimal_text(&file.fair_throughput), file.bound.value.decimal(file.bound.objective));
                format!(
                    "valid: no processor and no port does more than it can, and the stated values and the bound are proved{}\n\
                     fair throughput {value}, at most {bound} in any steady state\n",
                    instance.condition()
                )
            })
        }
    }
}

/// Prints the problems. If there are none, text output describes the valid schedule.
fn verdict(format: Format, name: &str, problems: &[String], valid: impl FnOnce() -> String) -> Result<ExitCode> {
    match format {
        Format::Json => {
            let report = serde_json::json!({ "valid": problems.is_empty(), "problems": problems });
            emit(&format!("{report:#}\n"))?;
        }
        Format::Text if problems.is_empty() => emit(&valid())?,
        Format::Text => {
            let more = problems.len().saturating_sub(LISTED);
            let mut text = format!("{name} is rejected:\n");
            problems.iter().take(LISTED).for_each(|problem| text += &format!("  {}\n", shown(problem)));
            if more > 0 {
                text += &format!("  and {more} more\n");
            }
            emit(&text)?;
        }
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the problems of a schedule file, one sentence each.
fn problems(instance: &Instance, file: &ScheduleFile) -> Vec<String> {
    let mut problems = wrong_schedule(instance, &file.schedule, |objective| file.stated(objective));
    for objective in Objective::OF_SCHEDULES {
        match file.bound(objective) {
            None if !Objective::STANDARD.contains(&objective) => {}
            None => problems.push(format!("there is no bound on the {objective}")),
            Some(bound) => {
                problems.extend(wrong_bound(instance, bound));
                problems.extend(silent_bound(bound, &file.schedule));
                problems.extend(value_below(instance, bound, &file.schedule));
            }
        }
    }
    for (at, entry) in file.front.iter().enumerate() {
        let mut wrong = wrong_schedule(instance, &entry.schedule, |objective| entry.stated(objective));
        if let Some(bound) = &entry.bound {
            wrong.extend(wrong_bound(instance, bound));
            wrong.extend(silent_bound(bound, &entry.schedule));
            wrong.extend(value_below(instance, bound, &entry.schedule));
        }
        problems.extend(wrong.into_iter().map(|problem| format!("front[{at}]: {problem}")));
    }
    problems.extend(file.strategy.iter().flat_map(|strategy| strategy.problems(instance, &file.schedule)));
    let chosen = |entry: &FrontEntry| entry.schedule == file.schedule;
    if !file.front.is_empty() && !file.front.iter().any(chosen) {
        problems.push("the front does not contain the schedule".into());
    }
    problems
}

/// Returns the rules that a schedule violates, and its incorrect values.
fn wrong_schedule(instance: &Instance, schedule: &Schedule, stated: impl Fn(Objective) -> Option<i128>) -> Vec<String> {
    let mut problems: Vec<String> = match validate(instance, schedule) {
        Ok(()) => Vec::new(),
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    };
    for objective in Objective::OF_SCHEDULES {
        let real = objective.value(instance, schedule);
        if let Some(stated) = stated(objective).filter(|&stated| stated != real) {
            let (stated, real) = (objective.decimal(stated), objective.decimal(real));
            problems.push(format!("the stated {objective} is {stated}; the placements give {real}"));
        }
    }
    problems
}

/// Returns a problem if a bound does not apply to the schedule.
fn silent_bound(bound: &Bound, schedule: &Schedule) -> Option<String> {
    let silent = !bound.speaks_of(schedule);
    silent.then(|| format!("the bound on the {} speaks of shorter schedules only", bound.objective))
}

/// Returns a problem if the value of a schedule is below its bound. In this case, the value or the bound is wrong.
fn value_below(instance: &Instance, bound: &Bound, schedule: &Schedule) -> Option<String> {
    let objective = bound.objective;
    let value = objective.value(instance, schedule);
    let below = bound.speaks_of(schedule) && bound.excludes(&value.into());
    let (value, bound) = (objective.decimal(value), bound.value.decimal(objective));
    below.then(|| format!("the {objective} of the placements is {value}, below its bound {bound}"))
}

fn wrong_bound(instance: &Instance, bound: &Bound) -> Option<String> {
    bound.verify(instance).err().map(|error| format!("bound on the {}: {error}", bound.objective))
}
