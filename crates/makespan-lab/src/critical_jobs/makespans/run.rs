//! One graph under every algorithm.

use std::fmt;
use std::path::{Path, PathBuf};

use makespan_core::{Context, Instance, Objective};
use makespan_formats::{ReadOptions, read_instance};
use makespan_generate::{GraphOptions, Shape, generate_graphs};
use serde::{Deserialize, Serialize};

use super::Options;
use crate::LabError;
use crate::campaign::{at_least, failed, stirred, valid, verified};

/// What is drawn: layers of two kinds and four workflows.
pub(super) const SHAPES: [(&str, Shape); 6] = [
    ("layers", Shape::Layers { width: 8, density: 0.3 }),
    ("narrow layers", Shape::Layers { width: 4, density: 0.5 }),
    ("montage", Shape::Montage),
    ("epigenomics", Shape::Epigenomics),
    ("cybershake", Shape::CyberShake),
    ("fork-join", Shape::ForkJoin),
];
/// The least and the most tasks of a graph.
const TASKS: (f64, f64) = (20.0, 100.0);
/// The processors for each standard graph.
pub(super) const PROCESSORS: [u32; 4] = [2, 4, 8, 16];
/// Optimal lengths of standard graphs on so many processors.
const OPTIMA: [(&str, [u32; 4]); 4] = [
    ("rand0000.stg", [131, 66, 55, 55]),
    ("rand0010.stg", [105, 53, 43, 43]),
    ("rand0020.stg", [138, 69, 45, 45]),
    ("rand0030.stg", [146, 73, 37, 33]),
];

/// What stands beside `optimise` on drawn graphs; the first is what all are measured by.
pub(super) const ALGORITHMS: [&str; 5] =
    ["heft", "peft", "cpop", "critical-jobs[start=empty]", "critical-jobs[cpus=types,start=empty]"];

/// Which instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// A drawn graph: its shape as counted in the report, which one, and of how many.
    Drawn(u32, u32, u32),
    /// This one of the standard graphs, on so many processors.
    Standard(usize, u32),
}

/// What an algorithm made of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub algorithm: String,
    /// In seconds.
    pub makespan: f64,
    /// Whether it found a plan of its own; otherwise HEFT's places are taken.
    pub found: bool,
}

/// All outcomes on one instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which instance.
    pub key: Key,
    /// How many tasks it has.
    pub tasks: usize,
    /// What it is compared with, in seconds: of a drawn graph the verified bound, of a standard graph the known
    /// optimum.
    pub reference: f64,
    /// One an algorithm.
    pub outcomes: Vec<Outcome>,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drawn(shape, run, _) => write!(f, "graph {run} of shape {shape}"),
            Self::Standard(file, processors) => write!(f, "standard graph {file} on {processors} processors"),
        }
    }
}

impl Run {
    /// The outcome of an algorithm.
    pub fn of(&self, algorithm: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.algorithm == algorithm)
    }

    pub(super) fn rows<'a>(&'a self, files: &'a [PathBuf]) -> impl Iterator<Item = Vec<String>> + 'a {
        let (group, run, processors) = match self.key {
            Key::Drawn(shape, run, _) => (SHAPES[shape as usize % SHAPES.len()].0.to_owned(), run, 8),
            Key::Standard(file, processors) => {
                (files.get(file).map(|path| name(path)).unwrap_or_default(), 0, processors)
            }
        };
        self.outcomes.iter().map(move |outcome| {
            vec![
                group.clone(),
                run.to_string(),
                self.tasks.to_string(),
                processors.to_string(),
                format!("{:.9}", self.reference),
                outcome.algorithm.clone(),
                format!("{:.9}", outcome.makespan),
                outcome.found.to_string(),
            ]
        })
    }
}

