//! Makefiles: make says what it would do, and its targets are jobs.

use std::path::Path;
use std::process::{Command, Stdio};

use makespan_core::{Instance, Platform};
use makespan_formats::list::{ASK, read_make};
use miette::{Result, miette};

use crate::output::shown;

/// Whether a file is a makefile, by its name.
pub fn is_makefile(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(name.as_str(), "Makefile" | "makefile" | "GNUmakefile") || matches!(ending, Some("mk" | "mak" | "make"))
}

/// What make would do here for the first target of a makefile; `None` where all is up to date.
pub fn read(path: &Path, platform: &Platform) -> Result<Option<Instance>> {
    let name = path.display().to_string();
    path.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?;
    let mut make = Command::new("make");
    make.args(ASK)
        .arg("-f")
        .arg(path)
        .env("LC_ALL", "C")
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .stdin(Stdio::null());
    let output = make.output().map_err(|error| miette!("{name}: cannot run `make`, which reads makefiles: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().find(|line| line.contains("***")).or(said.lines().next()).unwrap_or("it says nothing");
        return Err(miette!("{name}: make refuses it: {}", shown(said)));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| miette!("{name}: what make prints of it is not UTF-8"))?;
    read_make(&name, &text, platform).map_err(|error| miette!("{error}"))
}
