//! Measures of several policies side by side.

use std::collections::BTreeMap;

use makespan::Simulated;
use makespan_core::{Distribution, Instance, Measures};
use makespan_formats::report::Section;
use serde_json::{Value, json};

use crate::output::table;
use crate::summary::figure;

/// Widest line of a table.
const WIDTH: usize = 100;

/// A row: what is measured, and its figure for each policy.
type Row = (String, Vec<String>);

/// A named figure of something.
type Figure<T, F> = (&'static str, fn(&T) -> F);

fn rows(simulated: &[Simulated]) -> Vec<Row> {
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
        ("most", |of| of.max),
    ];
    for name in ["wait", "flow", "bounded slowdown"] {
        let group = |measures: &Measures| match name {
            "wait" => measures.wait,
            "flow" => measures.flow,
            _ => measures.bounded_slowdown,
        };
        for (word, of) in figures {
            add(&format!("{name}, {word}"), &|measures| figure(of(&group(measures))));
        }
    }
    add("weighted completion", &|measures| figure(measures.weighted_completion));
    add("makespan", &|measures| figure(measures.makespan));
    add("utilisation", &|measures| format!("{:.2} %", 100.0 * measures.utilisation));
    add("backfilled jobs", &|measures| measures.backfilled.to_string());
    // What is not known, and what never happened, takes no line.
    if simulated.iter().any(|one| one.measures.fairness.is_some()) {
        let figure_of = |of: Option<f64>| of.map_or("-".into(), |of| format!("{of:.3}"));
        add("fairness between users", &|measures| figure_of(measures.fairness.map(|fairness| fairness.jain)));
        add("worst user over mean", &|measures| figure_of(measures.fairness.map(|fairness| fairness.worst_over_mean)));
    }
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
    if simulated.iter().any(|one| !one.simulation.cancelled.is_empty()) {
        let counts = simulated.iter().map(|one| one.simulation.cancelled.len().to_string());
        rows.push(("jobs given up".into(), counts.collect()));
    }
    rows
}

/// A table with a column a policy; several tables below each other where one would be too wide.
pub fn text(simulated: &[Simulated]) -> String {
    let rows = rows(simulated);
    let label = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row.1[at].chars().count()).max().unwrap_or(0);
        cells.max(simulated[at].policy.chars().count()) + 2
    };
    let (mut tables, mut from) = (Vec::new(), 0);
    while from < simulated.len() {
        let mut room = WIDTH.saturating_sub(label + width(from));
        let mut to = from + 1;
        while to < simulated.len() && width(to) <= room {
            room -= width(to);
            to += 1;
        }
        let heading: Vec<&str> =
            std::iter::once("policy").chain(simulated[from..to].iter().map(|one| one.policy.as_str())).collect();
        let cells = rows.iter().map(|(label, cells)| [std::slice::from_ref(label), &cells[from..to]].concat());
        tables.push(table(&heading, 1, cells));
        from = to;
    }
    tables.join("\n")
}

/// The same for the report.
pub fn section(simulated: &[Simulated]) -> Section {
    let columns = std::iter::once(String::new()).chain(simulated.iter().map(|one| one.policy.clone()));
    Section {
        title: "Measures".into(),
        text: "Times are in seconds. So many of the jobs have at most the figure of a row with 90, 95 or 99 %.".into(),
        columns: columns.collect(),
        rows: rows(simulated).into_iter().map(|(label, cells)| [vec![label], cells].concat()).collect(),
        figure: None,
    }
}

/// One object a policy.
pub fn json(instance: &Instance, simulated: &[Simulated], mut answers: BTreeMap<usize, Value>) -> Vec<Value> {
    let object = |(index, one): (usize, &Simulated)| {
        let given_up = one.simulation.cancelled.iter().map(|&job| instance.job(job).name.as_str());
        let mut object = json!({
            "policy": one.policy,
            "metrics": one.measures,
            "given_up": given_up.collect::<Vec<_>>(),
            "events": one.simulation.events,
        });
        if let Some(answer) = answers.remove(&index) {
            object["start_time"] = answer;
        }
        object
    };
    simulated.iter().enumerate().map(object).collect()
}
