//! `makespan convert`

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use makespan_core::Instance;
use makespan_formats::simgrid::{read_simgrid, write_simgrid};
use makespan_formats::{Language, write_etc, write_instance, write_swf};
use miette::{Result, miette};

use crate::args::ConvertOptions;
use crate::input::load;
use crate::output::{emit, write_file};
use crate::summary;

pub fn convert(options: &ConvertOptions) -> Result<ExitCode> {
    let mut loaded = load(&options.input)?;
    if let Some(path) = &options.platform {
        loaded.instance = moved(&loaded.instance, path)?;
    }
    write_by_ending(&loaded.instance, &options.output)?;
    emit(&format!(
        "{}, written to {}\n{}",
        summary::instance(&loaded.instance),
        options.output.display(),
        summary::remarks(&loaded.remarks)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The same jobs on the machines of a `SimGrid` platform file.
fn moved(instance: &Instance, path: &Path) -> Result<Instance> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| miette!("{name}: cannot read: {error}"))?;
    let platform = read_simgrid(&name, &text).map_err(|error| miette!("{error}"))?;
    Instance::new(platform, instance.jobs().to_vec(), instance.unavailable().to_vec())
        .map_err(|error| miette!("the jobs do not fit the platform of {name}: {error}"))
}

/// Refuses a file whose ending names no format of instances.
pub fn check_ending(path: &Path) -> Result<()> {
    match ending(path).as_str() {
        "json" | "toml" | "swf" | "etc" | "xml" => Ok(()),
        _ => {
            let endings = ".json, .toml, .swf, .etc or, for the platform alone, .xml";
            Err(miette!("{}: the ending chooses the format; it must be {endings}", path.display()))
        }
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Writes an instance in the format that the ending of the file names.
pub fn write_by_ending(instance: &Instance, path: &Path) -> Result<()> {
    check_ending(path)?;
    match ending(path).as_str() {
        "json" => write_file(path, |out| write_instance(instance, Language::Json, out)),
        "toml" => write_file(path, |out| write_instance(instance, Language::Toml, out)),
        "xml" => write_file(path, |out| write_simgrid(instance.platform(), out)),
        "etc" => write_file(path, |out| write_etc(instance, out)),
        _ => write_file(path, |out| write_swf(instance, None, out)),
    }
}
