//! Tests of `compare` with shards on this machine. It prints the same bytes as without shards, and computes no part
//! twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

/// Returns how often each shard was started, according to the journal of the run.
fn starts(folder: &Path) -> BTreeMap<u64, usize> {
    let journal = fs::read_to_string(folder.join("run/journal.jsonl")).unwrap_or_default();
    let mut starts = BTreeMap::new();
    for record in journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let Some(job) = record["started"]["job"].as_u64() {
            *starts.entry(job).or_default() += 1;
        }
    }
    starts
}

#[test]
fn a_comparison_in_shards_says_the_same_but_for_times() {
    let sandbox = Sandbox::with_small();
    let line = "compare small.toml -a demt,gang,list[order=saf],sequential";
    let timeless = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for line in lines.iter_mut().filter(|line| line.ends_with(" ms") || line.ends_with(" s")) {
            *line = line.rsplitn(3, ' ').nth(2).unwrap().trim_end().to_owned();
        }
        lines.join("\n")
    };
    let alone = sandbox.makespan(line).succeeds();
    let in_shards = sandbox.makespan(&format!("{line} --shards 2")).succeeds();
    assert_eq!(timeless(in_shards), timeless(alone));
    assert_eq!(starts(&sandbox.path("compare-small")).len(), 2);
    let json = |line: String| {
        let mut said: Value = serde_json::from_str(&sandbox.makespan(&line).succeeds()).unwrap();
        for row in said["algorithms"].as_array_mut().unwrap() {
            assert!(row["seconds"].take().as_f64().unwrap() >= 0.0);
        }
        said
    };
    assert_eq!(json(format!("{line} --shards 2 --format json")), json(format!("{line} --format json")));
    assert_eq!(starts(&sandbox.path("compare-small")).values().sum::<usize>(), 2);
    // The notes about algorithms that are left out are the same.
    sandbox.write(
        "etc.toml",
        "version = 1\n[platform]\nnodes = [{name = \"x\", processors = 1}, {name = \"y\", processors = 1}]\n[[jobs]]\nname = \"a\"\ntime = 3\n",
    );
    let all = sandbox.makespan("compare etc.toml --shards 3 --folder all").succeeds();
    assert!(all.contains("algorithm"), "{all}");
}

#[test]
fn shards_that_fail_and_other_commands_are_told() {
    let sandbox = Sandbox::with_small();
    // `min-min` refuses tasks on several processors.
    let line = "compare small.toml -a gang,min-min --shards 2";
    sandbox.makespan(line).refused(&["shard-0001 failed: it returned exit status 1", "min-min", "shard-0001.err"]);
    sandbox.makespan(line).refused(&["shard-0001 failed", "repeat the same command"]);
    assert_eq!(starts(&sandbox.path("compare-small")), [(0, 1), (1, 2)].into());
    let other = "compare small.toml -a gang --shards 2";
    sandbox.makespan(other).refused(&["compare-small contains shards of another command", "gang,min-min", "--folder"]);
    sandbox.makespan(&format!("{line} --seed 2")).refused(&["another command"]);
    sandbox
        .makespan(&line.replace("--shards 2", "--shards 1"))
        .refused(&["already contains 2 shards", "remove --shards"]);
    sandbox.makespan("compare small.toml --folder f").refused(&["--on slurm or --shards"]);
    sandbox.makespan("compare small.toml --shards 2 --folder small.toml").refused(&["is a file", "--folder"]);
    sandbox.makespan("compare small.toml -a gng --shards 2 --folder f").refused(&["unknown algorithm `gng`"]);
    sandbox.makespan("shard . 0").refused(&["contains no shards"]);
    sandbox.makespan("shard compare-small 7").refused(&["shards 0 to 1"]);
    assert!(!sandbox.path("f").exists());
}
