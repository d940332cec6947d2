//! The output files of a simulation.

use std::path::{Path, PathBuf};

use makespan::Simulated;
use makespan_core::Instance;
use makespan_formats::{CsvNames, LogRow, jobs_csv, write_log_csv, write_swf_trace};
use miette::Result;

use crate::args::SimulationOutputs;
use crate::output::{check_gantt, check_kind, check_targets, write_file};

/// An output file for one policy.
pub struct OutputTarget {
    policy: usize,
    kind: Kind,
    pub path: PathBuf,
}

#[derive(Clone, Copy)]
enum Kind {
    Jobs,
    Swf,
    Log,
}

/// Returns the requested files. Returns an error if a file cannot be written or is named twice.
pub fn targets(trace: &Path, outputs: &SimulationOutputs, specs: &[String]) -> Result<Vec<OutputTarget>> {
    let SimulationOutputs { jobs, swf, log, gantt, report, raw_names: _ } = outputs;
    let mut targets = Vec::new();
    for (kind, path) in [(Kind::Jobs, jobs), (Kind::Swf, swf), (Kind::Log, log)] {
        let Some(path) = path else { continue };
        for (policy, spec) in specs.iter().enumerate() {
            let path = if specs.len() == 1 { path.clone() } else { named(path, spec) };
            targets.push(OutputTarget { policy, kind, path });
        }
    }
    let pages = gantt.iter().map(PathBuf::as_path).chain(report.as_deref());
    let paths: Vec<&Path> = targets.iter().map(|target| target.path.as_path()).chain(pages).collect();
    check_targets(trace, &paths)?;
    check_kind("--jobs", jobs.as_ref(), &["csv"])?;
    check_kind("--swf", swf.as_ref(), &["swf"])?;
    check_kind("--log", log.as_ref(), &["csv"])?;
    check_gantt(gantt)?;
    check_kind("--report", report.as_ref(), &["html", "htm"])?;
    Ok(targets)
}

/// Inserts the name of a policy into a file name: `out.csv` and `batch[scheduler=demt]` give
/// `out.batch-scheduler-demt.csv`. The name of a device is unchanged.
fn named(path: &Path, spec: &str) -> PathBuf {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return path.to_owned();
    }
    let words = spec.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_');
    let word = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    match (path.file_stem(), path.extension()) {
        (Some(stem), Some(ending)) => {
            let name = format!("{}.{word}.{}", stem.to_string_lossy(), ending.to_string_lossy());
            path.with_file_name(name)
        }
        _ => PathBuf::from(format!("{}.{word}", path.display())),
    }
}

/// Writes each file completely or not at all. `instances` contains the instance of each policy.
pub fn write(
    instances: &[&Instance],
    workload: &str,
    targets: &[OutputTarget],
    simulated: &[Simulated],
    names: CsvNames,
) -> Result<()> {
    for OutputTarget { policy, kind, path } in targets {
        let (trace, instance) = (&simulated[*policy].simulation.trace, instances[*policy]);
        let told = || LogRow::all(instance, &simulated[*policy].log);
        match kind {
            Kind::Jobs => write_file(path, |out| Ok(jobs_csv::write_trace(instance, workload, trace, names, out)?))?,
            Kind::Swf => write_file(path, |out| write_swf_trace(instance, trace, out))?,
            Kind::Log => write_file(path, |out| Ok(write_log_csv(&told(), names, out)?))?,
        }
    }
    Ok(())
}
