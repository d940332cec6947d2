//! The `makespan` command: plans, proves, verifies, compares, runs.

mod args;
mod cluster;
mod commands;
mod decisions;
mod input;
mod machine;
mod makefile;
mod output;
mod past;
mod present;
mod progress;
mod snakefile;
mod summary;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Arguments, Command};

fn main() -> ExitCode {
    // The processes around the jobs of a run are this program, too.
    makespan_exec::serve();
    let arguments = Arguments::try_parse().unwrap_or_else(|error| misused(&error));
    // Messages keep their lines whole, so that they can be searched and copied.
    let hook = miette::set_hook(Box::new(|_| {
        Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).break_words(false).context_lines(0).build())
    }));
    debug_assert!(hook.is_ok(), "the hook is set once");
    let done = match arguments.command {
        Command::Plan(options) => commands::plan::plan(&options),
        Command::Bound(options) => commands::bound::bound(&options),
        Command::Verify(options) => commands::verify::verify(&options),
        Command::Compare(options) => commands::compare::compare(&options),
        Command::Simulate(options) => commands::simulate::simulate(&options),
        Command::Run(options) => commands::run::run(&options),
        Command::Serve(options) => commands::serve::serve(&options),
        Command::Submit(options) => commands::service::submit(&options),
        Command::Queue(options) => commands::queue::queue(&options),
        Command::Job(options) => commands::service::job(&options),
        Command::Cancel(options) => commands::service::change(&options, "cancel"),
        Command::Hold(options) => commands::service::change(&options, "hold"),
        Command::Release(options) => commands::service::change(&options, "release"),
        Command::Logs(options) => commands::service::logs(&options),
        Command::Wait(options) => commands::service::wait(&options),
        Command::Token(options) => commands::service::token(&options),
        Command::Agent(options) => commands::agent::agent(&options),
        Command::Shard(options) => commands::shards::shard(&options),
        Command::Profile(options) => commands::profile::profile(&options),
        Command::History(options) => commands::history::history(&options),
        Command::Slurm(options) => commands::slurm::slurm(&options),
        Command::Generate(options) => commands::generate::generate(&options),
        Command::Convert(options) => commands::convert::convert(&options),
        Command::Reproduce(options) => commands::reproduce::reproduce(&options),
        Command::Algorithms(options) => commands::algorithms::algorithms(&options),
        Command::Completions { shell } => commands::setup::completions(shell),
        Command::Setup(options) => commands::setup::setup(&options),
    };
    match done {
        Ok(code) => code,
        Err(report) => {
            // One error is one line, whatever the names in it are.
            let message = report.to_string();
            output::complain(&format!("{:?}", miette::miette!("{}", output::shown(&message))));
            ExitCode::FAILURE
        }
    }
}

/// Ends the program for a command line that is none, or asks for help. What Rust says of a number that is none is said in words.
fn misused(error: &clap::Error) -> ! {
    const WORDS: [(&str, &str); 6] = [
        ("invalid digit found in string", "write a whole number"),
        ("cannot parse integer from empty string", "write a whole number"),
        ("number too large to fit in target type", "the number is too large"),
        ("number too small to fit in target type", "the number is too small"),
        ("invalid float literal", "write a number such as 0.5"),
        ("cannot parse float from empty string", "write a number such as 0.5"),
    ];
    let said = error.to_string();
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let (Some("run"), Some(file), Some(goal)) =
        (words.first().map(String::as_str), makefile_of(&words), unknown(error))
    {
        output::complain(&format!(
            "error: unexpected argument '{goal}' found; another goal than the first of a makefile is written behind --: \
             makespan run {file} -- {goal}"
        ));
        std::process::exit(error.exit_code());
    }
    if let (Some("reproduce"), Some(option)) = (words.first().map(String::as_str), before_campaign(error)) {
        output::complain(&format!(
            "error: unexpected argument '{option}' found; options of the shards stand before the campaign, such as: makespan \
             reproduce --on slurm --nodes 4 demt"
        ));
        std::process::exit(error.exit_code());
    }
    let for_run = std::env::args_os().nth(1).is_some_and(|word| word == "run");
    let said = match error.kind() {
        ErrorKind::ValueValidation if said.contains(" is not in ") => between(&said),
        ErrorKind::ValueValidation if WORDS.iter().any(|(rust, _)| said.contains(rust)) => {
            WORDS.iter().fold(said, |said, (rust, words)| said.replace(rust, words))
        }
        ErrorKind::ArgumentConflict
            if words.first().is_some_and(|word| word == "queue") && said.contains("'--state") =>
        {
            format!(
                "{}: states are those of a service's jobs, and the queue of a cluster tells of what waits and what runs; leave --state out",
                said.lines().next().unwrap_or_default()
            )
        }
        ErrorKind::UnknownArgument if for_run && said.contains("':::'") => {
            "error: a command with arguments stands behind --, such as: makespan run -- 'gzip -9 {}' ::: *.txt".into()
        }
        ErrorKind::MissingRequiredArgument
            if for_run && said.split("Usage:").next().is_some_and(|missing| missing.contains("<INSTANCE")) =>
        {
            "error: there is nothing to run; name a list of commands, - for one on \
            standard input, or a command: makespan run -- 'gzip -9 {}' ::: *.txt\n\nFor more information, try '--help'."
                .into()
        }
        ErrorKind::InvalidUtf8 => {
            let word = std::env::args_os().find(|word| word.to_str().is_none()).unwrap_or_default();
            let word = word.to_string_lossy().into_owned();
            format!("error: the argument `{word}` is no text in UTF-8, which names and commands are; rename the file")
        }
        _ => error.exit(),
    };
    output::complain(said.trim_end());
    std::process::exit(error.exit_code());
}

/// What is said of a number that is not within its limits, in words.
fn between(said: &str) -> String {
    let Some((before, range)) = said.split_once(" is not in ") else { return said.to_owned() };
    let (range, rest) = range.split_once('\n').unwrap_or((range, ""));
    match range.split_once("..=") {
        Some((least, most)) if !least.is_empty() => format!("{before} is not between {least} and {most}\n{rest}"),
        Some((_, most)) => format!("{before} is more than {most}\n{rest}"),
        None => format!("{before} is less than {}\n{rest}", range.trim_end_matches("..")),
    }
}

/// The makefile among the words of a command line.
fn makefile_of(words: &[String]) -> Option<&str> {
    words.iter().map(String::as_str).find(|word| makefile::is_makefile(std::path::Path::new(word)))
}

/// An option of the shards of `reproduce` that stands behind the campaign.
fn before_campaign(error: &clap::Error) -> Option<&str> {
    const OPTIONS: [&str; 8] =
        ["--on", "--nodes", "--time", "--account", "--partition", "--slurm", "--pilots", "--shards"];
    match error.get(clap::error::ContextKind::InvalidArg) {
        Some(clap::error::ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            Some(word.as_str()).filter(|word| OPTIONS.contains(word))
        }
        _ => None,
    }
}

/// The argument that is one too many, if it is no option.
fn unknown(error: &clap::Error) -> Option<&str> {
    match error.get(clap::error::ContextKind::InvalidArg) {
        Some(clap::error::ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            Some(word.as_str()).filter(|word| !word.starts_with('-'))
        }
        _ => None,
    }
}
