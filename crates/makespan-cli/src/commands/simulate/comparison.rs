//! Tables that compare the measures of several policies.

use std::collections::BTreeMap;

use makespan::Simulated;
use makespan_core::{Distribution, Instance, Measures, Phase, TaskFlowMeasures};
use makespan_formats::report::Section;
use makespan_verify::check::percent_above;
use serde_json::{Value, json};

use super::compound;
use super::row::MeasureRow;
use crate::output::table;
use crate::summary::{column, figure, grouped, grouped_rows};

/// Maximum length of a column heading, in characters. A longer spec is replaced by the name of its policy and a
/// number.
const MAX_NAME: usize = 28;

/// The name of a measure, and the function that reads it from `T`.
type Figure<T, F> = (&'static str, fn(&T) -> F);

/// The format of the figures in a group of measures.
pub(super) struct FigureFormat {
    /// Unit in the label of a row.
    pub(super) word: &'static str,
    pub(super) text: fn(f64) -> String,
}

impl FigureFormat {
    /// Returns the format for a terminal and for files, in seconds.
    fn plain(_largest: f64, _is_time: bool) -> Self {
        Self { word: "", text: figure }
    }

    /// Returns the format for a page. The largest value selects one unit for the whole group, so that the digits are
    /// aligned.
    pub(super) fn on_page(largest: f64, is_time: bool) -> Self {
        match is_time {
            false if largest >= 1000.0 => Self { word: "", text: |value| grouped(&format!("{value:.1}")) },
            false => Self { word: "", text: |value| format!("{value:.3}") },
            true if largest >= 86_400.0 => Self { word: " (d h:min:s)", text: on_a_clock },
            true if largest >= 60.0 => Self { word: " (h:min:s)", text: on_a_clock },
            // Seconds are used if all values are zero.
            true if largest >= 0.1 || largest == 0.0 => Self { word: " (s)", text: |value| format!("{value:.3}") },
            true => Self { word: " (ms)", text: |value| format!("{:.3}", value * 1e3) },
        }
    }
}

/// Formats a duration as days if there are any, then hours, minutes and whole seconds.
fn on_a_clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let (days, hours, minutes, rest) = (whole / 86_400, whole % 86_400 / 3600, whole % 3600 / 60, whole % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{rest:02}"),
        _ => format!("{days} d {hours:02}:{minutes:02}:{rest:02}"),
    }
}

fn rows(simulated: &[Simulated], written: fn(f64, bool) -> FigureFormat) -> Vec<MeasureRow> {
    let mut rows = Vec::new();
    let mut add = |label: &str, of: &dyn Fn(&Measures) -> String| {
        rows.push((label.to_owned(), simulated.iter().map(|one| of(&one.measures)).collect()));
    };
    let figures: [Figure<Distribution, f64>; 6] = [
        ("mean", |of| of.mean),
        ("median", |of| of.median),
        ("90 %", |of| of.p90),
        ("95 %", |of| of.p95),
        ("99 %", |of| of.p99),
        ("max", |of| of.max),
    ];
    for name in ["wait", "flow", "bounded slowdown"] {
        let group = |measures: &Measures| match name {
            "wait" => measures.wait,
            "flow" => measures.flow,
            _ => measures.bounded_slowdown,
        };
        let most = |measures: &Measures| match name {
            "bounded slowdown" => measures.bounded_slowdown.max,
            // Waits and flow times share one unit, because their rows are adjacent.
            _ => measures.wait.max.max(measures.flow.max),
        };
        let largest = simulated.iter().map(|one| most(&one.measures)).fold(0.0, f64::max);
        let written = written(largest, name != "bounded slowdown");
        for (word, of) in figures {
            add(&format!("{name}, {word}{}", written.word), &|measures| (written.text)(of(&group(measures))));
        }
    }
    let completions: Vec<f64> = simulated.iter().map(|one| one.measures.weighted_completion).collect();
    rows.push(("weighted completion".to_owned(), column(&completions)));
    let mut add = |label: &str, of: &dyn Fn(&Measures) -> String| {
        rows.push((label.to_owned(), simulated.iter().map(|one| of(&one.measures)).collect()));
    };
    let largest = simulated.iter().map(|one| one.measures.makespan).fold(0.0, f64::max);
    let makespans = written(largest, true);
    add(&format!("makespan{}", makespans.word), &|measures| (makespans.text)(measures.makespan));
    add("utilisation", &|measures| format!("{:.2} %", 100.0 * measures.utilisation));
    add("backfilled jobs", &|measures| measures.backfilled.to_string());
    // A measure that is unknown or zero for all policies has no row.
    if simulated.iter().any(|one| one.measures.fairness.is_some()) {
        let figure_of = |of: Option<f64>| of.map_or("-".into(), |of| format!("{of:.3}"));
        add("fairness between users", &|measures| figure_of(measures.fairness.map(|fairness| fairness.jain)));
        add("worst user over mean", &|measures| figure_of(measures.fairness.map(|fairness| fairness.worst_over_mean)));
    }
    rows.extend(flow_rows(simulated));
    rows.extend(compound::rows(simulated));
    let mut add = |label: &str, of: &dyn Fn(&Measures) -> String| {
        rows.push((label.to_owned(), simulated.iter().map(|one| of(&one.measures)).collect()));
    };
    let counts: [Figure<Measures, usize>; 3] = [
        ("interrupted runs", |measures| measures.interrupted_runs),
        ("jobs ended at walltime", |measures| measures.killed),
        ("jobs that failed", |measures| measures.failed),
    ];
    for (label, count) in counts {
        if simulated.iter().any(|one| count(&one.measures) > 0) {
            add(label, &|measures| count(measures).to_string());
        }
    }
    if simulated.iter().any(|one| one.measures.lost_area > 0.0) {
        add("lost area, processor seconds", &|measures| figure(measures.lost_area));
    }
    if simulated.iter().any(|one| !one.simulation.cancelled.is_empty()) {
        // With compound jobs, the number of jobs differs from the number of tasks.
        let count =
            |one: &Simulated| one.compound.as_ref().map_or(one.simulation.cancelled.len(), |of| of.flow.given_up);
        let counts = simulated.iter().map(|one| count(one).to_string());
        rows.push(("jobs cancelled".into(), counts.collect()));
    }
    rows
}

