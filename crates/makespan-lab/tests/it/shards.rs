//! Tests that campaigns in shards on this machine write the same bytes as a campaign without shards, and compute
//! nothing twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::Sandbox;

const TREES: &str = "trees --trees 1 --tasks 20 --alone";

/// Returns the contents of the result files by name. Leaves out the files that record how the campaign ran.
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

/// Returns the number of starts of each shard, from the journal of the run.
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
        let alone = sandbox.lab(&format!("{campaign} --output results")).succeeds();
        fs::rename(sandbox.path("results"), sandbox.path("alone")).unwrap();
        let line = format!("--shards {shards} {campaign} --output results");
        assert_eq!(sandbox.lab(&line).succeeds(), alone);
        assert_eq!(results(&sandbox.path("results")), results(&sandbox.path("alone")), "{campaign}");
        assert_eq!(starts(&sandbox.path("results")), (0..shards).map(|shard| (shard, 1)).collect());
        // All results exist already. So a campaign measures no runs, with or without shards.
        let again = sandbox.lab(&line).succeeds();
        assert_eq!(again, sandbox.lab(&format!("{campaign} --output results")).succeeds());
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
    let said = sandbox.lab(&format!("--shards 2 {demt}")).succeeds();
    assert!(said.contains("Times were measured in shards"), "{said}");
    let in_shards = results(&sandbox.path("results"));
    fs::remove_dir_all(sandbox.path("results")).unwrap();
    let alone = sandbox.lab(demt).succeeds();
    assert!(!alone.contains("in shards"), "{alone}");
    let alone = results(&sandbox.path("results"));
    assert_eq!(in_shards.keys().collect::<Vec<_>>(), alone.keys().collect::<Vec<_>>());
    for name in ["results.csv", "summary.csv", "figure2.svg", "figure3a.svg"] {
        assert_eq!(in_shards[name], alone[name], "{name}");
    }
}

#[test]
fn what_a_killed_planner_had_done_is_not_done_again() {
    let sandbox = Sandbox::new();
    let line = format!("--shards 8 {TREES} --output results");
    let alone = sandbox.lab(&format!("{TREES} --output results")).succeeds();
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
    // Until the first planner has finished, no other command can measure runs in the folder.
    let other = sandbox.lab(&line);
    if other.status == Some(0) {
        assert_eq!(ended().len(), 8, "{other:?}");
    } else if other.err.contains("another campaign") {
        // The first planner is already writing its report.
        other.refused(&["another campaign is writing to this folder", "choose another folder"]);
    } else {
        other.refused(&["are being computed for another command", "--output"]);
    }
    planner.kill().unwrap();
    planner.wait().unwrap();
    let before = ended();
    // The planner may have finished before it was killed. Then the report states that the results are from an earlier
    // campaign.
    let told = |text: &str| text.lines().filter(|line| !line.contains("from an earlier campaign")).collect::<String>();
    assert_eq!(told(&sandbox.lab(&line).out), told(&alone));
    assert_eq!(results(&folder), files);
    let starts = starts(&folder);
    assert!(before.iter().all(|shard| starts[shard] == 1), "{before:?} {starts:?}");
    assert_eq!(starts.len(), 8);
}

#[test]
fn shards_of_other_campaigns_and_bad_options_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    sandbox.lab("--shards 2 trees --trees 0 --output f").refused(&["trees is 0"]);
    sandbox.lab("--shards 2 trees --output file").refused(&["file` is a file"]);
    sandbox.lab("trees --on slurm").misused(&["'--on'", "before the campaign", "makespan-lab --on slurm"]);
    sandbox.lab("--shards 0 trees").misused(&["--shards"]);
    sandbox.lab("shard . 0").refused(&["contains no shards"]);
    assert_eq!(sandbox.entries(), ["file"]);
    let trees = format!("--shards 2 {TREES}");
    sandbox.lab(&trees).succeeds();
    sandbox.lab("shard reproduce-trees 7").refused(&["shards 0 to 1"]);
    sandbox.lab(&format!("{trees} --seed 3")).refused(&[
        "reproduce-trees contains shards of another",
        "`--shards 2 trees",
        "--output",
    ]);
}
