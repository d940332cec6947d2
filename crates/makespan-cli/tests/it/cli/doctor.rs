//! `makespan slurm doctor` and `--from slurm`, with programs on `PATH` that pretend to be Slurm's.

use std::fs;
use std::process::Command;

use crate::cli::sandbox::{Said, Sandbox};

/// A cluster of two nodes, one of which is drained.
const SCONTROL: &str = r#"#!/bin/sh
case "$*" in
*config) printf 'SLURM_VERSION = 24.11.5\nClusterName = east\nMaxStepCount = 40000\nMaxJobCount = 100\n';;
ping) echo 'Slurmctld(primary) at login is UP';;
*partitions) echo 'PartitionName=long Default=YES State=UP MaxTime=1-00:00:00 Nodes=n[0-1]';;
*nodes)
    echo 'NodeName=n0 CPUTot=4 RealMemory=4096 Gres=gpu:a100:2 State=IDLE Partitions=long Version=24.11.5'
    echo 'NodeName=n1 CPUTot=4 RealMemory=4096 State=IDLE+DRAIN Partitions=long Version=24.11.5 Reason=bad disk';;
*) echo 'scontrol_print_job error: Invalid job id specified' >&2; exit 1;;
esac
"#;

/// Creates a sandbox with these programs. `scontrol` describes the cluster above.
fn sandbox(programs: &[&str]) -> Sandbox {
    let sandbox = Sandbox::with_small();
    fs::create_dir(sandbox.path("bin")).unwrap();
    for program in programs {
        let text = if *program == "scontrol" { SCONTROL } else { "#!/bin/sh\nexit 0\n" };
        // Another process writes the program. A program that some process has open for writing cannot be executed, and
        // child processes of this one inherit its open files until they execute a program.
        let mut write = Command::new("/bin/sh");
        write
            .args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""])
            .arg(sandbox.path("bin").join(program))
            .arg(text);
        assert!(write.status().unwrap().success());
    }
    sandbox
}

/// Runs a command with only these programs on `PATH`.
fn said(sandbox: &Sandbox, arguments: &[&str], job: Option<&str>) -> Said {
    let mut command = Command::new(assert_cmd::cargo_bin!("makespan"));
    command.args(arguments).current_dir(sandbox.path("")).env("PATH", sandbox.path("bin"));
    command.env("MAKESPAN_HISTORY", sandbox.history()).env_remove("SLURM_JOBID").env_remove("SLURM_JOB_ID");
    if let Some(job) = job {
        command.env("SLURM_JOB_ID", job);
    }
    Said::new(&arguments.join(" "), &command.output().unwrap())
}

const ALL: [&str; 8] = ["sbatch", "srun", "scontrol", "squeue", "sinfo", "scancel", "sacct", "sacctmgr"];

#[test]
fn the_doctor_fits_on_80_columns_and_ends_without_success_where_runs_would_fail() {
    let sandbox = sandbox(&ALL);
    let well = said(&sandbox, &["slurm", "doctor", "--nodes", "0"], None);
    assert!(well.status == Some(0), "{}{}", well.out, well.err);
    assert!(well.out.starts_with("Cluster east, Slurm 24.11.5\n"), "{}", well.out);
    assert!(well.out.lines().all(|line| line.chars().count() <= 80), "{}", well.out);
    assert!(well.out.contains("ok       partition       long: jobs may take 1 d, also without --time"), "{}", well.out);
    let words = well.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("n1 (IDLE+DRAIN, bad disk)"), "{words}");
    let ill = said(&sandbox, &["slurm", "doctor", "--nodes", "0", "--partition", "short"], None);
    assert!(ill.status == Some(1) && ill.out.contains("Runs would fail: solve 1 problem first."), "{}", ill.out);
}

#[test]
fn the_doctor_speaks_json() {
    let sandbox = sandbox(&ALL[..6]);
    let said = said(&sandbox, &["slurm", "doctor", "--nodes", "0", "--format", "json"], None);
    let value: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&value["cluster"], &value["verdict"]), (&"east".into(), &"doubtful".into()));
    let first = &value["findings"][0];
    assert_eq!((&first["topic"], &first["found"]), (&"commands".into(), &"sacct, sacctmgr are missing".into()));
}

#[test]
fn machines_of_a_cluster_are_planned_on() {
    let sandbox = sandbox(&["scontrol"]);
    for command in ["plan", "bound", "simulate"] {
        let said = said(&sandbox, &[command, "small.toml", "--from", "slurm"], None);
        let text = said.out.clone() + &said.err;
        // The second node is drained, so a job of 8 processors does not fit on the remaining 4.
        assert!(text.contains("`rigid`") && text.contains('8'), "{command}: {text}");
    }
    sandbox
        .write("one.toml", "version = 2\n[[jobs]]\nname = \"a\"\ntime = 3\nneeds = { gpus = 2, memory = \"3GiB\" }\n");
    for from in ["slurm", "slurm:long"] {
        let said = said(&sandbox, &["plan", "one.toml", "--from", from], None);
        assert!(said.status == Some(0) && said.out.contains("on 4 processors"), "{}{}", said.out, said.err);
        assert!(
            said.out.contains("1 node is not used, because no jobs can start there: n1 (IDLE+DRAIN, bad"),
            "{}",
            said.out
        );
    }
}

#[test]
fn what_is_no_cluster_is_told() {
    let sandbox = sandbox(&["scontrol"]);
    let refused = |from: &str, job: Option<&str>| {
        let said = said(&sandbox, &["plan", "small.toml", "--from", from], job);
        assert!(said.status == Some(1), "{}", said.out);
        said.err
    };
    assert!(refused("pbs", None).contains("write slurm, or slurm:PARTITION"));
    assert!(refused("slurm:", None).contains("write slurm, or slurm:PARTITION"));
    assert!(refused("slurm:short", None).contains("there is no partition `short`; the cluster has long"));
    assert!(refused("slurm", Some("77")).contains("there is no job 77"));
    assert!(refused("slurm", Some("x")).contains("SLURM_JOB_ID is `x`"));
    fs::remove_file(sandbox.path("bin/scontrol")).unwrap();
    assert!(refused("slurm", None).contains("cannot run `scontrol`"));
}
