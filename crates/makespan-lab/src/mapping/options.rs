//! What to run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use makespan_core::{Instance, Objective, Time};
use makespan_formats::{ReadOptions, read_instance};

use super::{Class, FILES, Key};
use crate::LabError;
use crate::campaign::{build, stirred};
use crate::generate::{EtcOptions, etc};
use crate::optimiser::{Limit, Setting};

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
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// The folder of the benchmark's files, each `.gz` or plain; those that are missing are left out.
    pub data: Option<PathBuf>,
    /// The same seed gives the same matrices.
    pub seed: u64,
    /// Which classes are drawn.
    pub classes: Vec<Class>,
    /// Matrices of each class.
    pub seeds: u32,
    /// Tasks of a drawn matrix.
    pub tasks: usize,
    /// Machines of a drawn matrix.
    pub machines: u32,
    /// How long `optimise` may search; it runs once for each.
    pub limits: Vec<Limit>,
    /// Independent searches of `optimise`, a thread each.
    pub searches: usize,
    /// How many instances are planned at the same time. More than the cores can carry distorts the times.
    pub at_once: usize,
}

impl Options {
    /// The measurement of record: the files and one matrix of each class, 512 tasks on 16 machines, 1 s and 10 s.
    pub fn record(output: impl Into<PathBuf>, data: Option<PathBuf>) -> Self {
        Self {
            output: output.into(),
            data,
            seed: 1,
            classes: Class::all(),
            seeds: 1,
            tasks: 512,
            machines: 16,
            limits: [1, 10].map(|seconds| Limit::Time(Time::from_seconds(seconds))).to_vec(),
            searches: 2,
            at_once: 1,
        }
    }

    /// Every algorithm: the heuristics, then `optimise` with each limit.
    pub fn algorithms(&self) -> Vec<String> {
        let searching = self.limits.iter().map(|&limit| self.optimiser(limit));
        HEURISTICS.into_iter().map(str::to_owned).chain(searching).collect()
    }

    /// The spec of `optimise` under this limit.
    pub(super) fn optimiser(&self, limit: Limit) -> String {
        Setting { objective: Objective::Makespan, limit }.spec(self.searches)
    }

    pub(super) fn keys(&self) -> Vec<Key> {
        let files = (0..FILES.len()).filter(|&file| self.path(file).is_some()).map(Key::File);
        let drawn = self.classes.iter().flat_map(|&class| (0..self.seeds).map(move |run| Key::Drawn { class, run }));
        files.chain(drawn).collect()
    }

    /// Where a file of the benchmark is.
    pub(super) fn path(&self, file: usize) -> Option<PathBuf> {
        let (folder, name) = (self.data.as_ref()?, FILES[file].file);
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
        etc(&EtcOptions { tasks, machines, consistency, high_tasks, high_machines, seed })
    }

    /// What a run depends on besides its key.
    pub(super) fn version(&self) -> Result<String, LabError> {
        let Self { data, seed, tasks, machines, searches, at_once, .. } = self;
        let limits: Vec<String> = self.limits.iter().map(ToString::to_string).collect();
        Ok(format!(
            "build {:016x}; journal 1; data {data:?}; seed {seed}; {tasks} x {machines}; limits {}; \
             {searches} searches; {at_once} at once",
            build()?,
            limits.join(",")
        ))
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let refuse = |name, value: String, expected| Err(LabError::Option { name, value, expected });
        if let Some(folder) = self.data.as_ref().filter(|folder| !folder.is_dir()) {
            return refuse("data", folder.display().to_string(), "name a folder, that of the benchmark's files");
        }
        if self.limits.iter().collect::<BTreeSet<_>>().len() < self.limits.len() {
            return refuse("limits", "given twice".into(), "give each only once");
        }
        let counts = [
            ("tasks", self.tasks),
            ("searches", self.searches),
            ("at once", self.at_once),
            ("seeds", self.seeds as usize),
        ];
        if let Some((name, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
            return refuse(name, "0".into(), "it must be at least 1");
        }
        if self.keys().is_empty() {
            return refuse("classes", "empty".into(), "name at least one, or a folder that has files of the benchmark");
        }
        Ok(())
    }
}
