//! `reproduce` and `compare` in shards on this machine: the same bytes, and nothing is computed twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::Sandbox;

const TREES: &str = "trees --trees 1 --tasks 20 --alone";

/// The files of results, by name, without what says how they came to be.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if ["journal.jsonl", "shards", "run"].contains(&name.as_str()) {
            continue;
        }
        if entry.path().is_dir() {
            let inner = results(&entry.path()).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes));
            all.extend(inner);
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

/// How often each shard was started, by the journal of the run.
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
fn a_campaign_in_shards_says_and_writes_the_same() {
    let sandbox = Sandbox::new();
    let critical = "critical-jobs --graphs 1 --flows 1 --jobs 3 --makespan-graphs 1 --limits steps=20";
    for (campaign, shards) in [(TREES, 5), (critical, 3)] {
        let alone = sandbox.makespan(&format!("reproduce {campaign} --output results")).succeeds();
        fs::rename(sandbox.path("results"), sandbox.path("alone")).unwrap();
        let line = format!("reproduce --shards {shards} {campaign} --output results");
        assert_eq!(sandbox.makespan(&line).succeeds(), alone);
        assert_eq!(results(&sandbox.path("results")), results(&sandbox.path("alone")), "{campaign}");
        assert_eq!(starts(&sandbox.path("results")), (0..shards).map(|shard| (shard, 1)).collect());
        // All is there: no shard is begun, and without shards it is so, too.
        let again = sandbox.makespan(&line).succeeds();
        assert_eq!(again, sandbox.makespan(&format!("reproduce {campaign} --output results")).succeeds());
        assert!(again.contains(" from an earlier campaign)") && !again.contains("(0 from"), "{again}");
        assert_eq!(starts(&sandbox.path("results")).len(), shards as usize);
        for folder in ["results", "alone"] {
            fs::remove_dir_all(sandbox.path(folder)).unwrap();
        }
    }
}

#[test]
fn times_that_shards_measured_are_called_so() {
    let sandbox = Sandbox::new();
    let demt = "demt --runs 1 --families weak,high --jobs 5 --processors 8 --output results";
    let said = sandbox.makespan(&format!("reproduce --shards 2 {demt}")).succeeds();
    assert!(said.contains("Times were measured in shards"), "{said}");
    let in_shards = results(&sandbox.path("results"));
    fs::remove_dir_all(sandbox.path("results")).unwrap();
    let alone = sandbox.makespan(&format!("reproduce {demt}")).succeeds();
    assert!(!alone.contains("in shards"), "{alone}");
    let alone = results(&sandbox.path("results"));
    assert_eq!(in_shards.keys().collect::<Vec<_>>(), alone.keys().collect::<Vec<_>>());
    for name in ["results.csv", "summary.csv", "figure2.svg", "figure3a.svg"] {
        assert_eq!(in_shards[name], alone[name], "{name}");
    }
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
    // What the catalogue leaves out is remarked alike.
    sandbox.write(
        "etc.toml",
        "version = 1\n[platform]\nnodes = [{name = \"x\", processors = 1}, {name = \"y\", processors = 1}]\n[[jobs]]\nname = \"a\"\ntime = 3\n",
    );
    let all = sandbox.makespan("compare etc.toml --shards 3 --folder all").succeeds();
    assert!(all.contains("algorithm"), "{all}");
}

#[test]
fn what_a_killed_planner_had_done_is_not_done_again() {
    let sandbox = Sandbox::new();
    let line = format!("reproduce --shards 8 {TREES} --output results");
    let alone = sandbox.makespan(&format!("reproduce {TREES} --output results")).succeeds();
    let files = results(&sandbox.path("results"));
    fs::remove_dir_all(sandbox.path("results")).unwrap();
    let mut planner = sandbox.command(&line).spawn().unwrap();
    let folder = sandbox.path("results");
    let ended = || {
        let journal = fs::read_to_string(folder.join("run/journal.jsonl")).unwrap_or_default();
        let records = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.filter_map(|record| record["ended"]["job"].as_u64()).collect::<Vec<u64>>()
    };
    let end = Instant::now() + Duration::from_mins(1);
    while ended().len() < 2 {
        assert!(Instant::now() < end, "no shard ends");
        std::thread::sleep(Duration::from_millis(2));
    }
    // Nobody else may work there meanwhile.
    let other = sandbox.makespan(&line);
    if planner.try_wait().unwrap().is_none() {
        other.refused(&["are being computed for another command", "--output"]);
    }
    planner.kill().unwrap();
    planner.wait().unwrap();
    let before = ended();
    assert_eq!(sandbox.makespan(&line).out, alone);
    assert_eq!(results(&folder), files);
    let starts = starts(&folder);
    assert!(before.iter().all(|shard| starts[shard] == 1), "{before:?} {starts:?}");
    assert_eq!(starts.len(), 8);
}

#[test]
fn shards_that_fail_and_other_commands_are_told() {
    let sandbox = Sandbox::with_small();
    // A task on several processors is not for machines.
    let line = "compare small.toml -a gang,min-min --shards 2";
    sandbox.makespan(line).refused(&["shard-0001 failed: it returned exit status 1", "min-min", "shard-0001.err"]);
    sandbox.makespan(line).refused(&["shard-0001 failed", "the same command goes on"]);
    assert_eq!(starts(&sandbox.path("compare-small")), [(0, 1), (1, 2)].into());
    let other = "compare small.toml -a gang --shards 2";
    sandbox.makespan(other).refused(&["compare-small holds shards of another command", "gang,min-min", "--folder"]);
    sandbox.makespan(&format!("{line} --seed 2")).refused(&["another command"]);
    sandbox.makespan(&line.replace("--shards 2", "--shards 1")).refused(&["2 shards already", "leave --shards out"]);
    sandbox.makespan("compare small.toml --folder f").refused(&["--on slurm or --shards"]);
    sandbox.makespan("compare small.toml --shards 2 --folder small.toml").refused(&["is a file", "--folder"]);
    sandbox.makespan("compare small.toml -a gng --shards 2 --folder f").refused(&["unknown algorithm `gng`"]);
    sandbox.makespan("reproduce --shards 2 trees --trees 0 --output f").refused(&["trees is 0"]);
    sandbox.makespan("reproduce --shards 2 trees --output small.toml").refused(&["small.toml` is a file"]);
    sandbox.makespan("reproduce trees --on slurm").misused(&["'--on'", "before the campaign", "reproduce --on slurm"]);
    sandbox.makespan("reproduce --shards 0 trees").misused(&["--shards"]);
    sandbox.makespan("shard . 0").refused(&["no work is split there"]);
    sandbox.makespan("shard compare-small 7").refused(&["shards 0 to 1"]);
    assert!(!sandbox.path("f").exists());
    let trees = format!("reproduce --shards 2 {TREES}");
    sandbox.makespan(&trees).succeeds();
    sandbox.makespan(&format!("{trees} --seed 3")).refused(&["reproduce-trees holds shards of another", "--output"]);
}
