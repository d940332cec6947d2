//! The files that a session leaves in the folder of its run.

use std::path::Path;

use makespan_core::{CompoundMeasures, LogEntry};
use makespan_formats::gantt::{Marks, NamedSchedule};
use makespan_formats::report::Report;
use makespan_formats::{CsvNames, LogRow, jobs_csv, write_log_csv};
use miette::Result;

use super::Begun;
use super::folder::own;
use super::outcome::Outcomes;
use crate::decisions;
use crate::output::{write_file, write_gantt, write_page};

/// What policies told in all sessions of the run.
const DECISIONS: &str = "decisions.csv";

/// Writes the outcome of all sessions beside the plan, with what their policies told.
pub fn write(folder: &Path, begun: &Begun, outcomes: &Outcomes<'_>, log: &[LogEntry]) -> Result<()> {
    let (instance, trace) = (outcomes.instance, outcomes.trace);
    let told = LogRow::all(instance, log);
    if !told.is_empty() {
        write_file(&own(folder, DECISIONS)?, |out| Ok(write_log_csv(&told, CsvNames::Guarded, out)?))?;
    }
    let measures = CompoundMeasures::of(instance, trace, log);
    let ran = trace.schedule();
    let schedules = [
        NamedSchedule { name: "planned", schedule: &begun.schedule },
        NamedSchedule { name: "happened", schedule: &ran },
    ];
    let marks = decisions::marks(instance, &told, measures.as_ref());
    let jobs = measures.and_then(|measures| decisions::jobs("Compound jobs", instance, &measures, "jobs.csv"));
    let first = std::iter::once(outcomes.section()).chain(outcomes.longer_section());
    let sections: Vec<_> = first.chain(jobs).chain(decisions::decisions("Decisions", &told, DECISIONS)).collect();
    let title = outcomes.title();
    let report = Report {
        title: &title,
        instance,
        schedules: &schedules,
        marks: &[Marks::default(), marks.with_outcomes(trace)],
        choose: false,
        algorithm: &begun.algorithm,
        minimised: makespan::minimised(&begun.algorithm),
        seed: begun.seed,
        bounds: &begun.bounds,
        remarks: &begun.remarks,
        sections: &sections,
    };
    write_gantt(&report, &[own(folder, "gantt.svg")?])?;
    write_page(&report, &own(folder, "report.html")?)?;
    write_file(&own(folder, "jobs.csv")?, |out| {
        Ok(jobs_csv::write_trace(instance, "run", trace, CsvNames::Guarded, out)?)
    })
}
