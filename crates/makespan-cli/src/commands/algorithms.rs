//! `makespan algorithms`

use std::process::ExitCode;

use makespan::catalogue::Parameter;
use makespan::policy::tree::{HeuristicEntry, heuristics};
use makespan::policy::{PolicyEntry, policies};
use miette::Result;
use serde_json::json;

use crate::args::{AlgorithmsOptions, Format};
use crate::output::{emit, wrapped};

/// What the policies of nodes drive.
const TREES: &str = "bags of tasks on a tree of machines";

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
        text += &format!("{}\n{}", entry.name, wrapped("  ", 2, entry.summary));
        text += &parameters(entry.parameters);
        text += &wrapped("  plans      ", 13, entry.supports);
        text += &wrapped("  guarantee  ", 13, entry.guarantee);
        text += &wrapped("  source     ", 13, entry.source);
        text.push('\n');
    }
    text += "Policies, for simulate:\n\n";
    for entry in policies() {
        text += &format!("{}\n{}", entry.name, wrapped("  ", 2, entry.summary));
        text += &parameters(entry.parameters);
        text += &wrapped("  drives     ", 13, entry.supports);
        text += &wrapped("  source     ", 13, entry.source);
        text.push('\n');
    }
    text += "Policies, for simulate with bags of tasks on a tree:\n\n";
    for entry in heuristics() {
        text += &format!("{}\n{}", entry.name, wrapped("  ", 2, entry.summary));
        text += &parameters(entry.parameters);
        text += &wrapped("  drives     ", 13, TREES);
        text += &wrapped("  source     ", 13, entry.source);
        text.push('\n');
    }
    text
}

fn parameters(parameters: &[Parameter]) -> String {
    let line = |parameter: &Parameter| {
        let values = format!("{}; default {}", parameter.values, parameter.default);
        wrapped(&format!("  [{}=..]   ", parameter.name), 13, &values)
    };
    parameters.iter().map(line).collect()
}

fn json() -> serde_json::Value {
    let parameter = |parameter: &Parameter| json!({ "name": parameter.name, "values": parameter.values, "default": parameter.default });
    let scheduler = |entry: &makespan::Entry| {
        json!({
            "kind": "scheduler",
            "name": entry.name,
            "summary": entry.summary,
            "supports": entry.supports,
            "guarantee": entry.guarantee,
            "source": entry.source,
            "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
            "examples": entry.compared,
        })
    };
    let policy = |entry: &PolicyEntry| {
        json!({
            "kind": "policy",
            "name": entry.name,
            "summary": entry.summary,
            "supports": entry.supports,
            "source": entry.source,
            "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
        })
    };
    let heuristic = |entry: &HeuristicEntry| {
        json!({
            "kind": "tree policy",
            "name": entry.name,
            "summary": entry.summary,
            "supports": TREES,
            "source": entry.source,
            "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
        })
    };
    let online = policies().iter().map(policy).chain(heuristics().iter().map(heuristic));
    makespan::catalogue().iter().map(scheduler).chain(online).collect()
}
