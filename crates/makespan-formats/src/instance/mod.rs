//! Reads and writes native instance files of versions 1 and 2, in JSON and TOML.
//!
//! Both languages use the schema of [`InstanceDocument`].

mod detect;
#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod guess_tests;
#[cfg(test)]
mod resource_tests;
#[cfg(test)]
mod site_tests;
#[cfg(test)]
mod tests;
mod write;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use makespan_core::{Instance, Platform};
use makespan_verify::native::instance::InstanceDocument;

pub(crate) use detect::{foreign_json, is_json};
pub(crate) use makespan_verify::native::instance::command;
pub use makespan_verify::native::instance::read_json;
pub use write::{Language, write_instance};

use crate::document::from_json;
use crate::encoding::{DecodedText, decoded};
use crate::error::{FilePlace, FormatError};
use crate::input::open;
use crate::simgrid::{SimgridPlatform, read_simgrid};
use crate::toml_document::from_toml;

/// Reads a native instance in TOML. `file` is the file name for errors. If the file has no platform, the instance has
/// the platform `machine`.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_toml(file: &str, text: &str, machine: Option<&Platform>) -> Result<Instance, FormatError> {
    from_toml::<InstanceDocument>(file, text)?.instance(file, machine)
}

/// Machines that were read from a file.
#[derive(Clone, Debug)]
pub struct ReadMachines {
    /// The machines, and the times when processors are unavailable, as an instance without jobs.
    pub instance: Instance,
    /// Warnings about parts of the file that were ignored or changed.
    pub remarks: Vec<String>,
    /// Reason why the network of the file was ignored. `None` if the network was used, or if the file has no network.
    /// The text begins with the file name. Without a network, jobs cannot send data.
    pub lost_network: Option<String>,
    /// Number of floating-point operations in a unit of work, if the file states speeds in operations per second.
    pub unit_flops: Option<f64>,
}

/// Number of floating-point operations in a unit of work, on platforms of `SimGrid`.
const SIMGRID_UNIT: f64 = 1e6;

/// Reads only the machines of a file. The file is a native instance or a platform of `SimGrid`, and may be compressed.
/// The jobs of a native instance are omitted. With `strict`, a part of the file that would be ignored or changed is an
/// error.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_machines(path: &Path, strict: bool) -> Result<ReadMachines, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    machines_of(file, &name, strict)
}

/// Reads machines from the bytes of a file, in the same way as [`read_machines`].
///
/// # Errors
/// The errors of [`read_machines`].
pub fn parse_machines(bytes: &[u8], file_name: &str, strict: bool) -> Result<ReadMachines, FormatError> {
    machines_of(bytes, file_name, strict)
}

fn machines_of(raw: impl Read, name: &str, strict: bool) -> Result<ReadMachines, FormatError> {
    let mut bytes = Vec::new();
    let mut input = open(raw, crate::input::MAX_BYTES).map_err(|source| FormatError::io(name, "read", source))?;
    input.read_to_end(&mut bytes).map_err(|source| FormatError::io(name, "read", source))?;
    if bytes.trim_ascii_start().first() == Some(&b'<') {
        return simgrid_machines(bytes, name, strict);
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| FormatError::content(name, FilePlace::default(), "the text is not UTF-8"))?;
    let document: InstanceDocument = match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => from_json(name, &bytes)?,
        _ => from_toml(name, text)?,
    };
    let instance = document.machines(name)?;
    Ok(ReadMachines { instance, remarks: Vec::new(), lost_network: None, unit_flops: None })
}

/// Reads the machines of a platform file of `SimGrid`. The file need not be UTF-8.
fn simgrid_machines(bytes: Vec<u8>, name: &str, strict: bool) -> Result<ReadMachines, FormatError> {
    let DecodedText { text, remark } = decoded(bytes);
    let SimgridPlatform { platform, remarks, lost } = read_simgrid(name, &text)?;
    let remarks: Vec<String> = remark.into_iter().chain(remarks).collect();
    if let Some(remark) = remarks.first().filter(|_| strict) {
        return Err(FormatError::content(
            name,
            FilePlace::default(),
            format!("{remark}; --strict does not allow this"),
        ));
    }
    let instance = Instance::new(platform, Vec::new(), Vec::new());
    let instance = instance.map_err(|error| FormatError::content(name, FilePlace::default(), error))?;
    let lost_network = lost.map(|lost| format!("{name}: {lost}"));
    Ok(ReadMachines { instance, remarks, lost_network, unit_flops: Some(SIMGRID_UNIT) })
}

/// Reads the machines of a file in the same way as [`read_machines`], but discards the warnings.
///
/// # Errors
/// The errors of [`read_machines`].
pub fn read_platform(path: &Path) -> Result<Instance, FormatError> {
    read_machines(path, false).map(|machines| machines.instance)
}