/// Returns the rows for a flow of tasks, or no rows for other instances.
fn flow_rows(simulated: &[Simulated]) -> Vec<MeasureRow> {
    let Some(flows) = simulated.iter().map(|one| one.task_flow.as_ref()).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let row = |label: &str, of: &dyn Fn(&TaskFlowMeasures) -> String| {
        (label.to_owned(), flows.iter().map(|flow| of(flow)).collect())
    };
    let percent = |part: f64| format!("{:.2} %", 100.0 * part);
    let over = |gap: f64| if gap > 0.0 { format!("{} %", percent_above(1.0 + gap)) } else { percent(0.0) };
    let mut rows = vec![
        row("makespan over its bound", &|flow| over(flow.gap())),
        row("utilisation, mean of nodes", &|flow| percent(flow.utilisation)),
        row("utilisation by speed", &|flow| percent(flow.utilisation_by_speed)),
        row("tasks a second", &|flow| figure(flow.throughput)),
    ];
    let phase = |phase: Phase| row(&format!("time in {}", phase.name()), &|flow| percent(flow.phases.share(phase)));
    rows.extend(Phase::ALL.map(phase));
    rows
}

/// Formats a table with one column for each policy. A table wider than `widest` characters is split into several
/// tables.
pub fn text(simulated: &[Simulated], widest: usize) -> String {
    let specs: Vec<&str> = simulated.iter().map(|one| one.policy.as_str()).collect();
    let (names, notes) = short_names(&specs);
    tables("policy", &names, &rows(simulated, FigureFormat::plain), widest) + &notes
}

/// Formats these rows as tables with one column for each policy. `title` is the heading of the first column.
pub(super) fn text_of_rows(title: &str, simulated: &[Simulated], rows: &[MeasureRow], widest: usize) -> String {
    let specs: Vec<&str> = simulated.iter().map(|one| one.policy.as_str()).collect();
    tables(title, &short_names(&specs).0, rows, widest)
}

/// The measures of scenarios that are shown by default.
const MAIN: [&str; 6] = ["wait, mean", "wait, 90 %", "wait, max", "bounded slowdown, mean", "makespan", "utilisation"];

