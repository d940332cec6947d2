//! The data of a page as JSON in columns.

use std::borrow::Cow;
use std::io::{self, Write};

use makespan_core::{Instance, Job, Objective, Placement, ProcSet, Rows};
use serde::Serialize;

use super::Report;
use crate::gantt::palette::{COLOURS, text_on};
use crate::gantt::summary::{bound_word, is_guess};
use crate::gantt::{Marks, NamedSchedule};

/// Times are in seconds. Nothing here is used for decisions, so floats do.
#[derive(Serialize)]
struct Data<'a> {
    version: u32,
    title: &'a str,
    processors: u32,
    nodes: Vec<(&'a str, u32, u32)>,
    colours: [&'static str; COLOURS.len()],
    text: [&'static str; COLOURS.len()],
    bound: Option<f64>,
    /// How the bound is called.
    bound_word: String,
    jobs: Jobs<'a>,
    unavailable: Spans,
    open: Steps,
    schedules: Vec<Placements<'a>>,
}

#[derive(Serialize)]
struct Jobs<'a> {
    name: Vec<&'a str>,
    weight: Vec<f64>,
    release: Vec<f64>,
    /// 0 for a job, 1 for a bag, 2 for a best-effort bag; empty when there are no bags.
    kind: Vec<u8>,
    /// The names of the tasks of each compound job, nothing for others; empty when there are no compound jobs.
    tasks: Vec<Vec<Cow<'a, str>>>,
}

/// Periods, with the intervals of their processors as `[first, last, first, last, ..]`.
#[derive(Serialize)]
struct Spans {
    start: Vec<f64>,
    end: Vec<f64>,
    processors: Vec<Vec<u32>>,
}

/// Open processors from each instant on.
#[derive(Serialize)]
struct Steps {
    time: Vec<f64>,
    processors: Vec<u32>,
}

#[derive(Serialize)]
struct Placements<'a> {
    name: &'a str,
    makespan: f64,
    job: Vec<u32>,
    /// Numbers of tasks; empty when there are neither bags nor compound jobs.
    task: Vec<u32>,
    /// Positions of the placements that are pointed out, and why.
    marks: Vec<(usize, &'a str)>,
    /// Positions of the placements whose times are guesses.
    guesses: Vec<usize>,
    /// By when jobs have to end, whether that was missed, and the jobs.
    deadlines: Vec<(f64, bool, u32)>,
    #[serde(flatten)]
    spans: Spans,
}

/// Writes the JSON; `<` is written `\u003c`, so that no text can end the script element that holds it.
pub(super) fn write(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let instance = report.instance;
    let bounds =
        report.bounds.iter().filter(|bound| bound.objective == Objective::Makespan).map(|bound| bound.value.integer());
    let platform = instance.platform();
    let nodes = platform.nodes().iter().enumerate().filter(|(_, node)| node.processors > 0);
    let first_of = |index| platform.processors_of(index).intervals().first().map_or(0, |interval| interval.0);
    let data = Data {
        version: 1,
        title: report.title,
        processors: instance.processors(),
        nodes: nodes.map(|(index, node)| (node.name.as_str(), first_of(index), node.processors)).collect(),
        colours: COLOURS,
        text: COLOURS.map(text_on),
        bound: bounds.max().map(|ticks| ticks as f64 / 1e9),
        bound_word: bound_word(instance.condition()),
        jobs: jobs(instance),
        unavailable: spans(instance.unavailable().iter().map(|p| (p.start.seconds(), p.end.seconds(), &p.processors))),
        open: open(instance),
        schedules: (0..)
            .zip(report.schedules)
            .map(|(at, named)| placements(instance, named, report.marks_of(at)))
            .collect(),
    };
    let json = serde_json::to_string(&data)?;
    let mut pieces = json.split('<');
    out.write_all(pieces.next().unwrap_or_default().as_bytes())?;
    pieces.try_for_each(|piece| write!(out, "\\u003c{piece}"))
}

fn jobs(instance: &Instance) -> Jobs<'_> {
    let jobs = instance.jobs();
    Jobs {
        name: jobs.iter().map(|job| job.name.as_str()).collect(),
        weight: jobs.iter().map(|job| job.weight.as_f64()).collect(),
        release: jobs.iter().map(|job| job.release.seconds()).collect(),
        kind: if instance.has_bags() { jobs.iter().map(kind).collect() } else { Vec::new() },
        tasks: if instance.has_compound_jobs() {
            jobs.iter().map(|job| task_names(instance, job)).collect()
        } else {
            Vec::new()
        },
    }
}

fn task_names<'a>(instance: &'a Instance, job: &Job<Rows>) -> Vec<Cow<'a, str>> {
    if job.is_compound() { job.task_ids().map(|task| instance.short_name(task)).collect() } else { Vec::new() }
}

fn kind(job: &Job<Rows>) -> u8 {
    u8::from(job.is_bag()) + u8::from(job.is_best_effort())
}

fn spans<'a>(periods: impl Iterator<Item = (f64, f64, &'a ProcSet)>) -> Spans {
    let mut spans = Spans { start: Vec::new(), end: Vec::new(), processors: Vec::new() };
    for (start, end, processors) in periods {
        spans.start.push(start);
        spans.end.push(end);
        spans.processors.push(processors.intervals().iter().flat_map(|&(first, last)| [first, last]).collect());
    }
    spans
}

fn open(instance: &Instance) -> Steps {
    let mut times: Vec<_> = instance.unavailable().iter().flat_map(|period| [period.start, period.end]).collect();
    times.push(makespan_core::Time::ZERO);
    times.sort_unstable();
    times.dedup();
    Steps {
        time: times.iter().map(|time| time.seconds()).collect(),
        processors: times.iter().map(|&time| instance.availability().open_at(time)).collect(),
    }
}

fn placements<'a>(instance: &Instance, named: &NamedSchedule<'a>, marks: &'a Marks) -> Placements<'a> {
    let NamedSchedule { name, schedule } = *named;
    let placements = schedule.placements();
    let marked = |(at, placement): (usize, &Placement)| Some((at, marks.tasks.get(&placement.task)?.as_str()));
    let bags = instance.has_bags() || instance.has_compound_jobs();
    Placements {
        name,
        makespan: schedule.makespan().seconds(),
        job: placements.iter().map(|placement| instance.job_id(placement.task).0).collect(),
        marks: placements.iter().enumerate().filter_map(marked).collect(),
        guesses: placements.iter().enumerate().filter(|(_, one)| is_guess(instance, one)).map(|(at, _)| at).collect(),
        deadlines: marks
            .deadlines
            .iter()
            .map(|deadline| (deadline.at.seconds(), deadline.missed, deadline.job.0))
            .collect(),
        task: placements.iter().filter(|_| bags).map(|placement| instance.number(placement.task)).collect(),
        spans: spans(placements.iter().map(|p| (p.start.seconds(), p.end.seconds(), &p.processors))),
    }
}
