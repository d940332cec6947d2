//! Writes the report and the tables of a run to its folder at the end of a session.

use makespan_core::{CompoundMeasures, Instance, LogEntry, Note};
use makespan_formats::gantt::{GanttOptions, Marks, NamedSchedule, write_svg};
use makespan_formats::report::Report;
use makespan_formats::{CsvNames, LogRow, jobs_csv, write_log_csv};
use miette::Result;

use super::BegunPlan;
use super::folder::own;
use super::outcome::Outcomes;
use super::page;
use crate::decisions;
use crate::output::{draw, write_file, write_page};

/// File of the decisions that policies logged in all sessions of the run.
const DECISIONS: &str = "decisions.csv";

/// Writes the outcome of all sessions, the decisions of their policies, and a report with the title `title`.
pub fn write(title: &str, begun: &BegunPlan, outcomes: &Outcomes<'_>, log: &[LogEntry]) -> Result<()> {
    let folder = outcomes.outputs.folder();
    let (instance, trace) = (outcomes.instance, outcomes.trace);
    let told = LogRow::all(instance, log);
    if !told.is_empty() {
        write_file(&own(folder, DECISIONS)?, |out| Ok(write_log_csv(&told, CsvNames::Guarded, out)?))?;
    }
    let measures = CompoundMeasures::of(instance, trace, log);
    let ran = trace.schedule();
    let schedules = [
        NamedSchedule { name: "happened", schedule: &ran },
        NamedSchedule { name: "planned", schedule: &begun.schedule },
    ];
    let schedules = if outcomes.has_plan { &schedules[..] } else { &schedules[..1] };
    let marks = decisions::marks(instance, &told, measures.as_ref());
    let jobs = measures.and_then(|measures| decisions::jobs("Compound jobs", instance, &measures, "jobs.csv"));
    let first = std::iter::once(outcomes.section()).chain(outcomes.longer_section());
    let sections: Vec<_> = first.chain(jobs).chain(decisions::decisions("Decisions", &told, DECISIONS)).collect();
    let title = outcomes.title(title);
    let marks = [marks.with_outcomes(trace), Marks::default()];
    let remarks = if outcomes.has_plan { begun.remarks.clone() } else { without_guesses(instance, &begun.remarks) };
    let report = Report {
        title: &title,
        instance,
        schedules,
        marks: &marks,
        choose: false,
        run: Some(&page::details(outcomes, &ran)),
        algorithm: &begun.algorithm,
        minimised: makespan::minimised(&begun.algorithm),
        seed: begun.seed,
        bounds: if outcomes.has_plan && begun.states_bounds() { &begun.bounds } else { &[] },
        remarks: &remarks,
        sections: &sections,
    };
    let sentence = outcomes.sentence();
    let options = GanttOptions { title: &title, marks: &marks, run: Some(&sentence), ..GanttOptions::default() };
    draw(&[own(folder, "gantt.svg")?], |mut out| write_svg(&mut out, instance, schedules, &options))?;
    write_page(&report, &own(folder, "report.html")?)?;
    write_file(&own(folder, "jobs.csv")?, |out| {
        Ok(jobs_csv::write_trace(instance, "run", trace, CsvNames::Guarded, out)?)
    })
}

/// Returns the remarks without those about guessed run times.
pub fn without_guesses(instance: &Instance, remarks: &[String]) -> Vec<String> {
    let guesses = instance.notes().into_iter().filter(|note| matches!(note, Note::Guessed { .. }));
    let guesses: Vec<String> = guesses.map(|note| note.describe(instance)).collect();
    remarks.iter().filter(|remark| !guesses.contains(remark)).cloned().collect()
}
