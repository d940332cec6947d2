//! `--watch`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::cli::sandbox::{Said, Sandbox};

/// Returns `makespan queue --from slurm` on a cluster of one idle node and one pending job.
fn of_small_cluster(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let scontrol = "case \"$*\" in\n*nodes) echo NodeName=n0 CPUTot=4 State=IDLE Partitions=p;;\n*jobs) echo JobId=1 JobName=j \
                    UserId=ann\\(1\\) Priority=9 JobState=PENDING SubmitTime=1000 TimeLimit=00:10:00 Partition=p NumNodes=1-1 NumCPUs=1;;\n\
                    *config) echo SelectType = select/cons_tres;;\n*partitions) echo PartitionName=p State=UP Nodes=n0;;\nesac";
    fs::create_dir_all(sandbox.path("bin")).unwrap();
    let script = format!("#!/bin/sh\n{scontrol}\n");
    // A child process writes the program: no other child can then inherit the open file, which would prevent its start.
    let write = ["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""];
    let path = sandbox.path("bin/scontrol");
    assert!(Command::new("/bin/sh").args(write).arg(path).arg(script).status().unwrap().success());
    let mut command = sandbox.command("queue --from slurm");
    command.args(arguments).env("PATH", sandbox.path("bin")).env("TZ", "UTC").env("COLUMNS", "80");
    command
}

/// If the reader of the output exits, `--watch` ends, also between two updates.
#[test]
fn watching_ends_when_the_reader_goes_away() {
    let sandbox = Sandbox::new();
    let mut command = of_small_cluster(&sandbox, &["--watch", "65535"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("1 ") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the queue has job 1");
    }
    drop(out);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_interval_below_the_minimum_is_refused() {
    let sandbox = Sandbox::new();
    for seconds in 0..5 {
        let said =
            Said::new("watch", &of_small_cluster(&sandbox, &["--watch", &seconds.to_string()]).output().unwrap());
        let words = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.status == Some(1) && said.out.is_empty(), "{said:?}");
        assert!(words.contains("the minimum is 5 s") && words.contains("write --watch 5"), "{words}");
    }
}
