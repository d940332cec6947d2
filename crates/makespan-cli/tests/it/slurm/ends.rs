//! The ends of tasks, nodes, pilots and planners.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::{Cluster, NodeSpec};
use super::processes::{agents, of_node};
use super::strange::told_to_file;
use super::workspace::{Workspace, table};

fn state(rows: &[(String, String, String)], name: &str) -> String {
    rows.iter().find(|row| row.0 == name).map(|row| row.2.clone()).unwrap_or_default()
}

#[test]
#[ignore = "long: a real Slurm"]
fn outcomes_are_those_of_this_machine() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "outcomes");
    let job = |name: &str, more: &str, command: &str| {
        format!("[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\n{more}\ncommand = {command}\n")
    };
    let jobs = [
        job("good", "", r#"["sh", "-c", "echo out; echo err >&2"]"#),
        job("three", "", r#"["sh", "-c", "exit 3"]"#),
        job("killed", "", r#"["sh", "-c", "kill -9 $$"]"#),
        job("aborted", "", r#"["sh", "-c", "kill -ABRT $$"]"#),
        job("missing", "", r#"["no-such-program-at-all"]"#),
        job("late", "walltime = \"1s\"", r#"["sleep", "100"]"#),
        job("stubborn", "walltime = \"1s\"", r#"["sh", "-c", "trap '' TERM; while :; do sleep 1; done"]"#),
    ];
    space.write("batch.toml", &format!("version = 1\n{}", jobs.concat()));
    let both = ["--on slurm --nodes 2 --folder there", "--oversubscribe --platform 2x4 --folder here"];
    let [there, here] = both.map(|how| {
        let said = space.makespan(&format!("run batch.toml --no-history {how}"));
        assert!(matches!(said.status, Some(1..=100)), "{said:#?}{}", space.logs());
        let reasons: Vec<String> =
            said.err.lines().filter(|line| line.starts_with("job `")).map(str::to_owned).collect();
        assert_eq!(reasons.len(), 6, "{said:#?}");
        reasons
    });
    assert_eq!(there, here);
    let rows = [table(&space.path("there")), table(&space.path("here"))];
    for name in ["good", "three", "killed", "aborted", "missing", "late", "stubborn"] {
        assert_eq!(state(&rows[0], name), state(&rows[1], name), "{name}");
    }
    assert_eq!((space.read("there/good.out"), space.read("there/good.err")), ("out\n".into(), "err\n".into()));
}

#[test]
fn a_second_planner_is_refused() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "second");
    space.write("list.txt", "touch begun; while test ! -e stop; do sleep 0.05; done\n");
    let line = "run list.txt --on slurm --no-history --folder run";
    let first = space.command(line).spawn().unwrap();
    space.wait("the job begins", || space.path("begun").exists());
    for line in [line, "run list.txt --on slurm --no-history --folder run --resume"] {
        let second = space.makespan(line);
        assert_eq!(second.status, Some(255), "{second:#?}");
        second.holds(&["another process executes the run"]);
    }
    space.write("stop", "");
    let said = space.said(first);
    assert_eq!(said.status, Some(0), "{said:#?}");
}

#[test]
fn what_runs_on_while_the_planner_is_gone_is_taken_over() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "gone");
    let line = "echo begun >>log.NUMBER; while test ! -e stop; do sleep 0.05; done; echo done >>log.NUMBER\n";
    let list: String = (0..6).map(|index| line.replace("NUMBER", &index.to_string())).collect();
    space.write("list.txt", &list);
    let run = "run list.txt --on slurm --nodes 2 --no-history --folder run";
    let mut first = space.command(run).spawn().unwrap();
    space.wait("all begin", || (0..6).all(|index| space.path(&format!("log.{index}")).exists()));
    first.kill().unwrap();
    first.wait().unwrap();
    // A run on Slurm cannot be continued on this machine.
    let here = space.makespan("run list.txt --no-history --folder run --resume --oversubscribe --platform 2x4");
    here.holds(&["--on slurm"]);
    let second = space.command(&format!("{run} --resume")).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    space.write("stop", "");
    let said = space.said(second);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["6 jobs of the last session are still running"]);
    for index in 0..6 {
        assert_eq!(space.read(&format!("log.{index}")), "begun\ndone\n");
    }
}

/// The tasks end while no planner runs.
#[test]
fn what_ended_while_the_planner_was_gone_is_not_repeated() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "ended");
    let list: String =
        (0..6).map(|index| format!("echo begun >>log.{index}; sleep 0.5 && echo done >>log.{index}\n")).collect();
    space.write("list.txt", &list);
    let run = "run list.txt --on slurm --nodes 2 --no-history --folder run";
    let mut first = space.command(run).spawn().unwrap();
    space.wait("all begin", || (0..6).all(|index| space.path(&format!("log.{index}")).exists()));
    first.kill().unwrap();
    first.wait().unwrap();
    space.wait("all end", || (0..6).all(|index| space.read(&format!("log.{index}")).contains("done")));
    let said = space.makespan(&format!("{run} --resume"));
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    for index in 0..6 {
        assert_eq!(space.read(&format!("log.{index}")), "begun\ndone\n");
    }
}

