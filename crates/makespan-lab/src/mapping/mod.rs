//! Mapping heuristics on the benchmark of Braun et al., compared with published results.
//!
//! All heuristics (including two genetic algorithms) and `optimise` map independent tasks to unrelated machines. An
//! instance is a matrix that contains the run time of each task on each machine. The campaign uses the files of the
//! benchmark, if they are present, and random matrices of the benchmark's twelve classes. A gap is the distance of a
//! plan from a bound with a verified certificate. The reference measurement uses the files and one random matrix of
//! each class.
//!
//! Source: T. D. Braun et al., "A comparison of eleven static heuristics for mapping a class of independent tasks onto
//! heterogeneous distributed computing systems", JPDC 61, 2001, DOI 10.1006/jpdc.2000.1714.

mod claims;
mod class;
mod published;
mod report;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use makespan_core::{Instance, Objective};
use makespan_formats::{ReadOptions, read_instance};
use makespan_generate::{Consistency, EtcOptions, etc};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{
    self, Campaign, CampaignReport, GridRow, MeasuredPlan, SearchOptions, cells, plans, positive, record, refuse, rows,
    stirred, table,
};
use class::MatrixClass;
use published::FILES;

/// Default folder of the benchmark's files.
const BENCHMARK: &str = "../shared/data/etc";

/// The heuristics, by their names in the catalogue.
const HEURISTICS: [&str; 13] = [
    "olb",
    "met",
    "mct",
    "min-min",
    "max-min",
    "duplex",
    "sufferage",
    "sufferage[mode=greedy]",
    "descent",
    "ga",
    "ga[fitness=makespan]",
    "ga[fitness=makespan,subset=64]",
    "braun-ga",
];

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct MappingOptions {
    /// Folder of the benchmark's files, such as `u_c_hihi.0.gz`; missing files are left out [default:
    /// ../shared/data/etc if it exists]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The limits of the optimiser.
    #[command(flatten)]
    pub search: SearchOptions,
    /// Classes to draw [default: all twelve]
    #[arg(long, value_delimiter = ',', value_name = "CLASS,..")]
    pub classes: Option<Vec<MatrixClass>>,
    /// Number of matrices drawn for each class
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seeds: u32,
    /// Number of tasks in a drawn matrix
    #[arg(long, default_value_t = 512)]
    pub tasks: usize,
    /// Number of machines in a drawn matrix
    #[arg(long, default_value_t = 16)]
    pub machines: u32,
    /// The same seed gives the same matrices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl MappingOptions {
    fn algorithms(&self) -> Vec<String> {
        HEURISTICS.into_iter().map(str::to_owned).chain(self.search.specs()).collect()
    }

    fn classes(&self) -> Vec<MatrixClass> {
        self.classes.clone().unwrap_or_else(MatrixClass::all)
    }

    /// Returns the folder of the benchmark's files.
    fn folder(&self) -> Option<&Path> {
        self.data.as_deref().or_else(|| Some(Path::new(BENCHMARK)).filter(|folder| folder.is_dir()))
    }

    /// Returns the path of a benchmark file, or `None` if the file does not exist.
    fn path(&self, file: usize) -> Option<PathBuf> {
        let (folder, name) = (self.folder()?, FILES[file].file);
        [format!("{name}.gz"), name.to_owned()].map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
    }

    /// Returns the seed of a matrix. The generator of the matrix and the algorithms use this seed.
    fn seed_of(&self, key: MappingKey) -> u64 {
        match key {
            MappingKey::File(_) => self.seed,
            MappingKey::Drawn { class, run } => {
                let MatrixClass { consistency, high_tasks, high_machines } = class;
                let parts = [consistency as u64, u64::from(high_tasks), u64::from(high_machines), u64::from(run)];
                stirred(self.seed, parts)
            }
        }
    }

    fn instance(&self, key: MappingKey) -> Result<Instance, LabError> {
        let class = match key {
            MappingKey::Drawn { class, .. } => class,
            MappingKey::File(file) => {
                let path = self.path(file).ok_or_else(|| LabError::Option {
                    name: "data",
                    value: format!("without {}", FILES[file].file),
                    expected: "leave the files in place while the campaign runs",
                })?;
                return Ok(read_instance(&path, &ReadOptions::default())?.instance);
            }
        };
        let MatrixClass { consistency, high_tasks, high_machines } = class;
        let (tasks, machines, seed) = (self.tasks, self.machines, self.seed_of(key));
        Ok(etc(&EtcOptions { tasks, machines, consistency, high_tasks, high_machines, seed })?)
    }
}

