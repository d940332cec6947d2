//! Runs that learn run times from earlier runs.

use makespan_core::Time;
use makespan_exec::host;
use makespan_history::{Command, Filter, History, RunRecord, StoredRecord, folder_here};

use crate::cli::sandbox::{Sandbox, unwrapped};

fn entries(sandbox: &Sandbox) -> Vec<StoredRecord> {
    let mut entries = History::open(&sandbox.history()).unwrap().entries(&Filter::default(), 1000).unwrap();
    entries.reverse();
    entries
}

/// Returns the record of a shell command that succeeded on this machine.
fn ran(line: &str, processors: u32, seconds: f64) -> RunRecord {
    RunRecord {
        folder: folder_here(),
        host: host(),
        processors,
        ..RunRecord::succeeded(
            Command::new(["sh", "-c", line].map(str::to_owned).to_vec()),
            Time::from_seconds_f64(seconds).unwrap(),
        )
    }
}

fn remember(sandbox: &Sandbox, records: &[RunRecord]) {
    History::open(&sandbox.history()).unwrap().append_all(records).unwrap();
}

/// Returns the planned time in seconds and the number of processors of each job of a run.
fn planned(sandbox: &Sandbox, folder: &str) -> Vec<(String, f64, usize)> {
    let plan = sandbox.json(&format!("{folder}/plan.json"));
    let seconds = |value: &serde_json::Value| value.as_f64().unwrap();
    let processors = |text: &str| -> usize {
        let bounds = |part: &str| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            high.parse::<usize>().unwrap() + 1 - low.parse::<usize>().unwrap()
        };
        text.split([',', ' ']).filter(|part| !part.is_empty()).map(bounds).sum()
    };
    let row = |row: &serde_json::Value| {
        let time = seconds(&row["end"]) - seconds(&row["start"]);
        (row["job"].as_str().unwrap().to_owned(), time, processors(row["processors"].as_str().unwrap()))
    };
    plan["placements"].as_array().unwrap_or_else(|| panic!("{plan:#}")).iter().map(row).collect()
}

#[test]
fn the_second_run_knows_what_the_first_took() {
    let sandbox = Sandbox::new();
    sandbox.write("small", vec![0; 1000]);
    sandbox.write("list.txt", "sleep 0.3; wc -c small\nsleep 0.1\nfalse\n");
    let said = sandbox.makespan("run list.txt --folder one");
    assert!(said.status == Some(1) && !said.err.contains("learned"), "{said:?}");
    let first = entries(&sandbox);
    assert_eq!(first.len(), 3);
    let of = |line: &str| first.iter().find(|entry| entry.line.starts_with(line)).unwrap();
    let long = of("sleep 0.3");
    assert!(
        (280_000_000..2_000_000_000).contains(&long.wall) && long.memory.unwrap() > 0 && long.cpu.is_some(),
        "{long:?}"
    );
    assert_eq!((long.inputs, long.template.as_str(), long.processors), (Some(1000), "sleep {}; wc -c small", 1));
    assert_eq!((of("false").ending.as_str(), of("false").status), ("failed", Some(1)));
    assert_eq!(
        (long.folder.as_str(), long.host.as_str()),
        (sandbox.path("").canonicalize().unwrap().to_str().unwrap(), host().as_str())
    );
    let said = sandbox.makespan("run list.txt --folder two");
    assert!(
        unwrapped(&said.err).contains("times of 2 jobs are learned from earlier runs of the same command"),
        "{said:?}"
    );
    for (name, seconds, _) in planned(&sandbox, "two") {
        let known =
            first.iter().find(|entry| name.contains(&entry.line[..9.min(entry.line.len())]) && entry.status == Some(0));
        // Commands that never succeeded are guessed to take as long as the others.
        let expected = known.map_or(long.wall, |entry| entry.wall) as f64 / 1e9;
        assert!(
            (seconds / expected - 1.0).abs() < 0.01 || known.is_none() && seconds < 2.0,
            "{name} {seconds} {expected}"
        );
    }
    assert_eq!(entries(&sandbox).len(), 6);
    sandbox.makespan("verify two/instance.json two/plan.json").succeeds();
    let text = sandbox.makespan(&format!("plan list.txt --history {}", sandbox.history().display())).succeeds();
    assert!(text.contains("learned from earlier runs"), "{text}");
    assert!(!sandbox.makespan("plan list.txt").succeeds().contains("learned"));
    sandbox.makespan("plan list.txt --history none.sqlite").refused(&["none.sqlite", "no such history"]);
}

