//! What to run.

use std::path::{Path, PathBuf};

use clap::Args;
use makespan_core::Instance;
use makespan_formats::{ReadOptions, read_instance};
use makespan_generate::{EtcOptions, etc};

use super::{Class, FILES, Key};
use crate::LabError;
use crate::campaign::{Search, stirred};

/// Where the files of the benchmark are looked for.
const BENCHMARK: &str = "../shared/data/etc";

/// The heuristics, each as the catalogue names it.
pub const HEURISTICS: [&str; 13] = [
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

/// A campaign.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder of the benchmark's files, such as `u_c_hihi.0.gz`; those that are missing are left out [default:
    /// ../shared/data/etc where it exists]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// How long the optimiser searches.
    #[command(flatten)]
    pub search: Search,
    /// Classes to draw [default: all twelve]
    #[arg(long, value_delimiter = ',', value_name = "CLASS,..")]
    pub classes: Option<Vec<Class>>,
    /// Matrices drawn of each class
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seeds: u32,
    /// Tasks of a drawn matrix
    #[arg(long, default_value_t = 512)]
    pub tasks: usize,
    /// Machines of a drawn matrix
    #[arg(long, default_value_t = 16)]
    pub machines: u32,
    /// The same seed gives the same matrices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Options {
    /// Every algorithm: the heuristics, then `optimise` with each limit.
    pub fn algorithms(&self) -> Vec<String> {
        HEURISTICS.into_iter().map(str::to_owned).chain(self.search.specs()).collect()
    }

    /// Which classes are drawn.
    pub(super) fn classes(&self) -> Vec<Class> {
        self.classes.clone().unwrap_or_else(Class::all)
    }

    /// The folder of the benchmark's files.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.data.as_deref().or_else(|| Some(Path::new(BENCHMARK)).filter(|folder| folder.is_dir()))
    }

    /// Where a file of the benchmark is.
    pub(super) fn path(&self, file: usize) -> Option<PathBuf> {
        let (folder, name) = (self.folder()?, FILES[file].file);
        [format!("{name}.gz"), name.to_owned()].map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
    }

    /// The seed of the algorithms, and of a drawn matrix.
    pub(super) fn seed_of(&self, key: Key) -> u64 {
        match key {
            Key::File(_) => self.seed,
            Key::Drawn { class, run } => {
                let Class { consistency, high_tasks, high_machines } = class;
                let parts = [consistency as u64, u64::from(high_tasks), u64::from(high_machines), u64::from(run)];
                stirred(self.seed, parts)
            }
        }
    }

    pub(super) fn instance(&self, key: Key) -> Result<Instance, LabError> {
        let class = match key {
            Key::Drawn { class, .. } => class,
            Key::File(file) => {
                let path = self.path(file).ok_or_else(|| LabError::Option {
                    name: "data",
                    value: format!("without {}", FILES[file].file),
                    expected: "leave the files in place while the campaign runs",
                })?;
                return Ok(read_instance(&path, &ReadOptions::default())?.instance);
            }
        };
        let Class { consistency, high_tasks, high_machines } = class;
        let (tasks, machines, seed) = (self.tasks, self.machines, self.seed_of(key));
        Ok(etc(&EtcOptions { tasks, machines, consistency, high_tasks, high_machines, seed })?)
    }
}
