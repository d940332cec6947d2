//! `makespan verify`

use std::fs;
use std::process::ExitCode;

use makespan_formats::PlanFile;
use makespan_verify::check::{problems, verdict};
use miette::{Result, miette};

use crate::args::{Format, VerifyOptions};
use crate::input::load;
use crate::output::emit;

pub fn verify(options: &VerifyOptions) -> Result<ExitCode> {
    let instance = load(&options.input)?.instance;
    let name = options.schedule.display().to_string();
    let bytes = fs::read(&options.schedule).map_err(|error| miette!("{name}: cannot open: {error}"))?;
    let file = PlanFile::read(&name, &bytes, &instance).map_err(|error| miette!("{error}"))?;
    let problems = problems(&instance, &file);
    match options.format {
        Format::Json => {
            let report = serde_json::json!({ "valid": problems.is_empty(), "problems": problems });
            emit(&format!("{report:#}\n"))?;
        }
        Format::Text => emit(&verdict(&name, &instance, &file, &problems))?,
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
