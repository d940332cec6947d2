//! Runs of jobs that need more than processors, or that wait for other jobs.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cli::sandbox::{Said, Sandbox};

/// Returns a job on one processor that runs a shell command, with additional keys.
fn job(name: &str, keys: &str, script: &str) -> String {
    format!("[[jobs]]\nname = \"{name}\"\ntime = 0.1\n{keys}\ncommand = [\"sh\", \"-c\", '''{script}''']\n")
}

/// Returns an instance with these jobs on a platform with additional keys.
fn on(processors: u32, keys: &str, jobs: &[String]) -> String {
    format!("version = 2\n[platform]\nprocessors = {processors}\n{keys}\n{}", jobs.concat())
}

/// Runs `i.toml` in the folder `f` with these visible GPUs.
fn run_with(sandbox: &Sandbox, gpus: &str, more: &str) -> Said {
    let line = format!("run i.toml --folder f {more}");
    let output = sandbox.command(&line).env("CUDA_VISIBLE_DEVICES", gpus).output().unwrap();
    Said::new(&line, &output)
}

#[test]
fn memory_keeps_jobs_apart_that_processors_would_not() {
    let sandbox = Sandbox::new();
    let alone = "mkdir held || exit 1; sleep 0.1; rmdir held";
    let jobs = ["a", "b", "c"].map(|name| job(name, "needs = { memory = '40MiB' }", alone));
    sandbox.write("i.toml", on(3, "resources = { memory = '64MiB' }", &jobs));
    let said = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f").succeeds();
    assert!(said.contains("planned by optimise") && said.contains("3 of 3 jobs succeeded"), "{said}");
    sandbox.makespan("verify i.toml f/plan.json").succeeds();
    // Policies and licences also keep the jobs apart.
    for (number, policy) in ["fcfs", "easy", "replan"].iter().enumerate() {
        sandbox.makespan(&format!("run i.toml --oversubscribe --policy {policy} --folder p{number}")).succeeds();
    }
    let jobs = ["a", "b"].map(|name| job(name, "needs = { solver = 1 }", alone));
    sandbox.write("l.toml", on(2, "licences = { solver = 1 }", &jobs));
    sandbox.makespan("run l.toml --oversubscribe --folder l").succeeds();
}

#[test]
fn each_job_has_gpus_of_its_own() {
    let sandbox = Sandbox::new();
    let show = "echo \"{gpus} $CUDA_VISIBLE_DEVICES\"; for i in $(seq 500); do test $(cat f/?.out | wc -l) = 3 && exit; sleep 0.02; done; exit 1";
    let jobs = [job("a", "needs.gpus = 2", show), job("b", "needs.per_processor.gpus = 1", show), job("c", "", show)];
    let instance = on(3, "resources = { gpus = 3 }", &jobs);
    sandbox.write("i.toml", &instance);
    run_with(&sandbox, "5,GPU-a,2", "--oversubscribe").succeeds();
    let shown = ["a", "b", "c"].map(|name| sandbox.read(&format!("f/{name}.out")));
    let ids: BTreeSet<&str> = shown[..2].iter().flat_map(|text| text.trim()[2..].split(',')).collect();
    assert_eq!(ids, BTreeSet::from(["2", "5", "GPU-a"]), "{shown:?}");
    assert_eq!((&shown[0][..1], &shown[1][..1], shown[2].as_str()), ("2", "1", "0 \n"), "{shown:?}");
    // If the platform states no GPUs, the environment is not changed.
    sandbox.write("i.toml", instance.replace("resources = { gpus = 3 }", "").replace("needs", "# needs"));
    std::fs::remove_dir_all(sandbox.path("f")).unwrap();
    run_with(&sandbox, "7,8", "--oversubscribe").succeeds();
    assert_eq!(sandbox.read("f/c.out"), "{gpus} 7,8\n");
}

