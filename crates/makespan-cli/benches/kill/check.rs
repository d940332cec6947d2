//! Compares what the jobs wrote with what the run states about them. This code uses no code of makespan.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The log of the jobs and the folder of the run.
pub struct Evidence {
    /// Log file of the jobs.
    pub log: PathBuf,
    pub folder: PathBuf,
}

impl Evidence {
    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Returns how often a job wrote this word.
    pub fn times(&self, word: &str, job: &str) -> usize {
        self.log().lines().filter(|line| line.split(' ').take(2).eq([word, job])).count()
    }

    /// Returns the jobs that found another live attempt of themselves.
    pub fn twins(&self) -> BTreeSet<String> {
        self.log().lines().filter_map(|line| line.strip_prefix("twice ")).map(str::to_owned).collect()
    }

    /// Returns the content of the status files: name, number and exit status of each job.
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

    /// Returns the ends in the journal: number and outcome of each job.
    fn ends(&self) -> Vec<(u64, Value)> {
        let journal = fs::read_to_string(self.folder.join("journal.jsonl")).unwrap_or_default();
        let records = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records
            .filter_map(|record| Some((record["ended"]["job"].as_u64()?, record["ended"]["outcome"].clone())))
            .collect()
    }

    /// Returns the jobs that succeeded according to the journal or to a status file.
    pub fn done(&self) -> BTreeSet<String> {
        let statuses = self.statuses();
        let names: BTreeMap<u64, &String> = statuses.iter().map(|(name, job, _)| (*job, name)).collect();
        let told = self.ends().into_iter().filter(|(_, outcome)| outcome == "succeeded");
        let told = told.filter_map(|(job, _)| Some((*names.get(&job)?).clone()));
        let left = statuses.iter().filter(|(_, _, exit)| *exit == 0).map(|(name, ..)| name.clone());
        told.chain(left).collect()
    }

    /// Returns the number of ends of a job in the journal.
    pub fn ends_of(&self, job: u64) -> usize {
        self.ends().into_iter().filter(|(other, _)| *other == job).count()
    }

    /// Returns the number of successful ends of each job in the journal.
    pub fn successes(&self) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        for (job, _) in self.ends().into_iter().filter(|(_, outcome)| outcome == "succeeded") {
            *counts.entry(job).or_default() += 1;
        }
        counts
    }

    /// Returns the exit statuses of failed jobs in the journal.
    pub fn failures(&self) -> BTreeSet<i64> {
        self.ends().into_iter().filter_map(|(_, outcome)| outcome["failed"]["status"].as_i64()).collect()
    }
}

/// Returns the number of starts of each finished job. This number must never change again.
pub fn starts_of_done(evidence: &Evidence) -> BTreeMap<String, usize> {
    evidence.done().into_iter().map(|job| (job.clone(), evidence.times("start", &job))).collect()
}

/// Returns the path of a folder as it occurs in the environment of the processes.
pub fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
