//! With a real Slurm.

mod cluster;

use std::time::{Duration, Instant};

use cluster::{Cluster, NodeSpec};
use makespan_slurm::{Commands, Refusal};

fn commands(cluster: &Cluster) -> Commands {
    let (name, value) = cluster.variable();
    Commands::new().with_variable(name, value)
}

#[test]
fn a_job_is_submitted_and_runs_on_the_nodes_that_it_names() {
    let Some(cluster) = Cluster::shared() else { return };
    let output = cluster.shared_folder().join("placed");
    let script = "#!/bin/sh\nsrun -l sh -c 'echo $SLURMD_NODENAME'\n";
    let options = ["-N2", "--ntasks-per-node=1", "-wn1,n3", "-t1", "-o", output.to_str().unwrap()];
    let submitted = commands(cluster).submit(options, script).unwrap();
    let ended = Instant::now() + Duration::from_secs(30);
    let text = loop {
        let text = std::fs::read_to_string(&output).unwrap_or_default();
        if text.lines().count() == 2 {
            break text;
        }
        assert!(Instant::now() < ended, "job {} printed `{text}`", submitted.job);
        std::thread::sleep(Duration::from_millis(50));
    };
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0: n1", "1: n3"]);
}

#[test]
fn a_partition_that_does_not_exist_is_refused_with_a_remedy() {
    let Some(cluster) = Cluster::shared() else { return };
    let error = commands(cluster).submit(["-pnowhere"], "#!/bin/sh\n").unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Partition), "{error}");
}

#[test]
fn a_controller_that_is_killed_is_waited_for() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(1, 2)) else { return };
    cluster.command("kill").args(["-9", &cluster.controller_id().to_string()]).status().unwrap();
    let commands = commands(&cluster);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| commands.run(makespan_slurm::Program::Squeue, ["-h"]));
        std::thread::sleep(Duration::from_secs(1));
        cluster.start_controller();
        asked.join().unwrap().unwrap();
    });
}