#[test]
fn more_than_the_machine_has_is_refused_before_anything_happens() {
    let sandbox = Sandbox::new();
    let write = |keys: &str| sandbox.write("i.toml", on(1, keys, &[job("a", "", "true")]));
    write("resources = { memory = '1PiB' }");
    sandbox.makespan("run i.toml").refused(&["states 1024 TiB of memory", "state at most ", "oversubscribe"]);
    write("resources = { gpus = 3 }");
    run_with(&sandbox, "0,1", "").refused(&["states 3 GPUs", "may use only 2 (source: CUDA_VISIBLE_DEVICES)"]);
    run_with(&sandbox, "", "").refused(&["may use only 0"]);
    assert_eq!(sandbox.entries(), ["i.toml"]);
    run_with(&sandbox, "0,1", "--oversubscribe").succeeds();
    write("resources = { gpus = 5000 }");
    sandbox.makespan("run i.toml --oversubscribe --folder g").refused(&["5000 GPUs", "at most 4096"]);
    let devices = std::fs::read_dir("/dev").unwrap().flatten();
    if !devices.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("nvidia")) {
        write("resources = { gpus = 3 }");
        let output = sandbox.command("run i.toml --folder h").env_remove("CUDA_VISIBLE_DEVICES").output().unwrap();
        let said = Said::new("run i.toml", &output).succeeds();
        assert!(said.contains("the number of GPUs of this machine is unknown"), "{said}");
    }
}

