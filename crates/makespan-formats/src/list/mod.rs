//! Reads lists of commands, with one shell command on each line and notes such as `#: cores=1-4 after=3`. Also creates
//! commands from a template and arguments.
//!
//! A list does not state machines, so the caller states the platform.

mod bash;
mod dialect;
mod lines;
mod make;
mod name;
mod notes;
mod shell;
mod snakemake;
mod template;
#[cfg(test)]
mod tests;
mod wrong;

use makespan_core::{Instance, Job, Platform, Resource, Resources, shell_line};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::error::{FormatError, Place};
use crate::format::head::{Head, has};
use crate::suggest::nearest;
use lines::{Command, commands};
use notes::After;
use wrong::Wrong;

pub(crate) use bash::bash_lines;
pub use bash::bash_warning;
pub(crate) use dialect::shell_of;
pub use make::{ASK, ASK_FIRST, Asked, read_make, stubs};
pub use shell::quoted;
pub use snakemake::read_snakemake;
pub use template::{ArgumentRules, ArgumentSource, Arguments, Template, TemplateError, separator};

/// Maximum total number of dependencies. Without this limit, a short list could make each command wait for all commands
/// before it.
const MAX_AFTER: usize = 1 << 20;

/// Returns whether a file begins with a command group of the shell, such as `{ a; b; }`. A JSON object also begins with
/// `{`.
pub(crate) fn is_group(head: &Head<'_>) -> bool {
    let line = head.first_line().trim_ascii();
    let inner = line.strip_prefix(b"{ ").map(<[u8]>::trim_ascii_start);
    head.ending != Some("json")
        && inner.is_some_and(|inner| inner.first().is_some_and(|&byte| !matches!(byte, b'"' | b'}')))
        && has(line, b"; }")
}

/// Reads a list of commands for this platform. `file` is the file name for errors. If no command needs memory, the
/// instance has no memory. The same rule applies to GPUs. So a list without needs gives equal instances on machines
/// with different amounts of memory.
///
/// # Errors
/// [`FormatError`] with the line of the error.
pub fn read_list(file: &str, text: &str, platform: &Platform) -> Result<Instance, FormatError> {
    read_numbered(file, text, platform, None)
}

/// Reads a list of commands in the same way as [`read_list`]. The numbers in the names of jobs have at least `digits`
/// digits. If `digits` is `None`, all numbers have as many digits as the last number.
///
/// # Errors
///
/// [`FormatError`] with the line of the error.
pub(crate) fn read_numbered(
    file: &str,
    text: &str,
    platform: &Platform,
    digits: Option<usize>,
) -> Result<Instance, FormatError> {
    let wrong = |wrong: Wrong| FormatError::content(file, wrong.place, wrong.problem);
    let commands = commands(text).map_err(wrong)?;
    if commands.is_empty() {
        let problem = match text.lines().count() {
            0 | 1 => "the list holds no command; write one shell command a line".to_owned(),
            lines => format!("none of the {lines} lines holds a command; write one shell command a line"),
        };
        return Err(FormatError::content(file, Place::default(), problem));
    }
    for (name, what) in [(Resource::GPUS, "GPUs"), (Resource::MEMORY, "memory")] {
        let line = commands.iter().find_map(|command| command.notes.line_of(name));
        if let Some(line) = line.filter(|_| platform.resource(name).is_none()) {
            let place = Place::line(line).with_field(name);
            let problem =
                format!("the machines are not known to have {what}; leave the note out, or state machines that do");
            return Err(FormatError::content(file, place, problem));
        }
    }
    let needed = |name: &str| commands.iter().any(|command| command.notes.needs(name));
    let platform = with_needed(platform, needed);
    let mut jobs = jobs(&commands, digits).map_err(wrong)?;
    if let Some(shell) = shell_of(text) {
        jobs.iter_mut().for_each(|job| use_shell(job, &shell));
    }
    let names: Vec<String> = jobs.iter().map(|job| format!("`{}`", job.name)).collect();
    Instance::new(platform, jobs, Vec::new()).map_err(|error| {
        // The job name in the message identifies the command with the error.
        let problem = error.to_string();
        let named = names.iter().position(|name| problem.contains(name));
        let place = named.map_or_else(Place::default, |at| Place::line(commands[at].line));
        FormatError::content(file, place, problem)
    })
}

/// Replaces the shell of commands that a shell runs by `shell`.
fn use_shell(job: &mut Job, shell: &[String]) {
    for task in job.work.tasks_mut() {
        if let Some(line) = shell_line(&task.command) {
            task.command = shell.iter().cloned().chain(["-c".to_owned(), line.to_owned()]).collect();
        }
    }
}

/// Returns the instance with `shell`, such as `bash`, as the shell for all lines that `sh` or the shell of the list
/// would run.
pub fn with_shell(instance: &Instance, shell: &str) -> Instance {
    let mut jobs = instance.all_submitted();
    jobs.iter_mut().for_each(|job| use_shell(job, &[shell.to_owned()]));
    instance.with_jobs(jobs)
}

