//! The command line of a run, stored in the folder of the run.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches};
use makespan_core::{Instance, TaskId, bytes_of_text, text_of_bytes};
use miette::{Result, miette};
use serde::{Deserialize, Serialize};

use super::own::{COMMANDS, RECORD, own};
use crate::args::{Arguments, Command, RunOptions, STANDARD_INPUT, SourceOptions};
use crate::output::{shell_word, shown, write_file};

/// Options for a single session. The record leaves these options out, so that a resumed run does not repeat them.
const OF_SESSION: [&str; 3] = ["--resume", "--retry-failed", "--recover"];

/// The command line that began a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    version: u32,
    /// The working directory.
    pub directory: String,
    /// The words after `makespan run`, without the command of the jobs.
    words: Vec<String>,
    /// The command of the jobs, and its arguments after `:::`.
    template: Vec<String>,
    /// The path of the list or the instance, relative to the working directory if the file is below this directory.
    list: Option<String>,
}

/// The command of one task, or of all tasks of a bag.
#[derive(Serialize, Deserialize)]
struct CommandEntry {
    tasks: usize,
    command: Vec<String>,
}

/// Returns the line of [`COMMANDS`] for a task, without a newline.
fn command_entry(instance: &Instance, task: TaskId) -> serde_json::Result<String> {
    let (tasks, command) = (instance.equal_tasks(task).len(), instance.task(task).command.clone());
    serde_json::to_string(&CommandEntry { tasks, command })
}

/// Similarity between the source of a recorded run and the source that the options name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceMatch {
    /// The folder has no record of the source.
    Unknown,
    /// The same command with other arguments.
    Command,
    /// The same list, or the same command with the same arguments.
    Same,
}

impl RunRecord {
    /// Creates the record of a run from the command line of this process.
    fn of_this_process(source: &SourceOptions) -> Self {
        let words: Vec<String> =
            std::env::args_os().skip(2).map(|word| text_of_bytes(word.as_bytes().to_vec())).collect();
        let options = words.strip_suffix(source.template.words.as_slice()).unwrap_or(&words);
        let options = if source.template.is_empty() {
            options
        } else {
            options.strip_suffix(&["--".to_owned()]).unwrap_or(options)
        };
        let kept = options.iter().filter(|word| !OF_SESSION.contains(&word.as_str())).cloned().collect();
        Self {
            version: 1,
            directory: directory(),
            words: kept,
            template: source.template.words.clone(),
            list: list(source),
        }
    }

    /// Writes the record and the commands of the jobs to the folder of a run.
    pub fn write(options: &RunOptions, folder: &Path, instance: &Instance) -> Result<()> {
        if !options.is_part && !options.is_from_record {
            let text = serde_json::to_string_pretty(&Self::of_this_process(&options.source))
                .map_err(|error| miette!("{error}"))?;
            write_file(&own(folder, RECORD)?, |out| writeln!(out, "{text}"))?;
        }
        write_file(&own(folder, COMMANDS)?, |out| {
            for task in instance.different_task_ids() {
                writeln!(out, "{}", command_entry(instance, task)?)?;
            }
            Ok(())
        })
    }

