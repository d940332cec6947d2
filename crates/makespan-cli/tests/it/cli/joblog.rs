//! `makespan run --joblog`.

use crate::cli::sandbox::Sandbox;

/// Returns the columns of a line, except the columns of times.
fn columns(line: &str) -> Vec<&str> {
    let columns: Vec<&str> = line.splitn(9, '\t').collect();
    assert!(columns.len() == 9 && columns[1] == ":" && columns[4] == "0", "{line}");
    for time in [columns[2], columns[3].trim_start()] {
        assert!(time.parse::<f64>().is_ok() && time.split('.').nth(1).is_some_and(|part| part.len() == 3), "{line}");
    }
    vec![columns[0], columns[5], columns[6], columns[7], columns[8]]
}

const HEADER: &str = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

#[test]
fn the_job_log_has_the_columns_of_gnu_parallel() {
    let sandbox = Sandbox::new();
    let list = "echo abc\nexit 3\nkill -9 $$\nsleep 9 #: timeout=0.3s\ntrue #: after=2\n";
    sandbox.write("l.txt", list);
    let run = "run l.txt --processors 1 --oversubscribe --folder f --joblog log --retry 1";
    assert_eq!(sandbox.makespan(run).status, Some(4));
    let log = sandbox.read("log");
    let mut lines: Vec<Vec<&str>> = log.strip_prefix(HEADER).unwrap().lines().map(columns).collect();
    lines.sort();
    let expected = [
        ["1", "4", "0", "0", "echo abc"],
        ["2", "0", "3", "0", "exit 3"],
        ["3", "0", "0", "9", "kill -9 $$"],
        ["4", "0", "-1", "15", "sleep 9"],
    ];
    assert_eq!(lines, expected, "one line for each job that ran, the last attempt");
    // A resumed run writes the log again, with the jobs of all sessions.
    sandbox.write("l.txt", format!("{list}echo new\n"));
    sandbox.makespan(&format!("{run} --resume"));
    let log = sandbox.read("log");
    assert_eq!(log.lines().count(), 6, "{log}");
    assert_eq!(columns(log.lines().last().unwrap()), ["6", "4", "0", "0", "echo new"]);
    sandbox
        .makespan("run l.txt --no-history --folder g --joblog no/such/folder")
        .refused(&["no/such/folder: cannot write"]);
    assert!(!sandbox.path("g").exists());
}

/// Newlines become NUL bytes, and words of a program are quoted, as in GNU parallel.
#[test]
fn the_job_log_is_that_of_gnu_parallel() {
    let sandbox = Sandbox::new();
    let words = ["--joblog", "log", "--", "echo \"x\ny\" {}; exit 3", ":::", "a b", "t\tu"].map(str::to_owned);
    let ran = sandbox.with_arguments(&[vec!["run".to_owned(), "--folder".into(), "f".into()], words.to_vec()].concat());
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let own = sandbox.read("log");
    let parallel = std::process::Command::new("parallel")
        .args(["--joblog", "other", "echo \"x\ny\" {}; exit 3", ":::", "a b", "t\tu"])
        .current_dir(sandbox.path(""))
        .output();
    if !parallel.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with('x')) {
        eprintln!("skipped: there is no GNU parallel");
        return;
    }
    let other = sandbox.read("other");
    let sorted = |log: &str| -> Vec<Vec<String>> {
        let lines = log.strip_prefix(HEADER).unwrap().lines();
        let mut lines: Vec<Vec<String>> =
            lines.map(|line| columns(line).into_iter().map(str::to_owned).collect()).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&own), sorted(&other));
}