/// No command has a weight, so the first plan with known times minimises the makespan. It begins with the longest
/// command, which weighted completion would run last.
#[test]
fn a_list_is_planned_for_the_makespan_once_its_times_are_known() {
    let sandbox = Sandbox::new();
    let times = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 2.0];
    remember(&sandbox, &times.map(|seconds| ran(&format!("sleep {}", seconds / 100.0), 1, seconds)));
    let list: String = times.map(|seconds| format!("sleep {}\n", seconds / 100.0)).concat();
    sandbox.write("list.txt", list);
    for (folder, history) in [("first", "--no-history"), ("second", "")] {
        let line = format!("run list.txt --pin --processors 2 --oversubscribe --verbose --folder {folder} {history}");
        let said = sandbox.makespan(&line).succeeds();
        let table: Vec<&str> = said.lines().filter(|line| line.starts_with("weighted completion")).collect();
        assert!(said.contains("planned by optimise[objective=makespan"), "{said}");
        // With equal guessed times, the weighted completion of every plan of this kind is optimal, too.
        let proved = folder == "first" && table[0].ends_with("optimal if the guesses hold");
        assert!(table.len() == 1 && (proved || table[0].ends_with("not minimised")), "{said}");
        assert!(folder == "second" || said.contains("optimal if the guesses hold"), "{said}");
    }
    // Times of jobs that shared cores determine the order of starts, but no bound is stated.
    let said = sandbox.makespan("run list.txt --processors 2 --oversubscribe --verbose --folder shared").succeeds();
    assert!(unwrapped(&said).contains("no bound is stated") && !said.contains("bound if"), "{said}");
    assert!(said.contains("makespan") && said.contains("not minimised"), "{said}");
    // One processor runs the seven commands of 0.3 s, and the other runs the long one. So the best makespan is 2.1 s,
    // which the longest-first order reaches.
    let plan = sandbox.json("second/plan.json");
    assert!((plan["makespan"].as_f64().unwrap_or_else(|| panic!("{plan:#}")) - 2.1).abs() < 0.01, "{plan:#}");
    let weighed: String = times.map(|seconds| format!("sleep {} #: weight=2\n", seconds / 100.0)).concat();
    sandbox.write("weighed.txt", weighed);
    let said = sandbox.makespan("run weighed.txt --verbose --folder third").succeeds();
    assert!(said.contains("planned by optimise[time-limit=0.1]\n"), "{said}");
}

#[test]
fn commands_of_a_template_teach_each_other() {
    let sandbox = Sandbox::new();
    sandbox.makespan("run --folder one -- 'sleep {}' ::: 0.1 0.12").succeeds();
    assert!(entries(&sandbox).iter().all(|entry| entry.template == "sleep {}"));
    let text = sandbox.makespan("run --folder two -- 'sleep {}' ::: 0.11 0.13 0.1").succeeds();
    assert!(
        unwrapped(&text).contains(
            "times of 1 job are learned from earlier runs of the same command, of 2 jobs from similar commands"
        ),
        "{text}"
    );
}

/// The tasks of a bag are commands of one template, whatever their numbers are.
#[test]
fn the_tasks_of_a_bag_teach_the_next_bag() {
    let sandbox = Sandbox::new();
    let records: Vec<RunRecord> =
        (0..9).map(|number| ran(&format!("./part --number {number} > out"), 1, 0.25)).collect();
    remember(&sandbox, &records);
    remember(&sandbox, &[ran("./whole", 1, 40.0)]);
    sandbox.write(
        "bag.toml",
        "version = 2\nplatform = { processors = 2 }\n[[jobs]]\nname = \"bag\"\ncount = 12\ncommand = \"./part --number {task} > out\"\n\
         [[jobs]]\nname = \"whole\"\ncommand = \"./whole\"\n",
    );
    std::fs::copy(sandbox.history(), sandbox.path("known.sqlite")).unwrap();
    sandbox.makespan("plan bag.toml --history known.sqlite --output plan.json").succeeds();
    let lengths = planned(&sandbox, ".");
    for (name, seconds, _) in lengths {
        let expected = if name == "whole" { 40.0 } else { 0.25 };
        assert!((seconds - expected).abs() < 1e-6, "{name} is planned for {seconds} s");
    }
}

