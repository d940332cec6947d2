//! `makespan slurm`

use std::process::ExitCode;

use makespan_slurm::Commands;
use makespan_slurm::doctor::{Diagnosis, Examination, Verdict};

use miette::{Result, miette};

use super::findings::finding;
use crate::args::{DoctorOptions, Format, SlurmAction, SlurmCommands};
use crate::cluster::own_job;
use crate::output::{Line, Tone, emit, emit_lines, shown};

pub fn slurm(options: &SlurmCommands) -> Result<ExitCode> {
    match &options.action {
        SlurmAction::Doctor(options) => doctor(options),
    }
}

/// Checks the cluster. The exit status is a failure if runs on the cluster would fail.
fn doctor(options: &DoctorOptions) -> Result<ExitCode> {
    let folder = std::path::absolute(&options.folder)
        .map_err(|error| miette!("--folder {}: {error}", options.folder.display()))?;
    let examination = Examination {
        commands: Commands::new(),
        folder,
        partition: options.partition.clone(),
        nodes: options.nodes,
        patience: options.wait.0,
        own_job: own_job()?,
    };
    let diagnosis = examination.run();
    match options.format {
        Format::Json => emit(&format!("{:#}\n", json(&diagnosis)))?,
        Format::Text => emit_lines(&lines(&diagnosis))?,
    }
    Ok(if diagnosis.verdict() == Verdict::Bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn json(diagnosis: &Diagnosis) -> serde_json::Value {
    let mut value = serde_json::json!(diagnosis);
    value["verdict"] = serde_json::json!(diagnosis.verdict());
    value
}

fn lines(diagnosis: &Diagnosis) -> Vec<Line> {
    let head = match (&diagnosis.cluster, &diagnosis.version) {
        (Some(cluster), Some(version)) => format!("Cluster {cluster}, Slurm {version}"),
        _ => "No cluster answers".to_owned(),
    };
    let mut lines = vec![Line::plain(shown(&head).into_owned()), Line::plain(String::new())];
    lines.extend(diagnosis.findings.iter().map(finding));
    let count = |verdict| diagnosis.findings.iter().filter(|finding| finding.verdict == verdict).count();
    let (bad, doubtful) = (count(Verdict::Bad), count(Verdict::Doubtful));
    let (text, tone) = match (bad, doubtful) {
        (0, 0) => ("No problems were found.".to_owned(), Tone::Good),
        (0, 1) => ("You can run jobs here; 1 thing could be better.".to_owned(), Tone::Good),
        (0, doubtful) => (format!("You can run jobs here; {doubtful} things could be better."), Tone::Good),
        (1, _) => ("Runs would fail: solve 1 problem first.".to_owned(), Tone::Bad),
        (bad, _) => (format!("Runs would fail: solve {bad} problems first."), Tone::Bad),
    };
    lines.push(Line::plain(String::new()));
    lines.push(Line::new(tone, text));
    lines
}