/// Starts the program of each line directly, without a shell. Each line must consist of quoted words, as the lines of a
/// [`Template::of_words`] with several words.
pub fn without_shell(instance: &Instance) -> Instance {
    let mut jobs = instance.all_submitted();
    for task in jobs.iter_mut().flat_map(|job| job.work.tasks_mut()) {
        if let Some(words) = shell_line(&task.command).and_then(shlex::split) {
            task.command = words;
        }
    }
    instance.with_jobs(jobs)
}

/// Returns an instance with the commands that a template makes. The name of a job contains its number, which has at
/// least `digits` digits. If `digits` is `None`, all numbers have as many digits as the last number.
///
/// # Errors
/// [`FormatError`] whose file name is `template`.
pub fn from_template(lines: &[String], platform: &Platform, digits: Option<usize>) -> Result<Instance, FormatError> {
    let digits = digits.unwrap_or_else(|| name::digits_of(lines.len()));
    let job =
        |(number, line): (usize, &String)| notes::Notes::default().job(name::of_command(number, digits, line), line);
    let wrong = |problem: String| FormatError::content("template", Place::default(), problem);
    let jobs = (1..).zip(lines).map(job).collect::<Result<Vec<Job>, Wrong>>().map_err(|error| wrong(error.problem))?;
    if jobs.is_empty() {
        return Err(wrong(
            "there are no arguments, and so no commands; write them behind `:::`, or one a line in a file".into(),
        ));
    }
    Instance::new(with_needed(platform, |_| false), jobs, Vec::new()).map_err(|error| wrong(error.to_string()))
}

/// Returns the platform without memory or GPUs if no command needs them. A platform that is not one simple node is
/// returned unchanged.
fn with_needed(platform: &Platform, needed: impl Fn(&str) -> bool) -> Platform {
    let Some((node, _)) = platform.kinds().next() else { return platform.clone() };
    let is_idle = |name: &str| [Resource::MEMORY, Resource::GPUS].contains(&name) && !needed(name);
    let flat = |resources: &Resources| Platform::flat(platform.processors())?.with_node_resources(resources);
    let is_flat = flat(&node.resources).is_ok_and(|flat| flat.has_nodes_of(platform));
    if !is_flat || platform.is_compact() || !platform.licences().is_empty() || !platform.consumables().is_empty() {
        return platform.clone();
    }
    let kept = node.resources.iter().filter(|(name, _)| !is_idle(name)).map(|(name, amount)| (name.to_owned(), amount));
    let kept = Resources::new(kept.collect::<Vec<_>>()).ok().and_then(|kept| flat(&kept).ok());
    kept.unwrap_or_else(|| platform.clone())
}

fn jobs(commands: &[Command], digits: Option<usize>) -> Result<Vec<Job>, Wrong> {
    let last = commands.last().map_or(0, |command| command.line);
    let digits = digits.unwrap_or_else(|| name::digits_of(last));
    let mut jobs = Vec::with_capacity(commands.len());
    let mut names: FxHashMap<String, usize> = FxHashMap::default();
    for Command { line, text, notes } in commands {
        let name = notes.name.clone().unwrap_or_else(|| name::of_command(*line, digits, text));
        if let Some(before) = names.insert(name.clone(), *line) {
            let stated = notes.line_of("name").unwrap_or(*line);
            return Err(Wrong::at(
                stated,
                format!("the command on line {before} is named `{name}`, too; names must be unique"),
            ));
        }
        jobs.push(notes.job(name, text)?);
    }
    let order: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
    let mut waits = 0;
    for (job, command) in jobs.iter_mut().zip(commands) {
        let mut after = Vec::new();
        for one in &command.notes.after {
            let found = waited_for(one, commands, &order, &names).map_err(|problem| Wrong {
                place: Place::line(command.notes.line_of("after").unwrap_or(command.line)).with_field("after"),
                problem,
            })?;
            waits += found.len();
            if waits > MAX_AFTER {
                let problem =
                    format!("the commands of the list wait for more than {MAX_AFTER} others in all; state fewer");
                return Err(Wrong::at(command.line, problem));
            }
            after.extend(found.iter().map(|name| name.as_str().into()));
        }
        job.after = after;
    }
    Ok(jobs)
}

/// Returns the names of the commands for which a command waits.
fn waited_for<'a>(
    after: &After,
    commands: &[Command],
    order: &'a [String],
    names: &FxHashMap<String, usize>,
) -> Result<&'a [String], String> {
    let at = |line: usize| commands.partition_point(|command| command.line < line);
    match after {
        &After::Lines(first, last) => {
            let found = &order[at(first)..at(last.saturating_add(1))];
            if !found.is_empty() {
                return Ok(found);
            }
            let which =
                if first == last { format!("line {first} holds") } else { format!("lines {first} to {last} hold") };
            let next = commands.get(at(first)).or(commands.last()).map_or(0, |command| command.line);
            Err(format!("{which} no command; the next is on line {next}"))
        }
        After::Name(name) => match names.get(name) {
            Some(&line) => Ok(&order[at(line)..=at(line)]),
            None => {
                let near = nearest(name, order.iter().map(String::as_str));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                Err(format!("no command is named `{name}`{hint}"))
            }
        },
    }
}

/// Returns a short hash of a text, which distinguishes versions of a job's text.
fn short_hash(text: &[u8]) -> String {
    let hash = Sha256::digest(text);
    hash.iter().take(6).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
