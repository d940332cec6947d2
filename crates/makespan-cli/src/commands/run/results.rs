//! The files that a session leaves in the folder of its run.

use std::fs::File;
use std::path::Path;

use makespan_core::{CompoundMeasures, Expansion, Instance, JobId, LogEntry, Trace};
use makespan_formats::gantt::{Marks, NamedSchedule};
use makespan_formats::report::Report;
use makespan_formats::{LogRow, jobs_csv, read_log_csv, write_log_csv};
use miette::{Result, miette};

use super::Begun;
use crate::decisions;
use crate::output::{write_file, write_gantt, write_page};

/// What policies told in all sessions of the run.
const DECISIONS: &str = "decisions.csv";

/// What became of a run.
pub struct Happened<'a> {
    pub trace: &'a Trace,
    /// What the policy of this session told.
    pub log: &'a [LogEntry],
    /// What those of earlier sessions told.
    pub told: Vec<LogRow>,
}

/// Writes the outcome beside the plan; what the policy told comes after what earlier sessions were told.
pub fn write(
    folder: &Path,
    instance: &Instance,
    executed: &Expansion,
    begun: &Begun,
    happened: Happened<'_>,
) -> Result<()> {
    let Happened { trace, log, mut told } = happened;
    told.extend(LogRow::all(&executed.instance, log));
    if !told.is_empty() {
        write_file(&folder.join(DECISIONS), |out| Ok(write_log_csv(&told, out)?))?;
    }
    let measures = CompoundMeasures::of(&executed.instance, trace, log);
    let ran = executed.original_schedule(&trace.schedule());
    let schedules = [
        NamedSchedule { name: "planned", schedule: &begun.schedule },
        NamedSchedule { name: "happened", schedule: &ran },
    ];
    let place = |job: JobId| executed.tasks[job.index()];
    let marks = decisions::marks(&executed.instance, &told, measures.as_ref(), place);
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

/// What earlier sessions left, where there were some.
pub fn told(folder: &Path) -> Result<Vec<LogRow>> {
    let path = folder.join(DECISIONS);
    let Ok(file) = File::open(&path) else { return Ok(Vec::new()) };
    read_log_csv(file).map_err(|error| {
        miette!("{}: {error}; it is what an earlier session was told: put it back or remove it", path.display())
    })
}
