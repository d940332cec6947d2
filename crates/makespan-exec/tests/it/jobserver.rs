//! Cores that are lent to jobs as tokens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use makespan_core::{Instance, Job, Platform, Time};
use makespan_exec::{ExecuteError, ExecuteOptions, JobserverStyle, Pinning, Silent, StartHold, execute};

use crate::common::{FirstCome, job, options, text};

const CORES: u32 = 4;
pub const STYLES: [JobserverStyle; 2] = [JobserverStyle::Pipe, JobserverStyle::Fifo];

/// Functions for a shell: `take` waits for a token, `give` returns it, and `work` records a process that runs.
const CLIENT: &str = "a=${MAKEFLAGS##*--jobserver-auth=}; \
    case $a in fifo:*) r=${a#fifo:}; w=$r;; *) r=/dev/fd/${a%,*}; w=/dev/fd/${a#*,};; esac; \
    take() { dd if=$r bs=1 count=1 2>/dev/null >/dev/null; }; give() { printf + > $w; }; \
    work() { echo + >> $LOG; sleep $1; echo - >> $LOG; }; ";

fn instance(jobs: Vec<Job>) -> Instance {
    Instance::new(Platform::flat(CORES).unwrap(), jobs, vec![]).unwrap()
}

pub fn client(name: &str, cores: u32, folder: &Path, script: &str) -> Job {
    job(name, cores, &format!("LOG={}/log; {CLIENT}{script}", folder.display()))
}

pub fn released(job: Job, milliseconds: i64) -> Job {
    Job { release: Time::from_ticks(milliseconds * 1_000_000), ..job }
}

pub fn lending(folder: &Path, style: JobserverStyle) -> ExecuteOptions {
    ExecuteOptions { jobserver: Some(style), pinning: Pinning::Nothing, ..options(&folder.join("run")) }
}

/// Runs jobs that lend cores, and returns the maximum number of processes that ran at once.
fn most_processes(folder: &Path, jobs: Vec<Job>, style: JobserverStyle) -> i32 {
    let instance = instance(jobs);
    let trace = execute(&instance, &mut FirstCome, &lending(folder, style), &mut Silent).unwrap();
    assert!(trace.all_succeeded(&instance), "{style:?}: {trace:?}");
    assert!(!folder.join("run/jobserver").exists(), "the FIFOs are removed");
    most(&text(folder, "log"))
}

/// Returns the maximum number of processes that ran at once according to a log.
pub fn most(log: &str) -> i32 {
    let (mut running, mut most) = (0, 0);
    for line in log.lines() {
        running += if line == "+" { 1 } else { -1 };
        most = most.max(running);
    }
    assert_eq!(running, 0, "{log}");
    most
}

#[test]
fn processes_of_all_jobs_never_exceed_the_cores() {
    // The last process needs no token, because a job has one core.
    let tree = "for i in 1 2 3 4 5 6 7; do take; { work 0.06; give; } & done; work 0.06; wait";
    for style in STYLES {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let plain = |name, cores, at| {
            // A job of several cores runs as many processes.
            let work = "work 0.1 & ".repeat(cores as usize);
            released(client(name, cores, folder, &format!("{work} wait")), at)
        };
        let jobs = vec![
            client("tree", 1, folder, tree),
            client("other", 1, folder, tree),
            plain("plain", 1, 50),
            plain("wide", 4, 80),
            plain("late", 2, 250),
        ];
        assert_eq!(most_processes(folder, jobs, style), CORES as i32, "{style:?}");
    }
}

#[test]
fn tokens_of_killed_processes_are_free_when_their_job_ends() {
    for style in STYLES {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        // Three processes die with a token each, before the other jobs are released. The job continues for a while.
        let killed = "for i in 1 2 3; do take; sh -c 'kill -9 $$'; done; work 0.8; echo end >> $LOG.order";
        let jobs = vec![
            client("killed", 1, folder, killed),
            released(client("next", 1, folder, "echo next >> $LOG.order; work 0"), 500),
            released(client("wide", 4, folder, "echo wide >> $LOG.order; work 0"), 500),
        ];
        most_processes(folder, jobs, style);
        assert_eq!(text(folder, "log.order"), "end\nnext\nwide\n", "{style:?}");
    }
}

#[test]
fn a_job_owns_the_tokens_of_its_cores() {
    for style in STYLES {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        // A start that waits withdraws only lent tokens.
        let owner = "sleep 0.2; take; take; work 0.1; give; give; echo $OMP_NUM_THREADS >> $LOG.threads";
        let jobs = vec![client("owner", 3, folder, owner), released(client("next", 1, folder, "work 0.1"), 50)];
        assert_eq!(most_processes(folder, jobs, style), 1, "{style:?}");
        assert_eq!(text(folder, "log.threads"), "3\n");
    }
}

