//! The `makespan` command: plans, proves, verifies, compares, runs.

mod args;
mod commands;
mod decisions;
mod input;
mod machine;
mod makefile;
mod output;
mod past;
mod progress;
mod snakefile;
mod summary;

use std::process::ExitCode;

use clap::Parser;

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
        Command::Profile(options) => commands::profile::profile(&options),
        Command::History(options) => commands::history::history(&options),
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
    if error.kind() != clap::error::ErrorKind::ValueValidation || !WORDS.iter().any(|(rust, _)| said.contains(rust)) {
        error.exit();
    }
    let said = WORDS.iter().fold(said, |said, (rust, words)| said.replace(rust, words));
    output::complain(said.trim_end());
    std::process::exit(error.exit_code());
}

/// The makefile among the words of a command line.
fn makefile_of(words: &[String]) -> Option<&str> {
    words.iter().map(String::as_str).find(|word| makefile::is_makefile(std::path::Path::new(word)))
}

/// The argument that is one too many, if it is no option.
fn unknown(error: &clap::Error) -> Option<&str> {
    match error.get(clap::error::ContextKind::InvalidArg) {
        Some(clap::error::ContextValue::String(word)) if error.kind() == clap::error::ErrorKind::UnknownArgument => {
            Some(word.as_str()).filter(|word| !word.starts_with('-'))
        }
        _ => None,
    }
}
