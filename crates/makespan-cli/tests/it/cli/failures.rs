//! Failed jobs and edited files in `makespan run`, and the messages about them.

use crate::cli::run::shell_jobs;
use crate::cli::sandbox::Sandbox;

/// Returns the keys and values of the last line.
#[track_caller]
fn result(text: &str) -> std::collections::BTreeMap<String, String> {
    let line = text.lines().last().unwrap().strip_prefix("result: ").unwrap();
    line.split(' ').map(|word| word.split_once('=').unwrap()).map(|(key, value)| (key.into(), value.into())).collect()
}

const RUN: &str = "run i.toml --oversubscribe --folder f";

#[test]
fn outcomes_come_first_with_the_end_of_the_output() {
    let sandbox = Sandbox::new();
    let forge = "for i in 1 2 3 4 5 6 7 8; do echo line $i; done; printf '\\033[2Jforged\\n' >&2; exit 3";
    let jobs = [("good", "0.05", "true"), ("quiet", "0.05", "echo only output; exit 4"), ("bad", "0.05", forge)];
    let retried = ("flaky", "0.05", "test -e flag || { touch flag; exit 1; }");
    sandbox.write(
        "i.toml",
        shell_jobs(2, &jobs)
            + &shell_jobs(2, &[retried]).split_once("[[jobs]]").map(|(_, job)| format!("[[jobs]]{job}")).unwrap(),
    );
    let said = sandbox.makespan(&format!("{RUN} --retry 1 --no-output --verbose"));
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(
        said.err.contains("note: job `flaky` failed in attempt 1 and runs again: it returned exit status 1"),
        "{said:?}"
    );
    let text = &said.err;
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is missing in\n{text}"));
    assert!(
        at("2 of 4 jobs succeeded; 2 failed; 3 run more than once; ")
            < at("job `quiet`: it returned exit status 4 (attempt 2)\n  | only output\n")
    );
    assert!(at("job `bad`: it returned exit status 3 (attempt 2)\n  | \\u{1b}[2Jforged\n") < at("outcome  "), "{text}");
    assert!(at("outcome  ") < at("the 2 processors spent "), "{text}");
    assert!(text.contains("succeeded, attempt 2") && !text.contains('\u{1b}'), "{text}");
    assert!(text.contains("`makespan run --folder f --resume --retry-failed`"), "{text}");
    let result = result(text);
    let expected = [
        ("jobs", "4"),
        ("succeeded", "2"),
        ("failed", "2"),
        ("killed", "0"),
        ("timed_out", "0"),
        ("retried", "3"),
        ("status", "2"),
        ("folder", "f"),
    ];
    for (key, value) in expected {
        assert_eq!(result[key], value, "{key}: {text}");
    }
    let page = sandbox.read("f/report.html");
    let (outcomes, schedule) =
        (page.find("<h2>Outcomes</h2>").unwrap(), page.find("chart-title\">When each job ran").unwrap());
    assert!(outcomes < schedule && page.contains("only output") && !page.contains('\u{1b}'));
    let table = sandbox.read("f/jobs.csv");
    assert!(table.lines().next().unwrap().ends_with(",cpu_time,peak_memory,memory_kill,reserved_memory"), "{table}");
    assert_eq!(table.lines().count(), 1 + 4 + 3, "a line for each attempt: {table}");
}

#[test]
fn quiet_leaves_one_line_for_programs() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "true")]));
    let text = sandbox.makespan(&format!("{RUN} --quiet")).succeeds();
    assert_eq!(text.lines().count(), 1, "{text}");
    let result = result(&text);
    assert_eq!((result["succeeded"].as_str(), result["status"].as_str()), ("1", "0"));
    assert!(result["makespan"].parse::<f64>().unwrap() > 0.0);
    sandbox.makespan(&format!("{RUN} --quiet")).refused(&["f already contains a run"]);
}

#[test]
fn a_typo_is_mended_and_the_run_goes_on() {
    let sandbox = Sandbox::new();
    let jobs = |second: &'static str, time: &'static str| {
        shell_jobs(1, &[("a", time, "echo a >> log"), ("b", "0.05", second), ("c", "0.05", "echo c >> log")])
    };
    sandbox.write("i.toml", jobs("ehco b >> log", "0.05"));
    let said = sandbox.makespan(RUN);
    assert!(said.status == Some(1) && said.err.contains("not found"), "{said:?}");
    sandbox.write("i.toml", jobs("echo b >> log", "0.07"));
    let said = sandbox.makespan(&format!("{RUN} --resume"));
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(said.err.contains("2 jobs have ended and are not run again; 1 was changed"), "{said:?}");
    let mut lines: Vec<String> = sandbox.read("log").lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["a", "b", "c"]);
    sandbox.makespan("verify i.toml f/plan.json").succeeds();
    // One job was removed and one was added.
    sandbox.write("i.toml", shell_jobs(1, &[("c", "0.05", "echo c >> log"), ("d", "0.05", "echo d >> log")]));
    let said = sandbox.makespan(&format!("{RUN} --resume"));
    assert!(said.err.contains("1 is new: `d`; 2 were removed: `a`, `b`"), "{said:?}");
    assert_eq!(sandbox.read("log").lines().count(), 4);
}

