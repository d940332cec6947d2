//! The options that select the jobs of `run`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use makespan_core::text_of_bytes;

use super::{ArgumentOptions, InputFormat, JobSlots, MachineOptions};

/// The name of standard input on the command line.
pub const STANDARD_INPUT: &str = "-";

/// Words that begin a source of arguments: `:::` arguments, `:::+` linked arguments, `::::` files with arguments,
/// `::::+` files with linked arguments.
pub const SOURCES: [&str; 4] = [":::", ":::+", "::::", "::::+"];

/// A command, and the arguments for which it runs.
#[derive(Args, Clone)]
pub struct TemplateOptions {
    /// A shell command with {}, then ::: and its arguments, such as: run -- 'gzip -9 {}' ::: *.txt
    ///
    /// Several words without quotes are a program with its arguments, started without a shell. With several :::, a
    /// command runs for each combination of arguments. {} is the argument, {.} the argument without its extension, {/}
    /// the argument without its folder, {//} only its folder, {/.} the argument without folder and extension, {#} the
    /// number of the command, and {1} {2} .. the arguments from the first source, the second source and so on. After a
    /// makefile, the word names a goal: run Makefile -- clean. After a build.ninja, the words name targets
    ///
    /// `:::+` links the arguments that follow to the source before, :::: reads arguments from the files that follow, and
    /// `::::+` does both
    #[arg(id = "template", last = true, value_name = "COMMAND [::: ARGUMENT..]..")]
    #[arg(value_parser = OsStringValueParser::new().map(word))]
    pub words: Vec<String>,
    #[command(flatten)]
    pub arguments: ArgumentOptions,
}

impl TemplateOptions {
    /// Returns true if no command is given.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the words of the command, without the arguments that follow it.
    pub fn command(&self) -> &[String] {
        self.words.split(|word| SOURCES.contains(&word.as_str())).next().unwrap_or_default()
    }
}

/// Options for the source of the jobs (a file, or a command with arguments) and for the cores that the jobs use.
#[derive(Args, Clone)]
pub struct SourceOptions {
    /// A list of shell commands, one per line, or any instance with commands for its jobs; - is standard input
    ///
    /// If standard input is a pipe, jobs start as their lines arrive.
    ///
    /// The instance is a native JSON or TOML file, a DOT file, an XML file with compound jobs, a makefile, a build.ninja
    /// or a Snakefile
    #[arg(required_unless_present_any = ["template", "resume", "colsep"])]
    pub instance: Option<PathBuf>,
    #[command(flatten)]
    pub template: TemplateOptions,
    /// Read the file as a list of shell commands, without detecting its format from its content
    #[arg(long, value_enum, value_name = "list", conflicts_with = "template")]
    pub format: Option<InputFormat>,
    /// Maximum number of jobs at once; N may exceed the number of cores if every job uses one core
    ///
    /// 0 runs all jobs at once, +1 one job more than there are cores, -1 one job fewer, and 200% two jobs on each core
    #[arg(long, short, short_alias = 'P', alias = "max-procs", value_name = "N", allow_hyphen_values = true)]
    pub jobs: Option<JobSlots>,
    /// Start the jobs in random order, which depends on --seed, instead of a planned order
    ///
    /// Jobs keep their numbers. The same seed gives the same order
    #[arg(help_heading = "How many at once", long, conflicts_with_all = ["algorithm", "policy", "on"])]
    pub shuf: bool,
    /// Pin each job to its cores
    ///
    /// Without this option, a job is pinned if it states cores= or is a job of an instance. Other jobs of lists,
    /// makefiles and Snakefiles count as one core, and may use all cores that no pinned job holds
    #[arg(long)]
    pub pin: bool,
    /// Number of cores of each job that states no cores=; these jobs are pinned
    ///
    /// For jobs of lists, templates, makefiles and Snakefiles. Jobs of other instances state their numbers of processors
    #[arg(long, value_name = "N", value_parser = super::machines::positive)]
    pub cores_per_job: Option<u32>,
    /// Shell that runs the lines of a list or a template, such as bash [default: sh]
    ///
    /// A first line such as #!/bin/bash has the same effect in a list. Each line runs as `SHELL -c LINE`
    #[arg(help_heading = "Arguments", long, value_name = "SHELL")]
    pub shell: Option<String>,
    /// Refuse a file if a part of it would be ignored, skipped or changed, or if make prints a warning
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub machines: MachineOptions,
}

/// Converts a word of the command line to text. File names need not be UTF-8.
fn word(word: OsString) -> String {
    text_of_bytes(word.into_vec())
}

impl SourceOptions {
    /// Returns the name of the job source for messages.
    pub fn name(&self) -> String {
        match &self.instance {
            Some(path) => path.display().to_string(),
            None => "the command".to_owned(),
        }
    }

    /// Returns the command before the arguments, or `None` if a file is given.
    pub fn stated_template(&self) -> Option<String> {
        let words: Vec<&str> = self.template.command().iter().map(String::as_str).collect();
        (!words.is_empty() && self.instance.is_none()).then(|| words.join(" "))
    }

    /// Returns the name from which the name of the run's folder is made: `runs/STEM-1`, `runs/STEM-2` and so on.
    pub fn stem(&self) -> String {
        let stem = match &self.instance {
            Some(path) if path.as_os_str() == STANDARD_INPUT => return "stdin".into(),
            Some(path) => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
            None => self.template.words.first().and_then(|text| {
                let word = text.split_whitespace().next()?.rsplit('/').next()?;
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
                (word.chars().all(is_plain) && !word.starts_with(['.', '-'])).then(|| word.to_owned())
            }),
        };
        stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "run".into())
    }
}
