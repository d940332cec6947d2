//! Compares makespans on two kinds of graphs. On random layered graphs and workflows (on 8 processors), makespans are
//! compared with HEFT's makespans. On standard task graphs, they are compared with known optima.
//!
//! This part of the campaign runs alone, because searches with a time limit need all cores.

mod report;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use makespan_core::{Instance, Objective, Time};
use makespan_formats::{ReadOptions, read_instance};
use makespan_generate::{GraphOptions, Shape, generate_graphs};
use serde::{Deserialize, Serialize};

use super::FALLBACK;
use crate::LabError;
use crate::campaign::{
    self, Campaign, CampaignReport, SearchOptions, at_least, failed, positive, refuse, rows, scheduled, stirred, table,
    texts, verified,
};

/// Default folder of the standard task graphs.
const STANDARD: &str = "../shared/data/stg";

/// The shapes of the random graphs: two kinds of layered graphs, and four workflows.
const SHAPES: [(&str, Shape); 6] = [
    ("layers", Shape::Layers { width: 8, density: 0.3 }),
    ("narrow layers", Shape::Layers { width: 4, density: 0.5 }),
    ("montage", Shape::Montage),
    ("epigenomics", Shape::Epigenomics),
    ("cybershake", Shape::CyberShake),
    ("fork-join", Shape::ForkJoin),
];
/// Minimum and maximum number of tasks of a graph.
const TASKS: (f64, f64) = (20.0, 100.0);
/// Numbers of processors for each standard graph.
const PROCESSORS: [u32; 4] = [2, 4, 8, 16];
/// Standard graphs, each with its optimal makespans on the numbers of processors in [`PROCESSORS`].
const OPTIMA: [(&str, [u32; 4]); 4] = [
    ("rand0000.stg", [131, 66, 55, 55]),
    ("rand0010.stg", [105, 53, 43, 43]),
    ("rand0020.stg", [138, 69, 45, 45]),
    ("rand0030.stg", [146, 73, 37, 33]),
];

/// The algorithms that are compared with `optimise` on random graphs. The first algorithm, HEFT, is the reference.
const ALGORITHMS: [&str; 5] =
    ["heft", "peft", "cpop", "critical-jobs[start=empty]", "critical-jobs[cpus=types,start=empty]"];

/// The options of this part.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct MakespansOptions {
    /// Number of graphs for each of 6 shapes, with 20 to 100 tasks each, to compare makespans
    #[arg(id = "makespan_graphs", long = "makespan-graphs", default_value_t = 16, value_name = "GRAPHS")]
    pub graphs: u32,
    /// The limits of the optimiser.
    #[command(flatten)]
    pub search: SearchOptions,
    /// Folder of standard task graphs, such as `rand0000.stg` [default: ../shared/data/stg if it exists]
    #[arg(long = "data", value_name = "DIR")]
    pub standard: Option<PathBuf>,
    /// The seed of the campaign.
    #[arg(skip)]
    pub seed: u64,
}

impl MakespansOptions {
    pub(super) fn usual_search(command: Command) -> Command {
        command.mut_arg("limits", |arg| arg.default_value("300ms,1s"))
    }

    /// Returns the standard graphs that are planned.
    fn files(&self) -> Result<Vec<PathBuf>, LabError> {
        let usual = Some(Path::new(STANDARD)).filter(|folder| folder.is_dir());
        files(self.standard.as_deref().or(usual))
    }
}

/// The key of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MakespansKey {
    /// A random graph: the index of its shape, its index among the graphs of this shape, and the number of graphs of
    /// this shape.
    Drawn(u32, u32, u32),
    /// A standard graph: its index, and the number of processors on which the graph is planned.
    Standard(usize, u32),
}

/// The outcome of an algorithm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MakespansOutcome {
    /// Makespan in seconds.
    makespan: f64,
    /// False if the algorithm found no plan of its own. Then `makespan` is the makespan of HEFT's plan.
    found: bool,
}

/// Facts about an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    tasks: usize,
    /// The value, in seconds, with which makespans are compared. For a random graph, the verified bound. For a standard
    /// graph, the known optimum.
    reference: f64,
}

type Run = campaign::GridRun<MakespansKey, Facts, MakespansOutcome>;

impl fmt::Display for MakespansKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drawn(shape, run, _) => write!(f, "graph {run} of shape {shape}"),
            Self::Standard(file, processors) => write!(f, "standard graph {file} on {processors} processors"),
        }
    }
}

