//! The ends of jobs, and refused input.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::slurm::cluster::Cluster;
use crate::slurm::jobs::{RUN, ends, logs, succeeds};
use crate::slurm::processes::agents;
use crate::slurm::workspace::Workspace;

#[test]
#[ignore = "long: a real Slurm"]
fn every_end_is_recorded_as_it_was() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-ends");
    let lines = [
        ("good", "", "true"),
        ("status", "", "exit 7"),
        ("signal", "", "kill -9 $$"),
        ("long", "walltime = \"2s\"\n", "sleep 60"),
        ("again", "", "test -e tried || { touch tried; exit 1; }"),
    ];
    let mut batch = "version = 1\n".to_owned();
    for (name, more, line) in lines {
        batch += &format!("[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\n{more}command = [\"sh\", \"-c\", \"{line}\"]\n");
    }
    batch += "[[jobs]]\nname = \"missing\"\ntime = \"1s\"\ncommand = [\"./no-such-program\"]\n";
    space.write("batch.toml", &batch);
    let said = space.makespan(&format!("{RUN} --retry 1"));
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}{}", space.logs());
    said.holds(&[
        "succeeded=2",
        "exit status 7",
        "137 (killed by signal 9)",
        "ended at its time limit of 2 s",
        "./no-such-program",
        "failed in attempt 1 and runs again",
    ]);
}

#[test]
fn names_may_have_every_character() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs na'me%j \\s$HOME");
    let names: Vec<String> =
        ["a b", "x/y", "..", "-rf", "a=1", "it's", "\"q\"", "$(id)", "日本", "a|b@c", "%j", "new\nline"]
            .map(String::from)
            .to_vec();
    let mut batch = "version = 1\n".to_owned();
    for name in &names {
        let quoted = serde_json::to_string(name).unwrap();
        batch += &format!("[[jobs]]\nname = {quoted}\ntime = \"10ms\"\ncommand = [\"printenv\", \"MAKESPAN_JOB\"]\n");
    }
    space.write("batch.toml", &batch);
    let said = space.makespan(RUN);
    succeeds(&space, &said);
    let outputs = std::fs::read_dir(space.path("run")).unwrap().flatten();
    let outputs = outputs.filter(|entry| entry.path().extension().is_some_and(|end| end == "out"));
    let said: std::collections::BTreeSet<String> =
        outputs.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    assert_eq!(said, names.iter().map(|name| format!("{name}\n")).collect());
}

#[test]
#[ignore = "long: a real Slurm"]
fn what_others_cancel_is_recorded() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-cancel");
    let job = |name: &str, after: &str| {
        format!(
            "[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\nafter = [{after}]\ncommand = [\"sh\", \"-c\", \"touch {name}.begun; until test -e go; do sleep 0.1; done\"]\n"
        )
    };
    let batch = ["version = 1\n".into(), job("runs", ""), job("ended", ""), job("waits", "\"runs\"")].concat();
    space.write("batch.toml", &batch);
    let planner = space.command(RUN).spawn().unwrap();
    space.wait("two begin", || space.path("runs.begun").exists() && space.path("ended.begun").exists());
    let number = |name: &str| {
        let all = cluster.ask("squeue", &["--noheader", "--format=%i %j"]);
        let line = all.lines().find(|line| line.contains(&format!(" {name}.1+")));
        line.and_then(|line| line.split(' ').next()).map(str::to_owned)
    };
    space.wait("all are in the queue", || number("waits").is_some());
    for name in ["ended", "waits"] {
        cluster.ask("scancel", &[&number(name).unwrap()]);
    }
    space.write("go", "");
    let said = space.said(planner);
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}{}{}", space.logs(), logs(&space));
    said.holds(&["was cancelled", "was cancelled before it started", "succeeded=1"]);
    let states = ends(&space);
    assert_eq!(states["runs"], "COMPLETED_SUCCESSFULLY");
    assert!(!space.path("waits.begun").exists());
}