/// The key of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MappingKey {
    /// A file of the benchmark, as an index into [`FILES`].
    File(usize),
    /// A random matrix: its class, and the number of the repetition.
    Drawn { class: MatrixClass, run: u32 },
}

/// Formats a key, such as `u_c_hihi.0` or `c_hihi, run 0`.
impl fmt::Display for MappingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => f.pad(FILES[*file].file),
            Self::Drawn { class, run } => f.pad(&format!("{class}, run {run}")),
        }
    }
}

type Run = campaign::GridRun<MappingKey, (), MeasuredPlan>;
type Cell<'a> = campaign::GridCell<'a, &'static str, Run>;

/// Groups of matrices. Results are averaged over each group. The letters mean consistent (c), semi-consistent (s) and
/// inconsistent (i).
const GROUPS: [&str; 5] = ["files", "drawn c", "drawn s", "drawn i", "drawn"];

fn groups(run: &Run) -> Vec<&'static str> {
    match run.key {
        MappingKey::File(_) => vec![GROUPS[0]],
        MappingKey::Drawn { class, .. } => match class.consistency {
            Consistency::Consistent => vec![GROUPS[1], GROUPS[4]],
            Consistency::SemiConsistent => vec![GROUPS[2], GROUPS[4]],
            Consistency::Inconsistent => vec![GROUPS[3], GROUPS[4]],
        },
    }
}

/// Returns the distance of a plan from its bound, in per cent of the bound.
fn gap(&(run, algorithm, _): &GridRow<'_, Run>) -> f64 {
    run.ratio(algorithm).map_or(f64::NAN, |ratio| (ratio - 1.0) * 100.0)
}

fn seconds(&(.., plan): &GridRow<'_, Run>) -> f64 {
    plan.seconds
}

/// Writes `results.csv` and `summary.csv`.
impl Campaign for MappingOptions {
    const NAME: &'static str = "mapping";
    const PAPER: &'static str = "Braun et al.: eleven static heuristics for independent tasks on different machines \
                                 (JPDC 2001), compared with `optimise`";
    const UNIT: &'static str = "matrices";
    const MEASURES_TIME: bool = true;
    type Run = Run;

    fn check(&self) -> Result<(), LabError> {
        if let Some(folder) = self.data.as_ref().filter(|folder| !folder.is_dir()) {
            refuse("data", folder.display().to_string(), "name a folder with the benchmark's files")?;
        }
        self.search.check()?;
        positive(&[("tasks", self.tasks), ("seeds", self.seeds as usize)])?;
        if self.keys().is_empty() {
            refuse("classes", "empty", "name at least one class, or a folder with files of the benchmark")?;
        }
        Ok(())
    }

    fn version(&self) -> String {
        let Self { search, seed, tasks, machines, .. } = self;
        format!("data {:?}; seed {seed}; {tasks} x {machines}; {search}", self.folder())
    }

    fn search(&self) -> Option<&SearchOptions> {
        Some(&self.search)
    }

    fn keys(&self) -> Vec<MappingKey> {
        let files = (0..FILES.len()).filter(|&file| self.path(file).is_some()).map(MappingKey::File);
        let drawn = self.classes().into_iter();
        files.chain(drawn.flat_map(|class| (0..self.seeds).map(move |run| MappingKey::Drawn { class, run }))).collect()
    }

    fn measure(&self, key: MappingKey) -> Result<Run, LabError> {
        let (instance, seed) = (self.instance(key)?, self.seed_of(key));
        Ok(Run { key, seed, facts: (), outcomes: plans(&instance, self.algorithms(), seed, key)? })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let cells = cells(runs, groups);
        let header = "matrix,seed,algorithm,makespan,bound,gap_percent,seconds";
        let results = rows(runs).map(|row| {
            let (run, algorithm, plan) = row;
            let (makespan, bound) = (plan.decimal(), Objective::Makespan.decimal(run.bound()));
            record(&[&run.key, &run.seed, &algorithm, &makespan, &bound], [gap(&row), plan.seconds])
        });
        let summary = cells.iter().map(|cell| {
            let figures = [cell.mean(gap), cell.range(gap).1, cell.mean(seconds)];
            record(&[&cell.group, &cell.algorithm, &cell.rows.len()], figures)
        });
        let columns = "group,algorithm,matrices,gap_percent_mean,gap_percent_max,seconds_mean";
        let files = vec![table("results.csv", header, results), table("summary.csv", columns, summary)];
        Ok(CampaignReport { text: report::text(self, runs, &cells), claims: claims::all(self, runs, &cells), files })
    }
}

#[cfg(test)]
mod tests;
