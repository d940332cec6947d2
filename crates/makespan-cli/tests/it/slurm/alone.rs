//! Pilots that are no longer needed.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::Cluster;
use super::fakes::Fakes;
use super::strange::{real, with};
use super::workspace::Workspace;

fn queue(cluster: &Cluster, job: &str) -> String {
    cluster.ask("squeue", &["-h", "--states=RUNNING,PENDING", "-o", "%i"]).lines().filter(|id| *id == job).collect()
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_pilot_without_a_planner_does_what_it_was_given_and_is_given_back() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "alone");
    // The script of the pilot is the planner's, with a shorter wait.
    let (program, run) = (assert_cmd::cargo_bin!("makespan").display().to_string(), space.path("run"));
    let script = format!("#!/bin/sh\nexec {program} agent --head --folder '{}' --wait 4s\n", run.display());
    space.write("script", &script);
    let text = format!("/bin/cat >/dev/null; exec {} \"$@\" <{}", real("sbatch"), space.path("script").display());
    let fakes = Fakes::new().with("sbatch", &text);
    let line = "echo begun >>log; while test ! -e stop; do sleep 0.05; done; echo done >>log\n";
    space.write("list.txt", &line.repeat(2));
    let mut planner = with(&fakes, &space, "run list.txt --on slurm --no-history --folder run");
    space.wait("both begin", || space.read("log").lines().count() == 2);
    let pilots = || std::fs::read_dir(space.path("run/pilot/pilots")).unwrap().flatten();
    let job = pilots().next().unwrap().file_name().into_string().unwrap();
    kill(Pid::from_raw(planner.id() as i32), Signal::SIGKILL).unwrap();
    planner.wait().unwrap();
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(queue(cluster, &job), job, "it has work{}", space.logs());
    space.write("stop", "");
    space.wait("the pilot ends", || queue(cluster, &job).is_empty());
    assert!(space.logs().contains("makespan run did not report, and no task was left"), "{}", space.logs());
    let said = space.makespan("run list.txt --on slurm --no-history --folder run --resume");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("log").matches("done").count(), 2, "{}", space.read("log"));
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_pilot_ends_with_the_folder_of_its_run() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "removed");
    space.write("list.txt", "touch begun; sleep 1000\n");
    let mut planner = space.command("run list.txt --on slurm --no-history --folder run").spawn().unwrap();
    let job = || {
        let mut pilots = std::fs::read_dir(space.path("run/pilot/pilots")).ok()?.flatten();
        Some(pilots.next()?.file_name().into_string().unwrap())
    };
    space.wait("it begins", || space.path("begun").exists());
    let job = job().unwrap();
    planner.kill().unwrap();
    planner.wait().unwrap();
    std::fs::rename(space.path("run"), space.path("away")).unwrap();
    space.wait("the pilot ends", || queue(cluster, &job).is_empty());
}
