//! Determines the nodes and processors of a Slurm job. Runs inside the job.

use std::time::Duration;

use makespan_core::ProcSet;

use super::set;
use crate::{Commands, expand};

/// Time limit of the query for a job's processors.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns the nodes of the current job, and the processors of the task on each node, by Slurm's numbers. This node
/// comes first. The task uses `allotment` processors. Slurm may have allocated more, for example whole cores.
pub(super) fn nodes(job: u64, node: &str, allotment: u32) -> Vec<(String, ProcSet)> {
    let commands = Commands::new().with_patience(Duration::ZERO).with_limit(LIMIT);
    let shares = commands.job(job).ok().flatten().map(|job| job.shares).unwrap_or_default();
    let told = shares.iter().flat_map(|share| share.nodes.iter().map(|name| (name.clone(), share.cpus.clone())));
    let mut all: Vec<(String, ProcSet)> = told.filter(|(_, cpus)| !cpus.is_empty()).collect();
    if all.is_empty() {
        all = stated();
    }
    if all.is_empty() {
        all = vec![(node.to_owned(), ProcSet::first(allotment))];
    }
    all.sort_by_key(|(name, _)| name != node);
    let last = all.len() as u32;
    let mut left = allotment;
    for (at, (_, cpus)) in (1..).zip(&mut all) {
        // Leave at least one processor for each remaining node.
        let count = cpus.len().min(left.saturating_sub(last - at)).max(1);
        *cpus = set(cpus.iter().take(count as usize));
        left = left.saturating_sub(count);
    }
    all
}

/// Returns the nodes and their numbers of processors from the environment. The environment contains only counts, so
/// processors are numbered from 0.
fn stated() -> Vec<(String, ProcSet)> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let nodes = expand(&variable("SLURM_JOB_NODELIST")).unwrap_or_default();
    nodes
        .into_iter()
        .zip(counts(&variable("SLURM_JOB_CPUS_PER_NODE")))
        .map(|(name, count)| (name, ProcSet::first(count)))
        .collect()
}

/// Parses counts of processors. For example, `4(x2),3` represents 4, 4 and 3.
fn counts(text: &str) -> Vec<u32> {
    let one = |part: &str| {
        let (count, times) =
            part.split_once("(x").map_or((part, "1"), |(count, times)| (count, times.trim_end_matches(')')));
        Some(std::iter::repeat_n(count.parse().ok()?, times.parse().ok()?))
    };
    text.split(',').filter_map(one).flatten().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_are_read() {
        assert_eq!(super::counts("4(x2),3"), [4, 4, 3]);
        assert!(super::counts("").is_empty());
    }
}