#[test]
fn starts_with_a_delay_get_their_cores() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let tree = "for i in 1 2 3 4 5 6 7 8 9; do take; { work 0.15; give; } & done; wait";
    let plain = |name| released(client(name, 1, folder, "work 0.1"), 100);
    let instance = instance(vec![client("tree", 1, folder, tree), plain("a"), plain("b")]);
    let hold = StartHold { delay: Duration::from_millis(300), ..StartHold::default() };
    let options = ExecuteOptions { hold: Some(hold), ..lending(folder, JobserverStyle::Pipe) };
    let trace = execute(&instance, &mut FirstCome, &options, &mut Silent).unwrap();
    assert!(trace.all_succeeded(&instance) && most(&text(folder, "log")) <= CORES as i32);
    let mut starts: Vec<i64> = trace.runs.iter().map(|run| run.start.ticks()).collect();
    starts.sort_unstable();
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 300_000_000), "{starts:?}");
    assert!(starts[2] < 1_000_000_000, "attempts that failed delay no start: {starts:?}");
}

#[test]
fn a_path_that_makeflags_cannot_contain_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("a b");
    let instance = instance(vec![job("a", 1, "exit 0")]);
    let run = |style| execute(&instance, &mut FirstCome, &lending(&folder, style), &mut Silent);
    let refused = run(JobserverStyle::Fifo).unwrap_err();
    assert!(matches!(&refused, ExecuteError::NoJobserver(reason) if reason.contains("--jobserver=pipe")), "{refused}");
    fs::remove_dir_all(&folder).unwrap();
    run(JobserverStyle::Pipe).unwrap();
}

const FOLDER: &str = "MAKESPAN_TEST_LENT";
pub const STYLE: &str = "MAKESPAN_TEST_STYLE";

/// Jobs of a run that is killed: `first` holds two lent tokens until a file exists.
fn interrupted(folder: &Path) -> Instance {
    let first = "take; take; touch $LOG.taken; until [ -e $LOG.go ]; do sleep 0.02; done; \
                 echo given >> $LOG.order; give; give; sleep 0.3";
    // A job that is there first ends only after the tokens are given back, so that its own core is not free before.
    let waits = "echo next >> $LOG.order; until grep -q given $LOG.order; do sleep 0.02; done";
    let next = |name| released(client(name, 1, folder, waits), 600);
    instance(vec![client("first", 1, folder, first), next("a"), next("b")])
}

/// Helper process that is killed. This is not a test.
#[test]
fn helper() {
    let (Some(folder), Ok(style)) = (std::env::var_os(FOLDER), std::env::var(STYLE)) else { return };
    let style = STYLES[style.parse::<usize>().unwrap()];
    let folder = Path::new(&folder);
    let _ = execute(&interrupted(folder), &mut FirstCome, &lending(folder, style), &mut Silent);
}

#[test]
fn a_resumed_run_waits_for_tokens_that_an_earlier_session_lent() {
    for (index, style) in STYLES.into_iter().enumerate() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let mut helper = Command::new(std::env::current_exe().unwrap());
        helper.args(["--exact", "jobserver::helper"]).env(FOLDER, folder).env(STYLE, index.to_string());
        let mut helper = helper.stdout(Stdio::null()).spawn().unwrap();
        while !folder.join("log.taken").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        helper.kill().unwrap();
        helper.wait().unwrap();
        let go = folder.join("log.go");
        let later = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(900));
            fs::write(go, "").unwrap();
        });
        // The files of an attempt that ended between two sessions.
        fs::write(folder.join("run/jobserver/9.1.tokens"), "").unwrap();
        let options = ExecuteOptions { resume: true, ..lending(folder, style) };
        let instance = interrupted(folder);
        let trace = execute(&instance, &mut FirstCome, &options, &mut Silent).unwrap();
        later.join().unwrap();
        assert!(trace.all_succeeded(&instance), "{trace:?}");
        assert_eq!(trace.runs.iter().filter(|run| run.task.0 == 0).count(), 1, "the job ran once");
        assert!(!folder.join("run/jobserver").exists(), "the FIFOs are removed");
        // One core is free, so one job starts at once. The other job waits for a token.
        assert_eq!(text(folder, "log.order"), "next\ngiven\nnext\n", "{style:?}");
    }
}

const MAKEFILE: &str =
    "TASKS := $(shell seq 20)\nall: $(TASKS)\n$(TASKS):\n\t@echo + >> log; sleep 0.1; echo - >> log\n";