/// Formats a table with one column for each scenario, and a row with its policy. Without `is_complete`, the table has
/// only six measures, and a line states the number of further measures.
pub fn text_of_scenarios(simulated: &[Simulated], policies: &[String], is_complete: bool, widest: usize) -> String {
    let names: Vec<String> = simulated.iter().map(|one| one.policy.clone()).collect();
    let specs: Vec<&str> = policies.iter().map(String::as_str).collect();
    let (short, notes) = short_names(&specs);
    let mut rows = rows(simulated, FigureFormat::plain);
    let mut more = String::new();
    let is_plain = simulated.iter().all(|one| one.compound.is_none() && one.task_flow.is_none());
    if is_plain && !is_complete {
        let all = rows.len();
        rows.retain(|row| MAIN.contains(&row.0.as_str()));
        if rows.len() < all {
            more = format!("--all shows {} more measures\n", all - rows.len());
        }
    }
    rows.insert(0, ("policy".to_owned(), short));
    tables("scenario", &names, &rows, widest) + &more + &notes
}

/// Formats rows as tables of at most `widest` characters, unless a single column is wider.
fn tables(first: &str, names: &[String], rows: &[MeasureRow], widest: usize) -> String {
    let label = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row.1[at].chars().count()).max().unwrap_or(0);
        cells.max(names[at].chars().count()) + 2
    };
    let (mut tables, mut from) = (Vec::new(), 0);
    while from < names.len() {
        let mut room = widest.saturating_sub(label + width(from));
        let mut to = from + 1;
        while to < names.len() && width(to) <= room {
            room -= width(to);
            to += 1;
        }
        let heading: Vec<&str> = std::iter::once(first).chain(names[from..to].iter().map(String::as_str)).collect();
        let cells = rows.iter().map(|(label, cells)| [std::slice::from_ref(label), &cells[from..to]].concat());
        tables.push(table(&heading, 1, cells));
        from = to;
    }
    tables.join("\n")
}

/// Returns short names of policies, and notes that explain them. A spec with many parameters is shortened, because it
/// would fill a line. Equal specs have equal short names.
fn short_names(specs: &[&str]) -> (Vec<String>, String) {
    let mut notes = String::new();
    let mut name = |spec: &&str| {
        if spec.chars().count() <= MAX_NAME {
            return (*spec).to_owned();
        }
        let base = spec.split('[').next().unwrap_or_default();
        let first = specs.iter().position(|other| other == spec).unwrap_or_default() + 1;
        let note = format!("\n({first}) {spec}");
        if !notes.contains(&note) {
            notes += &note;
        }
        format!("{base} ({first})")
    };
    let names = specs.iter().map(&mut name).collect();
    (names, if notes.is_empty() { notes } else { notes + "\n" })
}

/// Returns the comparison as a section of the report.
pub fn section(simulated: &[Simulated]) -> Section {
    let columns = std::iter::once(String::new()).chain(simulated.iter().map(|one| one.policy.clone()));
    // On a terminal, the first line of the output states the unit. On a page, each label contains the unit.
    let labelled = |label: String| if label == "span of the flow" { label + " (s)" } else { label };
    let rows = rows(simulated, FigureFormat::on_page)
        .into_iter()
        .map(|(label, cells)| [vec![labelled(label).replace(" %", "\u{A0}%")], cells].concat());
    Section {
        title: "Measures".into(),
        text: "90\u{A0}%, 95\u{A0}% and 99\u{A0}% are percentiles over jobs.".into(),
        columns: columns.collect(),
        rows: grouped_rows(rows.collect()),
        ..Section::default()
    }
}

/// Returns a JSON object for each policy.
pub fn json(instance: &Instance, simulated: &[Simulated], mut answers: BTreeMap<usize, Value>) -> Vec<Value> {
    let object = |(index, one): (usize, &Simulated)| {
        let given_up = one.simulation.cancelled.iter().map(|&task| instance.name(task));
        let mut object = json!({
            "policy": one.policy,
            "metrics": one.measures,
            "given_up": given_up.collect::<Vec<_>>(),
            "events": one.simulation.events,
        });
        if let Some(flow) = &one.task_flow {
            object["task_flow"] = flow_json(flow);
        }
        compound::add_json(&mut object, instance, one);
        if let Some(answer) = answers.remove(&index) {
            object["start_time"] = answer;
        }
        object
    };
    simulated.iter().enumerate().map(object).collect()
}

/// Returns the measures of a flow of tasks as JSON. The phases are shares of the time.
fn flow_json(flow: &TaskFlowMeasures) -> Value {
    let phases: BTreeMap<&str, f64> =
        Phase::ALL.iter().map(|&phase| (phase.name(), flow.phases.share(phase))).collect();
    json!({
        "makespan": flow.makespan,
        "bound": flow.bound,
        "utilisation": flow.utilisation,
        "utilisation_by_speed": flow.utilisation_by_speed,
        "throughput": flow.throughput,
        "phases": phases,
    })
}
