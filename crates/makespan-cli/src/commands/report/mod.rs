//! `makespan report`: core hours, waits and lost work of the jobs of a log, by account, user, partition and month.

mod backfill;
mod effect;
mod periods;
mod print;
mod sections;
mod tally;

use std::path::Path;
use std::process::ExitCode;

use makespan_formats::{Clock, Format, JobLog, LoggedJob, parse_job_log, read_job_log};
use miette::{Result, miette};

use crate::args::{ReportFormat, ReportOptions, ReportProperty, STANDARD_INPUT};
use crate::input::standard_input;
use crate::output::{csv_names, emit};
use crate::present;
use periods::Period;
use sections::{Section, sections};

/// The figures of a log.
struct Report {
    log: String,
    format: Format,
    clock: Option<Clock>,
    processors: Option<u32>,
    /// True if the log states when at least one job ran, or if it has no jobs. Otherwise, the utilisation is unknown.
    is_dated: bool,
    by: Vec<ReportProperty>,
    /// The months, and then the whole log.
    sections: Vec<Section>,
    remarks: Vec<String>,
}

pub fn report(options: &ReportOptions) -> Result<ExitCode> {
    if options.advice.backfill {
        return backfill::advise(options);
    }
    if options.limit.is_some() && options.format != ReportFormat::Text {
        return Err(miette!("--limit: JSON and CSV always contain all groups; remove --limit or --format"));
    }
    if options.raw_names && options.format != ReportFormat::Csv {
        return Err(miette!("--raw-names: only --format csv protects names; remove --raw-names"));
    }
    if let Some(twice) = (1..options.by.len()).find(|&at| options.by[..at].contains(&options.by[at])) {
        return Err(miette!("--by names {} twice; name each property once", options.by[twice].word()));
    }
    let report = Report::new(options)?;
    emit(&match options.format {
        ReportFormat::Text => report.text(options.limit),
        ReportFormat::Json => format!("{:#}\n", report.json()),
        ReportFormat::Csv => {
            report.csv(csv_names(options.raw_names)).map_err(|error| miette!("cannot write the table: {error}"))?
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path, strict: bool) -> Result<JobLog> {
    if path.as_os_str() != STANDARD_INPUT {
        return read_job_log(path, strict).map_err(|error| miette!("{error}"));
    }
    parse_job_log(&standard_input(u64::from(u32::MAX))?, "standard input", strict).map_err(|error| miette!("{error}"))
}

impl Report {
    fn new(options: &ReportOptions) -> Result<Self> {
        let log = read(&options.log, options.strict)?;
        let cluster = options.from.as_deref().map(present::read).transpose()?;
        let cluster = cluster.map(|(_, present)| present.instance.processors());
        let processors = options.processors.or(cluster).or(log.processors);
        let whole = Period::whole(&log);
        let is_dated = log.jobs.is_empty() || log.jobs.iter().any(|job| job.period().is_some());
        let months = match &log.clock {
            _ if !options.month => Vec::new(),
            Some(_) if !is_dated => Vec::new(),
            Some(clock) => whole.months(clock).ok_or_else(|| {
                miette!(
                    "{}: --month: the dates of the log are beyond the calendar; remove --month",
                    options.log.display()
                )
            })?,
            None => {
                return Err(miette!(
                    "{}: --month: the log does not state a date (SWF: the header line UnixStartTime); add this line, or remove \
                     --month",
                    options.log.display()
                ));
            }
        };
        let mut remarks = log.remarks.clone();
        if !is_dated {
            let months = if options.month { "the report has no months, and " } else { "" };
            remarks.push(format!(
                "{months}the utilisation is unknown: no record states both the start and the run time of its job"
            ));
        }
        remarks.extend(missing(&log, &options.by, processors.is_none() && is_dated));
        let sections = sections(&log, &options.by, whole, months);
        if let Some(busy) = sections.iter().find(|section| is_dated && is_overfull(section, processors)) {
            let period = busy.period.as_ref().and_then(|period| period.month.as_deref()).unwrap_or("the log");
            remarks.push(format!(
                "the jobs of {period} used more core hours than the machine has; check the number of processors (--processors)"
            ));
        }
        let JobLog { format, clock, .. } = log;
        let log = options.log.display().to_string();
        Ok(Self { log, format, clock, processors, is_dated, by: options.by.clone(), sections, remarks })
    }
}

/// Returns true if the jobs of a section used more than the whole machine.
fn is_overfull(section: &Section, processors: Option<u32>) -> bool {
    let capacity = section.period.as_ref().zip(processors).map(|(period, processors)| period.capacity(processors));
    capacity.is_some_and(|capacity| section.total.used() > capacity)
}

/// Returns notes about values that the log does not state. `lacks_processors` is true if only the number of processors
/// is missing for the utilisation.
fn missing(log: &JobLog, by: &[ReportProperty], lacks_processors: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let all = log.jobs.len();
    let mut note = |lacks: &dyn Fn(&LoggedJob) -> bool, none: String, some: &str| match log
        .jobs
        .iter()
        .filter(|job| lacks(job))
        .count()
    {
        0 => {}
        count if count == all => notes.push(none),
        count => notes.push(format!("{count} of {all} {some}")),
    };
    for &by in by {
        let word = by.word();
        let none = format!("the log states no {word}, so all jobs are in the group (none)");
        note(
            &|job| sections::name(job, by).is_none(),
            none,
            &format!("jobs state no {word}: they are in the group (none)"),
        );
    }
    note(
        &|job| job.started.is_none(),
        "waits are unknown: no record states when its job started".to_owned(),
        "jobs do not state their start: their waits are unknown, and --month puts them under `no date`",
    );
    note(
        &|job| job.end.is_none() && !job.is_running,
        "deaths at the limit and failed core hours are unknown: no record states how its job ended".to_owned(),
        "jobs do not state how they ended: they count neither as died nor as failed",
    );
    note(
        &|job| job.limit.is_none(),
        "the used share of time limits is unknown: no record states a time limit".to_owned(),
        "jobs have no time limit: they are not included in the used share",
    );
    if log.format == Format::Swf && log.jobs.iter().any(|job| job.end.is_some()) {
        notes.push(
            "SWF does not state deaths at the limit: a job without success that ran for its requested time counts as died".into(),
        );
    }
    if lacks_processors {
        notes.push(
            "the utilisation is unknown: the log does not state the number of processors; add --processors N, or --from for \
             the cluster"
                .into(),
        );
    }
    notes
}
