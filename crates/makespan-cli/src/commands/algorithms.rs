//! `makespan algorithms`

use std::process::ExitCode;

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
        text += &format!("{}\n{}", entry.name, wrapped("  ", 2, entry.summary));
        for parameter in entry.parameters {
            let values = format!("{}; default {}", parameter.values, parameter.default);
            text += &wrapped(&format!("  [{}=..]   ", parameter.name), 13, &values);
        }
        text += &wrapped("  plans      ", 13, entry.supports);
        text += &wrapped("  guarantee  ", 13, entry.guarantee);
        text += &wrapped("  source     ", 13, entry.source);
        text.push('\n');
    }
    text
}

fn json() -> serde_json::Value {
    let parameter = |parameter: &makespan::catalogue::Parameter| json!({ "name": parameter.name, "values": parameter.values, "default": parameter.default });
    let entry = |entry: &makespan::Entry| {
        json!({
            "name": entry.name,
            "summary": entry.summary,
            "supports": entry.supports,
            "guarantee": entry.guarantee,
            "source": entry.source,
            "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
            "examples": entry.compared,
        })
    };
    makespan::catalogue().iter().map(entry).collect()
}
