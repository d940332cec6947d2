//! `makespan algorithms`

use std::fmt::Write;
use std::process::ExitCode;

use miette::Result;
use serde_json::json;

use crate::args::{AlgorithmsOptions, Format};
use crate::output::emit;

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
        let _ = writeln!(text, "{}\n  {}", entry.name, entry.summary);
        for parameter in entry.parameters {
            let _ = writeln!(text, "  [{}=..]   {}; default {}", parameter.name, parameter.values, parameter.default);
        }
        let _ = writeln!(text, "  plans      {}", entry.supports);
        let _ = writeln!(text, "  guarantee  {}", entry.guarantee);
        let _ = writeln!(text, "  source     {}\n", entry.source);
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
