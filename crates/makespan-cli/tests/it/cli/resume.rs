//! Runs that are killed or stopped, and then continue.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::cli::kills::processes::{of_run, signal};
use crate::cli::run::shell_jobs;
use crate::cli::sandbox::{Said, Sandbox};

/// Writes twelve jobs. Each writes its name into `ended` at its end.
fn twelve(sandbox: &Sandbox) {
    jobs(sandbox, "sleep 0.08");
}

/// Writes twelve jobs like [`twelve`]. The first four to run end at once, and the others wait for a file `go`, so that
/// a test can act in the middle of the run. A job is among the first four if it creates one of four folders. Counting
/// the ended jobs instead would let a fifth job through if two of them count at the same moment.
fn waiting(sandbox: &Sandbox) {
    jobs(
        sandbox,
        "sleep 0.03; for n in 1 2 3 4; do mkdir first$n 2>/dev/null && free=yes && break; done; \
         test $free || for i in $(seq 3000); do test -e go && break; sleep 0.02; done",
    );
    sandbox.write("ended", "");
}

fn jobs(sandbox: &Sandbox, work: &str) {
    let script = format!("{work}; echo $MAKESPAN_JOB >> ended");
    let names: Vec<String> = (0..12).map(|index| format!("job{index:02}")).collect();
    let jobs: Vec<_> = names.iter().map(|name| (name.as_str(), "0.1", script.as_str())).collect();
    sandbox.write("i.toml", shell_jobs(2, &jobs));
}

fn spawn(sandbox: &Sandbox, more: &str) -> Child {
    let mut command = sandbox.command(&format!("run i.toml --oversubscribe --folder f {more}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the number of ended jobs in the journal.
fn finished(sandbox: &Sandbox) -> usize {
    std::fs::read_to_string(sandbox.path("f/journal.jsonl")).unwrap_or_default().matches("{\"ended\"").count()
}

/// Waits until this number of jobs has ended or the process has ended, for at most a minute.
fn wait_for(sandbox: &Sandbox, child: &mut Child, jobs: usize) {
    let begun = Instant::now();
    while finished(sandbox) < jobs && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_mins(1), "the run does not go on");
        sleep(Duration::from_millis(3));
    }
}

/// Returns how often each job reached its end. The number must be 1 for jobs that have ended in the journal.
fn times(sandbox: &Sandbox) -> Vec<usize> {
    let ended = sandbox.read("ended");
    (0..12).map(|index| ended.lines().filter(|line| *line == format!("job{index:02}")).count()).collect()
}

/// Returns the numbers of the jobs that succeeded in the journal.
fn succeeded(sandbox: &Sandbox) -> Vec<usize> {
    let journal = std::fs::read_to_string(sandbox.path("f/journal.jsonl")).unwrap_or_default();
    let records = journal.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let ended = records.filter(|record| record["ended"]["outcome"] == "succeeded");
    ended.map(|record| record["ended"]["job"].as_u64().unwrap() as usize).collect()
}

/// Checks the status of a run, and that all its notes are about jobs. Returns its text.
#[track_caller]
fn with_notes(said: &Said, status: i32) -> String {
    let about =
        ["note: job `", "note: stopping: ", "note: prints the outputs of jobs that ended in an earlier session"];
    let is_note = |line: &str| about.iter().any(|begin| line.starts_with(begin));
    let mut notes = said.err.lines().filter(|line| line.starts_with("note: "));
    assert!(said.status == Some(status) && notes.all(is_note), "{said:?}");
    said.err.clone()
}

#[test]
fn killed_at_any_moment_it_repeats_no_finished_job_and_loses_none() {
    let sandbox = Sandbox::new();
    twelve(&sandbox);
    // The folder exists, so that each session can resume, even if the first one is killed before it starts anything.
    std::fs::create_dir(sandbox.path("f")).unwrap();
    let mut effects: Vec<(usize, usize)> = Vec::new();
    for round in 0..6_u64 {
        let mut child = spawn(&sandbox, "--resume");
        // The first kill is at the very beginning. Each later one waits until two more jobs have ended, and then some
        // time more.
        wait_for(&sandbox, &mut child, (finished(&sandbox) + 2).min(2 * round as usize));
        sleep(Duration::from_millis(round * 17));
        child.kill().unwrap();
        child.wait().unwrap();
        if round > 0 {
            let now = times(&sandbox);
            for &(job, before) in &effects {
                assert_eq!(now[job], before, "job {job} had finished and was repeated in round {round}");
            }
            effects = succeeded(&sandbox).into_iter().map(|job| (job, now[job])).collect();
        }
    }
    let output = spawn(&sandbox, "--resume").wait_with_output().unwrap();
    let text = with_notes(&Said::new("run --resume", &output), 0);
    assert!(text.contains("12 of 12 jobs succeeded"), "{text}");
    let now = times(&sandbox);
    assert!(now.iter().all(|&count| count >= 1), "no job is lost: {now:?}");
    for (job, before) in effects {
        assert_eq!(now[job], before, "job {job} had finished and was repeated");
    }
    let mut all = succeeded(&sandbox);
    all.sort_unstable();
    assert_eq!(all, (0..12).collect::<Vec<_>>(), "each job succeeds exactly once");
    sandbox.makespan("verify i.toml f/plan.json").succeeds();
    for name in ["f/report.html", "f/gantt.svg", "f/jobs.csv", "f/job00.out", "f/job11.err"] {
        assert!(sandbox.path(name).exists(), "{name}");
    }
}

/// Waits for a condition, for at most a minute.
fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waiting for {what}");
        sleep(Duration::from_millis(3));
    }
}

