//! The program `makespan-verify`: checks a plan file in exact arithmetic, without a solver.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use makespan_verify::check::program;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    ExitCode::from(program(&arguments, &mut io::stdout().lock(), &mut io::stderr().lock()))
}