/// The standard graphs of a folder whose optima are known, by name.
pub(super) fn files(folder: Option<&Path>) -> Result<Vec<PathBuf>, LabError> {
    let Some(folder) = folder else { return Ok(Vec::new()) };
    let entries = std::fs::read_dir(folder).map_err(LabError::file(folder))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(LabError::file(folder))?.path();
        if OPTIMA.iter().any(|(known, _)| *known == name(&path)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn keys(graphs: u32, files: &[PathBuf]) -> Vec<Key> {
    let drawn = (0..SHAPES.len() as u32).flat_map(|shape| (0..graphs).map(move |run| Key::Drawn(shape, run, graphs)));
    let on = |file: usize| PROCESSORS.map(move |processors| Key::Standard(file, processors));
    drawn.chain((0..files.len()).flat_map(on)).collect()
}

pub(super) fn execute(options: &Options, files: &[PathBuf], key: Key) -> Result<Run, LabError> {
    let (instance, optimum) = instance(options.seed, files, key)?;
    let bound = makespan_bounds::best(&instance, Objective::Makespan);
    let bound = verified(&bound.map_err(|error| failed("the bound", key, error.to_string()))?, &instance, key)?;
    let listed = ALGORITHMS.into_iter().filter(|_| optimum.is_none()).map(str::to_owned);
    let mut outcomes = Vec::new();
    for algorithm in listed.chain(options.search.specs()) {
        let (makespan, found) = planned(&instance, &algorithm, key)?;
        at_least(bound, Objective::Makespan, makespan, &algorithm, key)?;
        outcomes.push(Outcome { algorithm, makespan: seconds(makespan), found });
    }
    let reference = optimum.map_or_else(|| seconds(bound), f64::from);
    Ok(Run { key, tasks: instance.tasks() as usize, reference, outcomes })
}

/// The instance, and its optimal length where that is known.
pub(super) fn instance(seed: u64, files: &[PathBuf], key: Key) -> Result<(Instance, Option<u32>), LabError> {
    match key {
        Key::Drawn(shape, run, of) => {
            // The logarithms of the sizes are evenly spread, so that small graphs are as many as large ones.
            let share = f64::from(run) / f64::from(of.max(2) - 1);
            let tasks = (TASKS.0 * (TASKS.1 / TASKS.0).powf(share)).round() as usize;
            let seed = stirred(seed, [u64::from(shape), u64::from(run), 8]);
            let shape = SHAPES[shape as usize % SHAPES.len()].1;
            Ok((generate_graphs(&GraphOptions { shape, tasks, seed, ..GraphOptions::default() })?, None))
        }
        Key::Standard(file, processors) => {
            let path = &files[file];
            let options = ReadOptions { processors: Some(processors), ..ReadOptions::default() };
            let optima = OPTIMA.iter().find(|(known, _)| *known == name(path));
            let at = PROCESSORS.iter().position(|&known| known == processors);
            let optimum = optima.zip(at).map(|((_, optima), at)| optima[at]);
            Ok((read_instance(path, &options)?.instance, optimum))
        }
    }
}

/// The makespan in ticks of a valid plan, and whether it is the algorithm's own.
fn planned(instance: &Instance, algorithm: &str, key: Key) -> Result<(i128, bool), LabError> {
    let mut context = Context::with_seed(1);
    let scheduler = makespan_algos::scheduler(algorithm).map_err(|error| LabError::Algorithm(error.to_string()))?;
    let plan = scheduler.schedule(instance, &mut context);
    let plan = plan.map_err(|error| failed(algorithm, key, error.to_string()))?;
    let schedule = plan.into_schedule().ok_or_else(|| failed(algorithm, key, "it plans no placements".into()))?;
    valid(instance, &schedule).map_err(|reason| failed(algorithm, key, reason))?;
    let found = !context.remarks.iter().any(|remark| remark.contains("HEFT's places are taken"));
    Ok((Objective::Makespan.value(instance, &schedule), found))
}

fn seconds(ticks: i128) -> f64 {
    ticks as f64 / makespan_core::Time::TICKS_PER_SECOND as f64
}
