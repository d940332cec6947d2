//! Instances from files, with what the user should know about them.

use makespan_core::Instance;
use makespan_formats::{FormatError, ReadInstance, ReadOptions, read_instance};
use miette::{Result, miette};

use crate::args::InstanceOptions;

/// An instance and its remarks.
pub struct Loaded {
    pub instance: Instance,
    pub remarks: Vec<String>,
}

/// Reads the instance that the options name.
pub fn load(options: &InstanceOptions) -> Result<Loaded> {
    let InstanceOptions { processors, speedup, speedup_seed, strict, .. } = *options;
    let read = ReadOptions { processors, speedup, seed: speedup_seed, strict, ..ReadOptions::default() };
    from_file(read_instance(&options.instance, &read))
}

/// Reads a native instance for `run`.
pub fn load_plain(path: &std::path::Path) -> Result<Loaded> {
    from_file(read_instance(path, &ReadOptions::default()))
}

fn from_file(read: Result<ReadInstance, FormatError>) -> Result<Loaded> {
    let ReadInstance { instance, mut remarks, .. } = read.map_err(|error| miette!("{error}"))?;
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    Ok(Loaded { instance, remarks })
}
