//! The problems of a plan file.

use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, Objective, Schedule, validate};

use crate::native::PlanFile;
use crate::native::schedule::{FrontEntry, ScheduleFile};
use crate::proof::Bound;

/// Checks a plan: its placements or rates, the values that its file states, and the certificates of its bounds. Returns
/// one sentence for each problem.
pub fn problems(instance: &Instance, file: &PlanFile) -> Vec<String> {
    match file {
        PlanFile::Schedule(file) => of_schedule(instance, file),
        PlanFile::Periodic(file) => match TreeProblem::new(instance) {
            Ok(problem) => file.problems(instance, &problem),
            Err(error) => vec![error.to_string()],
        },
    }
}

fn of_schedule(instance: &Instance, file: &ScheduleFile) -> Vec<String> {
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
    silent.then(|| format!("the bound on the {} is valid only for shorter schedules", bound.objective))
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
