//! The files that a session leaves in the folder of its run.

use std::fs::File;
use std::path::Path;

use makespan_core::{CompoundMeasures, Expansion, Instance, LogEntry, Trace};
use makespan_formats::gantt::{Marks, NamedSchedule};
use makespan_formats::report::Report;
use makespan_formats::{LogRow, jobs_csv, read_log_csv, write_log_csv};
use miette::{Result, miette};

use super::Begun;
use crate::decisions;
use crate::output::{write_file, write_gantt, write_page};

/// What policies told in all sessions of the run.
const DECISIONS: &str = "decisions.csv";

/// Writes the outcome beside the plan; what the policy told comes after what earlier sessions were told.
pub fn write(
    folder: &Path,
    instance: &Instance,
    executed: &Expansion,
    begun: &Begun,
    (trace, log): (&Trace, &[LogEntry]),
) -> Result<()> {
    let told = told(folder, &executed.instance, log)?;
    let measures = CompoundMeasures::of(&executed.instance, trace, log);
    let happened = executed.original_schedule(&trace.schedule());
    let schedules = [
        NamedSchedule { name: "planned", schedule: &begun.schedule },
        NamedSchedule { name: "happened", schedule: &happened },
    ];
    let marks = decisions::marks(&executed.instance, &told, measures.as_ref(), |job| {
        let (job, task) = executed.tasks[job.index()];
        (job, task)
    });
    let jobs =
        measures.and_then(|measures| decisions::jobs("Compound jobs", &executed.instance, &measures, "jobs.csv"));
    let sections: Vec<_> = jobs.into_iter().chain(decisions::decisions("Decisions", &told, DECISIONS)).collect();
    let report = Report {
        title: "Plan and outcome",
        instance,
        schedules: &schedules,
        marks: &[Marks::default(), marks],
        algorithm: &begun.algorithm,
        seed: begun.seed,
        bounds: &begun.bounds,
        remarks: &begun.remarks,
        sections: &sections,
    };
    write_gantt(&report, &folder.join("gantt.svg"))?;
    write_page(&report, &folder.join("report.html"))?;
    write_file(&folder.join("jobs.csv"), |out| Ok(jobs_csv::write_trace(&executed.instance, "run", trace, out)?))
}

/// Adds what was told to what the folder has, and writes it where there is something.
fn told(folder: &Path, instance: &Instance, log: &[LogEntry]) -> Result<Vec<LogRow>> {
    let path = folder.join(DECISIONS);
    let mut rows = Vec::new();
    if let Ok(file) = File::open(&path) {
        rows = read_log_csv(file).map_err(|error| {
            miette!("{}: {error}; it is what an earlier session was told: put it back or remove it", path.display())
        })?;
    }
    rows.extend(LogRow::all(instance, log));
    if !rows.is_empty() {
        write_file(&path, |out| Ok(write_log_csv(&rows, out)?))?;
    }
    Ok(rows)
}
