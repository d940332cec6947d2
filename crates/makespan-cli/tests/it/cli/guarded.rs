//! Jobs that resist their end, unusual folders of runs, and damaged journals.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::cli::kills::processes::{Process, of_run, signal};
use crate::cli::run::shell_jobs;
use crate::cli::sandbox::{Said, Sandbox};

const RUN: &str = "run i.toml --oversubscribe --verbose --folder f";

/// Returns the live processes of the run in the folder `f`.
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

/// Returns a script. Its processes leave their group (`timeout`), their session (`setsid`) and their parent (`&`), have
/// this environment, and ignore SIGTERM. The tag distinguishes these processes from the processes of other tests.
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
    assert!(said.status == Some(1) && said.err.contains("reached its time limit"), "{said:?}");
    assert_eq!(sandbox.read("up"), "up\n");
    assert!(alive(&sandbox).is_empty());
    assert_eq!(sandbox.read("count"), "0\n", "the next job met processes of the one before");
}

/// Returns true if this process may create control groups (cgroup v2). The check uses no code of makespan.
fn groups_may_be_made() -> bool {
    let read = |name: &str| fs::read_to_string(name).unwrap_or_default();
    let (own, mounts, me) = (read("/proc/self/cgroup"), read("/proc/mounts"), std::process::id().to_string());
    let Some(own) = own.lines().find_map(|line| line.strip_prefix("0::/")) else { return false };
    let points = mounts.lines().filter(|line| line.split(' ').nth(2) == Some("cgroup2"));
    let homes = points.filter_map(|line| Some(Path::new(line.split(' ').nth(1)?).join(own)));
    let may = |home: &Path| {
        let procs = home.join("cgroup.procs");
        let here = fs::read_to_string(&procs).is_ok_and(|text| text.lines().any(|line| line == me));
        let probe = home.join(format!("test-{me}"));
        let made = here && fs::OpenOptions::new().write(true).open(&procs).is_ok() && fs::create_dir(&probe).is_ok();
        made && fs::remove_dir(&probe).is_ok()
    };
    homes.into_iter().any(|home| may(&home))
}

/// Returns the processes with a command line that contains this text.
fn called(text: &str) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let found = |pid: &i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(text)
    };
    pids.filter(found).collect()
}

/// The job has left its group, its session, its parent and its environment, so only its control group contains it. It
/// is ended at its walltime, after its shim was killed, and on resumption after both the shim and the session were
/// killed.
#[test]
fn what_only_its_control_group_knows_is_ended() {
    if !groups_may_be_made() {
        eprintln!("SKIPPED: no control group may be made here (cgroup v2)");
        return;
    }
    for (number, how) in ["walltime", "shim", "resumed"].into_iter().enumerate() {
        let sandbox = Sandbox::new();
        let tag = format!("sleep 1{number}.{}", std::process::id());
        let away = "setsid -f env -i PATH=\"$PATH\" /bin/sh -c \"trap : TERM; while :; do TAG; done\"";
        let script = format!("test -e again && exit; {away}; {away}; echo > up; TAG; TAG").replace("TAG", &tag);
        let next = format!("ps -eo args | grep -v grep | grep -c \"{tag}\" > count; true");
        let jobs = shell_jobs(1, &[("away", "0.1", &script), ("next", "0.1", &next)]);
        let jobs = if how == "walltime" { jobs.replacen("time = 0.1", "time = 0.1\nwalltime = 1", 1) } else { jobs };
        sandbox.write("i.toml", jobs.replace("\"next\"\n", "\"next\"\nreleased = 0.1\n"));
        let line = format!("{RUN} --algorithm list");
        let mut child = spawn(&sandbox, &line);
        wait_until("the job", || sandbox.path("up").exists() && called(&tag).len() >= 3);
        let session: serde_json::Value =
            serde_json::from_str(sandbox.read("f/journal.jsonl").lines().nth(1).unwrap()).unwrap();
        let group = PathBuf::from(session["session"]["group"].as_str().expect("a group was made"));
        assert!(group.join("1").exists());
        let shim = alive(&sandbox).into_iter().find(|process| process.is_shim).unwrap();
        if how == "resumed" {
            child.kill().unwrap();
        }
        if how != "walltime" {
            signal(shim.pid, Signal::SIGKILL);
        }
        let ended = child.wait_with_output().unwrap();
        let said = if how == "resumed" {
            sandbox.write("again", "");
            assert!(called(&tag).len() >= 2);
            sandbox.makespan(&format!("{line} --resume"))
        } else {
            Said::new(&line, &ended)
        };
        let told = ["reached its time limit", "killed, status 137", "2 of 2 jobs succeeded"][number];
        assert!(said.err.contains(told), "{said:?}");
        assert_eq!(sandbox.read("count"), "0\n", "{how}: the next job met processes of the one before");
        assert_eq!(called(&tag), Vec::<i32>::new(), "{how}");
        assert!(!group.exists(), "{how}: {} is left", group.display());
    }
}

