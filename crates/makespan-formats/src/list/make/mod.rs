//! What `make` would do, from what GNU make prints of a dry run with `--trace` and `--print-data-base`.
//!
//! The recipes stay with make: a job runs `make TARGET`, told that all that the target waits for is made (`--old-file`), and what
//! of it is newer than the target (`--what-if`). So make decides as always whether the target is up to date, and variables,
//! shells, `.ONESHELL`, ignored errors and recipes that call make again mean what they mean to make.

mod apart;
mod database;
mod made;
mod order;
mod printed;
mod stubs;
#[cfg(test)]
mod tests;

use makespan_core::{Estimate, Instance, Job, Platform};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{FormatError, Place};
use crate::guess::guessed;
use database::{Database, Printed, Variable};
use printed::updated;
use stubs::STUB;
pub use stubs::stubs;

/// The options with which make is asked first, in front of `-f FILE`: it makes makefiles that are out of date, and prints what it
/// knows. `MAKECMDGOALS=` with the goal belongs behind them. As in [`ASK`], `LC_ALL=C` must be in its environment.
pub const ASK_FIRST: [&str; 4] = ["--dry-run", "--print-data-base", "--eval=.makespan: ;", ".makespan"];

/// The options with which make is asked what it would do, in front of the [`stubs`] and `-f FILE`.
pub const ASK: [&str; 4] = ["--dry-run", "--trace", "--print-data-base", "--print-directory"];

/// A target that needs another and has an empty recipe, so that no pattern gives it one.
const GOAL: &str = ".makespan";

/// Replaces each `--newer=FILE` by what tells make to leave the file as it is and, if it is newer than the target or no file, to
/// take it as just made. A file of the same time counts as newer: some shells compare whole seconds.
const SCRIPT: &str = r#"for word do shift; case $word in --newer=*) word=${word#--newer=}; if [ ! -e "$word" ] || [ ! "$0" -nt "$word" ]; then set -- "$@" "--what-if=$word"; fi; word=--old-file=$word;; esac; set -- "$@" "$word"; done; "#;

/// What make has said.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The makefile.
    pub file: &'a str,
    /// The goal, where it is not the first one.
    pub goal: Option<&'a str>,
    /// What make has printed at first.
    pub known: &'a str,
    /// What make has printed of a dry run.
    pub printed: &'a str,
}

/// The targets that make would update, each a job that waits for others, or `None` where all are up to date; `line_of` gives a line
/// of a makefile by its number.
///
/// # Errors
/// [`FormatError`] where make printed something else, or the targets are no instance.
pub fn read_make(
    asked: Asked<'_>,
    platform: &Platform,
    line_of: impl Fn(&str, usize) -> Option<String>,
) -> Result<Option<Instance>, FormatError> {
    let Asked { file, goal, known, printed } = asked;
    let wrong = |problem: String| FormatError::content(file, Place::default(), problem);
    let mut recipes = updated(printed);
    if recipes.is_empty() {
        return Ok(None);
    }
    let database = |text| {
        let problem = "make has not printed its database; GNU make 4 or later is needed";
        Database::read(text).ok_or_else(|| wrong(problem.into()))
    };
    // The stubs hide the shells that targets have of their own.
    let (variables, rules) = (database(known)?, database(printed)?);
    let names: Vec<&str> = recipes.iter().map(|(target, _)| *target).collect();
    let order = rules.order(goal, &names);
    let followers = rules.followers(&order, &names.into_iter().collect::<FxHashSet<&str>>());
    let recipe = |target: &str| rules.get(target).and_then(|target| target.recipe.clone()).unwrap_or_default();
    recipes.extend(followers.into_iter().map(|target| (target, recipe(target))));
    let origins = order.origins();
    let numbers: FxHashMap<&str, usize> = (0..).zip(&recipes).map(|(at, (target, _))| (*target, at)).collect();
    let apart = apart::apart(&rules, &order, printed, &numbers);
    let job = |(target, recipe): &(&str, String)| {
        let before = rules.waited_for(target, &numbers);
        let mut words = Vec::new();
        for variable in variables.inherited(&order, origins.get(target).copied().flatten()) {
            words.push(format!("--eval={GOAL}: {}", definition(&variable, &line_of)?));
        }
        let is_goal = words.is_empty();
        words.extend(made::words(&rules, (target, is_goal), &before, &numbers));
        let mut before: Vec<usize> = before.into_iter().map(|(number, _)| number).collect();
        before.extend(&apart[numbers[target]]);
        before.sort_unstable();
        before.dedup();
        let names: Vec<&str> = before.into_iter().map(|number| recipes[number].0).collect();
        let profile = guessed(1, 1, None, None).map_err(|error| wrong(error.to_string()))?;
        let job = Job::new(*target, profile).with_estimate(Estimate::Guessed).with_assumed_core();
        Ok(job.with_command(command(file, target, words, recipe)).with_after(names))
    };
    let jobs = recipes.iter().map(job).collect::<Result<Vec<_>, FormatError>>()?;
    let platform = super::with_needed(platform, |_| false);
    Instance::new(platform, jobs, Vec::new()).map(Some).map_err(|error| wrong(error.to_string()))
}

