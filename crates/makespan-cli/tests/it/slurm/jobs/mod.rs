//! Runs in which each task is a job of Slurm.

mod away;
mod ends;
mod kills;
mod later;
mod several;
mod sizes;

use super::workspace::{Said, Workspace};

const RUN: &str = "run batch.toml --on slurm:jobs --no-history --folder run";

/// Returns the outcome of each job of a completed run, by its name.
fn ends(space: &Workspace<'_>) -> std::collections::BTreeMap<String, String> {
    super::workspace::table(&space.path("run")).into_iter().map(|(name, _, state)| (name, state)).collect()
}

#[track_caller]
fn succeeds(space: &Workspace<'_>, said: &Said) {
    assert_eq!(said.status, Some(0), "{said:#?}{}{}", space.logs(), logs(space));
}

/// Returns the logs of the jobs.
fn logs(space: &Workspace<'_>) -> String {
    let entries = std::fs::read_dir(space.path("run/jobs/log")).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            format!("\n{}: {}", entry.path().display(), std::fs::read_to_string(entry.path()).unwrap_or_default())
        })
        .collect()
}
