//! Reads lists of commands, with one shell command on each line and notes such as `#: cores=1-4 after=3`. Also creates
//! commands from a template and arguments.
//!
//! A list does not state machines, so the caller states the platform.

mod bash;
mod dialect;
mod lines;
mod make;
mod name;
mod ninja;
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

use crate::error::{FilePlace, FormatError};
use crate::format::head::{Head, has};
use crate::suggest::nearest;
use lines::{ListCommand, commands};
use notes::AfterNote;
use wrong::ListProblem;

pub(crate) use bash::bash_lines;
pub use bash::bash_warning;
pub use dialect::is_plain_shell;
pub(crate) use dialect::shell_of;
pub use make::{ASK, ASK_FIRST, MakeOutput, read_make, stubs};
pub use ninja::{
    BuildFiles, BuildLog, BuildLogEntry, BuildLogVersion, DepsLog, ManifestCopy, NinjaOutput, depfile_inputs,
    dirty_depfiles, dirty_outputs, read_ninja,
};
pub use shell::quoted;
pub use snakemake::read_snakemake;
pub use template::{ArgumentRules, ArgumentSource, Arguments, Template, TemplateError, separator};

/// Maximum total number of dependencies. Each command of a list may wait for all earlier commands, so a list of
/// moderate length could otherwise have billions of dependencies.
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

/// Reads a list of commands for this platform. `file` is the file name for errors.
///
/// If no command needs memory, the platform of the instance has no memory. The same rule applies to GPUs. So a list
/// without needs gives equal instances on machines with different amounts of memory.
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
    let wrong = |wrong: ListProblem| FormatError::content(file, wrong.place, wrong.problem);
    let commands = commands(text, 1).map_err(wrong)?;
    if commands.is_empty() {
        let problem = match text.lines().count() {
            0 | 1 => "the list contains no command; write one shell command on each line".to_owned(),
            lines => format!("none of the {lines} lines contains a command; write one shell command on each line"),
        };
        return Err(FormatError::content(file, FilePlace::default(), problem));
    }
    for (name, what) in [(Resource::GPUS, "GPUs"), (Resource::MEMORY, "memory")] {
        let line = commands.iter().find_map(|command| command.notes.line_of(name));
        if let Some(line) = line.filter(|_| platform.resource(name).is_none()) {
            let place = FilePlace::line(line).with_field(name);
            let problem = format!("the platform states no {what}; remove the note, or state a platform with {what}");
            return Err(FormatError::content(file, place, problem));
        }
    }
    let needed = |name: &str| commands.iter().any(|command| command.notes.needs(name));
    let platform = with_needed(platform, needed);
    let digits = digits.unwrap_or_else(|| name::digits_of(commands.last().map_or(0, |command| command.line)));
    let mut jobs = NamedCommands::default().add(&commands, digits).map_err(wrong)?;
    if let Some(shell) = shell_of(text) {
        jobs.iter_mut().for_each(|job| use_shell(job, &shell));
    }
    let names: Vec<String> = jobs.iter().map(|job| format!("`{}`", job.name)).collect();
    Instance::new(platform, jobs, Vec::new()).map_err(|error| {
        // The job name in the message identifies the command with the error.
        let problem = error.to_string();
        let named = names.iter().position(|name| problem.contains(name));
        let place = named.map_or_else(FilePlace::default, |at| FilePlace::line(commands[at].line));
        FormatError::content(file, place, problem)
    })
}

/// Sets `shell` as the shell of each command that a shell runs.
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
    start_in_shell(&mut jobs, shell);
    instance.with_jobs(jobs)
}

/// Like [`with_shell`], for jobs.
pub fn start_in_shell(jobs: &mut [Job], shell: &str) {
    jobs.iter_mut().for_each(|job| use_shell(job, &[shell.to_owned()]));
}

/// Starts the program of each line directly, without a shell. Each line must consist of quoted words, like the lines
/// of a [`Template::of_words`] with several words.
pub fn without_shell(instance: &Instance) -> Instance {
    let mut jobs = instance.all_submitted();
    start_directly(&mut jobs);
    instance.with_jobs(jobs)
}

