//! Campaigns and comparisons that compute themselves on the nodes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::cluster::Cluster;
use super::workspace::{Said, Workspace};

const TREES: &str = "trees --trees 1 --tasks 20 --alone --output results";

/// The files of results, by name, without what says how they came to be.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file());
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
    named.filter(|(name, _)| name != "journal.jsonl").collect()
}

/// The shards of the records of a kind in the journal of the run, which tell of starts and ends.
fn recorded(space: &Workspace<'_>, kind: &str) -> Vec<u64> {
    let journal = space.read("results/run/journal.jsonl");
    let records = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.filter_map(|record| record[kind]["job"].as_u64()).collect()
}

#[test]
fn a_campaign_on_the_nodes_has_the_same_bytes_also_when_its_planner_is_killed() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "campaign");
    let alone = space.makespan(&format!("reproduce {TREES}"));
    assert_eq!(alone.status, Some(0), "{alone:#?}");
    let files = results(&space.path("results"));
    fs::remove_dir_all(space.path("results")).unwrap();
    let line = format!("reproduce --on slurm --nodes 4 --shards 24 {TREES}");
    let mut planner = space.command(&line).spawn().unwrap();
    space.wait("some shards are done", || recorded(&space, "ended").len() >= 3);
    planner.kill().unwrap();
    let _ = planner.wait_with_output().unwrap();
    let before = recorded(&space, "ended");
    let said = space.makespan(&line);
    assert_eq!((said.status, &said.out), (Some(0), &alone.out), "{said:#?}{}", space.logs());
    assert_eq!(results(&space.path("results")), files);
    let starts = recorded(&space, "started");
    for shard in before {
        assert_eq!(starts.iter().filter(|&&start| start == shard).count(), 1, "{shard} in {starts:?}");
    }
    assert!((0..24).all(|shard| starts.contains(&shard)), "{starts:?}");
    let other = space.makespan(&format!("{line} --seed 2"));
    assert_eq!(other.status, Some(1), "{other:#?}");
    other.holds(&["holds shards of another command", "--output"]);
}

#[test]
fn a_comparison_on_the_nodes_says_the_same_and_failures_name_their_log() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "comparison");
    space.write("small.toml", "version = 1\n[platform]\nprocessors = 8\n[[jobs]]\nname = \"a\"\ntime = [9, 5, 4]\n[[jobs]]\nname = \"b\"\ntime = 7\n");
    let timeless = |said: &Said| {
        let mut value: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:#?}{}", space.logs()));
        value["algorithms"].as_array_mut().unwrap().iter_mut().for_each(|row| drop(row["seconds"].take()));
        value
    };
    let line = "compare small.toml --format json -a demt,gang,sequential";
    let alone = space.makespan(line);
    let there = space.makespan(&format!("{line} --on slurm --nodes 2 --folder there"));
    assert_eq!(timeless(&there), timeless(&alone));
    let failed = space.makespan("compare small.toml -a gang,min-min --on slurm --folder failed");
    assert_eq!(failed.status, Some(1), "{failed:#?}");
    failed.holds(&["shard-0001 failed: it returned exit status 1", "min-min", "failed/run/shard-0001.err"]);
    let none = space.makespan("compare small.toml --on slurm --partition nowhere --folder none");
    assert_eq!(none.status, Some(1), "{none:#?}");
    none.holds(&["no partition `nowhere`"]);
    assert!(!space.path("none/run").exists());
}
