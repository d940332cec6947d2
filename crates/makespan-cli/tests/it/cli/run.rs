//! `makespan run` with real processes.

use std::fs;

use serde_json::Value;

use crate::cli::sandbox::{Said, Sandbox};

/// Returns an instance with jobs that run a shell command for about `time` seconds on one processor each.
pub fn shell_jobs(processors: u32, jobs: &[(&str, &str, &str)]) -> String {
    let job = |(name, time, script): &(&str, &str, &str)| {
        format!(
            "[[jobs]]\nname = \"{name}\"\nprocessors = 1\ntime = {time}\ncommand = [\"sh\", \"-c\", '''{script}''']\n"
        )
    };
    format!("version = 1\n[platform]\nprocessors = {processors}\n{}", jobs.iter().map(job).collect::<String>())
}

/// Checks that a run started, but some jobs did not succeed. Returns its messages.
#[track_caller]
fn ended_badly(said: Said) -> String {
    assert!(matches!(said.status, Some(1..=100)), "{said:?}");
    said.err
}

#[test]
fn jobs_that_all_succeed_leave_their_output_and_a_report() {
    let sandbox = Sandbox::new();
    let jobs = [("a", "0.05", "echo one $MAKESPAN_PROCESSORS; echo two >&2"), ("b", "0.05", "exit 0")];
    for processors in [1, 2] {
        let instance = shell_jobs(processors, &jobs);
        sandbox.write("i.toml", instance);
        let folder = format!("f{processors}");
        let said = sandbox.makespan(&format!("run i.toml --oversubscribe --folder {folder}")).succeeds();
        assert!(said.contains("2 of 2 jobs succeeded"), "{said}");
        assert_eq!(sandbox.read(&format!("{folder}/a.out")), "one 1\n");
        assert_eq!(sandbox.read(&format!("{folder}/a.err")), "two\n");
        assert_eq!(sandbox.read(&format!("{folder}/b.out")), "");
        assert!(sandbox.read(&format!("{folder}/report.html")).trim_end().ends_with("</html>"));
        assert!(sandbox.read(&format!("{folder}/gantt.svg")).trim_end().ends_with("</svg>"));
        assert_eq!(sandbox.read(&format!("{folder}/jobs.csv")).lines().count(), 3);
        sandbox.makespan(&format!("verify i.toml {folder}/plan.json")).succeeds();
        let again = sandbox.makespan(&format!("run i.toml --oversubscribe --folder {folder} --resume")).succeeds();
        assert!(again.contains("2 of 2 jobs succeeded"), "{again}");
    }
}

#[test]
fn what_is_no_run_is_neither_resumed_nor_written_over() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "echo x >> ../once; exit 137")]));
    let run = "run i.toml --oversubscribe --folder";
    for (folder, file) in [("p", "plan.json"), ("j", "jobs.csv"), ("g", "gantt.svg"), ("r", "report.html")] {
        fs::create_dir(sandbox.path(folder)).unwrap();
        sandbox.write(&format!("{folder}/{file}"), "precious");
        sandbox.makespan(&format!("{run} {folder}")).refused(&[&format!("{folder}/{file}"), "belongs to no run"]);
        assert_eq!(sandbox.read(&format!("{folder}/{file}")), "precious");
    }
    // The exit status does not show if a signal or the program itself caused it.
    let said = ended_badly(sandbox.makespan(&format!("{run} f")));
    assert!(said.contains("it ended with status 137 (killed by signal 9)"), "{said}");
    assert_eq!(sandbox.entries().len(), 6, "{:?}", sandbox.entries());
}

#[test]
fn a_folder_cannot_forge_a_line() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "exit 0")]));
    let arguments = ["run", "i.toml", "--oversubscribe", "--folder", "f\n8 of 8 jobs succeeded"].map(str::to_owned);
    let said = sandbox.with_arguments(&arguments).succeeds();
    assert!(!said.lines().any(|line| line.starts_with("8 of 8")), "{said}");
}

