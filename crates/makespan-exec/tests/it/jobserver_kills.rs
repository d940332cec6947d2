//! Sessions that lend cores are killed at random instants. The processes of the jobs never exceed the cores, and all jobs end.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use makespan_core::{Instance, Platform};
use makespan_exec::{ExecuteOptions, JobserverStyle, Silent, execute};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::common::{FirstCome, text};
use crate::jobserver::{STYLE, STYLES, client, lending, most, released};

const FOLDER: &str = "MAKESPAN_TEST_KILLED_LENDER";
const CORES: u32 = 3;

/// Returns two jobs that run up to seven processes each, one of them without a token, and later jobs with one process.
fn trees(folder: &Path) -> Instance {
    // As in make, the process without a token never waits, so the job ends even if a token is lost.
    let tree = "{ work 0.1; work 0.1; work 0.1; } & for i in 1 2 3 4 5 6; do if timeout 0.5 dd if=$r bs=1 count=1 >/dev/null 2>&1; \
                then { work 0.1; give; } & fi; done; wait";
    let tree = |name| client(name, 1, folder, tree);
    let plain = |name, at| released(client(name, 1, folder, "work 0.2"), at);
    let jobs = vec![tree("a"), tree("b"), plain("c", 250), plain("d", 500), plain("e", 500)];
    Instance::new(Platform::flat(CORES).unwrap(), jobs, vec![]).unwrap()
}

fn resumed(folder: &Path, style: JobserverStyle) -> ExecuteOptions {
    ExecuteOptions { resume: true, ..lending(folder, style) }
}

/// Helper process that is killed. This is not a test.
#[test]
fn helper() {
    let (Some(folder), Ok(style)) = (std::env::var_os(FOLDER), std::env::var(STYLE)) else { return };
    let (folder, style) = (Path::new(&folder), STYLES[style.parse::<usize>().unwrap()]);
    let _ = execute(&trees(folder), &mut FirstCome, &resumed(folder, style), &mut Silent);
}

/// For each pair in `kills`, starts a session, kills it after the first number of milliseconds, and pauses for the second
/// number of milliseconds. Then resumes the run.
fn killed(style: usize, kills: &[(u64, u64)]) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    for &(milliseconds, pause) in kills {
        let mut helper = Command::new(std::env::current_exe().unwrap());
        helper.args(["--exact", "jobserver_kills::helper"]).env(FOLDER, folder).env(STYLE, style.to_string());
        let mut helper = helper.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        helper.kill().unwrap();
        helper.wait().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
    }
    let (instance, options) = (trees(folder), resumed(folder, STYLES[style]));
    let trace = execute(&instance, &mut FirstCome, &options, &mut Silent).unwrap();
    assert!(trace.all_succeeded(&instance), "{style} {kills:?}: {trace:?}");
    let most = most(&text(folder, "log"));
    assert!(most <= CORES as i32, "{most} processes on {CORES} cores: {style} {kills:?}");
    assert!(!folder.join("run/jobserver").exists(), "the FIFOs are removed");
}

#[test]
fn processes_never_exceed_the_cores_after_a_kill() {
    for style in 0..STYLES.len() {
        killed(style, &[(250, 0), (120, 100)]);
    }
}

#[test]
#[ignore = "long: kills many sessions"]
fn processes_never_exceed_the_cores_after_any_kills() {
    let kills = prop::collection::vec((10..600_u64, 0..300_u64), 1..5);
    let mut runner =
        TestRunner::new(Config { cases: 40, max_shrink_iters: 0, failure_persistence: None, ..Config::default() });
    let property = (0..STYLES.len(), kills);
    let outcome = runner.run(&property, |(style, kills)| {
        killed(style, &kills);
        Ok(())
    });
    outcome.unwrap();
}