/// Guesses are not written into formats that cannot mark them. A bound that depends on guesses is not called proven.
#[test]
fn guesses_stay_guesses() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", "true\nfalse\n");
    for ending in ["swf", "etc"] {
        sandbox.makespan(&format!("convert --format list list.txt out.{ending}")).refused(&["guesses", ".json"]);
    }
    sandbox.makespan("convert --format list list.txt out.json").succeeds();
    sandbox.write(
        "tree.toml",
        "version = 2\nplatform = { nodes = [{ name = \"r\", processors = 1 }, { name = \"s\", processors = 1, parent = \"r\", bandwidth = \"1MB/s\" }] }\n\
         [[jobs]]\nname = \"a\"\ncount = 10\ndata = 100\n",
    );
    sandbox.makespan("plan tree.toml --output tree.json").succeeds();
    sandbox.makespan("plan out.json --output plan.json").succeeds();
    for words in [
        "verify out.json plan.json",
        "verify tree.toml tree.json",
        "simulate tree.toml",
        "plan tree.toml",
        "compare out.json",
    ] {
        let said = sandbox.makespan(words).succeeds();
        assert!(unwrapped(&said).contains("if the guesses hold"), "{words}: {said}");
    }
    for words in ["compare out.json", "simulate tree.toml"] {
        let said = sandbox.makespan(&format!("{words} --format json")).succeeds();
        assert!(said.contains("\"rests_on_guesses\": true"), "{words}: {said}");
    }
    assert_eq!(sandbox.path("out.swf").exists(), sandbox.path("out.etc").exists());
}

#[test]
fn without_a_history_nothing_is_read_or_written() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", "true\n");
    sandbox.makespan("run list.txt --no-history").succeeds();
    assert!(!sandbox.history().exists());
    sandbox.makespan("run list.txt --history mine.sqlite").succeeds();
    assert!(!sandbox.history().exists() && sandbox.path("mine.sqlite").exists());
    sandbox.makespan("run list.txt --history a --no-history").misused(&["--no-history"]);
}

#[test]
fn a_history_that_cannot_be_used_is_said_once_and_the_run_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", "sleep 0.1\nsleep 0.2\n");
    sandbox.write("text", "this is no database, whoever says so ".repeat(400));
    sandbox.write("file", "");
    for (file, part) in [("text", "damaged"), ("file/below", "cannot use the history"), (".", "cannot use the history")]
    {
        let said = sandbox.makespan(&format!("run list.txt --history {file}"));
        assert_eq!(said.status, Some(0), "{said:?}");
        assert!(said.err.contains(part) && said.err.contains("continuing without a history"), "{said:?}");
        assert_eq!(
            said.err.matches("history").count(),
            said.err.lines().next().unwrap().matches("history").count(),
            "{said:?}"
        );
        assert!(said.err.contains("2 of 2 jobs succeeded"), "{said:?}");
    }
    assert!(sandbox.read("text").starts_with("this is no database"));
    // Damage after the first pages of the database is found when they are read.
    let many: Vec<RunRecord> = (0..3000).map(|number| ran(&format!("sleep {number}"), 1, 1.0)).collect();
    remember(&sandbox, &many);
    let mut bytes = std::fs::read(sandbox.history()).unwrap();
    bytes[20_000..].fill(0x5a);
    std::fs::write(sandbox.history(), bytes).unwrap();
    let said = sandbox.makespan("run list.txt");
    assert!(said.status == Some(0) && said.err.matches("damaged").count() == 1, "{said:?}");
}

