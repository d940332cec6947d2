//! One command a file.

pub mod algorithms;
pub mod bound;
pub mod compare;
pub mod convert;
pub mod generate;
pub mod history;
pub mod plan;
pub mod profile;
pub mod reproduce;
pub mod run;
pub mod simulate;
pub mod verify;

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use miette::Result;

/// Prints the completions of a shell.
pub fn completions(shell: Shell) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut crate::args::Arguments::command(), "makespan", &mut text);
    crate::output::emit(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
