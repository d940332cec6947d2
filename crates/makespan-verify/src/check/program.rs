//! The program `makespan-verify`, as a function.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::Path;

use makespan_core::shown;

use super::problems::problems;
use super::verdict::verdict;
use crate::native::PlanFile;
use crate::native::instance::read_json;

const HELP: &str = "\
Checks a plan file: its placements, its values, and the certificates of its bounds. Uses exact arithmetic and no solver.

Usage: makespan-verify INSTANCE PLAN

  INSTANCE  instance in native JSON, such as from `makespan convert FILE instance.json`
  PLAN      plan file, such as from `makespan plan FILE --output plan.json`

  -h, --help     prints this text
  -V, --version  prints the version

Exit status: 0 if the plan is valid, 1 if it is rejected or a file cannot be read, 2 if the arguments are wrong.
";

/// Exit status for a valid plan.
const VALID: u8 = 0;
/// Exit status for a plan that is rejected, and for a file that cannot be read.
const REJECTED: u8 = 1;
/// Exit status after an error in the arguments.
const MISUSED: u8 = 2;

/// Runs `makespan-verify` with these arguments, and returns the exit status. Prints the verdict to `out`, and each
/// error on one line to `err`.
pub fn program(arguments: &[OsString], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let is_option = |one: &OsString| one.as_encoded_bytes().starts_with(b"-");
    let (text, status) = match arguments {
        [one] if one == "--help" || one == "-h" => (HELP.to_owned(), VALID),
        [one] if one == "--version" || one == "-V" => {
            (format!("makespan-verify {}\n", env!("CARGO_PKG_VERSION")), VALID)
        }
        [instance, plan] if !is_option(instance) && !is_option(plan) => match checked(instance, plan) {
            Ok(checked) => checked,
            Err(error) => return failed(err, &error, REJECTED),
        },
        _ => return failed(err, "state an instance and a plan: makespan-verify INSTANCE PLAN", MISUSED),
    };
    // If the verdict cannot be written, the status is not 0.
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => status,
        Err(error) => failed(err, &format!("cannot write to standard output: {error}"), REJECTED),
    }
}

/// Checks a plan file. Returns the verdict and the exit status.
///
/// # Errors
/// Returns an error message with the file and the place if one of the two files cannot be read.
fn checked(instance: &OsStr, plan: &OsStr) -> Result<(String, u8), String> {
    let (name, bytes) = read(instance)?;
    let instance = read_json(&name, &bytes, None).map_err(|error| error.to_string())?;
    let (name, bytes) = read(plan)?;
    let file = PlanFile::read(&name, &bytes, &instance).map_err(|error| error.to_string())?;
    let problems = problems(&instance, &file);
    Ok((verdict(&name, &instance, &file, &problems), if problems.is_empty() { VALID } else { REJECTED }))
}

/// Returns the name and the content of a file.
fn read(path: &OsStr) -> Result<(String, Vec<u8>), String> {
    let name = Path::new(path).display().to_string();
    match fs::read(path) {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => Err(format!("{name}: cannot open: {error}")),
    }
}

/// Prints an error on one line and returns `status`.
fn failed(err: &mut dyn Write, error: &str, status: u8) -> u8 {
    // If this write fails, the error cannot be reported.
    let _ = writeln!(err, "error: {}", shown(error));
    status
}