/// Returns the files in a folder that contain standard task graphs with known optima. The files are sorted by name.
fn files(folder: Option<&Path>) -> Result<Vec<PathBuf>, LabError> {
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

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes `results.csv`.
impl Campaign for MakespansOptions {
    const NAME: &'static str = "makespans";
    const PAPER: &'static str = "Makespans of graphs of tasks, compared with HEFT's";
    const UNIT: &'static str = "graphs";
    type Run = Run;

    fn arguments(command: Command) -> Command {
        Self::usual_search(Self::augment_args(command))
    }

    fn check(&self) -> Result<(), LabError> {
        positive(&[("makespan graphs", self.graphs as usize)])?;
        if let Some(folder) = self.standard.as_ref().filter(|folder| !folder.is_dir()) {
            refuse("data", folder.display().to_string(), "name a folder with the standard task graphs")?;
        }
        self.search.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {}; files {:?}", self.seed, self.search, self.files().ok())
    }

    fn search(&self) -> Option<&SearchOptions> {
        Some(&self.search)
    }

    fn keys(&self) -> Vec<MakespansKey> {
        let (graphs, files) = (self.graphs, self.files().unwrap_or_default().len());
        let drawn = |shape: usize| (0..graphs).map(move |run| MakespansKey::Drawn(shape as u32, run, graphs));
        let on = |file: usize| PROCESSORS.map(move |processors| MakespansKey::Standard(file, processors));
        (0..SHAPES.len()).flat_map(drawn).chain((0..files).flat_map(on)).collect()
    }

    fn measure(&self, key: MakespansKey) -> Result<Run, LabError> {
        let (instance, optimum) = instance(self.seed, &self.files()?, key)?;
        let bound = makespan_bounds::best(&instance, Objective::Makespan);
        let bound = verified(&bound.map_err(|error| failed("the bound", key, error.to_string()))?, &instance, key)?;
        let listed = ALGORITHMS.into_iter().filter(|_| optimum.is_none()).map(str::to_owned);
        let mut outcomes = Vec::new();
        for algorithm in listed.chain(self.search.specs()) {
            let planned = scheduled(&instance, &algorithm, 1).map_err(|reason| failed(&algorithm, key, reason))?;
            let (makespan, found) = (
                Objective::Makespan.value(&instance, &planned.0),
                !planned.1.iter().any(|remark| remark.contains(FALLBACK)),
            );
            at_least(bound, Objective::Makespan, makespan, &algorithm, key)?;
            outcomes.push((algorithm, MakespansOutcome { makespan: seconds(makespan), found }));
        }
        let reference = optimum.map_or_else(|| seconds(bound), f64::from);
        let facts = Facts { tasks: instance.tasks() as usize, reference };
        Ok(Run { key, seed: self.seed, facts, outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let files = self.files()?;
        let row = |(run, algorithm, outcome): campaign::GridRow<'_, Run>| {
            let (group, number, processors) = match run.key {
                MakespansKey::Drawn(shape, run, _) => (SHAPES[shape as usize % SHAPES.len()].0.to_owned(), run, 8),
                MakespansKey::Standard(file, processors) => {
                    (files.get(file).map(|path| name(path)).unwrap_or_default(), 0, processors)
                }
            };
            let [reference, makespan] = [run.facts.reference, outcome.makespan].map(|time| format!("{time:.9}"));
            let head = texts(&[&group, &number, &run.facts.tasks, &processors, &reference]);
            [head, texts(&[&algorithm, &makespan, &outcome.found])].concat()
        };
        let header = "group,run,tasks,processors,reference,algorithm,makespan,found";
        let results = table("results.csv", header, rows(runs).map(row));
        let report = report::Report { options: self, runs, files: &files };
        Ok(CampaignReport { text: report.text(), claims: report.claims(), files: vec![results] })
    }
}

/// Returns the instance of a key, and the optimal makespan if it is known.
fn instance(seed: u64, files: &[PathBuf], key: MakespansKey) -> Result<(Instance, Option<u32>), LabError> {
    match key {
        MakespansKey::Drawn(shape, run, of) => {
            // Space the logarithms of the numbers of tasks evenly, so that small and large graphs are equally frequent.
            let share = f64::from(run) / f64::from(of.max(2) - 1);
            let tasks = (TASKS.0 * (TASKS.1 / TASKS.0).powf(share)).round() as usize;
            let seed = stirred(seed, [u64::from(shape), u64::from(run), 8]);
            let shape = SHAPES[shape as usize % SHAPES.len()].1;
            Ok((generate_graphs(&GraphOptions { shape, tasks, seed, ..GraphOptions::default() })?, None))
        }
        MakespansKey::Standard(file, processors) => {
            let path = &files[file];
            let options = ReadOptions { processors: Some(processors), ..ReadOptions::default() };
            let optima = OPTIMA.iter().find(|(known, _)| *known == name(path));
            let at = PROCESSORS.iter().position(|&known| known == processors);
            let optimum = optima.zip(at).map(|((_, optima), at)| optima[at]);
            Ok((read_instance(path, &options)?.instance, optimum))
        }
    }
}

fn seconds(ticks: i128) -> f64 {
    ticks as f64 / Time::TICKS_PER_SECOND as f64
}

#[cfg(test)]
mod tests;