#[test]
fn what_runs_when_a_session_is_killed_goes_on_under_the_next() {
    for then in ["goes on", "killed twice", "its shims are killed", "stopped"] {
        let sandbox = Sandbox::new();
        waiting(&sandbox);
        let mut child = spawn(&sandbox, "");
        wait_for(&sandbox, &mut child, 4);
        let alive = || of_run(&sandbox.path("f").canonicalize().unwrap());
        let records = |what: &str| sandbox.read("f/journal.jsonl").matches(what).count();
        until("the next jobs", || records("{\"started\"") == 6);
        // A job may run only after its record is written.
        until("their processes", || alive().iter().filter(|process| !process.is_shim).count() >= 2);
        for session in 2..=if then == "killed twice" { 3 } else { 2 } {
            child.kill().unwrap();
            child.wait().unwrap();
            child = spawn(&sandbox, "--resume");
            until("a session", || records("{\"session\"") == session);
        }
        match then {
            "stopped" => kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap(),
            "its shims are killed" => {
                // The list of processes may lack a process if the state of the process changes while the list is read.
                let mut shims = Vec::new();
                until("their shims", || {
                    shims = alive().into_iter().filter(|process| process.is_shim).collect();
                    shims.len() >= 2
                });
                shims.iter().for_each(|shim| signal(shim.pid, Signal::SIGKILL));
                // The remaining processes of these jobs are ended before the jobs run again.
                until("their ends", || records("{\"interrupted\"") == 2);
                sandbox.write("go", "");
            }
            _ => sandbox.write("go", ""),
        }
        let output = child.wait_with_output().unwrap();
        let said = Said::new("run --resume", &output);
        assert!(alive().is_empty(), "{then}: {:?} {said:?}", alive());
        if then == "stopped" {
            with_notes(&said, 130);
            continue;
        }
        let text = with_notes(&said, 0);
        assert!(text.contains("12 of 12 jobs succeeded"), "{then}: {text}");
        assert!(
            said.err.contains("is still running after the end of the session that started it, and continues"),
            "{then}: {said:?}"
        );
        let (now, journal) = (times(&sandbox), sandbox.read("f/journal.jsonl"));
        assert_eq!(now, [1; 12], "{then}: {said:?}");
        let starts = journal.matches("{\"started\"").count();
        assert_eq!(starts > 12, then == "its shims are killed", "{then}: {starts} {said:?}");
        assert_eq!(
            said.err.contains("the process that watched the job"),
            then == "its shims are killed",
            "{then}: {said:?}"
        );
    }
}

#[test]
fn stopped_by_ctrl_c_it_says_so_and_goes_on() {
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let sandbox = Sandbox::new();
        waiting(&sandbox);
        let mut child = spawn(&sandbox, "");
        wait_for(&sandbox, &mut child, 4);
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = Said::new("run", &output);
        with_notes(&said, status);
        assert!(said.err.contains("the run was stopped; `makespan run --folder f --resume`"), "{said:?}");
        let (done, before) = (succeeded(&sandbox), times(&sandbox));
        assert!((4..=5).contains(&done.len()), "{done:?}");
        sandbox.write("go", "");
        let output = spawn(&sandbox, "--resume").wait_with_output().unwrap();
        assert!(with_notes(&Said::new("run", &output), 0).contains("12 of 12 jobs succeeded"));
        let now = times(&sandbox);
        assert!(now.iter().all(|&count| count >= 1), "{now:?}");
        assert!(done.iter().all(|&job| now[job] == before[job]), "{done:?} {before:?} {now:?}");
    }
}

#[test]
fn a_second_run_in_the_folder_is_kept_out() {
    let sandbox = Sandbox::new();
    waiting(&sandbox);
    let mut child = spawn(&sandbox, "");
    wait_for(&sandbox, &mut child, 1);
    sandbox.makespan("run i.toml --oversubscribe --folder f --resume").refused(&["f/lock", "another process"]);
    sandbox.write("go", "");
    let output = child.wait_with_output().unwrap();
    assert!(Said::new("run", &output).succeeds().contains("12 of 12 jobs succeeded"));
    assert_eq!(times(&sandbox), [1; 12]);
}
