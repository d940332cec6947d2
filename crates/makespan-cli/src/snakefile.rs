//! Reads workflows of Snakemake. A dry run of Snakemake lists its jobs, and each of these jobs becomes a job of the
//! instance.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use makespan_core::{Instance, Platform};
use makespan_formats::list::read_snakemake;
use miette::{Result, miette};

use crate::output::shown;

/// Maximum size of a benchmark file, in bytes. Larger files are ignored.
const MAX_BENCHMARK: u64 = 1 << 20;

/// Returns true if the name of a file is the name of a Snakemake workflow.
pub fn is_snakefile(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "Snakefile") || path.extension().is_some_and(|ending| ending == "smk")
}

/// Returns the jobs that Snakemake would run in the current folder for the first rule of a workflow, or `None` if there
/// is nothing to do.
pub fn read(path: &Path, platform: &Platform) -> Result<Option<Instance>> {
    let name = path.display().to_string();
    path.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?;
    let mut snakemake = Command::new("snakemake");
    snakemake
        .args(["--dry-run", "--nocolor", "--nolock", "--printshellcmds"])
        .args(["--cores", &platform.processors().to_string(), "--snakefile"])
        .arg(path);
    let output = snakemake.stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| miette!("{name}: cannot run `snakemake`, which reads its workflows: {error}"))?;
    // Snakemake before version 8 prints the list on standard error.
    let printed = [output.stderr, output.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if !output.status.success() {
        return Err(miette!("{name}: snakemake reports an error: {}", shown(&complaint(path, &printed))));
    }
    let benchmark = |name: &str| {
        let small = fs::metadata(name).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BENCHMARK);
        small.then(|| fs::read_to_string(name).ok()).flatten()
    };
    let workflow = fs::read(path).map_err(|error| miette!("{name}: cannot read: {error}"))?;
    read_snakemake(&name, &workflow, &printed, platform, benchmark).map_err(|error| miette!("{error}"))
}

/// Extracts the error from Snakemake's output: the lines from the first mention of a line of the workflow, otherwise
/// the last lines. Python tracebacks before the error are left out.
fn complaint(path: &Path, printed: &str) -> String {
    const LINES: usize = 6;
    let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let place = format!("{name}\", line ");
    let said = match lines.iter().position(|line| line.contains(&place)) {
        Some(at) => {
            let is_other = |line: &&str| line.starts_with("During handling of ") || line.starts_with("Traceback ");
            let end = lines[at..].iter().position(is_other).map_or(lines.len(), |end| at + end);
            &lines[at..end.min(at + LINES)]
        }
        None => &lines[lines.len().saturating_sub(LINES)..],
    };
    said.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}