#[test]
fn a_task_that_may_have_more_processors_is_tried_on_them_within_bounds() {
    let sandbox = Sandbox::new();
    // A hundred runs on one processor allow one trial.
    let lines: Vec<String> = (0..5).map(|number| format!("true part {number}")).collect();
    remember(&sandbox, &(0..100).map(|number| ran(&lines[number % 5], 1, 0.2)).collect::<Vec<_>>());
    let list: String = lines.iter().map(|line| format!("{line} #: cores=1-4\n")).collect();
    sandbox.write("list.txt", list);
    let text = sandbox.makespan("run list.txt --processors 4 --oversubscribe --folder f").succeeds();
    assert!(unwrapped(&text).contains("1 job runs on another number of processors to learn the speed-up"), "{text}");
    let plan = planned(&sandbox, "f");
    assert_eq!(plan.iter().filter(|(_, _, processors)| *processors == 2).count(), 1, "{plan:?}");
    assert_eq!(plan.iter().filter(|(_, _, processors)| *processors == 1).count(), 4, "{plan:?}");
    let explored: Vec<StoredRecord> = entries(&sandbox).into_iter().filter(|entry| entry.explored).collect();
    assert_eq!(explored.iter().map(|entry| entry.processors).collect::<Vec<_>>(), [2]);
}

#[test]
fn stated_times_are_kept() {
    let sandbox = Sandbox::new();
    remember(&sandbox, &[ran("sleep 0.1", 1, 50.0), ran("sleep 0.2", 1, 50.0)]);
    sandbox.write("list.txt", "sleep 0.1 #: time=3s\n");
    let text = sandbox.makespan("run list.txt --folder f").succeeds();
    assert!(!text.contains("learned") && !sandbox.path("f/instance.json").exists(), "{text}");
    assert!((planned(&sandbox, "f")[0].1 - 3.0).abs() < 1e-6);
    // A walltime is kept, because a command that took longer may be faster this time.
    sandbox.write("list.txt", "sleep 0.2 #: timeout=2s\n");
    let text = sandbox.makespan("run list.txt --folder g").succeeds();
    assert!(text.contains("learned") && (planned(&sandbox, "g")[0].1 - 2.0).abs() < 1e-6, "{text}");
}

/// Times that were learned between two sessions do not count as an edit. No job is repeated, and attempts are counted
/// on.
#[test]
fn a_run_that_is_resumed_is_not_edited_by_what_was_learned() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", "#: cores=1-2\nsleep 0.1; echo {processors} >> wide\necho x >> tries; false\n");
    for folder in ["one", "two"] {
        let run = format!("run list.txt --retry 1 --folder {folder} --processors 2 --oversubscribe");
        assert_eq!(sandbox.makespan(&run).status, Some(1));
        let (wide, tries) = (sandbox.read("wide"), sandbox.read("tries"));
        for _ in 0..2 {
            let said = sandbox.makespan(&format!("{run} --resume"));
            assert!(said.status == Some(1) && !said.err.contains("the previous journal is kept"), "{said:?}");
        }
        assert_eq!((sandbox.read("wide"), sandbox.read("tries")), (wide, tries), "nothing ran again");
        assert!(!sandbox.path(&format!("{folder}/journal-before-1.jsonl")).exists());
    }
    assert_eq!(sandbox.read("tries").lines().count(), 4);
    let journal = sandbox.read("two/journal.jsonl").replacen("\"at\"", "\"ax\"", 1);
    sandbox.write("two/journal.jsonl", journal);
    let said = sandbox.makespan("run list.txt --folder two --processors 2 --oversubscribe --resume --recover");
    assert!(!said.err.contains("another instance") && said.err.contains("1 of 2 jobs succeeded"), "{said:?}");
}

/// A bound for learned times states its condition.
#[test]
fn a_bound_of_learned_times_holds_if_they_do() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", "sleep 0.1\nsleep 0.2\n");
    assert!(sandbox.makespan("run list.txt --pin --verbose").succeeds().contains("bound if the guesses hold"));
    let said = sandbox.makespan("run list.txt --pin --verbose").succeeds();
    assert!(said.contains("bound if the estimates hold") && !said.contains("proven bound"), "{said}");
    assert!(sandbox.read("runs/list-2/report.html").contains("bound if the estimates hold"));
}
