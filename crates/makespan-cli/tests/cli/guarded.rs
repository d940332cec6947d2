//! Jobs that do not want to end, folders that are not as they should be, journals that are damaged.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::kills::processes::{Process, of_run, signal};
use crate::run::shell_jobs;
use crate::sandbox::{Said, Sandbox};

const RUN: &str = "run i.toml --oversubscribe --folder f";

/// What lives of the run in the folder `f`.
fn alive(sandbox: &Sandbox) -> Vec<Process> {
    sandbox.path("f").canonicalize().map(|folder| of_run(&folder)).unwrap_or_default()
}

fn spawn(sandbox: &Sandbox, line: &str) -> Child {
    let mut command = sandbox.command(line);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waiting for {what}");
        sleep(Duration::from_millis(5));
    }
}

/// It leaves its group by `timeout`, its session by `setsid` and its parent by `&`, has this environment, and ignores
/// SIGTERM. The tag tells its processes from those of other tests.
fn runaway(tag: &str, environment: &str) -> String {
    format!(
        "setsid -f {environment} /bin/sh -c \"trap : TERM; while :; do sleep 0.1{tag}; done\"; \
         timeout 60 sleep 61.{tag} & timeout -s INT 60 setsid sleep 62.{tag} & echo up > up; wait"
    )
}

#[test]
fn what_leaves_its_group_is_ended_at_the_walltime_before_its_processor_is_given_away() {
    let sandbox = Sandbox::new();
    let first = "[[jobs]]\nname = \"away\"\ntime = 0.1\nwalltime = 0.5\nweight = 9\n";
    let tag = std::process::id().to_string();
    let next =
        format!("ps -eo args | grep -v grep | grep -c -e \"sleep 6[12].{tag}\" -e \"sleep 0.1{tag}\" > count; true");
    let jobs = shell_jobs(1, &[("next", "0.1", &next)]).replace("\"next\"\n", "\"next\"\nreleased = 0.1\n");
    let away = format!("{first}command = [\"sh\", \"-c\", '''{}''']\n", runaway(&tag, "env -i"));
    sandbox.write("i.toml", jobs.replacen("[[jobs]]", &format!("{away}[[jobs]]"), 1));
    let said = sandbox.makespan(&format!("{RUN} --algorithm list"));
    assert!(said.status == Some(1) && said.out.contains("reached its walltime"), "{said:?}");
    assert_eq!(sandbox.read("up"), "up\n");
    assert!(alive(&sandbox).is_empty());
    assert_eq!(sandbox.read("count"), "0\n", "the next job met processes of the one before");
}

#[test]
fn after_a_stop_nothing_of_a_job_lives_even_when_its_shim_was_killed() {
    for kill_shim in [false, true] {
        let sandbox = Sandbox::new();
        // Without its shim, what has left its session and has forgotten its environment is known to nobody.
        let script = runaway("7", if kill_shim { "env" } else { "env -i" });
        sandbox.write("i.toml", shell_jobs(1, &[("away", "0.1", &script)]));
        let child = spawn(&sandbox, RUN);
        wait_until("the job", || sandbox.path("up").exists() && alive(&sandbox).len() >= 4);
        let shim = alive(&sandbox).into_iter().find(|process| process.is_shim).unwrap();
        if kill_shim {
            signal(shim.pid, Signal::SIGKILL);
        } else {
            signal(child.id() as i32, Signal::SIGINT);
        }
        let said = Said::new(RUN, &child.wait_with_output().unwrap());
        assert_eq!(said.status, Some(1), "{said:?}");
        if kill_shim {
            assert!(said.out.contains("failed, status 137"), "{said:?}");
        } else {
            assert!(said.out.contains("the run was stopped"), "{said:?}");
        }
        assert!(alive(&sandbox).is_empty(), "{:?}", alive(&sandbox));
    }
}

