//! Guessed run times are replaced during a run or a simulation.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cli::sandbox::{Sandbox, unwrapped};

/// Returns the records of a journal that replace estimates: first and last job, seconds, and whether the time was
/// learned.
fn estimated(sandbox: &Sandbox) -> Vec<(u64, u64, f64, bool)> {
    let text = std::fs::read_to_string(sandbox.path("f/journal.jsonl")).unwrap_or_default();
    let mut all = Vec::new();
    // A line is a record, its number and a checksum.
    for line in text.lines().filter(|line| line.contains("{\"estimated\"")) {
        let begin = line.find("{\"estimated\"").unwrap();
        let mut values = serde_json::Deserializer::from_str(&line[begin..]).into_iter::<serde_json::Value>();
        let record = values.next().unwrap().unwrap();
        for times in record["estimated"]["times"].as_array().unwrap() {
            let seconds = times["times"]["longest"].as_f64().unwrap() / 1e9;
            for range in times["jobs"].as_array().unwrap() {
                let id = |at: usize| range[at].as_u64().unwrap();
                all.push((id(0), id(1), seconds, times["learned"].is_array()));
            }
        }
    }
    all
}

/// Returns the lines of the list in the order in which they started.
fn started(sandbox: &Sandbox) -> Vec<String> {
    sandbox.read("order").lines().map(str::to_owned).collect()
}

/// A list has long and short commands with unknown run times. After the first command of each kind has ended, the
/// remaining short commands run before the long ones, although they are later in the list.
#[test]
fn the_first_command_of_a_kind_changes_the_plan_of_the_rest() {
    let sandbox = Sandbox::new();
    let mut list = String::new();
    (0..5).for_each(|number| list += &format!("echo long >> order; sleep 1.{number} long\n"));
    (0..5).for_each(|number| list += &format!("echo short >> order; sleep 0.1{number} short\n"));
    // Another word follows each command, so that the commands belong to two templates.
    sandbox.write("list.txt", list.replace(" long\n", "; true long\n").replace(" short\n", "; : short\n"));
    let run = "run list.txt --processors 2 --oversubscribe --folder f";
    let told = sandbox.makespan(&format!("{run} --policy easy[order=sjf] --no-history --verbose")).succeeds();
    assert!(unwrapped(&told).contains("all 10 run times are guesses"), "{told}");
    assert!(unwrapped(&told).contains("guessed run times were replaced by run times measured in this run"), "{told}");
    let order = started(&sandbox);
    assert_eq!(order.len(), 10, "{order:?}");
    // Both processors begin with a long command. When one ends, only the times of long commands are known. After the
    // first short command has ended, all other short commands run before the long ones.
    let first = order.iter().position(|kind| kind == "short").unwrap();
    let rest = &order[first + 2..];
    let last_short = rest.iter().rposition(|kind| kind == "short").unwrap();
    let long_between = rest[..last_short].iter().filter(|kind| *kind == "long").count();
    assert!(long_between <= 1, "{order:?}");
    // The journal states the time of each kind.
    let all = estimated(&sandbox);
    assert!(all.iter().any(|&(.., seconds, learned)| learned && (0.9..2.5).contains(&seconds)), "{all:?}");
}

/// As above, with the default algorithm, which keeps and improves its plan.
#[test]
fn the_plan_that_is_kept_learns() {
    let sandbox = Sandbox::new();
    let mut list = String::new();
    for number in 0..6 {
        // Because of the weights, the objective is weighted completion.
        list += &format!("echo long >> order; sleep 0.9{number}; true long #: weight=2\n");
        list += &format!("echo short >> order; sleep 0.0{number}; : short #: weight=2\n");
    }
    sandbox.write("list.txt", list);
    let told =
        sandbox.makespan("run list.txt --processors 2 --oversubscribe --folder f --no-history --verbose").succeeds();
    assert!(unwrapped(&told).contains("guessed run times were replaced"), "{told}");
    let order = started(&sandbox);
    // After three starts, a long and a short command have ended. Then all short commands run first.
    let last_short = order.iter().rposition(|kind| kind == "short").unwrap();
    assert!(order[..last_short].iter().filter(|kind| *kind == "long").count() <= 3, "{order:?}");
}

/// A run that was killed continues with its estimates. They are not recorded again, and new estimates are recorded.
#[test]
fn a_run_that_was_killed_goes_on_with_its_estimates() {
    let sandbox = Sandbox::new();
    let waits = "for i in $(seq 500); do test -e go && break; sleep 0.02; done";
    let mut list = "sleep 0.3; : a 0\n".to_owned();
    (1..6).for_each(|number| list += &format!("{waits}; : a {number}\n"));
    sandbox.write("list.txt", list);
    let run = "run list.txt --processors 1 --oversubscribe --no-history --verbose --folder f";
    let mut command = sandbox.command(run);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while estimated(&sandbox).is_empty() {
        assert!(begun.elapsed() < Duration::from_mins(1) && child.try_wait().unwrap().is_none());
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = estimated(&sandbox);
    assert!(before.iter().all(|&(first, _, seconds, _)| first > 0 && (0.25..30.0).contains(&seconds)), "{before:?}");
    // A session without new ends records no new estimates and uses the learned ones.
    let mut command = sandbox.command(&format!("{run} --resume"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let sessions = || sandbox.read("f/journal.jsonl").matches("{\"session\"").count();
    while sessions() < 2 {
        assert!(begun.elapsed() < Duration::from_mins(1) && child.try_wait().unwrap().is_none());
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(300));
    assert_eq!(estimated(&sandbox), before);
    child.kill().unwrap();
    child.wait().unwrap();
    sandbox.write("go", "");
    let said = sandbox.makespan(&format!("{run} --resume"));
    assert_eq!(said.status, Some(0), "{said:?}");
    let told = said.err;
    assert!(unwrapped(&told).contains("6 of 6 jobs succeeded"), "{told}");
    // The message includes the replacements of earlier sessions.
    assert!(
        unwrapped(&told).contains("5 of 6 guessed run times were replaced by run times measured in this run"),
        "{told}"
    );
    assert!(estimated(&sandbox).starts_with(&before));
}

#[test]
fn a_simulation_learns_times_that_nobody_states() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate lublin --jobs 60 --processors 16 --load 1.2 --seed 4 -o log.swf").succeeds();
    let told = |more: &str| {
        sandbox.makespan(&format!("simulate log.swf --policy easy[order=sjf] --format json {more}")).succeeds()
    };
    let (known, unknown) = (told("--estimates clairvoyant"), told("--estimates unknown"));
    let learned = told("--estimates unknown --learn alike");
    assert!(known != unknown && unknown != learned);
    assert_eq!(learned, told("--estimates unknown --learn alike"));
    assert!(unknown.contains("policies know no run times"), "{unknown}");
    sandbox.makespan("simulate log.swf --learn all").refused(&["--learn", "--estimates unknown"]);
}