/// Runs two makes with 20 commands each below one run, kills one of them, and checks that its tokens are free later.
#[test]
#[ignore = "long: GNU make"]
fn makes_below_one_run_share_its_cores() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    fs::write(folder.join("Makefile"), MAKEFILE).unwrap();
    let make = |name| client(name, 1, folder, &format!("cd {} && make", folder.display()));
    let killed = format!("cd {}; make -s 2>/dev/null & sleep 0.25; kill -9 $!; wait; sleep 0.3", folder.display());
    let jobs = vec![
        make("first"),
        released(client("killed", 1, folder, &killed), 50),
        released(client("plain", 1, folder, "work 0.3"), 100),
        Job { after: vec!["killed".into(), "first".into(), "plain".into()], ..make("last") },
    ];
    let instance = instance(jobs);
    let trace = execute(&instance, &mut FirstCome, &lending(folder, JobserverStyle::Pipe), &mut Silent).unwrap();
    assert!(trace.all_succeeded(&instance), "{trace:?}");
    let last = trace.runs.last().unwrap();
    let seconds = (last.end - last.start).ticks() as f64 / 1e9;
    // On four cores, 20 commands of 0.1 s take 0.5 s, and on three cores 0.7 s.
    assert!(seconds < 0.7, "the last make took {seconds} s");
    assert_eq!(most(&text(folder, "log")), CORES as i32);
}

/// Installs a ninja with a jobserver from `PyPI`. Returns `None` if this is not possible.
fn ninja(folder: &Path) -> Option<PathBuf> {
    let venv = folder.join("venv");
    let runs = |command: &mut Command| command.stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    let is_there = runs(Command::new("python3").args(["-m", "venv"]).arg(&venv))
        && runs(Command::new(venv.join("bin/pip")).args(["install", "--quiet", "ninja==1.13.*"]));
    if !is_there {
        eprintln!("SKIPPED: ninja 1.13 cannot be installed from PyPI (python3 -m venv, pip install ninja)");
    }
    is_there.then(|| venv.join("bin/ninja"))
}

/// Checks that a job that runs this command, next to a plain job, uses all cores and no more.
fn shares_cores(folder: &Path, command: &str, style: JobserverStyle) {
    let build = client("build", 1, folder, command);
    let plain = released(client("plain", 1, folder, "work 0.3"), 300);
    let most = most_processes(folder, vec![build, plain], style);
    assert_eq!(most, CORES as i32, "{style:?}: {command}");
}

#[test]
#[ignore = "long: ninja from PyPI"]
fn a_ninja_takes_the_cores_that_no_job_holds() {
    for style in STYLES {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let Some(ninja) = ninja(folder) else { return };
        let work = "rule work\n command = echo + >> log; sleep 0.1; echo - >> log\n";
        let edges: String = (0..20).map(|number| format!("build {number}: work\n")).collect();
        fs::write(folder.join("build.ninja"), format!("{work}{edges}")).unwrap();
        shares_cores(folder, &format!("cd {} && {}", folder.display(), ninja.display()), style);
    }
}

#[test]
#[ignore = "long: cargo builds 8 packages"]
fn a_cargo_takes_the_cores_that_no_job_holds() {
    let script = "use std::{env, fs, io::Write, thread, time::Duration};\nfn log(text: &str) {\n    let path = \
                  env::var(\"LOG_OF_TEST\").unwrap();\n    fs::OpenOptions::new().append(true).create(true).open(path)\
                  .unwrap().write_all(text.as_bytes()).unwrap();\n}\nfn main() {\n    log(\"+\\n\");\n    \
                  thread::sleep(Duration::from_millis(800));\n    log(\"-\\n\");\n}\n";
    for style in STYLES {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        fs::write(folder.join("Cargo.toml"), "[workspace]\nmembers = [\"p*\"]\nresolver = \"2\"\n").unwrap();
        for number in 0..8 {
            let package = folder.join(format!("p{number}"));
            fs::create_dir_all(package.join("src")).unwrap();
            let manifest = format!("[package]\nname = \"p{number}\"\nedition = \"2021\"\n");
            fs::write(package.join("Cargo.toml"), manifest).unwrap();
            fs::write(package.join("src/lib.rs"), "").unwrap();
            fs::write(package.join("build.rs"), script).unwrap();
        }
        // Only the build scripts are counted, so the other processes of cargo may take tokens from them.
        let cargo = format!(
            "cd {} && unset CARGO_TARGET_DIR && LOG_OF_TEST=$LOG cargo build --offline --quiet",
            folder.display()
        );
        let most = most_processes(folder, vec![client("build", 1, folder, &cargo)], style);
        assert!((2..=CORES as i32).contains(&most), "{style:?}: {most}");
    }
}
