//! The `makespan` command: plans, proves, verifies, compares, runs.

mod args;
mod commands;
mod decisions;
mod input;
mod machine;
mod makefile;
mod output;
mod progress;
mod snakefile;
mod summary;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    // The processes around the jobs of a run are this program, too.
    makespan_exec::serve();
    let arguments = Arguments::parse();
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
        Command::Generate(options) => commands::generate::generate(&options),
        Command::Convert(options) => commands::convert::convert(&options),
        Command::Reproduce(options) => commands::reproduce::reproduce(&options),
        Command::Algorithms(options) => commands::algorithms::algorithms(&options),
        Command::Completions { shell } => commands::completions(shell),
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