#[test]
fn what_cannot_be_jobs_is_refused_with_a_remedy() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-bad");
    space.write("list.txt", "true\n");
    space.write("long.txt", "true #: time=3h\n");
    let licence = "version = 1\n[platform]\nprocessors = 4\nlicences = { solver = 2 }\n[[jobs]]\nname = \"a\"\ntime = \"1s\"\nneeds = { solver = 1 }\ncommand = [\"true\"]\n";
    space.write("licence.toml", licence);
    let refused = [
        ("run list.txt --on slurm:jobs --nodes 2", vec!["each job has its own nodes"]),
        ("run list.txt --on slurm:jobs --policy fcfs", vec!["the cluster decides this", "--algorithm"]),
        ("run list.txt --on slurm:jobs --jobs 2", vec!["use --on slurm"]),
        ("run list.txt --on slurm:jobs --partition nowhere", vec!["nowhere", "main"]),
        ("run long.txt --on slurm:jobs --time 1h", vec!["10800", "request a longer --time"]),
        ("run list.txt --on slurm:jobs --time soon", vec!["such as 90m"]),
        (
            "run list.txt --on slurm:jobs --slurm=--no-such-option --folder o",
            vec!["no job can be submitted", "no-such-option"],
        ),
        ("agent --folder . --job a.1", vec!["SLURM_JOB_ID"]),
    ];
    for (line, parts) in refused {
        let said = space.makespan(line);
        assert!(matches!(said.status, Some(1 | 255)), "{line}: {said:#?}");
        said.holds(&parts);
    }
    let said = space.makespan("run licence.toml --on slurm:jobs");
    assert_eq!(said.status, Some(255), "{said:#?}");
    said.holds(&["solver"]);
}

#[test]
fn a_run_goes_on_where_it_was_begun_and_nowhere_else() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-elsewhere");
    space.write("batch.toml", "version = 1\n[[jobs]]\nname = \"a\"\ntime = \"1s\"\ncommand = [\"sh\", \"-c\", \"echo x >>begun; until test -e go; do sleep 0.1; done\"]\n");
    let mut planner = space.command(RUN).spawn().unwrap();
    space.wait("it begins", || space.path("begun").exists());
    let second = space.makespan(&format!("{RUN} --resume"));
    assert_eq!(second.status, Some(255), "{second:#?}");
    second.holds(&["another"]);
    planner.kill().unwrap();
    planner.wait().unwrap();
    let here = space.makespan("run batch.toml --no-history --folder run --resume --oversubscribe");
    assert_eq!(here.status, Some(255), "{here:#?}");
    here.holds(&["--on slurm:jobs"]);
    let pilots = space.makespan("run batch.toml --on slurm --nodes 4 --no-history --folder run --resume");
    assert_eq!(pilots.status, Some(255), "{pilots:#?}");
    pilots.holds(&["--on slurm:jobs"]);
    space.write("go", "");
    let said = space.makespan(&format!("{RUN} --resume"));
    succeeds(&space, &said);
    assert_eq!(space.read("begun"), "x\n");
}

/// If Slurm does not track the processes of a job by a control group, some of them may survive the program of the job.
#[test]
#[ignore = "long: a real Slurm"]
fn a_task_ends_with_the_program_of_its_job_however_that_ends() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-tied");
    // The job ignores the signals that ask it to end, and leaves its group and its session.
    let line = "trap '' TERM HUP INT; echo begun >>log; exec 9>lock; flock -n 9 || echo twice >>log; setsid sh -c 'until test -e go; do sleep 0.1; done'; echo done >>log";
    space.write("list.txt", &format!("{line}\n"));
    let planner = space.command("run list.txt --on slurm:jobs --no-history --folder run").spawn().unwrap();
    for attempt in 1..=2 {
        space.wait("it begins", || space.read("log").matches("begun").count() == attempt);
        let programs = agents(&space.path("run"));
        assert_eq!(programs.len(), 1, "{programs:?}");
        kill(Pid::from_raw(programs[0].pid), Signal::SIGKILL).unwrap();
    }
    space.wait("it begins again", || space.read("log").matches("begun").count() == 3);
    space.write("go", "");
    let said = space.said(planner);
    succeeds(&space, &said);
    assert_eq!(space.read("log"), "begun\nbegun\nbegun\ndone\n", "{said:#?}{}", logs(&space));
}
