//! `makespan convert`

use std::path::Path;
use std::process::ExitCode;

use makespan_core::{Instance, NodePlace};
use makespan_formats::simgrid::write_simgrid;
use makespan_formats::{Language, Lists, write_compound_xml, write_etc, write_instance, write_swf};
use miette::{Result, miette};

use crate::args::ConvertOptions;
use crate::input::load_file;
use crate::output::{emit, write_file};
use crate::summary;

pub fn convert(options: &ConvertOptions) -> Result<ExitCode> {
    let lists = if options.format.is_some() { Lists::Stated } else { Lists::Refused };
    let loaded = load_file(&options.input, options.input.path(), lists)?;
    write_by_ending(&loaded.instance, &options.output)?;
    let mut remarks = loaded.remarks;
    if ending(&options.output) == "xml" && !loaded.instance.has_compound_jobs() {
        let resources = !loaded.instance.platform().resources().is_empty();
        let without = if resources { "the jobs and the resources" } else { "the jobs" };
        remarks.push(format!("the output contains only the machines, not {without}"));
    }
    if has_places(&loaded.instance) {
        remarks.push(LOST_PLACES.to_owned());
    }
    emit(&format!(
        "{}, written to {}\n{}",
        summary::instance(&loaded.instance),
        options.output.display(),
        summary::remarks(&remarks)
    ))?;
    Ok(ExitCode::SUCCESS)
}

const LOST_PLACES: &str = "the output does not contain the weights of nodes and their positions in the list of the \
                           cluster, so the policy slurm may choose other nodes";

/// Returns true if the weight or the position of a node is not the default: the weight 1, and the position in the
/// platform.
fn has_places(instance: &Instance) -> bool {
    let is_moved = |(node, place): (usize, &NodePlace)| *place != NodePlace { weight: 1, index: node };
    instance.platform().site().is_some_and(|site| site.places.iter().enumerate().any(is_moved))
}

/// Returns an error if the ending of a file is not the ending of an instance format.
pub fn check_ending(path: &Path) -> Result<()> {
    match ending(path).as_str() {
        "json" | "toml" | "swf" | "etc" | "xml" => Ok(()),
        _ => {
            let endings = ".json, .toml, .swf, .etc or, for graphs of tasks or the platform alone, .xml";
            Err(miette!("{}: the ending chooses the format; it must be {endings}", path.display()))
        }
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Writes an instance in the format that the ending of the file selects.
pub fn write_by_ending(instance: &Instance, path: &Path) -> Result<()> {
    check_ending(path)?;
    let ending = ending(path);
    let condition = instance.condition();
    let tells = matches!(ending.as_str(), "json" | "toml") || ending == "xml" && !instance.has_compound_jobs();
    if !condition.is_empty() && !tells {
        let what = if instance.has_guesses() { "guesses" } else { "learned" };
        return Err(miette!(
            "{}: some times are {what}, but a file of this format cannot mark them; write .json or .toml, or state \
             the times",
            path.display()
        ));
    }
    match ending.as_str() {
        "json" => write_file(path, |out| write_instance(instance, Language::Json, out)),
        "toml" => write_file(path, |out| write_instance(instance, Language::Toml, out)),
        "xml" if instance.has_compound_jobs() => write_file(path, |out| write_compound_xml(instance, out)),
        "xml" => write_file(path, |out| write_simgrid(instance.platform(), out)),
        "etc" => write_file(path, |out| write_etc(instance, out)),
        _ => write_file(path, |out| write_swf(instance, None, out)),
    }
}
