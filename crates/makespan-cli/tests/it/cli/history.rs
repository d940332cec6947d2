//! `makespan history`.

use makespan_core::Time;
use makespan_history::{Command, Ending, Filter, History, RunRecord, now};
use serde_json::Value;

use crate::cli::sandbox::Sandbox;

fn record(line: &str, seconds: f64) -> RunRecord {
    RunRecord {
        folder: "/work".into(),
        host: "here".into(),
        processors: 2,
        ended: now() - 7000,
        ..RunRecord::succeeded(
            Command::new(["sh", "-c", line].map(str::to_owned).to_vec()),
            Time::from_seconds_f64(seconds).unwrap(),
        )
    }
}

/// Creates a sandbox with these records in its history.
fn remembering(records: &[RunRecord]) -> Sandbox {
    let sandbox = Sandbox::new();
    History::open(&sandbox.history()).unwrap().append_all(records).unwrap();
    sandbox
}

fn count(sandbox: &Sandbox) -> u64 {
    History::open(&sandbox.history()).unwrap().count(&Filter::default()).unwrap()
}

#[test]
fn records_are_listed_in_80_columns_and_as_json() {
    let long = RunRecord {
        cpu: Some(Time::from_seconds(123_456)),
        memory: Some(3 << 29),
        reserved: None,
        memory_kill: false,
        attempt: 1,
        ending: Ending::Failed(137),
        ended: now() + 1000,
        ..record(&format!("echo \u{1b}[31m {}", "very long ".repeat(30)), 99_999.5)
    };
    let sandbox = remembering(&[record("gzip a.txt", 1.25), long]);
    let text = sandbox.makespan("history").succeeds();
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.contains(" records in ")), "{text}");
    for part in ["failed 137", "1.5 GiB", "gzip a.txt", "1.250", "1 h", "2 records in", "\\u{1b}", "…"] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    let text = sandbox.makespan("history --limit 1 --command '*'").succeeds();
    assert!(text.contains("the latest 1 of them") && !text.contains("gzip"), "{text}");
    let json: Value = serde_json::from_str(&sandbox.makespan("history --format json").succeeds()).unwrap();
    let records = json["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(
        (&records[1]["template"], &records[1]["wall"], &records[1]["cpu"]),
        (&"gzip {}".into(), &1.25.into(), &Value::Null)
    );
    assert_eq!((&records[0]["status"], &records[0]["memory"]), (&137.into(), &(3_u64 << 29).into()));
}

#[test]
fn records_are_forgotten_by_command_host_and_age_or_all() {
    let old = RunRecord { ended: 10, host: "there".into(), ..record("gzip b.txt", 1.0) };
    let sandbox =
        remembering(&[record("gzip a.txt", 1.0), record("true", 1.0), old.clone(), old, record("false", 1.0)]);
    sandbox.makespan("history forget").misused(&["--all"]);
    sandbox.makespan("history forget --all --host x").misused(&["--host"]);
    sandbox.makespan("history forget --older-than soon").refused(&["--older-than", "`soon`"]);
    let check = |line: &str, removed: &str, left: u64| {
        let text = sandbox.makespan(&format!("history forget {line}")).succeeds();
        assert!(text.starts_with(removed), "{line}: {text}");
        assert_eq!(count(&sandbox), left, "{line}");
    };
    check("--command 'gzip *' --older-than 90d", "2 records", 3);
    check("--command 'nothing*'", "0 records", 3);
    check("--command 'gzip *'", "1 record ", 2);
    check("--host there", "0 records", 2);
    check("--all", "2 records", 0);
    assert!(sandbox.makespan("history").succeeds().starts_with("no records in "));
}

#[test]
fn records_are_exported_as_csv_whose_formulas_are_guarded() {
    let sandbox = remembering(&[record("=1+1", 1.5), record("echo 'a, b'", 2.0)]);
    let text = sandbox.makespan("history export").succeeds();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("id,command,template,") && lines.len() == 3, "{text}");
    assert!(lines[1].starts_with("1,'=1+1,") && lines[1].contains(",here,2,1.5,,,succeeded,0,"), "{text}");
    assert!(lines[2].starts_with("2,\"echo 'a, b'\","), "{text}");
    sandbox.makespan("history export --raw-names --command '=*' --output h.csv").succeeds();
    assert!(sandbox.read("h.csv").lines().nth(1).unwrap().starts_with("1,=1+1,"));
    sandbox.makespan("history export --output no/h.csv").refused(&["no/h.csv", "`no` does not exist"]);
}

#[test]
fn what_is_no_history_is_said_and_none_is_begun_to_be_shown() {
    let sandbox = Sandbox::new();
    let text = sandbox.makespan("history").succeeds();
    assert!(text.contains("there is no history yet"), "{text}");
    sandbox.makespan("history export").refused(&["there is no history yet"]);
    assert!(sandbox.makespan("history forget --all").succeeds().starts_with("0 records"));
    assert!(!sandbox.history().exists());
    sandbox.write("text", "this is no database, whoever says so ".repeat(40));
    sandbox.makespan("history --history text").refused(&["text", "damaged", "move the file away"]);
    sandbox.makespan("history --history .").refused(&["cannot use the history"]);
}
