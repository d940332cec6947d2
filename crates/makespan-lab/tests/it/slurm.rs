//! Test of a campaign that runs its shards on the nodes of a real Slurm, which the test starts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster::Cluster;
use crate::sandbox::Said;

const TREES: &str = "trees --trees 1 --tasks 20 --alone --output results";

/// The maximum time for which the test waits until a process ends. This time is sufficient on a busy machine too.
const PATIENCE: Duration = Duration::from_mins(3);

/// A folder that all nodes share.
struct Workspace<'a> {
    cluster: &'a Cluster,
    folder: PathBuf,
}

impl<'a> Workspace<'a> {
    fn new(cluster: &'a Cluster, name: &str) -> Self {
        let folder = cluster.shared_folder().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self { cluster, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Starts `makespan-lab`. The words of `line` are the arguments.
    fn start(&self, line: &str) -> Child {
        let mut command: Command = self.cluster.command(assert_cmd::cargo_bin!("makespan-lab"));
        command.args(line.split_whitespace()).current_dir(&self.folder);
        for name in ["SLURM_JOB_ID", "SLURM_JOBID"] {
            command.env_remove(name);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn lab(&self, line: &str) -> Said {
        let mut process = self.start(line);
        let end = Instant::now() + PATIENCE;
        while process.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                process.kill().unwrap();
                let said = Said::new(line, &process.wait_with_output().unwrap());
                panic!("it does not end\n{said:#?}{}", self.logs());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Said::new(line, &process.wait_with_output().unwrap())
    }

    /// Returns the queue of Slurm, and the logs of the heads and agents of pilots.
    fn logs(&self) -> String {
        let mut text = self.cluster.ask("squeue", &[]);
        for entry in fs::read_dir(self.path("results/run/pilot")).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|end| end == "log") {
                let log = fs::read_to_string(entry.path()).unwrap_or_default();
                text += &format!("\n{}\n{log}", entry.path().display());
            }
        }
        text
    }

    /// Returns the shards in all records of one kind (such as starts or ends) in the journal of the run.
    fn recorded(&self, kind: &str) -> Vec<u64> {
        let journal = fs::read_to_string(self.path("results/run/journal.jsonl")).unwrap_or_default();
        let records = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.filter_map(|record| record[kind]["job"].as_u64()).collect()
    }
}

/// Returns the contents of the result files by name. Leaves out the journal.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file());
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
    named.filter(|(name, _)| name != "journal.jsonl").collect()
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_campaign_on_the_nodes_has_the_same_bytes_also_when_its_planner_is_killed() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "campaign");
    let alone = space.lab(TREES);
    assert_eq!(alone.status, Some(0), "{alone:#?}");
    let files = results(&space.path("results"));
    fs::remove_dir_all(space.path("results")).unwrap();
    let line = format!("--on slurm --nodes 4 --shards 24 {TREES}");
    let mut planner = space.start(&line);
    let end = Instant::now() + PATIENCE;
    while space.recorded("ended").len() < 3 {
        assert!(Instant::now() < end, "no three shards end\n{}", space.logs());
        std::thread::sleep(Duration::from_millis(10));
    }
    planner.kill().unwrap();
    planner.wait().unwrap();
    let before = space.recorded("ended");
    let said = space.lab(&line);
    assert_eq!((said.status, &said.out), (Some(0), &alone.out), "{said:#?}{}", space.logs());
    assert_eq!(results(&space.path("results")), files);
    let starts = space.recorded("started");
    for shard in before {
        assert_eq!(starts.iter().filter(|&&start| start == shard).count(), 1, "{shard} in {starts:?}");
    }
    assert!((0..24).all(|shard| starts.contains(&shard)), "{starts:?}");
    space.lab(&format!("{line} --seed 2")).refused(&["contains shards of another command", "--output"]);
}

#[test]
#[ignore = "long: a real Slurm"]
fn each_shard_can_be_a_job_of_slurm() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs");
    let alone = space.lab(TREES);
    let files = results(&space.path("results"));
    fs::remove_dir_all(space.path("results")).unwrap();
    let said = space.lab(&format!("--on slurm:jobs --shards 4 {TREES}"));
    assert_eq!((said.status, &said.out), (Some(0), &alone.out), "{said:#?}{}", space.logs());
    assert_eq!(results(&space.path("results")), files);
}
