//! Several real clusters: `makespan where` and `queue --from a,b`.

use std::process::Command;

use super::cluster::{AccountingDatabase, Cluster, NodeSpec};
use super::workspace::Workspace;

const SCRIPT: &str =
    "#!/bin/sh\n#SBATCH --time=20 --nodes=1-2 --ntasks-per-node=2 --output=/dev/null --job-name=probe\nsleep 8\n";

/// Starts a cluster of two nodes with two processors each.
fn started(lines: &str) -> Option<Cluster> {
    Cluster::start_with(&NodeSpec::equal(2, 2), lines)
}

/// Submits a job that sleeps. Returns its id.
fn submit(cluster: &Cluster, options: &str, seconds: &str) -> String {
    let options = options.split_whitespace().chain(["--parsable", "-o", "/dev/null", "--wrap"]);
    let wrapped = format!("sleep {seconds}");
    let words: Vec<&str> = options.chain([wrapped.as_str()]).collect();
    cluster.ask("sbatch", &words)
}

fn answer(space: &Workspace<'_>, line: &str) -> serde_json::Value {
    let said = space.makespan(&format!("{line} --format json"));
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    serde_json::from_str(&said.out).unwrap()
}

/// Waits until a cluster has this number of running jobs and no pending job.
fn wait_for(space: &Workspace<'_>, cluster: &Cluster, running: usize) {
    space.wait("the jobs", || {
        let jobs = cluster.ask("squeue", &["-h", "-o", "%T"]);
        jobs.lines().filter(|line| *line == "RUNNING").count() == running && jobs.lines().count() == running
    });
}

/// Checks that `where` names the idle one of two clusters, and that its command submits the job there.
fn names_the_idle_cluster(space: &Workspace<'_>, from: &str, [busy, idle]: [&Cluster; 2]) {
    submit(busy, "-N2 --ntasks-per-node=2 -t 20", "600");
    wait_for(space, busy, 1);
    space.write("job.sh", SCRIPT);
    let document = answer(space, &format!("where job.sh --from {from}"));
    let best = &document["best"];
    assert_eq!(
        (best["cluster"].as_str(), best["starts_in_seconds"].as_i64()),
        (Some("right"), Some(0)),
        "{document:#}"
    );
    assert!(document["best_cluster_first"].as_f64().unwrap() > 0.9, "{document:#}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", best["command"].as_str().unwrap()]).current_dir(space.path(""));
    let (name, value) = busy.variable();
    let output = shell.env(name, value).output().unwrap();
    assert!(output.status.success(), "{best:#}: {output:?}");
    assert!(!busy.ask("squeue", &["-h", "-o", "%j"]).contains("probe"), "the job is on the other cluster");
    let known = || idle.ask("scontrol", &["-o", "show", "jobs"]);
    assert!(known().contains("JobName=probe"), "{}", known());
    let document = answer(space, &format!("queue --from {from}"));
    assert_eq!(document["sum"]["nodes"].as_u64(), Some(4), "{document:#}");
    assert_eq!(document["clusters"][0]["running"].as_u64(), Some(1), "{document:#}");
}

#[test]
#[ignore = "long: two real Slurms"]
fn clusters_are_compared_by_their_configuration_files() {
    let Some((left, right)) = started("ClusterName=left\n").zip(started("ClusterName=right\n")) else { return };
    let space = Workspace::new(&left, "where");
    let from = [&left, &right].map(|one| format!("slurm:{}", one.variable().1.display())).join(",");
    names_the_idle_cluster(&space, &from, [&left, &right]);
    // Similar jobs on one and on two nodes show the speed-up of the job.
    for (options, seconds) in [("-N1 --ntasks-per-node=2", "8"), ("-N2 --ntasks-per-node=2", "2")] {
        submit(&right, &format!("{options} -J probe -t 20"), seconds);
    }
    wait_for(&space, &right, 0);
    let document = answer(&space, &format!("where job.sh --from {from}"));
    let run = |nodes: u64| {
        let own = document["candidates"].as_array().unwrap().iter();
        let own = own.filter(|one| one["cluster"] == "right" && one["nodes"].as_u64() == Some(nodes));
        own.map(|one| one["run_seconds"].as_f64().unwrap()).next().unwrap_or_else(|| panic!("{document:#}"))
    };
    assert!(run(2) < run(1), "{document:#}");
    let remarks = document["remarks"].to_string();
    assert!(remarks.contains("right: run times on 1, 2 nodes are those of"), "{remarks}");
    assert!(remarks.contains("left: no similar job has ended here"), "{remarks}");
    // If one cluster stops, the other cluster still gives an answer, with a note.
    left.command("kill").args(["-9", &left.controller_id().to_string()]).status().unwrap();
    let document = answer(&space, &format!("where job.sh --from {from}"));
    assert_eq!(document["best"]["cluster"].as_str(), Some("right"), "{document:#}");
    let remarks = document["remarks"].to_string();
    assert!(remarks.contains("no answer: --from slurm:"), "{remarks}");
    let document = answer(&space, &format!("queue --from {from}"));
    assert_eq!(document["clusters"].as_array().unwrap().len(), 1, "{document:#}");
}

#[test]
#[ignore = "long: two real Slurms and slurmdbd"]
fn clusters_of_a_database_are_compared_by_their_names() {
    let Some(database) = AccountingDatabase::start() else { return };
    let clusters = started(&database.lines("left")).zip(started(&database.lines("right")));
    let Some((left, right)) = clusters else { return };
    let space = Workspace::new(&left, "named");
    let names = || left.ask("sacctmgr", &["-n", "-P", "list", "cluster", "format=cluster,controlport"]);
    space.wait("the clusters in the database", || {
        ["left|", "right|"]
            .iter()
            .all(|name| names().lines().any(|line| line.starts_with(name) && !line.ends_with("|0")))
    });
    names_the_idle_cluster(&space, "slurm:left,slurm:right", [&left, &right]);
    let said = space.makespan("where job.sh --from slurm:right,slurm:nowhere");
    assert_eq!(said.status, Some(0), "{said:#?}");
    said.holds(&["right", "nowhere", "sbatch -M right"]);
    let said = space.makespan("where job.sh --from slurm:nowhere,slurm:elsewhere");
    assert_eq!(said.status, Some(1), "{said:#?}");
}