    /// Adds the commands of tasks that have arrived during the run.
    pub fn grow(folder: &Path, instance: &Instance, tasks: &[TaskId]) -> Result<()> {
        let mut text = String::new();
        for &task in tasks {
            text += &command_entry(instance, task).map_err(|error| miette!("{COMMANDS}: {error}"))?;
            text.push('\n');
        }
        let file = fs::OpenOptions::new().append(true).open(own(folder, COMMANDS)?);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| miette!("{COMMANDS}: cannot write: {error}"))
    }

    /// Reads the record in the folder of a run.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()
    }

    /// Compares `source` with the source of the run in a folder. Returns `None` if the sources differ.
    pub fn likeness(folder: &Path, source: &SourceOptions) -> Option<SourceMatch> {
        let Some(record) = Self::read(folder) else { return Some(SourceMatch::Unknown) };
        let command = |words: &[String]| -> Vec<String> {
            words.iter().take_while(|word| !word.starts_with(":::")).cloned().collect()
        };
        match list(source) {
            Some(list) => (record.list == Some(list)).then_some(SourceMatch::Same),
            None if record.list.is_some() => None,
            None if record.template == source.template.words => Some(SourceMatch::Same),
            None => (command(&record.template) == source.template.command()).then_some(SourceMatch::Command),
        }
    }

    /// Returns the options of the recorded command line, followed by the options of this process's command line.
    fn merged(&self) -> Result<RunOptions> {
        let now = std::env::args_os().skip(2);
        let stored = |words: &[String]| -> Vec<OsString> {
            words.iter().map(|word| OsString::from_vec(bytes_of_text(word).into_owned())).collect()
        };
        let mut words = vec![OsString::from("makespan"), OsString::from("run")];
        words.extend(stored(&self.words));
        words.extend(now);
        if !self.template.is_empty() {
            words.push("--".into());
            words.extend(stored(&self.template));
        }
        let parser = Arguments::command().mut_subcommand("run", |run| run.args_override_self(true));
        let matches = parser.try_get_matches_from(words);
        let parsed = matches.and_then(|matches| Arguments::from_arg_matches(&matches));
        match parsed.map(|arguments| arguments.command) {
            Ok(Command::Run(options)) => Ok(*options),
            Ok(_) => Err(miette!("the run has no command line that can be repeated")),
            Err(error) => Err(miette!("{}", error.to_string().lines().next().unwrap_or_default())),
        }
    }
}

/// Returns the recorded options of the run to resume. Returns `None` if the command line names a list, an instance or
/// a command.
pub fn from_record(options: &RunOptions) -> Result<Option<RunOptions>> {
    if options.source.instance.is_some() || !options.source.template.is_empty() {
        return Ok(None);
    }
    let Some(folder) = &options.folder else {
        return Err(miette!(
            "--resume needs the folder of the run, or the list of the run: run --folder runs/NAME-1 --resume, or run \
             LIST --resume"
        ));
    };
    let name = shell_word(folder.as_os_str());
    let record = RunRecord::read(folder).ok_or_else(|| {
        miette!("{name} contains no command line of a run; also name the list or the command of the run")
    })?;
    if record.directory != directory() {
        let place = PathBuf::from(OsString::from_vec(bytes_of_text(&record.directory).into_owned()));
        return Err(miette!(
            "the run in {name} began in another folder, where its commands find their files; first go there: cd {}",
            shell_word(place.as_os_str())
        ));
    }
    let merged = record.merged().map_err(|error| miette!("{name}: {}", shown(&error.to_string())))?;
    Ok(Some(RunOptions { is_from_record: true, ..merged }))
}

/// Returns true if a run reads its list or its arguments from standard input. To resume the run, the user must provide
/// this input again.
pub fn reads_standard_input(source: &SourceOptions) -> bool {
    source.instance.iter().chain(&source.template.arguments.args_from).any(|path| path.as_os_str() == STANDARD_INPUT)
}

/// Reads the command of a task from the folder of a run.
pub fn command_of(folder: &Path, task: usize) -> Option<Vec<String>> {
    let text = fs::read_to_string(folder.join(COMMANDS)).ok()?;
    let mut first = 0;
    for line in text.lines() {
        let entry: CommandEntry = serde_json::from_str(line).ok()?;
        if task < first + entry.tasks {
            let number = (task - first).to_string();
            let is_bag = entry.tasks > 1;
            let word = |word: String| if is_bag { word.replace("{task}", &number) } else { word };
            return Some(entry.command.into_iter().map(word).collect());
        }
        first += entry.tasks;
    }
    None
}

fn directory() -> String {
    let directory = std::env::current_dir().unwrap_or_default();
    text_of_bytes(directory.into_os_string().into_vec())
}

/// Returns the path of the list or the instance, relative to the working directory if the file is below this directory.
fn list(source: &SourceOptions) -> Option<String> {
    let path = source.instance.as_ref()?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let below = whole.strip_prefix(&here).map(Path::to_owned).unwrap_or(whole);
    Some(text_of_bytes(below.into_os_string().into_vec()))
}
