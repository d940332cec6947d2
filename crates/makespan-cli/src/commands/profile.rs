//! `makespan profile`

use std::fmt::Write;
use std::process::ExitCode;

use makespan_core::{Instance, Job, Platform, Profile, Time};
use makespan_exec::cores;
use makespan_exec::profile::{MeasureOptions, MeasureProgress, Measurement, measure};
use makespan_formats::{Language, write_instance};
use makespan_history::law::{Fit, Sample, advice, fit};
use miette::{Result, miette};
use serde_json::json;

use super::convert::{check_ending, write_by_ending};
use crate::args::{Format, ProfileOptions, TimeLimit};
use crate::output::{check_target, emit, table, wrapped};
use crate::progress::bar;
use crate::summary::figure;

pub fn profile(options: &ProfileOptions) -> Result<ExitCode> {
    if let Some(path) = &options.output {
        // The output file is checked before the measurements, which take long.
        check_ending(path)?;
        check_target(path)?;
    }
    let cores = cores().map_err(|error| miette!("{error}"))?.len() as u32;
    let mut measuring = MeasureOptions::up_to(cores);
    if !options.allotments.is_empty() {
        measuring.allotments.clone_from(&options.allotments);
    }
    measuring.repetitions = options.repetitions;
    measuring.timeout = options.timeout.as_ref().map(TimeLimit::duration);
    let stop = measuring.stop.clone();
    ctrlc::set_handler(move || stop.request()).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))?;
    let runs = u64::from(options.repetitions) * measuring.allotments.len() as u64;
    let progress = bar(runs, "measuring");
    let measured = measure(&options.command, &measuring, &mut |event| {
        if matches!(event, MeasureProgress::Timed { .. }) {
            progress.inc(1);
        }
    });
    progress.finish_and_clear();
    let measurements = measured.map_err(|error| miette!("{error}"))?;
    let fits = fit(&samples(&measurements));
    let instance = entry(options, &measurements, fits.first(), cores)?;
    if let Some(path) = &options.output {
        write_by_ending(&instance, path)?;
    }
    emit(&match options.format {
        Format::Text => text(&measurements, &fits, &instance)?,
        Format::Json => format!("{:#}\n", json(&measurements, &fits)),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the shortest time of each allotment.
fn samples(measurements: &[Measurement]) -> Vec<Sample> {
    let sample = |measurement: &Measurement| Sample { processors: measurement.processors, time: measurement.minimum() };
    measurements.iter().map(sample).collect()
}

/// Returns an instance with this machine and the measured job. The job follows the law that fits best. If no law can be
/// fitted, the job is rigid with the first measured time.
fn entry(options: &ProfileOptions, measurements: &[Measurement], best: Option<&Fit>, cores: u32) -> Result<Instance> {
    let fail = |error: &dyn std::fmt::Display| miette!("{error}");
    let profile = match (best, measurements.first()) {
        (Some(fit), _) => Profile::law(fit.sequential, fit.law, 1, cores),
        (None, Some(only)) => Profile::rigid(only.processors, only.minimum()),
        (None, None) => return Err(miette!("nothing was measured")),
    };
    let program = options.command.first().map(std::path::Path::new).and_then(std::path::Path::file_name);
    let name = options.name.clone().or_else(|| program.map(|name| name.to_string_lossy().into_owned()));
    let job = Job::new(name.unwrap_or_else(|| "job".into()), profile.map_err(|error| fail(&error))?);
    let job = job.with_command(options.command.clone());
    let platform = Platform::flat(cores).map_err(|error| fail(&error))?;
    Instance::new(platform, vec![job], vec![]).map_err(|error| fail(&error))
}

fn text(measurements: &[Measurement], fits: &[Fit], instance: &Instance) -> Result<String> {
    let rows = measurements.iter().map(|measurement| {
        let fitted = fits.first().and_then(|fit| fit.residuals.iter().find(|r| r.processors == measurement.processors));
        vec![
            measurement.processors.to_string(),
            figure(measurement.minimum().seconds()),
            figure(measurement.median().seconds()),
            fitted.map_or("-".into(), |residual| figure(residual.fitted.seconds())),
            fitted.map_or("-".into(), |residual| format!("{:+.1} %", 100.0 * residual.relative)),
        ]
    });
    let mut text = table(&["processors", "shortest (s)", "median (s)", "best law (s)", "error"], 0, rows);
    text.push('\n');
    for (rank, fit) in fits.iter().enumerate() {
        let mark = if rank == 0 { "best " } else { "     " };
        let _ = writeln!(
            text,
            "{mark}{:<7} error {:.1} %, {} s on one processor, {}",
            fit.name(),
            100.0 * fit.error,
            figure(fit.sequential.seconds()),
            serde_json::to_string(&fit.law).unwrap_or_default()
        );
    }
    if let Some(advice) = advice(&samples(measurements)) {
        text += &wrapped("note: ", 6, &advice);
    }
    let mut file = Vec::new();
    write_instance(instance, Language::Toml, &mut file).map_err(|error| miette!("{error}"))?;
    let file = String::from_utf8_lossy(&file);
    let job = file.find("[[jobs]]").map_or(&*file, |at| &file[at..]);
    let _ = write!(text, "\nthe job entry:\n\n{job}");
    Ok(text)
}

fn json(measurements: &[Measurement], fits: &[Fit]) -> serde_json::Value {
    let seconds = |time: &Time| time.seconds();
    let measurement = |measurement: &Measurement| json!({ "processors": measurement.processors, "times": measurement.times.iter().map(seconds).collect::<Vec<_>>() });
    let fit = |fit: &Fit| json!({ "law": fit.law, "work": fit.sequential.seconds(), "error": fit.error });
    json!({
        "measurements": measurements.iter().map(measurement).collect::<Vec<_>>(),
        "fits": fits.iter().map(fit).collect::<Vec<_>>(),
    })
}
