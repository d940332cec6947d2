//! Nodes that are down for a long time, before or during a run.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::{Cluster, NodeSpec};
use super::processes::of_node;
use super::strange::told_to_file;
use super::workspace::Workspace;

const RUN: &str = "run batch.toml --on slurm --nodes 2 --no-history --folder run";

/// Returns a job that logs its nodes and, if `waits` is true, waits for a file `stop`.
fn job(name: &str, processors: u32, waits: bool) -> String {
    let wait = if waits { "until test -e stop; do sleep 0.05; done; " } else { "" };
    format!(
        "[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\nprocessors = {processors}\n\
         command = [\"sh\", \"-c\", \"echo $MAKESPAN_NODES >>{name}.begun; {wait}echo done >>{name}.done\"]\n"
    )
}

fn two_nodes() -> Option<Cluster> {
    Cluster::start(&[NodeSpec::new("n0", 2), NodeSpec::new("n1", 2)])
}

/// Kills all processes of the second node, as after a loss of power, and reports this to Slurm.
fn lose(cluster: &Cluster) {
    kill(Pid::from_raw(cluster.node_id(1)), Signal::SIGKILL).unwrap();
    for process in of_node(cluster, "n1") {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
    cluster.ask("scontrol", &["update", "nodename=n1", "state=down", "reason=fan"]);
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_node_that_is_down_keeps_nothing_from_the_others() {
    let Some(cluster) = two_nodes() else { return };
    let space = Workspace::new(&cluster, "without");
    let jobs: String = (0..4).map(|index| job(&format!("j{index}"), 1, false)).collect();
    space.write("batch.toml", &format!("version = 1\n{jobs}"));
    lose(&cluster);
    let said = space.makespan(RUN);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["only 1 of the 2 nodes", "accept jobs now"]);
    for index in 0..4 {
        assert_eq!(space.read(&format!("j{index}.begun")), "n0\n", "{said:#?}");
    }
    assert_eq!(cluster.ask("squeue", &["-h", "--states=PENDING"]), "", "the pilot that waited has left the queue");
}

#[test]
#[ignore = "long: a real Slurm"]
fn what_needs_a_node_that_has_gone_down_waits_for_it_and_the_rest_does_not() {
    let Some(cluster) = two_nodes() else { return };
    let space = Workspace::new(&cluster, "needs");
    let jobs = [job("first", 1, true), job("small", 2, false), job("wide", 4, false)].concat();
    space.write(
        "batch.toml",
        &format!("version = 1\n{}", jobs.replace("name = \"wide\"", "name = \"wide\"\nafter = [\"first\"]")),
    );
    let mut planner = told_to_file(space.command(RUN), &space);
    space.wait("the first begins", || space.path("first.begun").exists());
    lose(&cluster);
    // Before, a job on both nodes could be started on the remaining one.
    space.wait("it is known", || space.read("told").contains("node n1 of pilot"));
    space.write("stop", "");
    // The test resumes the run to shorten the wait.
    space.wait("the small one is done", || space.path("small.done").exists());
    space.wait("a pilot with both is asked for", || {
        cluster.ask("squeue", &["-h", "--states=PENDING"]).contains("makespa")
    });
    kill(Pid::from_raw(planner.id() as i32), Signal::SIGKILL).unwrap();
    planner.wait().unwrap();
    let planner = space.command(&format!("{RUN} --resume")).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(!space.path("wide.begun").exists());
    cluster.start_node(1);
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    let begun = space.read("wide.begun");
    assert_eq!(begun.trim().split(',').count(), 2, "{begun}{said:#?}");
    for name in ["first", "small", "wide"] {
        assert_eq!(space.read(&format!("{name}.done")), "done\n", "{said:#?}");
    }
}

/// A controller that is killed within a second after a submission forgets the job, reuses its number, and drains a node
/// that still knows it. No administrator resumes the node.
#[test]
#[ignore = "long: a real Slurm"]
fn a_controller_that_forgets_a_pilot_holds_no_run_up() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(4, 2)) else { return };
    for (turn, delay) in [0, 150, 600, 1200].into_iter().enumerate() {
        let space = Workspace::new(&cluster, &format!("forgets-{turn}"));
        let jobs: String = (0..12).map(|index| job(&format!("j{index}"), 1, false)).collect();
        space.write("batch.toml", &format!("version = 1\n{jobs}"));
        let planner = space.command(RUN).spawn().unwrap();
        space.wait("a pilot is submitted", || {
            std::fs::read_dir(space.path("run/pilot/pilots")).is_ok_and(|pilots| pilots.count() > 0)
        });
        std::thread::sleep(Duration::from_millis(delay));
        kill(Pid::from_raw(cluster.controller_id()), Signal::SIGKILL).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        cluster.start_controller();
        let said = space.said(planner);
        assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
        for index in 0..12 {
            assert_eq!(space.read(&format!("j{index}.done")), "done\n", "{said:#?}");
        }
    }
}

/// The state of a controller is reset to a copy from before a pilot. The controller has then forgotten this pilot and
/// reuses its number, while agents and jobs of the pilot still live.
#[test]
#[ignore = "long: a real Slurm"]
fn a_number_that_is_given_again_is_that_of_another_pilot() {
    let Some(cluster) = two_nodes() else { return };
    let (state, copy) = (cluster.folder().join("state"), cluster.folder().join("copy"));
    let copied = |from: &Path, to: &Path| {
        let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
        assert!(status.success());
    };
    for turn in 0..2 {
        let space = Workspace::new(&cluster, &format!("again-{turn}"));
        // Slurm kills one process after the other. If the sleep dies first, the shell must not continue.
        let line = "echo begun >>log.{i}; sleep 2.5 && echo done >>log.{i}\n";
        let list: String = (0..20).map(|index| line.replace("{i}", &index.to_string())).collect();
        space.write("list.txt", &list);
        // The controller writes its state at least every few seconds.
        std::thread::sleep(Duration::from_secs(2));
        std::fs::create_dir_all(&copy).unwrap();
        copied(&state, &copy);
        let run = "run list.txt --on slurm --nodes 2 --no-history --folder run";
        let mut planner = space.command(run).spawn().unwrap();
        space.wait("some jobs are done", || (0..20).any(|index| space.read(&format!("log.{index}")).contains("done")));
        kill(Pid::from_raw(cluster.controller_id()), Signal::SIGKILL).unwrap();
        if turn == 1 {
            planner.kill().unwrap();
            planner.wait().unwrap();
        }
        std::fs::remove_dir_all(&state).unwrap();
        std::fs::rename(&copy, &state).unwrap();
        cluster.start_controller();
        if turn == 1 {
            planner = space.command(&format!("{run} --resume")).spawn().unwrap();
        }
        let said = space.said(planner);
        assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
        said.holds(&["forgotten by Slurm"]);
        for index in 0..20 {
            let log = space.read(&format!("log.{index}"));
            assert_eq!(log.matches("done").count(), 1, "{log}{said:#?}{}", space.logs());
        }
        drop(cluster.command("scontrol").args(["update", "NodeName=n[0-1]", "State=RESUME"]).output());
    }
}
