//! Runs that are impossible are refused before anything is submitted.

use super::cluster::Cluster;
use super::workspace::Workspace;

#[test]
fn wrong_input_is_refused_with_a_remedy() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "bad");
    space.write("list.txt", "true\n");
    space.write("long.txt", "true #: time=3h\n");
    let refused = [
        ("run list.txt --on slurm --partition nowhere", vec!["no partition `nowhere`", "the cluster has main"]),
        ("run long.txt --on slurm --time 1h", vec!["10800", "request a longer --time"]),
        ("run list.txt --on slurm --nodes 9", vec!["9 nodes are requested", "has only 4 nodes", "request fewer nodes"]),
        ("run list.txt --on slurm --time soon", vec!["--time soon", "such as 90m"]),
        ("run list.txt --on slurm --pilots 2xmany", vec!["such as 2x4nodes,1h"]),
        (
            "run list.txt --on slurm --slurm=--account=x --slurm=--no-such-option --folder o",
            vec!["sbatch", "no-such-option"],
        ),
        ("run list.txt --on moon", vec!["slurm"]),
        ("run list.txt --nodes 4", vec!["--on"]),
        ("agent --folder nowhere", vec!["nowhere"]),
        ("agent --folder .", vec!["SLURM_JOB_ID"]),
        ("agent --folder . --head", vec!["SLURM_JOB_ID"]),
    ];
    for (line, parts) in refused {
        let said = space.makespan(line);
        let status = if line.starts_with("run ") { 255 } else { 1 };
        assert_eq!(said.status, Some(status), "{line}: {said:#?}");
        said.holds(&parts);
    }
    assert_eq!(cluster.ask("squeue", &["-h", "--name", "makespan-list"]), "");
}

#[test]
fn without_slurm_it_is_said_what_is_missing() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "none");
    space.write("list.txt", "true\n");
    let output = space.command("run list.txt --on slurm").env("PATH", "/nowhere").output().unwrap();
    let said = super::workspace::Said::of(&output);
    assert_eq!(said.status, Some(255));
    said.holds(&["Slurm is not installed on this machine"]);
}