#[test]
fn fail_fast_and_timeouts() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "exit 1"), ("b", "0.9", "echo b >> log")]));
    let said = sandbox.makespan(&format!("{RUN} --fail-fast --policy fcfs"));
    assert!(said.status == Some(1) && said.err.contains("0 of 2 jobs succeeded; 1 failed, 1 not run"), "{said:?}");
    assert!(!sandbox.path("log").exists());
    sandbox.makespan(&format!("{RUN} --fail-fast --keep-going")).misused(&["--keep-going"]);
    sandbox.write("slow.toml", shell_jobs(1, &[("a", "0.05", "sleep 60")]));
    let said = sandbox.makespan("run slow.toml --folder s --timeout 0s200ms --quiet");
    assert_eq!((said.status, result(&said.err)["timed_out"].as_str()), (Some(1), "1"), "{said:?}");
    assert!(said.err.contains("it was ended after 0.2 s, the time limit of the run"), "{said:?}");
    for wrong in ["0", "-3", "soon", "1e400", "1h30"] {
        sandbox.makespan(&format!("run slow.toml --folder s2 --timeout={wrong}")).misused(&["--timeout"]);
    }
    sandbox
        .makespan("run slow.toml --folder s2 --on slurm:jobs --limit-memory")
        .refused(&["--on slurm:jobs", "remove --limit-memory"]);
    assert!(!sandbox.path("s2").exists());
    sandbox.makespan("run slow.toml --retry=-1").misused(&["--retry"]);
}

/// `now` ends the jobs that run, `soon` waits for them. A resumed run runs what is left.
#[test]
fn a_halted_run_is_resumed() {
    for (when, ended, log) in [("now", 1, ""), ("soon", 2, "long\n")] {
        let sandbox = Sandbox::new();
        let long = "touch begun; test -e quick || sleep 1.5; echo long >> log";
        let bad = "until test -e begun; do sleep 0.01; done; exit 9";
        sandbox.write("l.txt", format!("{long}\n{bad}\necho later >> log\n"));
        let run = "run l.txt --processors 2 --oversubscribe --folder f";
        let said = sandbox.makespan(&format!("{run} --halt {when},fail=1"));
        assert_eq!(said.status, Some(9), "{said:?}");
        let word = if when == "now" {
            "stopping: the running job is asked to end"
        } else {
            "starting no more jobs; waiting for 1 running job"
        };
        assert!(said.err.contains(word) && !said.err.contains("Ctrl-C"), "{said:?}");
        let result = result(&said.err);
        assert_eq!((result["jobs"].as_str(), result["failed"].as_str()), ("3", "1"), "{said:?}");
        assert_eq!(result["succeeded"], (ended - 1).to_string(), "{said:?}");
        assert_eq!(std::fs::read_to_string(sandbox.path("log")).unwrap_or_default(), log);
        sandbox.write("quick", "");
        let said = sandbox.makespan(&format!("{run} --resume"));
        assert_eq!(said.status, Some(1), "{said:?}");
        let mut log: Vec<String> = sandbox.read("log").lines().map(str::to_owned).collect();
        log.sort_unstable();
        assert_eq!(log, ["later", "long"], "{said:?}");
        let said = sandbox.makespan(&format!("{run} --resume --retry-failed --halt 2"));
        assert_eq!(said.status, Some(9), "{said:?}");
    }
    let sandbox = Sandbox::new();
    for wrong in ["now", "later,fail=1", "now,fail=0", "soon,fail=1.5"] {
        sandbox.makespan(&format!("run --halt {wrong} echo ::: a")).misused(&["--halt", "soon,fail=30%"]);
    }
    assert!(sandbox.entries().is_empty());
}

/// Words of bash in commands for `sh` give a note with the line, and `--strict` refuses the list.
#[test]
fn words_of_bash_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo a\n\nbash -c '[[ a = a ]]'\necho {1..3}\n");
    let said = sandbox.makespan("run l.txt --folder f");
    assert!(said.status == Some(0) && said.err.contains("line 4: `{1..3}` is a feature of bash"), "{said:?}");
    sandbox.makespan("run l.txt --dry-run --strict").refused(&["l.txt:4:", "`{1..3}`"]);
    let said = sandbox.makespan("run -- 'true || source {}' ::: a");
    assert!(said.err.contains("`source` is a feature of bash"), "{said:?}");
}

/// If control groups cannot limit memory, nothing is started or written.
#[test]
fn memory_is_limited_or_no_job_starts() {
    let sandbox = Sandbox::new();
    let hungry = "x=$(head -c 80000000 /dev/zero | tr '\\0' x); echo ${#x} >> log";
    let instance = shell_jobs(1, &[("hungry", "0.05", hungry)]);
    let instance = instance.replacen("processors = 1\n", "processors = 1\nresources = { memory = \"4GiB\" }\n", 1);
    sandbox.write("i.toml", instance + "needs = { memory = \"16MiB\" }\n");
    let said = sandbox.makespan(&format!("{RUN} --limit-memory --retry 3"));
    if said.err.contains("the memory of jobs cannot be limited") {
        said.refused(&["control group", "--limit-memory"]);
        assert!(!sandbox.path("log").exists() && !sandbox.path("runs").exists() && !sandbox.path("f").exists());
        let said = sandbox.makespan(RUN);
        let text = "of memory, more than the 16.0 MiB that it states";
        assert!(said.err.contains("job `hungry` held ") && said.err.contains(text), "{said:?}");
    } else {
        let result = result(&said.err);
        assert_eq!(result["succeeded"], "1", "{said:?}");
        // The limit of 16 MiB is doubled until the job fits.
        assert!(
            result["retried"] == "1" && said.err.contains("it was killed because it used more memory than its limit"),
            "{said:?}"
        );
    }
}