#[test]
fn an_agent_that_dies_is_replaced_and_its_tasks_go_on() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "agent");
    let line = "echo begun >>log.NUMBER; while test ! -e stop; do sleep 0.05; done; echo done >>log.NUMBER\n";
    let list: String = (0..4).map(|index| line.replace("NUMBER", &index.to_string())).collect();
    space.write("list.txt", &list);
    let planner = space.command("run list.txt --on slurm --no-history --folder run").spawn().unwrap();
    space.wait("all begin", || (0..4).all(|index| space.path(&format!("log.{index}")).exists()));
    let old = agents(&space.path("run"));
    assert_eq!(old.len(), 1, "{old:?}");
    kill(Pid::from_raw(old[0].pid), Signal::SIGKILL).unwrap();
    space.wait("another", || agents(&space.path("run")).iter().any(|agent| agent.pid != old[0].pid));
    space.write("stop", "");
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    for index in 0..4 {
        let log = space.read(&format!("log.{index}"));
        // Slurm may end the remaining processes of a step. Their tasks then start again.
        assert!(log.ends_with("done\n") && log.matches("done").count() == 1, "{log}{said:#?}");
    }
}

#[test]
#[ignore = "long: a real Slurm"]
fn the_tasks_of_a_node_that_is_lost_run_elsewhere() {
    let Some(cluster) = Cluster::start_with(&NodeSpec::equal(2, 2), "SlurmdTimeout=5\n") else { return };
    let space = Workspace::new(&cluster, "lost");
    let line =
        "echo $SLURMD_NODENAME >>log.NUMBER; while test ! -e stop; do sleep 0.05; done; echo done >>log.NUMBER\n";
    let list: String = (0..4).map(|index| line.replace("NUMBER", &index.to_string())).collect();
    space.write("list.txt", &list);
    let planner = space.command("run list.txt --on slurm --nodes 2 --no-history --folder run").spawn().unwrap();
    space.wait("all begin", || (0..4).all(|index| space.path(&format!("log.{index}")).exists()));
    // A node loses its power: all its processes die at once.
    kill(Pid::from_raw(cluster.node_id(1)), Signal::SIGKILL).unwrap();
    for process in of_node(&cluster, "n1") {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
    std::thread::sleep(Duration::from_secs(2));
    space.write("stop", "");
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["waits again after attempt 1: "]);
    for index in 0..4 {
        let log = space.read(&format!("log.{index}"));
        assert!(log.matches("done").count() == 1 && (log.starts_with("n0\ndone") || log == "n1\nn0\ndone\n"), "{log}");
    }
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_pilot_that_ends_with_work_left_is_followed_by_another() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "cancelled");
    let list: String =
        (0..12).map(|index| format!("echo begun >>log.{index}; sleep 0.7 && echo done >>log.{index}\n")).collect();
    space.write("list.txt", &list);
    let planner = space.command("run list.txt --on slurm --no-history --folder run").spawn().unwrap();
    space.wait("one ends", || (0..12).any(|index| space.read(&format!("log.{index}")).contains("done")));
    let pilots = || std::fs::read_dir(space.path("run/pilot/pilots")).unwrap().flatten();
    let job = pilots().next().unwrap().file_name().into_string().unwrap();
    cluster.ask("scancel", &[&job]);
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["has ended (cancelled)", "jobs remain: pilot"]);
    assert_eq!(pilots().count(), 2);
    for index in 0..12 {
        let log = space.read(&format!("log.{index}"));
        assert_eq!(log.matches("done").count(), 1, "{log}");
    }
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_pilot_takes_nothing_that_would_outlast_it() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "outlast");
    let mut batch = "version = 1\n".to_owned();
    for index in 0..3 {
        batch += &format!(
            "[[jobs]]\nname = \"j{index}\"\ntime = \"54s\"\nprocessors = 4\ncommand = [\"sh\", \"-c\", \"sleep 3\"]\n"
        );
    }
    space.write("batch.toml", &batch);
    let begun = Instant::now();
    let said = space.makespan("run batch.toml --on slurm --time 1m --no-history --folder run");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["is expected to take longer: no more jobs start in this pilot", "jobs remain: pilot"]);
    assert!(begun.elapsed() < Duration::from_secs(100), "{said:#?}");
}

