//! `makespan algorithms`

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

/// A text after its label, in lines of at most 100 columns; the further ones are indented.
fn wrapped(label: &str, indent: usize, text: &str) -> String {
    const WIDTH: usize = 100;
    let (mut lines, mut line, mut empty) = (String::new(), label.to_owned(), true);
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            (line, empty) = (" ".repeat(indent), true);
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines + &line + "\n"
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
            "examples": entry.representatives,
        })
    };
    makespan::catalogue().iter().map(entry).collect()
}
