//! Searches that are stopped or killed leave a valid plan or none.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::cli::sandbox::{Said, Sandbox};

const GENERATE: &str = "generate moldable --family mixed --jobs 60 --processors 40 --output jobs.json";

fn started(sandbox: &Sandbox, line: &str) -> Child {
    sandbox.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the child handles a signal, which can take long on a busy machine. Before, the signal would end the
/// child, or do nothing if the caller of the tests ignores it. Without `/proc`, waits for a second.
fn listens(child: &Child, signal: Signal) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_mins(1) {
        let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) else {
            return sleep(Duration::from_secs(1));
        };
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if caught.is_none_or(|mask| mask >> (signal as i32 - 1) & 1 == 1) {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("it never listens for {signal}");
}

fn send(child: &Child, signal: Signal) {
    // An error is ignored, because the process may have just ended.
    let _ = kill(Pid::from_raw(child.id() as i32), signal);
}

#[test]
fn stopped_it_writes_the_best_plan_so_far() {
    let sandbox = Sandbox::new();
    sandbox.makespan(GENERATE).succeeds();
    for (signal, objective) in
        [(Signal::SIGINT, "makespan"), (Signal::SIGTERM, "weighted-completion"), (Signal::SIGINT, "pareto")]
    {
        let begin = Instant::now();
        let line = format!("plan jobs.json --objective {objective} --time-limit 1h --output plan.json");
        let child = started(&sandbox, &line);
        listens(&child, signal);
        sleep(Duration::from_millis(500));
        send(&child, signal);
        let said = Said::new(&line, &child.wait_with_output().unwrap());
        assert_eq!(said.status, Some(0), "{said:?}");
        assert!(said.out.contains("the search was stopped before its search time"), "{said:?}");
        assert!(begin.elapsed() < Duration::from_secs(30), "it ends soon");
        assert!(sandbox.makespan("verify jobs.json plan.json").succeeds().starts_with("valid"));
        std::fs::remove_file(sandbox.path("plan.json")).unwrap();
    }
}

#[test]
fn at_any_moment_a_signal_leaves_a_valid_plan_or_none() {
    let sandbox = Sandbox::new();
    sandbox.makespan(GENERATE).succeeds();
    let mut left = 0;
    for delay in 0..14 {
        for signal in [Signal::SIGKILL, Signal::SIGINT] {
            let line = "plan jobs.json --time-limit 300ms --output plan.json --report page.html";
            let mut child = started(&sandbox, line);
            sleep(Duration::from_millis(delay * 35));
            send(&child, signal);
            child.wait().unwrap();
            let entries = sandbox.entries();
            if entries.iter().any(|name| name == "plan.json") {
                left += 1;
                assert!(sandbox.makespan("verify jobs.json plan.json").succeeds().starts_with("valid"));
                std::fs::remove_file(sandbox.path("plan.json")).unwrap();
            }
            if entries.iter().any(|name| name == "page.html") {
                assert!(sandbox.read("page.html").trim_end().ends_with("</html>"));
                std::fs::remove_file(sandbox.path("page.html")).unwrap();
            }
        }
    }
    assert!(left > 0, "some signals came after the plan was written, or asked for it");
}

#[test]
fn the_second_signal_gives_up() {
    let sandbox = Sandbox::new();
    // The instance is large, so the first plan takes longer than the signals.
    sandbox.makespan("generate moldable --family mixed --jobs 6000 --processors 60 --output jobs.json").succeeds();
    let child = started(&sandbox, "plan jobs.json --time-limit 1h --output plan.json");
    listens(&child, Signal::SIGINT);
    send(&child, Signal::SIGINT);
    send(&child, Signal::SIGINT);
    sleep(Duration::from_millis(20));
    send(&child, Signal::SIGINT);
    let output = child.wait_with_output().unwrap();
    match output.status.code() {
        Some(130) => assert_eq!(sandbox.entries(), ["jobs.json"]),
        // The first signal ended the search before the second one arrived.
        status => assert_eq!(status, Some(0)),
    }
}
