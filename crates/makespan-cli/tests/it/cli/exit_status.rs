//! `makespan run`: exit statuses and signals.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::cli::sandbox::Sandbox;

/// The exit status counts jobs that failed, timed out or were not run, as with GNU parallel.
#[test]
fn the_status_counts_jobs_without_success() {
    let failing = |count: usize| "exit 7\n".repeat(count);
    for (list, options, status) in [
        ("true\ntrue\n".to_owned(), "", 0),
        ("true\nexit 9\nkill -9 $$\n".to_owned(), "", 2),
        ("exit 1 #: name=a\ntrue #: after=a\ntrue\n".to_owned(), "", 2),
        ("sleep 9\ntrue\n".to_owned(), "--timeout 0.3s", 1),
        ("exit 3\ntrue\ntrue\n".to_owned(), "--fail-fast", 3),
        (failing(101), "--no-output", 101),
        (failing(130), "--no-output --quiet", 101),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("l.txt", &list);
        let said = sandbox.makespan(&format!("run l.txt --processors 1 --oversubscribe --folder f {options}"));
        assert_eq!(said.status, Some(status), "{list}{options}: {said:?}");
        assert!(said.err.contains(&format!(" status={status} ")), "{said:?}");
    }
}

/// A resumed run counts all jobs of the list, including jobs that failed in earlier sessions.
#[test]
fn a_resumed_run_counts_all_jobs() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "exit 3\ntest -e there\nexit 4\n");
    let run = "run l.txt --processors 2 --oversubscribe --folder f";
    assert_eq!(sandbox.makespan(run).status, Some(3));
    assert_eq!(sandbox.makespan(&format!("{run} --resume")).status, Some(3));
    sandbox.write("there", "");
    assert_eq!(sandbox.makespan(&format!("{run} --resume --retry-failed")).status, Some(2));
}

/// An error before the first job has status 255, because a status such as 1 would look like a failed job.
#[test]
fn errors_before_the_first_job_have_status_255() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "true\n");
    sandbox.write("bad.toml", "version = ");
    for line in [
        "run",
        "run --no-such-option",
        "run no-such-list.txt",
        "run bad.toml",
        "run l.txt --folder l.txt",
        "run l.txt --timeout soon",
        "run l.txt --jobs 0%",
    ] {
        let said = sandbox.makespan(line);
        assert_eq!((said.status, said.out.as_str()), (Some(255), ""), "{line}: {said:?}");
    }
    assert_eq!(sandbox.makespan("run --help").status, Some(0));
    assert_eq!(sandbox.makespan("plan no-such-file.toml").status, Some(1));
    assert_eq!(sandbox.makespan("plan --no-such-option").status, Some(2));
    let said = sandbox.makespan("run l.txt --processors 1 --folder 'a b' --quiet");
    assert!(said.err.contains(" status=0 folder='a b'\n") && said.err.contains("result: jobs=1 "), "{said:?}");
}

fn started(sandbox: &Sandbox, program: &str) -> Child {
    let makespan = assert_cmd::cargo_bin!("makespan").display().to_string();
    let line = format!("{program} {makespan} run l.txt --processors 1 --oversubscribe --folder f; echo $? > status");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &line]).current_dir(sandbox.path("")).env("MAKESPAN_HISTORY", sandbox.history());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs a job that writes `begun` and ends when the file `go` exists, or after five seconds. Sends a signal to the
/// session while the job runs. If `goes_on` is true, creates the file `go` after the signal. Returns the exit status.
fn signalled(program: &str, signal: Signal, goes_on: bool) -> String {
    let sandbox = Sandbox::new();
    let list = "grep SigBlk /proc/self/status > mask; echo $PPID > begun; \
                for i in $(seq 250); do test -e go && break; sleep 0.02; done\n";
    sandbox.write("l.txt", list);
    let mut shell = started(&sandbox, program);
    let begun = Instant::now();
    let children = format!("/proc/{0}/task/{0}/children", shell.id());
    while !sandbox.path("begun").exists() || sandbox.read("begun").is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the job does not begin");
        sleep(Duration::from_millis(5));
    }
    let child = std::fs::read_to_string(children).unwrap();
    kill(Pid::from_raw(child.trim().parse().unwrap()), signal).unwrap();
    if goes_on {
        sleep(Duration::from_millis(100));
        sandbox.write("go", "");
    }
    shell.wait().unwrap();
    let mask = sandbox.read("mask");
    assert_eq!(mask.split_whitespace().last(), Some("0000000000000000"), "jobs receive all signals");
    sandbox.read("status").trim().to_owned()
}

#[test]
fn a_signal_stops_the_run_unless_it_was_ignored_at_the_start() {
    for (program, signal, status) in [
        ("env --default-signal", Signal::SIGINT, "130"),
        ("env --default-signal", Signal::SIGTERM, "143"),
        ("env --default-signal", Signal::SIGHUP, "129"),
        ("nohup", Signal::SIGHUP, "0"),
        ("nohup", Signal::SIGTERM, "143"),
        ("trap '' INT;", Signal::SIGINT, "0"),
    ] {
        assert_eq!(signalled(program, signal, status == "0"), status, "{program} {signal}");
    }
}