#[test]
fn gpus_of_a_killed_session_are_free_when_its_jobs_have_ended() {
    let sandbox = Sandbox::new();
    let wait = "echo $CUDA_VISIBLE_DEVICES; for i in $(seq 500); do test -e go && exit; sleep 0.02; done; exit 1";
    let jobs = ["a", "b", "c"].map(|name| job(name, "needs.gpus = 1", wait));
    sandbox.write("i.toml", on(3, "resources = { gpus = 2 }", &jobs));
    let mut command = sandbox.command("run i.toml --oversubscribe --folder f");
    command.env("CUDA_VISIBLE_DEVICES", "3,4").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let shown = || {
        ["a", "b", "c"].map(|name| std::fs::read_to_string(sandbox.path(&format!("f/{name}.out"))).unwrap_or_default())
    };
    let begun = Instant::now();
    while shown().concat().lines().count() < 2 {
        assert!(begun.elapsed() < Duration::from_mins(1), "the run does not begin");
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let held: BTreeSet<String> = shown().concat().lines().map(str::to_owned).collect();
    assert_eq!(held, BTreeSet::from(["3".to_owned(), "4".to_owned()]));
    // Jobs that outlived the session continue, and hold their GPUs until they end.
    let child = {
        let mut command = sandbox.command("run i.toml --oversubscribe --folder f --resume");
        command.env("CUDA_VISIBLE_DEVICES", "3,4").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(shown().concat().lines().count(), 2, "{:?}", shown());
    sandbox.write("go", "");
    let said = Said::new("run --resume", &child.wait_with_output().unwrap());
    assert!(said.status == Some(0) && said.err.contains("3 of 3 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("continues"), "{said:?}");
    let said = run_with(&sandbox, "3,4", "--oversubscribe --resume");
    assert!(said.status == Some(0) && said.err.contains("3 of 3 jobs succeeded"), "{said:?}");
    assert!(shown().iter().all(|text| matches!(text.as_str(), "3\n" | "4\n")), "{:?}", shown());
}

/// Returns a chain of jobs: `b` waits for `a`, and `c` waits for `b`. Each writes its name. `a` fails until the file
/// `go` exists.
fn chain() -> String {
    let jobs = [
        job("c", "after = ['b']", "echo c >> ran"),
        job("b", "after = ['a']", "echo b >> ran"),
        job("a", "", "sleep 0.1; test -e go || exit 3; echo a >> ran"),
        job("other", "", "true"),
    ];
    on(3, "", &jobs)
}

#[test]
fn jobs_run_behind_those_that_they_wait_for() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", chain());
    sandbox.write("go", "");
    let policies =
        ["", "--policy fcfs", "--policy easy", "--policy replan", "--algorithm list", "--algorithm optimise"];
    for (number, decider) in policies.iter().enumerate() {
        sandbox.makespan(&format!("run i.toml --oversubscribe --folder f{number} {decider}")).succeeds();
        assert_eq!(sandbox.read("ran"), "a\nb\nc\n".repeat(number + 1), "{decider}");
    }
    sandbox.makespan("run i.toml --oversubscribe --folder f0 --resume").succeeds();
    assert_eq!(sandbox.read("ran").lines().count(), 3 * policies.len(), "nothing is repeated");
}

#[test]
fn a_failed_job_ends_those_behind_it() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", chain());
    let line = "run i.toml --oversubscribe --folder f";
    let ended = |said: &Said| {
        assert_eq!(said.status, Some(3), "{said:?}");
        assert!(said.err.contains("1 of 4 jobs succeeded"), "{said:?}");
        assert!(said.err.contains("job `b`: `a`, which it waits for, did not succeed"), "{said:?}");
        assert!(!sandbox.path("ran").exists());
    };
    ended(&sandbox.makespan(line));
    // A session dies before it records the jobs that wait for the failed job.
    let journal = sandbox.read("f/journal.jsonl");
    let is_not_started = |line: &&str| line.contains("not_started");
    assert_eq!(journal.lines().filter(is_not_started).count(), 2);
    let kept: String =
        journal.lines().take_while(|line| !is_not_started(line)).map(|line| format!("{line}\n")).collect();
    sandbox.write("f/journal.jsonl", kept);
    ended(&sandbox.makespan(&format!("{line} --resume")));
    sandbox.write("go", "");
    sandbox.makespan(&format!("{line} --resume --retry-failed")).succeeds();
    assert_eq!(sandbox.read("ran"), "a\nb\nc\n");
}

#[test]
fn what_was_used_up_stays_so_when_a_run_is_resumed() {
    let sandbox = Sandbox::new();
    let all = job("a", "needs.budget = 2", "true");
    // On one processor, `b` would need 2 units, but only 1 is left.
    for (number, after) in ["", "after = ['a']\n"].iter().enumerate() {
        let rest = "[[jobs]]\nname = 'b'\ntime = [0.12, 0.1]\nneeds.budget = [2, 1]\n\
                    command = ['sh', '-c', 'echo {processors}; test -e go']\n";
        let instance = on(2, "consumables = { budget = 3 }", &[all.clone(), rest.to_owned(), (*after).to_owned()]);
        sandbox.write("i.toml", instance);
        let line = format!("run i.toml --oversubscribe --folder f{number}");
        let said = sandbox.makespan(&line);
        assert_eq!(said.status, Some(1), "{said:?}");
        sandbox.write("go", "");
        sandbox.makespan(&format!("{line} --resume --retry-failed")).succeeds();
        assert_eq!(sandbox.read(&format!("f{number}/b.out")), "2\n");
        std::fs::remove_file(sandbox.path("go")).unwrap();
    }
}

#[test]
fn another_need_runs_nothing_again_and_another_order_does() {
    let sandbox = Sandbox::new();
    let write = |keys: &str, memory: &str| {
        let note = "echo $MAKESPAN_JOB >> log";
        let jobs = [job("a", "", note), job("b", keys, note)];
        sandbox.write("i.toml", on(2, &format!("resources.memory = '{memory}'"), &jobs));
    };
    write("needs.memory = '1MiB'", "4MiB");
    sandbox.makespan("run i.toml --oversubscribe --folder f").succeeds();
    for (keys, memory, runs) in [
        ("needs.memory = '2MiB'", "4MiB", 2),
        ("needs.memory = '1MiB'", "5MiB", 2),
        ("needs.memory = '1MiB'\nafter = ['a']", "4MiB", 3),
    ] {
        write(keys, memory);
        let said = sandbox.makespan("run i.toml --oversubscribe --folder f --resume");
        assert!(said.status == Some(0) && said.err.contains("2 of 2 jobs succeeded"), "{said:?}");
        assert!(said.err.contains("the instance was edited since the run began"), "{said:?}");
        assert_eq!(sandbox.read("log").lines().count(), runs, "{keys}, {memory}");
    }
}

#[test]
fn graphs_of_parallel_tasks_with_needs_run() {
    let sandbox = Sandbox::new();
    let task = |name: &str, keys: &str| {
        format!(
            "[[jobs.tasks]]\nname = \"{name}\"\ntime = 0.1\n{keys}\ncommand = ['sh', '-c', 'echo {{processors}} {name} >> ran']\n"
        )
    };
    let tasks = [task("wide", "processors = 2\nneeds.memory = '2MiB'"), task("last", "needs.memory = '1MiB'")];
    let edge = "[[jobs.edges]]\nfrom = 'wide'\nto = 'last'\n";
    let graph = format!("[[jobs]]\nname = 'g'\n{}{edge}", tasks.concat());
    sandbox.write("i.toml", on(2, "resources.memory = '2MiB'", &[graph, job("z", "after = ['g']", "echo z >> ran")]));
    let said = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f").succeeds();
    assert!(said.contains("planned by optimise"), "{said}");
    assert_eq!(sandbox.read("ran"), "2 wide\n1 last\nz\n");
    sandbox.makespan("verify i.toml f/plan.json").succeeds();
}