/// What updates one target when all before it have been. The comment makes a job with another recipe another job.
fn command(file: &str, target: &str, stated: Vec<String>, recipe: &str) -> Vec<String> {
    let compares = stated.iter().any(|word| word.starts_with("--newer="));
    let inherits = stated.iter().any(|word| word.starts_with(&format!("--eval={GOAL}: ")));
    let script = if compares { SCRIPT } else { "" };
    let script = format!("{script}exec make \"$@\" # recipe {}", super::short_hash(recipe.as_bytes()));
    let mut words: Vec<String> = ["sh", "-c"].map(str::to_owned).into();
    words.extend([script, target.to_owned(), "--no-print-directory".into(), "-f".into(), file.to_owned()]);
    words.extend(stated);
    if inherits {
        words.push(format!("--eval={GOAL}: {} ;", escaped(target)));
    }
    words.extend(["--".into(), if inherits { GOAL } else { target }.to_owned()]);
    words
}

/// The name of a file as a makefile states it.
fn escaped(name: &str) -> String {
    name.replace('$', "$$").replace('#', "\\#")
}

/// A variable as a makefile states it. Make does not print whether it goes into the environment, nor how one of a pattern was
/// stated, so the makefile is looked at.
fn definition(variable: &Variable, line_of: impl Fn(&str, usize) -> Option<String>) -> Result<String, FormatError> {
    let (makefile, number) = variable.place.unwrap_or(("the makefile", 0));
    let wrong = |problem: String| Err(FormatError::content(makefile, Place::line(number), problem));
    let (name, text) = (variable.name(), variable.definition);
    let has_lines = variable.printed == Printed::OnLines;
    if has_lines || text.contains("\\#") {
        let what = if has_lines { "several lines" } else { "a backslash before #" };
        return wrong(format!(
            "the variable `{name}` of a target has {what}, which what the target needs cannot inherit here; state it for all targets"
        ));
    }
    let line = line_of(makefile, number).unwrap_or_default();
    let front = line.split('=').next().unwrap_or_default();
    let is_exported = front.split([' ', '\t', ':']).any(|word| word == "export");
    let words = [(is_exported, "export "), (variable.is_override, "override ")];
    let words: String = words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect();
    let text = match front.chars().next_back().filter(|_| variable.printed == Printed::ByPattern) {
        None | Some(':' | '!') => text.to_owned(),
        Some(operator) => {
            // To a target that fits, `?=` of a pattern is the first that sets the variable.
            let operator = if operator == '+' { "+=" } else { "=" };
            text.replacen(":=", operator, 1).replace("$$", "$")
        }
    };
    Ok(words + &text.replace('#', "\\#"))
}