#[test]
fn killed_and_resumed_no_second_copy_runs_beside_the_first() {
    let sandbox = Sandbox::new();
    let script = "test -e again && exit; setsid sh -c \"echo > up; sleep 60\"";
    sandbox.write("i.toml", shell_jobs(1, &[("away", "0.1", script)]));
    for kill_shim in [false, true] {
        let _ = fs::remove_file(sandbox.path("up"));
        let mut child = spawn(&sandbox, &format!("{RUN} --resume"));
        wait_until("the job", || sandbox.path("up").exists());
        let before = alive(&sandbox);
        child.kill().unwrap();
        child.wait().unwrap();
        let shim = before.iter().find(|process| process.is_shim).unwrap();
        if kill_shim {
            signal(shim.pid, Signal::SIGKILL);
            sandbox.write("again", "");
        }
        fs::remove_file(sandbox.path("up")).unwrap();
        if kill_shim {
            let said = sandbox.makespan(&format!("{RUN} --resume"));
            assert!(said.status == Some(0) && said.out.contains("1 of 1 jobs succeeded"), "{said:?}");
        } else {
            let mut child = spawn(&sandbox, &format!("{RUN} --resume"));
            wait_until("the second start", || sandbox.path("up").exists());
            let now: Vec<i32> = alive(&sandbox).iter().map(|process| process.pid).collect();
            assert!(before.iter().all(|process| !now.contains(&process.pid)), "{before:?} {now:?}");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    assert!(alive(&sandbox).is_empty());
}

/// As service managers and batch systems do: SIGTERM to every process, the jobs first.
#[test]
fn jobs_that_are_stopped_together_with_the_run_go_on_when_it_is_resumed() {
    for delay in [0, 20, 120] {
        let sandbox = Sandbox::new();
        let polite = "test -e go || { trap \"exit 7\" TERM; echo > up; sleep 60 & wait; }";
        let plain = "test -e go || exec sleep 60";
        sandbox.write("i.toml", shell_jobs(3, &[("polite", "0.1", polite), ("a", "0.1", plain), ("b", "0.1", plain)]));
        let child = spawn(&sandbox, RUN);
        wait_until("the jobs", || {
            let jobs = alive(&sandbox).iter().filter(|process| !process.is_shim).count();
            sandbox.path("up").exists() && jobs >= 4
        });
        for process in alive(&sandbox) {
            signal(process.pid, Signal::SIGTERM);
        }
        sleep(Duration::from_millis(delay));
        signal(child.id() as i32, Signal::SIGTERM);
        let said = Said::new(RUN, &child.wait_with_output().unwrap());
        assert!(said.out.contains("the run was stopped"), "{said:?}");
        assert!(!sandbox.read("f/journal.jsonl").contains("failed"), "{}", sandbox.read("f/journal.jsonl"));
        sandbox.write("go", "");
        let said = sandbox.makespan(&format!("{RUN} --resume"));
        assert!(said.status == Some(0) && said.out.contains("3 of 3 jobs succeeded"), "{said:?}");
    }
}

#[test]
fn a_status_is_left_without_any_program_on_the_path() {
    let sandbox = Sandbox::new();
    let job =
        |name: &str| format!("[[jobs]]\nname = \"{name}\"\ntime = 0.1\ncommand = [\"/bin/sh\", \"-c\", \"exit 0\"]\n");
    sandbox.write("i.toml", format!("version = 1\n[platform]\nprocessors = 1\n{}{}", job("a"), job("b")));
    let mut command = sandbox.command(RUN);
    let said = Said::new(RUN, &command.env("PATH", "/nonexistent").output().unwrap());
    assert!(said.status == Some(0) && said.out.contains("2 of 2 jobs succeeded"), "{said:?}");
    for name in ["f/status/a.1", "f/status/b.1"] {
        let status = sandbox.json(name);
        assert_eq!((&status["exit"], &status["asked"]), (&0.into(), &false.into()), "{status}");
    }
}

#[test]
fn a_job_that_somebody_ends_alone_has_failed() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.1", "kill -TERM $$; sleep 9")]));
    let said = sandbox.makespan(RUN);
    assert!(said.out.contains("failed, status 143") && said.out.contains("signal 15 ended it"), "{said:?}");
}

#[test]
fn a_report_that_cannot_be_written_does_not_hide_the_outcome() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.1", "mkdir f/report.html"), ("b", "0.1", "exit 3")]));
    let said = sandbox.makespan(RUN);
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.out.contains("failed, status 3") && said.out.contains("1 of 2 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("report.html: cannot write"), "{said:?}");
}

#[test]
fn links_in_the_folder_are_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("precious", "kept");
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.1", "true"), ("b", "0.1", "true")]));
    fs::create_dir(sandbox.path("f")).unwrap();
    symlink(sandbox.path("precious"), sandbox.path("f/a.out")).unwrap();
    let said = sandbox.makespan(RUN);
    assert!(said.out.contains("1 of 2 jobs succeeded") && said.out.contains("symbolic link"), "{said:?}");
    for name in ["journal.jsonl", "lock", "plan.json"] {
        fs::remove_dir_all(sandbox.path("f")).unwrap();
        fs::create_dir(sandbox.path("f")).unwrap();
        symlink(sandbox.path("precious"), sandbox.path("f").join(name)).unwrap();
        sandbox.makespan(RUN).refused(&[name, "symbolic link"]);
    }
    fs::remove_dir_all(sandbox.path("f")).unwrap();
    fs::create_dir(sandbox.path("f")).unwrap();
    symlink(sandbox.path("."), sandbox.path("f/status")).unwrap();
    let said = sandbox.makespan(RUN);
    assert!(said.status == Some(1) && said.err.contains("symbolic link"), "{said:?}");
    assert_eq!(sandbox.read("precious"), "kept");
}

#[test]
fn a_damaged_journal_is_named_and_recovered() {
    let sandbox = Sandbox::new();
    let script = "echo $MAKESPAN_JOB >> ran; test $MAKESPAN_JOB != c || test -e go";
    let names = ["a", "b", "c"];
    sandbox.write("i.toml", shell_jobs(1, &names.map(|name| (name, "0.1", script))));
    assert_eq!(sandbox.makespan(RUN).status, Some(1));
    let journal = sandbox.read("f/journal.jsonl");
    for damaged in [
        journal.replacen("succeeded", "succeedee", 1),
        journal.replacen("fingerprint", "fingerprnit", 1),
        String::new(),
    ] {
        sandbox.write("f/journal.jsonl", &damaged);
        sandbox.makespan(&format!("{RUN} --resume")).refused(&["journal.jsonl", "--resume --recover"]);
        let said = sandbox.makespan(&format!("{RUN} --resume --recover"));
        assert!(said.out.contains("2 of 3 jobs succeeded") && said.err.contains("the journal was damaged"), "{said:?}");
    }
    assert_eq!(sandbox.read("ran").lines().count(), 3, "nothing was repeated");
    sandbox.write("go", "");
    sandbox.makespan(&format!("{RUN} --resume --retry-failed")).succeeds();
    assert_eq!(sandbox.read("ran").lines().count(), 4);
    assert!(sandbox.path("f/journal-damaged-2.jsonl").exists());
    sandbox.write("f/journal.jsonl", "my diary\n");
    sandbox.makespan(&format!("{RUN} --resume --recover")).refused(&["is no journal", "not overwritten"]);
    assert_eq!(sandbox.read("f/journal.jsonl"), "my diary\n");
}
