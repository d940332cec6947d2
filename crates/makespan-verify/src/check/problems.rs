//! The problems of a plan file.

use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, Objective, Schedule, validate};

use crate::native::PlanFile;
use crate::native::schedule::{FrontEntry, ScheduleFile};
use crate::proof::Bound;

/// Checks a plan as [`wrong_statements`] does, and also checks that its file contains all standard bounds. Returns one
/// sentence for each problem.
pub fn problems(instance: &Instance, file: &PlanFile) -> Vec<String> {
    let mut problems = wrong_statements(instance, file);
    if let PlanFile::Schedule(file) = file {
        let missing = Objective::STANDARD.iter().filter(|&&objective| file.bound(objective).is_none());
        problems.extend(missing.map(|objective| format!("there is no bound on the {objective}")));
    }
    problems
}

/// Checks everything that a plan file states: its instance, its placements or rates, the values, and the certificates
/// of its bounds.
/// Returns one sentence for each problem.
pub fn wrong_statements(instance: &Instance, file: &PlanFile) -> Vec<String> {
    let (origin, wrong) = match file {
        PlanFile::Schedule(file) => (&file.origin, of_schedule(instance, file)),
        PlanFile::Periodic(file) => match TreeProblem::new(instance) {
            Ok(problem) => (&file.origin, file.problems(instance, &problem)),
            Err(error) => (&file.origin, vec![error.to_string()]),
        },
    };
    origin.iter().filter_map(|origin| origin.problem(instance)).chain(wrong).collect()
}

fn of_schedule(instance: &Instance, file: &ScheduleFile) -> Vec<String> {
    let mut problems = wrong_schedule(instance, &file.schedule, |objective| file.stated(objective));
    for bound in Objective::OF_SCHEDULES.into_iter().filter_map(|objective| file.bound(objective)) {
        problems.extend(wrong_bound(instance, bound, &file.schedule));
    }
    for (at, entry) in file.front.iter().enumerate() {
        let mut wrong = wrong_schedule(instance, &entry.schedule, |objective| entry.stated(objective));
        wrong.extend(entry.bound.iter().flat_map(|bound| wrong_bound(instance, bound, &entry.schedule)));
        problems.extend(wrong.into_iter().map(|problem| format!("front[{at}]: {problem}")));
    }
    problems.extend(file.strategy.iter().flat_map(|strategy| strategy.problems(instance, &file.schedule)));
    let chosen = |entry: &FrontEntry| entry.schedule == file.schedule;
    if !file.front.is_empty() && !file.front.iter().any(chosen) {
        problems.push("the front does not contain the schedule".into());
    }
    problems
}

/// Returns one sentence for each rule that the schedule violates, and for each stated value that is wrong.
fn wrong_schedule(instance: &Instance, schedule: &Schedule, stated: impl Fn(Objective) -> Option<i128>) -> Vec<String> {
    let mut problems: Vec<String> = match validate(instance, schedule) {
        Ok(()) => Vec::new(),
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    };
    for objective in Objective::OF_SCHEDULES {
        let real = objective.value(instance, schedule);
        if let Some(stated) = stated(objective).filter(|&stated| stated != real) {
            let (stated, real) = (objective.decimal(stated), objective.decimal(real));
            problems.push(format!("the stated {objective} is {stated}, but the placements have {real}"));
        }
    }
    problems
}

/// Returns one sentence for each problem: the bound is not proved, the bound does not apply to the schedule, or the
/// value of the schedule is below the bound. In the last case, the value or the bound is wrong.
fn wrong_bound(instance: &Instance, bound: &Bound, schedule: &Schedule) -> Vec<String> {
    let objective = bound.objective;
    let mut problems = Vec::new();
    if let Err(error) = bound.verify(instance) {
        problems.push(format!("bound on the {objective}: {error}"));
    }
    let value = objective.value(instance, schedule);
    if !bound.speaks_of(schedule) {
        problems.push(format!("the bound on the {objective} is valid only for schedules with a smaller makespan"));
    } else if bound.excludes(&value.into()) {
        let (value, bound) = (objective.decimal(value), bound.value.decimal(objective));
        problems.push(format!("the {objective} of the placements is {value}, below the bound {bound}"));
    }
    problems
}
