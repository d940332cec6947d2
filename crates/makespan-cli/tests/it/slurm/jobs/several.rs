//! Runs on two clusters, one of which goes down or is late.

use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::slurm::cluster::{Cluster, NodeSpec};
use crate::slurm::processes::of_node;
use crate::slurm::workspace::{Workspace, table};

/// Number of compound jobs. Each has three tasks.
const JOBS: usize = 40;

/// Returns compound jobs. Each task appends a line to its own file.
fn batch() -> String {
    let job = |job: usize| {
        let task = |task: usize| {
            format!(
                "{{ name = \"t{task}\", time = 2, command = [\"sh\", \"-c\", \"sleep 2; echo done >>log.{job}.{task}\"] }}"
            )
        };
        let tasks: Vec<String> = (0..3).map(task).collect();
        format!(
            "[[jobs]]\nname = \"j{job}\"\ntasks = [{}]\nedges = [{{ from = \"t0\", to = \"t1\" }}, {{ from = \"t0\", to = \"t2\" }}]\n",
            tasks.join(", ")
        )
    };
    format!("version = 2\n{}", (0..JOBS).map(job).collect::<String>())
}

/// Returns the number of lines that the tasks wrote.
fn lines(space: &Workspace<'_>) -> usize {
    let tasks = (0..JOBS).flat_map(|job| (0..3).map(move |task| format!("log.{job}.{task}")));
    tasks.map(|name| space.read(&name).lines().count()).sum()
}

/// Ends all daemons and jobs of a cluster at once.
fn crash(cluster: &Cluster, nodes: usize) {
    let end = |id: i32| {
        // A process may have ended by itself.
        let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
    };
    let jobs: Vec<i32> = (0..nodes).flat_map(|node| of_node(cluster, &format!("n{node}"))).collect();
    end(cluster.controller_id());
    (0..nodes).map(|node| cluster.node_id(node)).for_each(end);
    jobs.into_iter().for_each(end);
}

/// Starts two clusters.
fn clusters() -> Option<(Cluster, Cluster)> {
    let started = |lines: &str| Cluster::start_with(&NodeSpec::equal(2, 4), lines);
    started("ClusterName=left\n").zip(started("ClusterName=right\n"))
}

/// Starts a run on two clusters, with further options.
fn started(space: &Workspace<'_>, clusters: [&Cluster; 2], options: &str) -> Child {
    space.write("batch.toml", &batch());
    let on = clusters.map(|one| format!("slurm:{}", one.variable().1.display())).join(",");
    space.command(&format!("run batch.toml --on {on} --no-history --folder run {options}")).spawn().unwrap()
}

/// Returns the number of jobs in the queue of a cluster.
fn queued(cluster: &Cluster) -> usize {
    cluster.ask("squeue", &["-h", "-o", "%j"]).lines().count()
}

#[test]
#[ignore = "long: two real Slurms, one of which goes down"]
fn jobs_move_to_the_other_cluster_if_one_goes_down() {
    let Some((left, right)) = clusters() else { return };
    let space = Workspace::new(&right, "jobs-several");
    let run = started(&space, [&left, &right], "");
    space.wait("a quarter of the tasks is done", || lines(&space) >= 3 * JOBS / 4);
    assert!(queued(&left) > 0 && queued(&right) > 0, "both clusters have jobs");
    crash(&left, 2);
    let said = space.said(run);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["succeeded=120", "does not answer"]);
    let table = table(&space.path("run"));
    assert_eq!(table.len(), 3 * JOBS);
    assert!(table.iter().all(|(_, _, state)| state == "COMPLETED_SUCCESSFULLY"), "{table:?}");
    // A task writes its line at its end. The crash may kill a task of each core between its line and the record of its end.
    let repeated = lines(&space) - 3 * JOBS;
    assert!(repeated <= 8, "{repeated} tasks wrote their lines twice, but the crashed cluster has 8 cores");
}

/// Blocks one cluster for ten minutes by a job of high priority. The pending jobs leave it, and no task runs twice.
#[test]
#[ignore = "long: two real Slurms, one of which is late"]
fn jobs_leave_a_late_cluster() {
    let Some((left, right)) = clusters() else { return };
    let space = Workspace::new(&right, "jobs-late");
    let run = started(&space, [&left, &right], "--time 1m");
    space.wait("a tenth of the tasks is done", || lines(&space) >= 3 * JOBS / 10);
    let blocker =
        ["--priority=4294967290", "-N2", "--exclusive", "--time=10", "--output=/dev/null", "--wrap=sleep 600"];
    left.ask("sbatch", &blocker);
    assert!(queued(&left) > 8, "jobs wait in the late cluster");
    let said = space.said(run);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["succeeded=120"]);
    assert_eq!(queued(&left), 1, "only the job that blocks the cluster is left");
    assert_eq!(lines(&space), 3 * JOBS, "each task ran once");
    left.ask("scancel", &["--state=RUNNING"]);
}