#[test]
fn a_moldable_job_learns_its_allotment() {
    let sandbox = Sandbox::new();
    let command = r#"["sh", "-c", "echo {processors} $MAKESPAN_PROCESSORS $OMP_NUM_THREADS"]"#;
    let job = format!("[[jobs]]\nname = \"a\"\ntime = [0.2, 0.1]\ncommand = {command}\n");
    sandbox.write("i.toml", format!("version = 1\n[platform]\nprocessors = 2\n{job}"));
    sandbox.makespan("run i.toml --oversubscribe").succeeds();
    assert_eq!(sandbox.read("runs/i-1/a.out"), "2 2 2\n");
}

#[test]
fn failures_are_reported_and_the_others_are_kept() {
    let sandbox = Sandbox::new();
    let jobs =
        [("good", "0.05", "echo done"), ("bad", "0.05", "echo oops >&2; exit 3"), ("killed", "0.05", "kill -9 $$")];
    let more = "[[jobs]]\nname = \"slow\"\nprocessors = 1\ntime = 0.1\nwalltime = 0.2\ncommand = [\"sleep\", \"60\"]\n\
                [[jobs]]\nname = \"absent\"\nprocessors = 1\ntime = 0.1\ncommand = [\"no-such-program-x\"]\n";
    sandbox.write("i.toml", shell_jobs(2, &jobs) + more);
    let text = ended_badly(sandbox.makespan("run i.toml --oversubscribe --verbose --folder f"));
    assert!(text.contains("1 of 5 jobs succeeded"), "{text}");
    // On a busy machine, the output also contains a table with the jobs that took longer than planned. This table has
    // fewer columns.
    let is_of = |line: &str, job: &str| line.starts_with(job) && line.split_whitespace().count() > 5;
    let line = |job: &str| text.lines().rfind(|line| is_of(line, job)).unwrap().to_owned();
    assert!(line("good").contains("succeeded"), "{text}");
    assert!(line("bad").contains("failed, status 3"), "{text}");
    assert!(line("killed").contains("killed, status 137"), "{text}");
    assert!(line("slow").contains("reached its time limit"), "{text}");
    assert!(line("absent").contains("not started"), "{text}");
    assert!(text.contains("job `absent`: cannot start `no-such-program-x`: no program of this name on PATH"), "{text}");
    assert!(text.contains("job `slow`: it was ended at its time limit of 0.2 s"), "{text}");
    let short = |line: &str| line.chars().count() <= 100 || line.starts_with("result: ") || line.starts_with('`');
    assert!(text.lines().all(short), "{text}");
    assert_eq!((sandbox.read("f/good.out"), sandbox.read("f/bad.err")), ("done\n".into(), "oops\n".into()));
    // A resumed run repeats nothing. With --retry-failed, it runs only the jobs that did not succeed.
    let before = sandbox.read("f/journal.jsonl").matches("\"started\"").count();
    ended_badly(sandbox.makespan("run i.toml --oversubscribe --folder f --resume"));
    assert_eq!(sandbox.read("f/journal.jsonl").matches("\"started\"").count(), before);
    ended_badly(sandbox.makespan("run i.toml --oversubscribe --folder f --resume --retry-failed"));
    assert_eq!(sandbox.read("f/journal.jsonl").matches("\"started\"").count(), before + 3);
    assert_eq!(sandbox.read("f/good.out"), "done\n");
}

