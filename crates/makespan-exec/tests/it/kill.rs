//! Checks that a run that is killed with SIGKILL repeatedly loses no job, and repeats no finished job.

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{FirstCome, Recorder, instance, job, options, text};
use makespan_core::{Instance, Outcome};
use makespan_exec::{ExecuteOptions, execute};

const FOLDER: &str = "MAKESPAN_TEST_FOLDER";
const JOBS: usize = 14;

/// Returns jobs that record their start and their end, and report if an earlier start of the same job still runs.
fn workload(folder: &Path) -> Instance {
    let logs = folder.join("logs");
    fs::create_dir_all(&logs).unwrap();
    let script = format!(
        "log={}/$MAKESPAN_JOB; for pid in $(sed -n 's/start //p' $log 2>/dev/null); do \
         grep -qs '^State:.[^ZX]' /proc/$pid/status && grep -qs \"$log\" /proc/$pid/cmdline && echo twice >>$log; done; \
         echo start $$ >>$log; sleep 0.08; echo done >>$log",
        logs.display()
    );
    instance((0..JOBS).map(|index| job(&format!("j{index}"), 1 + u32::from(index % 5 == 0), &script)).collect())
}

/// Helper process that is killed. This is not a test.
#[test]
fn helper() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let options = ExecuteOptions { resume: true, ..options(&folder.join("run")) };
    let trace = execute(&workload(folder), &mut FirstCome, &options, &mut Recorder::default()).unwrap();
    assert!(trace.all_succeeded(&workload(folder)), "{trace:?}");
}

fn spawn_helper(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kill::helper", "--nocapture"]).env(FOLDER, folder);
    command.stdin(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// Returns, for each job with exit status 0, its number of starts so far.
fn completed(folder: &Path) -> BTreeMap<String, usize> {
    let Ok(entries) = fs::read_dir(folder.join("run/status")) else { return BTreeMap::new() };
    let names = entries.flatten().filter(|entry| {
        entry.path().extension().is_none_or(|end| end != "tmp")
            && fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("\"exit\":0,"))
    });
    names
        .filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap().split_once('.')?.0.to_owned();
            Some((name.clone(), starts(folder, &name)))
        })
        .collect()
}

fn starts(folder: &Path, name: &str) -> usize {
    text(&folder.join("logs"), name).lines().filter(|line| line.starts_with("start")).count()
}

#[test]
fn killed_at_any_moment_it_repeats_nothing_and_loses_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut state = u64::from(std::process::id());
    for _ in 0..15 {
        let mut helper = spawn_helper(folder);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(5 + (state >> 33) % 150));
        helper.kill().unwrap();
        let status = helper.wait().unwrap();
        assert!(status.success() || status.code().is_none(), "it failed before it was killed: {status}");
        for (name, count) in completed(folder) {
            assert_eq!(*seen.entry(name.clone()).or_insert(count), count, "{name} was done and was started again");
        }
    }
    assert!(spawn_helper(folder).wait().unwrap().success());
    for index in 0..JOBS {
        let name = format!("j{index}");
        let log = text(&folder.join("logs"), &name);
        assert!(log.lines().any(|line| line == "done"), "{name} was lost: {log}");
        assert!(!log.contains("twice"), "{name} ran twice at once: {log}");
        assert_eq!(seen.get(&name).copied().unwrap_or(starts(folder, &name)), starts(folder, &name), "{name}: {log}");
    }
    // The last trace covers all sessions and contains each job once.
    let options = ExecuteOptions { resume: true, ..options(&folder.join("run")) };
    let trace = execute(&workload(folder), &mut FirstCome, &options, &mut Recorder::default()).unwrap();
    assert_eq!(trace.runs.len(), JOBS);
    assert!(trace.runs.iter().all(|run| run.outcome == Outcome::Succeeded && run.start < run.end));
}

#[test]
fn a_job_that_finished_after_the_death_of_its_session_is_taken_over() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let mut helper = spawn_helper(folder);
    while starts(folder, "j0") == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    helper.kill().unwrap();
    helper.wait().unwrap();
    let status = folder.join("run/status/j0.1");
    while !status.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = text(&folder.join("run"), "journal.jsonl").contains("ended");
    assert!(spawn_helper(folder).wait().unwrap().success());
    assert_eq!(starts(folder, "j0"), 1, "its end was on record before the resumption: {ended}");
}