/// Like [`without_shell`], for jobs.
pub fn start_directly(jobs: &mut [Job]) {
    for task in jobs.iter_mut().flat_map(|job| job.work.tasks_mut()) {
        if let Some(words) = shell_line(&task.command).and_then(shlex::split) {
            task.command = words;
        }
    }
}

/// Returns an instance with the commands that a template makes. The name of a job contains its number, which has at
/// least `digits` digits. If `digits` is `None`, all numbers have as many digits as the last number.
///
/// # Errors
/// [`FormatError`] with the file name `template`.
pub fn from_template(lines: &[String], platform: &Platform, digits: Option<usize>) -> Result<Instance, FormatError> {
    let digits = digits.unwrap_or_else(|| name::digits_of(lines.len()));
    let wrong = |problem: String| FormatError::content("template", FilePlace::default(), problem);
    let jobs = template_jobs(lines, 1, digits)?;
    if jobs.is_empty() {
        return Err(wrong(
            "there are no arguments, so there are no commands; write the arguments after `:::`, or add `:::: FILE` to \
             read the arguments from the lines of a file"
                .into(),
        ));
    }
    Instance::new(with_needed(platform, |_| false), jobs, Vec::new()).map_err(|error| wrong(error.to_string()))
}

/// Returns the jobs of commands that a template makes. `first` is the number of the first command.
///
/// # Errors
/// [`FormatError`] with the file name `template`.
pub fn template_jobs(lines: &[String], first: usize, digits: usize) -> Result<Vec<Job>, FormatError> {
    let job = |(number, line): (usize, &String)| {
        notes::CommandNotes::default().job(name::of_command(number, digits, line), line)
    };
    let jobs = (first..).zip(lines).map(job).collect::<Result<_, ListProblem>>();
    jobs.map_err(|error| FormatError::content("template", FilePlace::default(), error.problem))
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

/// The commands of a list that have been read so far. A list can arrive in several parts.
#[derive(Debug, Default)]
struct NamedCommands {
    /// The line of each command.
    lines: Vec<usize>,
    /// The name of each command.
    names: Vec<String>,
    /// The line of each name.
    named: FxHashMap<String, usize>,
    /// The number of dependencies.
    waits: usize,
}

impl NamedCommands {
    /// Adds the next commands of the list, and returns the jobs of these commands. The numbers in the names have at
    /// least `digits` digits. A command can wait for all commands that were read so far and for the added commands.
    fn add(&mut self, commands: &[ListCommand], digits: usize) -> Result<Vec<Job>, ListProblem> {
        let mut jobs = Vec::with_capacity(commands.len());
        for ListCommand { line, text, notes } in commands {
            let name = notes.name.clone().unwrap_or_else(|| name::of_command(*line, digits, text));
            if let Some(before) = self.named.insert(name.clone(), *line) {
                let stated = notes.line_of("name").unwrap_or(*line);
                return Err(ListProblem::at(
                    stated,
                    format!("the command on line {before} has the same name, `{name}`; names must be unique"),
                ));
            }
            self.lines.push(*line);
            self.names.push(name.clone());
            jobs.push(notes.job(name, text)?);
        }
        for (job, command) in jobs.iter_mut().zip(commands) {
            let mut after = Vec::new();
            for one in &command.notes.after {
                let found = self.waited_for(one).map_err(|problem| ListProblem {
                    place: FilePlace::line(command.notes.line_of("after").unwrap_or(command.line)).with_field("after"),
                    problem,
                })?;
                after.extend(found.iter().map(|name| name.as_str().into()));
                if self.waits + after.len() > MAX_AFTER {
                    let problem = format!(
                        "the commands of the list have more than {MAX_AFTER} dependencies in total; remove some of \
                         the dependencies"
                    );
                    return Err(ListProblem::at(command.line, problem));
                }
            }
            self.waits += after.len();
            job.after = after;
        }
        Ok(jobs)
    }

    /// Returns the names of the commands for which a command waits.
    fn waited_for(&self, after: &AfterNote) -> Result<&[String], String> {
        let at = |line: usize| self.lines.partition_point(|&other| other < line);
        match after {
            &AfterNote::Lines(first, last) => {
                let found = &self.names[at(first)..at(last.saturating_add(1))];
                if !found.is_empty() {
                    return Ok(found);
                }
                let which = if first == last {
                    format!("line {first} contains")
                } else {
                    format!("lines {first} to {last} contain")
                };
                let next = self.lines.get(at(first)).or(self.lines.last()).copied().unwrap_or(0);
                Err(format!("{which} no command; the next command is on line {next}"))
            }
            AfterNote::Name(name) => match self.named.get(name) {
                Some(&line) => Ok(&self.names[at(line)..=at(line)]),
                None => {
                    let near = nearest(name, self.names.iter().map(String::as_str));
                    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    Err(format!("no command is named `{name}`{hint}"))
                }
            },
        }
    }
}

/// Reads a list that arrives in parts, such as the lines of a program that still runs.
///
/// ```
/// use makespan_formats::list::ListParts;
///
/// let mut parts = ListParts::new("standard input", 6);
/// let first = parts.add("gzip a.txt\n")?;
/// let second = parts.add("tar cf all.tar *.gz #: after=1\n")?;
/// assert_eq!(first[0].name, "000001-gzip-a.txt");
/// assert_eq!(second[0].after.len(), 1);
/// # Ok::<(), makespan_formats::FormatError>(())
/// ```
#[derive(Debug)]
pub struct ListParts {
    file: String,
    digits: usize,
    shell: Option<Vec<String>>,
    known: NamedCommands,
    /// The number of lines that were read.
    lines: usize,
    /// Lines after the last complete command.
    rest: String,
}

impl ListParts {
    /// Creates a reader. `file` is the name for errors. The numbers in the names of jobs have at least `digits` digits.
    pub fn new(file: impl Into<String>, digits: usize) -> Self {
        Self { file: file.into(), digits, shell: None, known: NamedCommands::default(), lines: 0, rest: String::new() }
    }

    /// Returns true if the parts end with a complete command, and not with a note or a command that continues on the
    /// next line.
    pub fn is_complete(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the jobs of the commands that are complete with this text. A command can wait for commands of this and
    /// earlier parts.
    ///
    /// # Errors
    /// [`FormatError`] with the line, counted from the beginning of the first part.
    pub fn add(&mut self, text: &str) -> Result<Vec<Job>, FormatError> {
        let mut text = std::mem::take(&mut self.rest) + text;
        self.rest = text.split_off(complete(&text));
        self.read(&text)
    }

    /// Returns the jobs of the last command if the text so far ended with a line that continues on the next line.
    ///
    /// # Errors
    /// The errors of [`ListParts::add`].
    pub fn end(&mut self) -> Result<Vec<Job>, FormatError> {
        let rest = std::mem::take(&mut self.rest);
        self.read(&rest)
    }

    fn read(&mut self, text: &str) -> Result<Vec<Job>, FormatError> {
        if self.lines == 0 {
            self.shell = shell_of(text);
        }
        let commands = commands(text, self.lines + 1);
        let jobs = commands.and_then(|commands| self.known.add(&commands, self.digits));
        let mut jobs = jobs.map_err(|wrong| FormatError::content(&self.file, wrong.place, wrong.problem))?;
        if let Some(shell) = &self.shell {
            jobs.iter_mut().for_each(|job| use_shell(job, shell));
        }
        self.lines += text.lines().count();
        Ok(jobs)
    }
}

/// Returns the length of the longest prefix of a text that ends with a complete command.
fn complete(text: &str) -> usize {
    let (mut is_open, mut complete, mut length) = (false, 0, 0);
    for line in text.split_inclusive('\n') {
        length += line.len();
        let line = line.trim_start().trim_end_matches(['\n', '\r']);
        is_open = match line {
            _ if line.starts_with("#:") => true,
            _ if line.is_empty() || line.starts_with('#') => is_open,
            _ => line.ends_with('\\'),
        };
        if !is_open {
            complete = length;
        }
    }
    complete
}

/// Returns a short hash of a text, which distinguishes versions of a job's text.
fn short_hash(text: &[u8]) -> String {
    let hash = Sha256::digest(text);
    hash.iter().take(6).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