#[test]
fn after_a_stop_nothing_of_a_job_lives_even_when_its_shim_was_killed() {
    for kill_shim in [false, true] {
        let sandbox = Sandbox::new();
        // Without its shim, a process that has left its session and cleared its environment cannot be found.
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
        assert_eq!(said.status, Some(if kill_shim { 1 } else { 130 }), "{said:?}");
        if kill_shim {
            assert!(said.err.contains("killed, status 137"), "{said:?}");
        } else {
            assert!(said.err.contains("the run was stopped"), "{said:?}");
            assert!(said.err.contains("stopped before its end: 0 of 1 job succeeded; 1 interrupted"), "{said:?}");
            let page = sandbox.read("f/report.html");
            assert!(page.contains("so far, planned 100 ms for all"), "{page}");
            assert!(page.contains(": stopped before its end, 0 of 1 job ended</bdi></h1>"), "{page}");
        }
        assert!(alive(&sandbox).is_empty(), "{:?}", alive(&sandbox));
    }
}

#[test]
fn killed_and_resumed_one_copy_runs() {
    let script = "test -e again && exit; setsid sh -c \"echo > up; sleep 60\"";
    for kill_shim in [false, true] {
        let sandbox = Sandbox::new();
        sandbox.write("i.toml", shell_jobs(1, &[("away", "0.1", script)]));
        let mut child = spawn(&sandbox, RUN);
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
            assert!(said.status == Some(0) && said.err.contains("1 of 1 job succeeded"), "{said:?}");
        } else {
            let mut child = spawn(&sandbox, &format!("{RUN} --resume"));
            let sessions = || sandbox.read("f/journal.jsonl").matches("{\"session\"").count();
            wait_until("the second session", || sessions() == 2);
            let now: Vec<i32> = alive(&sandbox).iter().map(|process| process.pid).collect();
            let mut jobs = before.iter().filter(|process| !process.is_shim);
            assert!(jobs.all(|process| now.contains(&process.pid)), "it goes on: {before:?} {now:?}");
            assert!(!sandbox.path("up").exists(), "it was started again");
            signal(child.id() as i32, Signal::SIGINT);
            child.wait().unwrap();
        }
        assert!(alive(&sandbox).is_empty(), "{:?}", alive(&sandbox));
    }
}

/// Sends SIGTERM to every process, to the jobs first, as service managers and batch systems do.
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
        assert!(said.err.contains("the run was stopped"), "{said:?}");
        assert!(!sandbox.read("f/journal.jsonl").contains("failed"), "{}", sandbox.read("f/journal.jsonl"));
        sandbox.write("go", "");
        let said = sandbox.makespan(&format!("{RUN} --resume"));
        assert!(said.status == Some(0) && said.err.contains("3 of 3 jobs succeeded"), "{said:?}");
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
    assert!(said.status == Some(0) && said.err.contains("2 of 2 jobs succeeded"), "{said:?}");
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
    assert!(
        said.err.contains("killed, status 143") && said.err.contains("it ended with status 143 (killed by signal 15)"),
        "{said:?}"
    );
}

