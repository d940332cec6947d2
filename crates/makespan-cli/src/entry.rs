//! The entry point of a program. It parses the command line, runs the command and returns the exit status.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use miette::Result;

use crate::command_mark::with_mark;
use crate::ninja_job;
use crate::output::{complain, shown};

/// Replacements for the error texts of the Rust standard library about invalid numbers.
const NUMBERS: [(&str, &str); 6] = [
    ("invalid digit found in string", "write a whole number"),
    ("cannot parse integer from empty string", "write a whole number"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("invalid float literal", "write a number such as 0.5"),
    ("cannot parse float from empty string", "write a number such as 0.5"),
];

/// The exit status of a Rust program that panicked.
const PANIC: u8 = 101;

/// Runs the command line of this process and returns the exit status. If a command fails, its error is printed on one
/// line. If the command line contains an error, the process ends.
///
/// `explain` receives an error of clap and the arguments. It returns a message that is printed instead of clap's
/// message, or `None`.
///
/// `error_status` receives the arguments. It returns the exit status after an error or a panic. `None` selects the
/// usual statuses: 1 after an error, 2 after an error in the command line, and 101 after a panic.
///
/// If this process was started as the shim of a job, the function acts as the shim and does not return.
pub fn enter<A: Parser>(
    explain: fn(&clap::Error, &[String]) -> Option<String>,
    error_status: fn(&[String]) -> Option<u8>,
    carry_out: fn(&A) -> Result<ExitCode>,
) -> ExitCode {
    makespan_exec::serve_wrapping(ninja_job::wrapped);
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let status = error_status(&words);
    let marked = with_mark(std::env::args_os().collect(), A::command);
    let arguments = A::try_parse_from(marked).unwrap_or_else(|error| misused(&error, &words, status, explain));
    // Messages are not wrapped, so that users can search and copy them.
    let hook = miette::set_hook(Box::new(|_| {
        Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).break_words(false).context_lines(0).build())
    }));
    debug_assert!(hook.is_ok(), "the hook is set once");
    ended(status, || carry_out(&arguments))
}

/// Runs a command and returns its exit status. After an error or a panic, returns `status` if it is set.
fn ended(status: Option<u8>, carry_out: impl FnOnce() -> Result<ExitCode>) -> ExitCode {
    let carried_out = catch_unwind(AssertUnwindSafe(carry_out));
    let Ok(carried_out) = carried_out else { return ExitCode::from(status.unwrap_or(PANIC)) };
    carried_out.unwrap_or_else(|report| {
        // An error is printed on one line, even if a name in it contains line breaks.
        let message = report.to_string();
        complain(&format!("{:?}", miette::miette!("{}", shown(&message))));
        status.map_or(ExitCode::FAILURE, ExitCode::from)
    })
}

/// Ends the program. Prints a message about an error in the command line, or the requested help.
fn misused(
    error: &clap::Error,
    words: &[String],
    status: Option<u8>,
    explain: fn(&clap::Error, &[String]) -> Option<String>,
) -> ! {
    match explain(error, words).or_else(|| general(error)) {
        Some(message) => complain(message.trim_end()),
        // Ignores write errors, as clap does: the reader of the pipe may have exited.
        None => drop(error.print()),
    }
    let status = status.map(i32::from).filter(|_| error.exit_code() != 0);
    std::process::exit(status.unwrap_or_else(|| error.exit_code()));
}

/// Returns a message that is clearer than clap's, if the error can occur with any command.
fn general(error: &clap::Error) -> Option<String> {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::ValueValidation if message.contains(" is not in ") => Some(between(&message)),
        ErrorKind::ValueValidation if NUMBERS.iter().any(|(rust, _)| message.contains(rust)) => {
            Some(NUMBERS.iter().fold(message, |message, (rust, remedy)| message.replace(rust, remedy)))
        }
        ErrorKind::InvalidUtf8 => {
            let word = std::env::args_os().find(|word| word.to_str().is_none()).unwrap_or_default();
            let word = word.to_string_lossy().into_owned();
            Some(format!("error: the argument `{word}` is not UTF-8, but names and commands must be; rename the file"))
        }
        _ => None,
    }
}

/// Rewrites the message about a number that is not in its range, so that the range is described in words.
fn between(message: &str) -> String {
    let Some((before, range)) = message.split_once(" is not in ") else { return message.to_owned() };
    let (range, rest) = range.split_once('\n').unwrap_or((range, ""));
    match range.split_once("..=") {
        Some((least, most)) if !least.is_empty() => format!("{before} is not between {least} and {most}\n{rest}"),
        Some((_, most)) => format!("{before} is more than {most}\n{rest}"),
        None => format!("{before} is less than {}\n{rest}", range.trim_end_matches("..")),
    }
}

/// If the error is about an unknown argument, returns this argument.
pub fn unknown_argument(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => Some(word),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exit status of a Rust panic, 101, would mean more than 100 failed jobs.
    #[test]
    fn an_error_and_a_panic_have_the_stated_status() {
        let shown = |code: ExitCode| format!("{code:?}");
        let panics = || -> Result<ExitCode> { panic!("as a test wants") };
        let fails = || Err(miette::miette!("as a test wants"));
        for (status, after_panic, after_error) in [(Some(255), 255, 255), (None, PANIC, 1)] {
            assert_eq!(shown(ended(status, panics)), shown(ExitCode::from(after_panic)));
            assert_eq!(shown(ended(status, fails)), shown(ExitCode::from(after_error)));
        }
        assert_eq!(shown(ended(Some(255), || Ok(ExitCode::from(3)))), shown(ExitCode::from(3)));
    }
}
