//! Snakemake's workflows: Snakemake says what it would do, and its jobs are jobs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use makespan_core::{Instance, Platform};
use makespan_formats::list::read_snakemake;
use miette::{Result, miette};

use crate::output::shown;

/// Larger benchmark files are none.
const MAX_BENCHMARK: u64 = 1 << 20;

/// Whether a file is a workflow of Snakemake, by its name.
pub fn is_snakefile(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "Snakefile") || path.extension().is_some_and(|ending| ending == "smk")
}

/// What Snakemake would do here for the first rule of a workflow; `None` where nothing is to be done.
pub fn read(path: &Path, platform: &Platform) -> Result<Option<Instance>> {
    let name = path.display().to_string();
    path.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?;
    let mut snakemake = Command::new("snakemake");
    snakemake
        .args(["--dry-run", "--nocolor", "--nolock", "--cores", &platform.processors().to_string(), "--snakefile"])
        .arg(path);
    let output = snakemake.stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| miette!("{name}: cannot run `snakemake`, which reads its workflows: {error}"))?;
    // Versions before 8 print on standard error.
    let printed = [output.stderr, output.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if !output.status.success() {
        let said: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).take(6).collect();
        return Err(miette!("{name}: snakemake refuses it: {}", shown(&said.join(" "))));
    }
    let benchmark = |name: &str| {
        let small = fs::metadata(name).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BENCHMARK);
        small.then(|| fs::read_to_string(name).ok()).flatten()
    };
    read_snakemake(&name, &printed, platform, benchmark).map_err(|error| miette!("{error}"))
}