#[test]
#[ignore = "long: a real Slurm"]
fn small_tasks_use_the_end_of_a_pilot() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "small");
    let job = |name: &str, time: u32, after: &str, sleep: u32| {
        format!(
            "[[jobs]]\nname = \"{name}\"\ntime = \"{time}s\"\nprocessors = 4\n{after}\n\
             command = [\"sh\", \"-c\", \"echo $SLURM_JOB_ID; sleep {sleep}\"]\n"
        )
    };
    // After the first job, there is not enough time for the long one, but for all others.
    let after = "after = [\"first\"]";
    let mut batch = format!("version = 1\n{}{}", job("first", 14, "", 14), job("long", 50, after, 1));
    (0..3).for_each(|index| batch += &job(&format!("small{index}"), 8, after, 1));
    space.write("batch.toml", &batch);
    let said = space.makespan("run batch.toml --on slurm --time 1m --no-history --folder run");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    let pilot = |name: &str| space.read(&format!("run/{name}.out"));
    for index in 0..3 {
        assert_eq!(pilot(&format!("small{index}")), pilot("first"), "{said:#?}");
    }
    assert_ne!(pilot("long"), pilot("first"), "{said:#?}");
    assert_eq!(std::fs::read_dir(space.path("run/pilot/pilots")).unwrap().count(), 2);
    said.holds(&[
        "every pending job is expected to take longer: no more jobs start in this pilot",
        "jobs remain: pilot",
    ]);
}

#[test]
fn a_guess_refuses_no_pilot() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "guess");
    space.write("list.txt", "true\ntrue\n");
    let said = space.makespan("run list.txt --on slurm --time 30s --no-history --folder run");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["has a guessed run time of 60 s, but a pilot has its nodes for only 30 s"]);
}

#[test]
fn a_pilot_that_waits_says_why_and_ctrl_c_takes_it_from_the_queue() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(1, 2)) else { return };
    let space = Workspace::new(&cluster, "waits");
    cluster.ask("scontrol", &["update", "PartitionName=main", "State=DOWN"]);
    space.write("list.txt", "true\n");
    let planner = told_to_file(space.command("run list.txt --on slurm --no-history --folder run"), &space);
    space.wait("it says why", || space.read("told").contains("waits in the queue: PartitionDown"));
    kill(Pid::from_raw(planner.id() as i32), Signal::SIGINT).unwrap();
    let said = space.said(planner);
    assert_eq!(said.status, Some(130), "{said:#?}");
    let told = space.read("told");
    assert!(told.contains("--resume"), "{told}");
    assert_eq!(cluster.ask("squeue", &["-h"]), "");
    cluster.ask("scontrol", &["update", "PartitionName=main", "State=UP"]);
    let said = space.makespan("run list.txt --on slurm --no-history --folder run --resume");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
}
