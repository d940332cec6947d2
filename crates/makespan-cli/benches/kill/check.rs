//! What the jobs themselves wrote down, beside what the run says of them. Nothing of makespan's own code is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The two sides of a run.
pub struct Evidence {
    /// Where the jobs write.
    pub log: PathBuf,
    pub folder: PathBuf,
}

impl Evidence {
    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// How often a job wrote this word.
    pub fn times(&self, word: &str, job: &str) -> usize {
        self.log().lines().filter(|line| line.split(' ').take(2).eq([word, job])).count()
    }

    /// Jobs that met a copy of themselves.
    pub fn twins(&self) -> BTreeSet<String> {
        self.log().lines().filter_map(|line| line.strip_prefix("twice ")).map(str::to_owned).collect()
    }

    /// The status files: name and number of the job, exit status.
    fn statuses(&self) -> Vec<(String, u64, i64)> {
        let Ok(entries) = fs::read_dir(self.folder.join("status")) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        let whole = paths.filter(|path| path.extension().is_none_or(|end| end != "tmp"));
        whole
            .filter_map(|path| {
                let value: Value = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
                let name = path.file_stem()?.to_str()?.replace('~', "/");
                Some((name, value["claim"]["job"].as_u64()?, value["exit"].as_i64()?))
            })
            .collect()
    }

    /// The ends in the journal: number of the job, how it ended.
    fn ends(&self) -> Vec<(u64, Value)> {
        let journal = fs::read_to_string(self.folder.join("journal.jsonl")).unwrap_or_default();
        let records = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records
            .filter_map(|record| Some((record["ended"]["job"].as_u64()?, record["ended"]["outcome"].clone())))
            .collect()
    }

    /// The jobs of which the run says, in its journal or in a status file, that they ended with success.
    pub fn done(&self) -> BTreeSet<String> {
        let statuses = self.statuses();
        let names: BTreeMap<u64, &String> = statuses.iter().map(|(name, job, _)| (*job, name)).collect();
        let told = self.ends().into_iter().filter(|(_, outcome)| outcome == "succeeded");
        let told = told.filter_map(|(job, _)| Some((*names.get(&job)?).clone()));
        let left = statuses.iter().filter(|(_, _, exit)| *exit == 0).map(|(name, ..)| name.clone());
        told.chain(left).collect()
    }

    /// The number of ends of a job in the journal.
    pub fn ends_of(&self, job: u64) -> usize {
        self.ends().into_iter().filter(|(other, _)| *other == job).count()
    }

    /// How often the journal says that each job ended with success.
    pub fn successes(&self) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        for (job, _) in self.ends().into_iter().filter(|(_, outcome)| outcome == "succeeded") {
            *counts.entry(job).or_default() += 1;
        }
        counts
    }

    /// The exit statuses with which jobs failed, as the journal says.
    pub fn failures(&self) -> BTreeSet<i64> {
        self.ends().into_iter().filter_map(|(_, outcome)| outcome["failed"]["status"].as_i64()).collect()
    }
}

/// How often each job that is done was started: this must never change again.
pub fn starts_of_done(evidence: &Evidence) -> BTreeMap<String, usize> {
    evidence.done().into_iter().map(|job| (job.clone(), evidence.times("start", &job))).collect()
}

/// A folder's path as processes are marked with it.
pub fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