#[test]
fn a_report_that_cannot_be_written_does_not_hide_the_outcome() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.1", "mkdir f/report.html"), ("b", "0.1", "exit 3")]));
    let said = sandbox.makespan(RUN);
    assert_eq!(said.status, Some(255), "{said:?}");
    assert!(said.err.contains("failed, status 3") && said.err.contains("1 of 2 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("report.html: cannot write"), "{said:?}");
}

/// A job moves the folder of its run away while others run, wait and end.
#[test]
fn a_run_waits_for_its_folder() {
    let sandbox = Sandbox::new();
    // Job `b` ends while the folder is away. Job `away` moves it back later, however slow the machine is.
    let away = "mv f g; until grep -q b ran 2>/dev/null; do sleep 0.05; done; sleep 0.9; \
                test -e g/c.out && echo early > early; mv g f; echo away >> ran";
    let first = "until test -d g; do sleep 0.05; done; echo $MAKESPAN_JOB >> ran";
    let short = "echo $MAKESPAN_JOB >> ran";
    let jobs = [("away", "9", away), ("b", "0.1", first), ("c", "0.1", short), ("d", "0.1", short)];
    sandbox.write("i.toml", shell_jobs(2, &jobs).replacen("[[jobs]]", "[[jobs]]\nweight = 9", 1));
    let said = sandbox.makespan(&format!("{RUN} --algorithm list"));
    assert!(said.status == Some(0) && said.err.contains("4 of 4 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("no longer at this path") && said.err.contains("the run continues"), "{said:?}");
    let mut ran: Vec<String> = sandbox.read("ran").lines().map(str::to_owned).collect();
    ran.sort();
    assert_eq!(ran, ["away", "b", "c", "d"]);
    assert!(!sandbox.path("early").exists(), "nothing starts while the folder is away");
    sandbox.makespan(&format!("{RUN} --resume")).succeeds();
    // A stopped run continues in its new folder after the folder was moved.
    fs::rename(sandbox.path("f"), sandbox.path("h")).unwrap();
    sandbox.makespan("run i.toml --oversubscribe --folder h --resume").succeeds();
    assert_eq!(sandbox.read("ran").lines().count(), 4);
}

#[test]
fn a_run_whose_journal_is_deleted_ends_with_a_word() {
    for what in ["f", "f/journal.jsonl"] {
        let sandbox = Sandbox::new();
        let tag = format!("sleep 63.{}", std::process::id());
        let script = format!("{tag} & {tag}");
        let rm = format!("rm -r {what}");
        let late = "echo late > late";
        let jobs = shell_jobs(2, &[("long", "9", &script), ("rm", "1", &rm), ("late", "0.1", late)]);
        sandbox.write("i.toml", jobs);
        let said = sandbox.makespan(&format!("{RUN} --algorithm list"));
        assert!(said.status == Some(255) && said.err.contains("was deleted during the run"), "{said:?}");
        assert!(!said.err.contains("succeeded"), "what is on no record is not told: {said:?}");
        assert!(!sandbox.path("late").exists());
        assert_eq!(called(&tag), Vec::<i32>::new());
    }
}

/// Real-time signals have numbers that many programs do not expect.
#[test]
fn what_a_real_time_signal_ends_has_ended() {
    let sandbox = Sandbox::new();
    let tag = format!("sleep 64.{}", std::process::id());
    let orphan = "sh -c \"sh -c \\\"sleep 0.1; kill -40 \\\\\\$\\\\\\$\\\" &\"";
    let family = format!("{orphan}; setsid -f {tag}; sleep 0.4; exit 3");
    sandbox.write(
        "i.toml",
        shell_jobs(2, &[("a", "0.1", "kill -34 $$"), ("b", "0.1", &family), ("c", "0.1", "exit 255")]),
    );
    let said = sandbox.makespan(RUN);
    assert!(said.err.contains("`c`: it returned exit status 255"), "{said:?}");
    assert!(
        said.err.contains("killed, status 162") && said.err.contains("it ended with status 162 (killed by signal 34)"),
        "{said:?}"
    );
    assert!(said.err.contains("failed, status 3"), "{said:?}");
    assert_eq!(called(&tag), Vec::<i32>::new());
}

/// On a full disk, jobs wait until their status can be written, or the run waits until it can record starts in its
/// journal.
#[test]
fn a_run_on_a_full_disk_says_so_and_can_be_stopped() {
    let sandbox = Sandbox::new();
    let fill = ("fill", "0.1", "head -c 1000000 /dev/zero > m/filling; echo > full");
    let jobs = [fill, ("a", "0.1", "echo a >> ran"), ("b", "0.1", "echo b >> ran")];
    sandbox.write("i.toml", shell_jobs(1, &jobs));
    let line = "run i.toml --folder m/f --algorithm list";
    let makespan = assert_cmd::cargo_bin!("makespan");
    let script = format!(
        "mkdir m && mount -t tmpfs -o size=300k none m || exit 99; {0} {line} & trap 'kill $!; wait $!' TERM; wait $!; \
         rm m/filling; {0} {line} --resume",
        makespan.display()
    );
    let mut command = std::process::Command::new("unshare");
    command.env("MAKESPAN_HISTORY", sandbox.history());
    command.args(["-rm", "sh", "-c", &script]).current_dir(sandbox.path(".")).stdout(Stdio::piped());
    let Ok(mut child) = command.stderr(Stdio::piped()).spawn() else {
        eprintln!("SKIPPED: there is no unshare here, which this test needs");
        return;
    };
    wait_until("the disk to be full", || {
        sandbox.path("full").exists() || child.try_wait().unwrap().is_some_and(|status| !status.success())
    });
    sleep(Duration::from_millis(700));
    signal(child.id() as i32, Signal::SIGTERM);
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_mins(1) {
        sleep(Duration::from_millis(20));
    }
    if child.try_wait().unwrap().is_none() {
        of_run(&sandbox.path("m/f")).into_iter().for_each(|process| signal(process.pid, Signal::SIGKILL));
        panic!("it does not end");
    }
    let said = Said::new(line, &child.wait_with_output().unwrap());
    if said.status == Some(99) || said.status == Some(255) && !said.err.contains("result: ") {
        eprintln!("SKIPPED: no file system of its own can be made here");
        return;
    }
    // The job that filled the disk may have lost a part of its output.
    assert!(said.status == Some(1) && said.err.contains("2 of 3 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("the disk was full when the job ended"), "{said:?}");
    assert!(said.err.contains("No space left on device"), "{said:?}");
    assert_eq!(sandbox.read("ran"), "a\nb\n");
}

/// While the first run is still planning, the second begins and ends.
#[test]
fn of_two_runs_in_a_folder_one_is_refused_and_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(2, &["a", "b", "c"].map(|name| (name, "0.1", "echo $MAKESPAN_JOB >> ran"))));
    let slow = format!("{RUN} --algorithm optimise[makespan-at-most=100,time-limit=3s]");
    let child = spawn(&sandbox, &slow);
    sleep(Duration::from_millis(500));
    sandbox.makespan(&format!("{RUN} --algorithm list")).succeeds();
    let plan = sandbox.read("f/plan.json");
    assert!(plan.contains("list"), "{plan}");
    Said::new(&slow, &child.wait_with_output().unwrap()).refused(&["f already contains a run"]);
    assert_eq!(sandbox.read("f/plan.json"), plan);
    assert_eq!(sandbox.read("ran").lines().count(), 3);
}

/// A session with a low limit of open files starts as many jobs as it can, and the others later.
#[test]
fn few_open_files_are_no_failure() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..24).map(|number| format!("j{number}")).collect();
    let jobs: Vec<(&str, &str, &str)> =
        names.iter().map(|name| (name.as_str(), "0.1", "sleep 0.2; echo $MAKESPAN_JOB >> ran")).collect();
    sandbox.write("i.toml", shell_jobs(24, &jobs));
    let makespan = assert_cmd::cargo_bin!("makespan");
    let mut command = std::process::Command::new("sh");
    command.env("MAKESPAN_HISTORY", sandbox.history());
    command.args(["-c", &format!("ulimit -n 20; exec {} {RUN}", makespan.display())]).current_dir(sandbox.path("."));
    let said = Said::new(RUN, &command.output().unwrap());
    assert!(said.status == Some(0) && said.err.contains("24 of 24 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("trying again"), "{said:?}");
    assert_eq!(sandbox.read("ran").lines().count(), 24);
}

#[test]
fn links_in_the_folder_are_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("precious", "kept");
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.1", "true"), ("b", "0.1", "true")]));
    fs::create_dir(sandbox.path("f")).unwrap();
    for name in ["a.out", "journal.jsonl", "lock", "plan.json"] {
        fs::remove_dir_all(sandbox.path("f")).unwrap();
        fs::create_dir(sandbox.path("f")).unwrap();
        symlink(sandbox.path("precious"), sandbox.path("f").join(name)).unwrap();
        sandbox.makespan(RUN).refused(&[name, "symbolic link"]);
    }
    fs::remove_dir_all(sandbox.path("f")).unwrap();
    fs::create_dir(sandbox.path("f")).unwrap();
    symlink(sandbox.path("."), sandbox.path("f/status")).unwrap();
    let said = sandbox.makespan(RUN);
    assert!(said.status == Some(255) && said.err.contains("symbolic link"), "{said:?}");
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
        assert!(said.err.contains("2 of 3 jobs succeeded") && said.err.contains("the journal was damaged"), "{said:?}");
    }
    assert_eq!(sandbox.read("ran").lines().count(), 3, "nothing was repeated");
    sandbox.write("go", "");
    sandbox.makespan(&format!("{RUN} --resume --retry-failed")).succeeds();
    assert_eq!(sandbox.read("ran").lines().count(), 4);
    assert!(sandbox.path("f/journal-damaged-2.jsonl").exists());
    sandbox.write("f/journal.jsonl", "my diary\n");
    sandbox.makespan(&format!("{RUN} --resume --recover")).refused(&["is not a journal", "not overwritten"]);
    assert_eq!(sandbox.read("f/journal.jsonl"), "my diary\n");
}