#[test]
fn what_cannot_run_is_refused_before_anything_happens() {
    let sandbox = Sandbox::new();
    let job = ("a", "0.1", "echo x > happened");
    sandbox.write("bare.toml", shell_jobs(1, &[job]) + "[[jobs]]\nname = \"none\"\ntime = [1]\n");
    sandbox.makespan("run bare.toml").refused(&["job `none` has no command", "add a command"]);
    sandbox.write("wide.toml", shell_jobs(5000, &[job]));
    sandbox.makespan("run wide.toml").refused(&["5000 processors", "cores", "oversubscribe"]);
    sandbox.makespan("run bare.toml --resume").refused(&["job `none` has no command"]);
    assert_eq!(sandbox.entries(), ["bare.toml", "wide.toml"]);
    sandbox.makespan("run wide.toml --oversubscribe").succeeds();
    assert_eq!(sandbox.entries(), ["bare.toml", "happened", "runs", "wide.toml"]);
}

#[test]
fn folders_that_cannot_take_a_run_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "echo x >> happened")]));
    sandbox.makespan("run i.toml --folder f").succeeds();
    let (plan, journal) = (sandbox.read("f/plan.json"), sandbox.read("f/journal.jsonl"));
    sandbox.makespan("run i.toml --folder f").refused(&["f already contains a run", "resume"]);
    assert_eq!((plan, journal), (sandbox.read("f/plan.json"), sandbox.read("f/journal.jsonl")));
    assert_eq!(sandbox.read("happened"), "x\n");
    // A folder with other files is not a run.
    fs::create_dir(sandbox.path("typo")).unwrap();
    sandbox.write("typo/results.txt", "precious");
    sandbox.makespan("run i.toml --folder typo --resume").refused(&["typo contains no run to resume"]);
    assert_eq!(fs::read_dir(sandbox.path("typo")).unwrap().count(), 1);
    sandbox.makespan("run i.toml --folder i.toml").refused(&["i.toml is a file", "--folder"]);
    sandbox.makespan("run i.toml --folder i.toml/x").refused(&["i.toml"]);
}

#[test]
fn a_damaged_journal_is_named_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "true")]));
    sandbox.makespan("run i.toml --folder f").succeeds();
    let journal = sandbox.read("f/journal.jsonl");
    let mut lines: Vec<&str> = journal.lines().collect();
    lines[1] = "nonsense";
    sandbox.write("f/journal.jsonl", lines.join("\n") + "\n");
    sandbox.makespan("run i.toml --folder f --resume").refused(&["f/journal.jsonl", "line 2"]);
}

#[test]
fn runs_are_numbered_and_the_latest_is_resumed() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "echo x >> happened")]));
    for number in 1..=3 {
        let text = sandbox.makespan("run i.toml").succeeds();
        assert!(text.contains(&format!("are in runs/i-{number}\n")), "{text}");
    }
    fs::remove_dir_all(sandbox.path("runs/i-1")).unwrap();
    assert!(sandbox.makespan("run i.toml --resume").succeeds().contains("are in runs/i-3\n"));
    assert!(sandbox.makespan("run i.toml").succeeds().contains("are in runs/i-4\n"));
    assert_eq!(sandbox.read("happened").lines().count(), 4);
}

#[test]
fn job_names_cannot_leave_the_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("../../escape", "0.05", "echo x"), ("/tmp/a b", "0.05", "echo y")]));
    sandbox.makespan("run i.toml --folder deep/er/f").succeeds();
    assert_eq!(sandbox.entries(), ["deep", "i.toml"]);
    assert_eq!(fs::read_dir(sandbox.path("deep/er")).unwrap().count(), 1);
    let outputs = fs::read_dir(sandbox.path("deep/er/f")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(outputs.filter(|path| path.extension().is_some_and(|ending| ending == "out")).count(), 2);
}

#[test]
fn the_plan_in_the_folder_states_the_algorithm_and_the_seed() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_jobs(1, &[("a", "0.05", "true"), ("b", "0.06", "true")]));
    sandbox.makespan("run i.toml --folder f --algorithm list[order=smith] --seed 7").succeeds();
    let plan: Value = sandbox.json("f/plan.json");
    assert_eq!((plan["algorithm"].as_str(), plan["seed"].as_u64()), (Some("list[order=smith]"), Some(7)));
}
