//! Comparisons (`compare`) with shards that run on the nodes of a Slurm cluster.

use serde_json::Value;

use super::cluster::Cluster;
use super::workspace::{Said, Workspace};

#[test]
#[ignore = "long: a real Slurm"]
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
