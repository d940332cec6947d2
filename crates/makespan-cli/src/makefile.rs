//! Reads makefiles. A dry run of make lists the commands. Each target becomes a job.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use makespan_core::{Instance, Platform};
use makespan_formats::FormatError;
use makespan_formats::list::{ASK, ASK_FIRST, MakeOutput, read_make, stubs};
use miette::{Result, miette};

use crate::output::shown;

/// Returns true if the name of a file is the name of a makefile.
pub fn is_makefile(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(name.as_str(), "Makefile" | "makefile" | "GNUmakefile") || matches!(ending, Some("mk" | "mak" | "make"))
}

/// Maximum number of warnings of make that are printed.
const MAX_WARNINGS: usize = 20;

/// Returns the commands that make would run for a goal of a makefile, and the warnings of make. If `goal` is `None`,
/// uses the first goal of the makefile. Returns `None` if all targets are up to date. If `strict` is true, a warning of
/// make is an error.
pub fn read(
    path: &Path,
    goal: Option<&str>,
    platform: &Platform,
    strict: bool,
) -> Result<Option<(Instance, Vec<String>)>> {
    let name = path.display().to_string();
    path.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?;
    let wrong = |error: FormatError| miette!("{error}");
    let goals = format!("MAKECMDGOALS={}", goal.unwrap_or_default());
    let (known, said) = asked(path, &[&ASK_FIRST[..], &[&goals]].concat(), None)?;
    let stubs = stubs(&name, &known).map_err(wrong)?;
    let options: Vec<&str> = ASK.into_iter().chain(stubs.iter().map(String::as_str)).collect();
    let (printed, dry) = asked(path, &options, goal)?;
    let warnings = warnings(&[said.as_str(), dry.as_str()].concat());
    if let Some(warning) = warnings.first().filter(|_| strict) {
        return Err(miette!("{name}: {warning}; --strict does not allow this"));
    }
    let asked = MakeOutput { file: &name, goal, known: &known, printed: &printed };
    let instance = read_make(asked, platform, line_of).map_err(wrong)?;
    Ok(instance.map(|instance| (instance, warnings)))
}

/// Returns the distinct warnings in `said`, the output of make.
fn warnings(said: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty() && seen.insert(*line)).collect();
    let more = lines.len().saturating_sub(MAX_WARNINGS);
    let more = (more > 0).then(|| format!("make printed {more} more lines; `make --dry-run` shows them all"));
    lines
        .iter()
        .take(MAX_WARNINGS)
        .map(|line| format!("make: {}", shown(line.trim_start_matches("make: "))))
        .chain(more)
        .collect()
}

/// Runs `make` on a makefile with these options. Returns make's standard output and standard error.
fn asked(path: &Path, options: &[&str], goal: Option<&str>) -> Result<(String, String)> {
    let name = path.display();
    let mut make = Command::new("make");
    make.args(options).arg("-f").arg(path).arg("--").args(goal).env("LC_ALL", "C").stdin(Stdio::null());
    for variable in ["MAKEFLAGS", "GNUMAKEFLAGS", "MAKELEVEL"] {
        make.env_remove(variable);
    }
    let output = make.output().map_err(|error| miette!("{name}: cannot run `make`, which reads makefiles: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        let said =
            said.lines().find(|line| line.contains("***")).or(said.lines().next()).unwrap_or("no reason was printed");
        return Err(miette!("{name}: make reports an error: {}", shown(said)));
    }
    let printed = String::from_utf8(output.stdout).map_err(|_| miette!("{name}: the output of make is not UTF-8"))?;
    Ok((printed, said))
}

/// Returns line `line` of a makefile, counted from 1.
fn line_of(makefile: &str, line: usize) -> Option<String> {
    let text = fs::read_to_string(makefile).ok()?;
    text.lines().nth(line.checked_sub(1)?).map(str::to_owned)
}
