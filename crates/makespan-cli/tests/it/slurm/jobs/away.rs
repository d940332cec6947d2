//! Runs while the planner or Slurm is away.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::slurm::cluster::{Cluster, NodeSpec};
use crate::slurm::jobs::{RUN, logs, succeeds};
use crate::slurm::workspace::Workspace;

/// Returns independent jobs and pairs of jobs that wait for each other. Each logs its end.
fn batch(jobs: usize) -> String {
    let job = |index: usize| {
        let after = if index % 4 == 3 { format!("\"j{}\"", index - 1) } else { String::new() };
        format!(
            "[[jobs]]\nname = \"j{index}\"\ntime = \"1s\"\nafter = [{after}]\ncommand = [\"sh\", \"-c\", \"sleep 0.5; echo done >>log.{index}\"]\n"
        )
    };
    format!("version = 1\n{}", (0..jobs).map(job).collect::<String>())
}

#[test]
fn all_is_done_while_the_planner_is_gone() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-away");
    space.write("batch.toml", &batch(16));
    let mut planner = space.command(RUN).spawn().unwrap();
    let submitted = || space.read("run/jobs/submitted").lines().filter(|line| !line.ends_with('?')).count();
    space.wait("all is submitted", || submitted() == 16);
    planner.kill().unwrap();
    planner.wait().unwrap();
    let name = "@";
    space.wait("all is done", || {
        let queue = cluster.ask("squeue", &["--noheader", "--format=%j %Z"]);
        let own = space.path("").display().to_string();
        !queue.lines().any(|line| line.contains(name) && line.contains(own.trim_end_matches('/')))
    });
    for index in 0..16 {
        assert_eq!(space.read(&format!("log.{index}")), "done\n", "{}{}", space.logs(), logs(&space));
    }
    let said = space.makespan(&format!("{RUN} --resume"));
    succeeds(&space, &said);
    said.holds(&["succeeded=16"]);
    for index in 0..16 {
        assert_eq!(space.read(&format!("log.{index}")), "done\n");
    }
}

#[test]
#[ignore = "long: a real Slurm"]
fn ctrl_c_ends_what_runs_and_empties_the_queue() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-stop");
    let job = |name: &str, after: &str| {
        format!(
            "[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\nafter = [{after}]\ncommand = [\"sh\", \"-c\", \"echo x >>{name}.begun; until test -e go; do sleep 0.1; done\"]\n"
        )
    };
    space.write("batch.toml", &["version = 1\n".into(), job("a", ""), job("b", "\"a\"")].concat());
    let planner = space.command(RUN).spawn().unwrap();
    space.wait("it begins", || space.path("a.begun").exists());
    space.wait("both are submitted", || space.read("run/jobs/submitted").lines().count() == 4);
    // SIGHUP, as when a terminal is closed, ends nothing.
    kill(Pid::from_raw(planner.id() as i32), Signal::SIGHUP).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    kill(Pid::from_raw(planner.id() as i32), Signal::SIGINT).unwrap();
    let said = space.said(planner);
    assert_eq!(said.status, Some(130), "{said:#?}");
    said.holds(&["1 job that had not started leaves the queue", "the run was stopped", "--resume"]);
    space.wait("the queue is empty", || !cluster.ask("squeue", &["--noheader", "--format=%j"]).contains("b.1+"));
    space.write("go", "");
    let said = space.makespan(&format!("{RUN} --resume"));
    succeeds(&space, &said);
    assert_eq!((space.read("a.begun"), space.read("b.begun")), ("x\nx\n".into(), "x\n".into()));
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_job_that_is_started_too_early_runs_nothing() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-early");
    let job = |name: &str, after: &str| {
        format!(
            "[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\nafter = [{after}]\ncommand = [\"sh\", \"-c\", \"echo x >>{name}.begun; until test -e go; do sleep 0.1; done\"]\n"
        )
    };
    space.write("batch.toml", &["version = 1\n".into(), job("a", ""), job("b", "\"a\"")].concat());
    let planner = space.command(RUN).spawn().unwrap();
    space.wait("a begins", || space.path("a.begun").exists());
    space.wait("both are submitted", || space.read("run/jobs/submitted").lines().count() == 4);
    let orders = std::fs::read_dir(space.path("run/jobs/orders")).unwrap().flatten();
    let orders: Vec<String> = orders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let second = orders.iter().find(|id| id.starts_with("b.1+")).expect("b is on order");
    // A controller that reuses job numbers starts the job as soon as another job ends.
    let early = |id: &str| {
        let mut command = space.command("agent --folder run --job");
        let command = command.arg(id).env("SLURM_JOB_ID", "4711").env("SLURMD_NODENAME", "n0");
        space.said(command.spawn().unwrap())
    };
    let said = early(second);
    assert_eq!(said.status, Some(125), "{said:#?}");
    said.holds(&["Slurm has started `b`, but its predecessor `a` has not succeeded"]);
    assert!(!space.path("b.begun").exists() && !space.path(&format!("run/jobs/claims/{second}")).exists());
    space.write("go", "");
    let said = space.said(planner);
    succeeds(&space, &said);
    assert_eq!((space.read("a.begun"), space.read("b.begun")), ("x\n".into(), "x\n".into()));
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_controller_that_is_down_delays_submissions_and_nothing_else() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(4, 4)) else { return };
    let space = Workspace::new(&cluster, "jobs-mute");
    space.write("batch.toml", &batch(32));
    let planner = space.command(RUN).spawn().unwrap();
    space.wait("some are submitted", || space.read("run/jobs/submitted").lines().count() >= 8);
    // The controller writes its state with a short delay.
    std::thread::sleep(Duration::from_secs(1));
    kill(Pid::from_raw(cluster.controller_id()), Signal::SIGKILL).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    cluster.start_controller();
    let mut planner = planner;
    space.wait("the run ends", || {
        // Slurm may have set nodes down in the meantime. An administrator would resume them.
        drop(cluster.command("scontrol").args(["update", "NodeName=n[0-3]", "State=RESUME"]).output());
        planner.try_wait().unwrap().is_some()
    });
    let said = space.said(planner);
    succeeds(&space, &said);
    for index in 0..32 {
        assert_eq!(space.read(&format!("log.{index}")), "done\n", "{index}: {said:#?}{}", logs(&space));
    }
}

#[test]
#[ignore = "long: a real Slurm"]
fn more_jobs_than_a_cluster_holds_are_submitted_as_others_end() {
    let Some(cluster) = Cluster::start_with(&NodeSpec::equal(2, 4), "MaxJobCount=6\nMinJobAge=2\n") else { return };
    let space = Workspace::new(&cluster, "jobs-many");
    space.write("batch.toml", &batch(12));
    let said = space.makespan(RUN);
    succeeds(&space, &said);
    for index in 0..12 {
        assert_eq!(space.read(&format!("log.{index}")), "done\n", "{index}: {said:#?}{}", logs(&space));
    }
}
