//! Finds the jobs that `make` would run, from the output of a dry run of GNU make with `--trace` and
//! `--print-data-base`.
//!
//! Make still executes the recipes: a job runs `make TARGET`. Options of this call state that all prerequisites are
//! made (`--old-file`), and which prerequisites are newer than the target (`--what-if`). So make itself decides
//! whether the target is up to date. Variables, shells, `.ONESHELL`, ignored errors and recursive calls of make have
//! their usual meaning.

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

use crate::error::{FilePlace, FormatError};
use crate::guess::guessed;
use database::{Database, Variable, VariableForm};
use printed::updated;
use stubs::STUB;
pub use stubs::stubs;

/// Options of the first call of make. The options must precede `-f FILE`. In this call, make remakes makefiles that
/// are out of date, and prints its database. If there is a goal, `MAKECMDGOALS=GOAL` must follow. The environment must
/// contain `LC_ALL=C`, as for [`ASK`].
pub const ASK_FIRST: [&str; 4] = ["--dry-run", "--print-data-base", "--eval=.makespan: ;", ".makespan"];

/// Options of the second call of make, a dry run. The options must precede the [`stubs`] and `-f FILE`.
pub const ASK: [&str; 4] = ["--dry-run", "--trace", "--print-data-base", "--print-directory"];

/// Name of an additional target that has one prerequisite and an empty recipe. The recipe prevents make from applying
/// pattern rules.
const GOAL: &str = ".makespan";

/// Shell script that replaces each argument `--newer=FILE` by options of make. With these options, make does not
/// remake the file. If the file is missing or not older than the target, make also treats it as just made. Equal
/// modification times are included, because some shells compare only whole seconds.
const SCRIPT: &str = r#"for word do shift; case $word in --newer=*) word=${word#--newer=}; if [ ! -e "$word" ] || [ ! "$0" -nt "$word" ]; then set -- "$@" "--what-if=$word"; fi; word=--old-file=$word;; esac; set -- "$@" "$word"; done; "#;

/// Output of make.
#[derive(Clone, Copy, Debug)]
pub struct MakeOutput<'a> {
    /// The makefile.
    pub file: &'a str,
    /// Goal, or `None` for the first goal in the makefile.
    pub goal: Option<&'a str>,
    /// Output of the first call, with [`ASK_FIRST`].
    pub known: &'a str,
    /// Output of the dry run, with [`ASK`].
    pub printed: &'a str,
}

/// Returns the targets that make would update, or `None` if all are up to date. Each target is a job that waits for
/// other jobs. `line_of` returns a line of a makefile by its number.
///
/// # Errors
/// [`FormatError`] if the output of make is not as expected, or if the targets are not a valid instance.
pub fn read_make(
    asked: MakeOutput<'_>,
    platform: &Platform,
    line_of: impl Fn(&str, usize) -> Option<String>,
) -> Result<Option<Instance>, FormatError> {
    let MakeOutput { file, goal, known, printed } = asked;
    let wrong = |problem: String| FormatError::content(file, FilePlace::default(), problem);
    let mut recipes = updated(printed);
    if recipes.is_empty() {
        return Ok(None);
    }
    let database = |text| {
        let problem = "make did not print its database; install GNU make 4 or later";
        Database::read(text).ok_or_else(|| wrong(problem.into()))
    };
    // The variables come from the first call, because stubs replace the shells of the targets in the dry run.
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
        Ok(job.with_literal_command(&command(file, target, words, recipe)).with_after(names))
    };
    let jobs = recipes.iter().map(job).collect::<Result<Vec<_>, FormatError>>()?;
    let platform = super::with_needed(platform, |_| false);
    Instance::new(platform, jobs, Vec::new()).map(Some).map_err(|error| wrong(error.to_string()))
}

/// Returns the command that updates one target after its prerequisites. The command ends with a hash of the recipe as
/// a comment, so a changed recipe changes the command.
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

/// Escapes a file name for a makefile.
fn escaped(name: &str) -> String {
    name.replace('$', "$$").replace('#', "\\#")
}

/// Returns a variable as a makefile defines it. The database states neither whether the variable is exported, nor the
/// operator of a pattern-specific variable. Both are read from the makefile.
fn definition(variable: &Variable, line_of: impl Fn(&str, usize) -> Option<String>) -> Result<String, FormatError> {
    let (makefile, number) = variable.place.unwrap_or(("the makefile", 0));
    let wrong = |problem: String| Err(FormatError::content(makefile, FilePlace::line(number), problem));
    let (name, text) = (variable.name(), variable.definition);
    let has_lines = variable.printed == VariableForm::OnLines;
    if has_lines || text.contains("\\#") {
        let what = if has_lines { "several lines" } else { "a backslash before #" };
        return wrong(format!(
            "the variable `{name}` of a target has {what}, which is not supported for a variable of a target; define \
             the variable for all targets"
        ));
    }
    let line = line_of(makefile, number).unwrap_or_default();
    let front = line.split('=').next().unwrap_or_default();
    let is_exported = front.split([' ', '\t', ':']).any(|word| word == "export");
    let words = [(is_exported, "export "), (variable.is_override, "override ")];
    let words: String = words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect();
    let text = match front.chars().next_back().filter(|_| variable.printed == VariableForm::ByPattern) {
        None | Some(':' | '!') => text.to_owned(),
        Some(operator) => {
            // For a pattern, `?=` has the effect of `=`, because it is the first definition of the variable for a
            // matching target.
            let operator = if operator == '+' { "+=" } else { "=" };
            text.replacen(":=", operator, 1).replace("$$", "$")
        }
    };
    Ok(words + &text.replace('#', "\\#"))
}
