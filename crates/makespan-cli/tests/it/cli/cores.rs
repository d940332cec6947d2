//! The number of cores of jobs that state none, and notes about jobs that used another number.

use std::thread::available_parallelism;

use crate::cli::sandbox::Sandbox;

/// Keeps two cores busy.
const TWO: &str = "timeout 0.9 sh -c 'while :; do :; done' & timeout 0.9 sh -c 'while :; do :; done'; wait; true";

/// Prints the value of `OMP_NUM_THREADS`, the processors of the job, and the number of cores that it may use.
const PRINT: &str = "echo ${OMP_NUM_THREADS-none} {processors} $(nproc)";

fn has_two_cores() -> bool {
    let has = available_parallelism().is_ok_and(|cores| cores.get() > 1);
    if !has {
        eprintln!("SKIPPED: this process may use one core only");
    }
    has
}

/// Joins the words of a text with single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn options_state_the_cores_of_jobs_that_state_none() {
    if !has_two_cores() {
        return;
    }
    let all = available_parallelism().unwrap();
    let sandbox = Sandbox::new();
    sandbox.write("none.txt", format!("{PRINT}\n"));
    sandbox.write("one.txt", format!("{PRINT} #: cores=1\n"));
    for (line, expected) in [
        ("none.txt", format!("none 1 {all}")),
        ("none.txt --pin", "1 1 1".to_owned()),
        ("none.txt --cores-per-job 2", "2 2 2".to_owned()),
        ("one.txt", "1 1 1".to_owned()),
        ("one.txt --cores-per-job 2", "1 1 1".to_owned()),
    ] {
        let output = sandbox.command(&format!("run {line}")).env_remove("OMP_NUM_THREADS").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{line}: {output:?}");
        let is_unused = words(&String::from_utf8_lossy(&output.stderr)).contains("changes nothing");
        assert_eq!(is_unused, line == "one.txt --cores-per-job 2", "{line}: {output:?}");
    }
    let records = sandbox.makespan("history --format json").succeeds();
    let records: serde_json::Value = serde_json::from_str(&records).unwrap();
    let records = records["records"].as_array().unwrap();
    let pinned: Vec<bool> = records.iter().map(|record| record["pinned"].as_bool().unwrap()).collect();
    assert_eq!(pinned, [true, true, true, true, false], "the latest comes first");
    assert!(records.iter().all(|record| record["at_once"] == 1.0), "{records:?}");
    assert!(sandbox.makespan("history").succeeds().contains("  any  "));
    sandbox.makespan("run none.txt --cores-per-job 0").misused(&["--cores-per-job"]);
}

#[test]
fn a_job_that_wanted_other_cores_is_named_with_the_note_to_write() {
    if !has_two_cores() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", format!("{TWO}\n"));
    sandbox.write("wide.txt", "sleep 0.7 #: cores=2\nsleep 0.7 #: cores=1-2\n");
    let said = words(&sandbox.makespan("run list.txt").err);
    assert!(said.contains("but was planned with 1 core; write `#: cores=2` after its command"), "{said}");
    let output = sandbox.command("run --pin --").args([TWO]).output().unwrap();
    let said = words(&String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("2 threads ready to run") && said.contains("write --cores-per-job 2"), "{said}");
    let said = words(&sandbox.makespan("run wide.txt").err);
    assert!(said.contains("was planned with 2 cores; write `#: cores=1`"), "{said}");
    assert_eq!(said.matches("was planned with").count(), 1, "{said}");
    assert!(!sandbox.makespan("run -- 'sleep {}' ::: 0.7").err.contains("was planned with"));
}
