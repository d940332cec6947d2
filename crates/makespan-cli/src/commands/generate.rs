//! `makespan generate`

use std::process::ExitCode;

use makespan_formats::{Language, write_instance};
use makespan_lab::generate::{MoldableOptions, generate as draw};
use miette::{Result, miette};

use super::convert::write_by_ending;
use crate::args::{GenerateOptions, Generator};
use crate::output::emit;

pub fn generate(options: &GenerateOptions) -> Result<ExitCode> {
    let Generator::Moldable { family, jobs, processors, seed, arrival_rate, ref output } = options.kind;
    if jobs == 0 {
        return Err(miette!("--jobs is 0; an instance has at least 1 job"));
    }
    let instance =
        draw(&MoldableOptions { family, jobs, processors, seed, arrival_rate }).map_err(|error| miette!("{error}"))?;
    if let Some(path) = output {
        write_by_ending(&instance, path)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = Vec::new();
    write_instance(&instance, Language::Json, &mut text).map_err(|error| miette!("{error}"))?;
    emit(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
