//! `makespan algorithms`

use std::process::ExitCode;

use makespan::Entry;
use makespan::catalogue::Parameter;
use makespan::policy::policies;
use makespan::policy::tree::heuristics;
use miette::Result;
use serde_json::json;

use crate::args::{AlgorithmsOptions, Format};
use crate::output::{emit, wrapped};

pub fn algorithms(options: &AlgorithmsOptions) -> Result<ExitCode> {
    match options.format {
        Format::Text => emit(&text())?,
        Format::Json => emit(&format!("{:#}\n", json()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text() -> String {
    let mut text = String::new();
    for entry in makespan::catalogue() {
        text += &described(entry, "plans", Some(entry.kind.guarantee));
    }
    text += "Policies, for simulate:\n\n";
    policies().iter().for_each(|entry| text += &described(entry, "drives", None));
    text += "Policies, for simulate with bags of tasks on a tree:\n\n";
    heuristics().iter().for_each(|entry| text += &described(entry, "drives", None));
    text
}

fn described<K>(entry: &Entry<K>, verb: &str, guarantee: Option<&str>) -> String {
    let line = |key: &str, value: &str| wrapped(&format!("  {key:<11}"), 13, value);
    let guarantee = guarantee.map_or_else(String::new, |guarantee| line("guarantee", guarantee));
    format!(
        "{}\n{}{}{}{guarantee}{}\n",
        entry.name,
        wrapped("  ", 2, entry.summary),
        parameters(entry.parameters),
        line(verb, entry.supports),
        line("source", entry.source)
    )
}

fn parameters(parameters: &[Parameter]) -> String {
    let line = |parameter: &Parameter| {
        let values = format!("{}; default {}", parameter.values, parameter.default);
        wrapped(&format!("  [{}=..]   ", parameter.name), 13, &values)
    };
    parameters.iter().map(line).collect()
}

fn json() -> serde_json::Value {
    let scheduler = |entry: &Entry| {
        let mut listed = listed("scheduler", entry);
        listed["guarantee"] = entry.kind.guarantee.into();
        listed["examples"] = entry.kind.compared.into();
        listed
    };
    let online = policies().iter().map(|entry| listed("policy", entry));
    let nodes = heuristics().iter().map(|entry| listed("tree policy", entry));
    makespan::catalogue().iter().map(scheduler).chain(online).chain(nodes).collect()
}

fn listed<K>(kind: &str, entry: &Entry<K>) -> serde_json::Value {
    let parameter = |parameter: &Parameter| json!({ "name": parameter.name, "values": parameter.values, "default": parameter.default });
    json!({
        "kind": kind,
        "name": entry.name,
        "summary": entry.summary,
        "supports": entry.supports,
        "source": entry.source,
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}
