//! `makespan profile`.

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

#[test]
fn a_quick_command_is_measured_and_its_entry_plans() {
    let sandbox = Sandbox::new();
    let options = "--allotments 1,2 --repetitions 2 --name quick";
    let script = "-- sh -c 'test {processors} -le 2 && sleep 0.01'";
    let text = sandbox.makespan(&format!("profile {options} --output quick.toml {script}")).succeeds();
    assert!(text.contains("best ") && text.contains("the job entry:\n\n[[jobs]]"), "{text}");
    let entry = sandbox.read("quick.toml");
    assert!(entry.contains("name = \"quick\"") && entry.contains("{processors}"), "{entry}");
    assert!(sandbox.makespan("plan quick.toml").succeeds().contains("quick"));
    let json: Value =
        serde_json::from_str(&sandbox.makespan(&format!("profile {options} --format json {script}")).succeeds())
            .unwrap();
    let measured = json["measurements"].as_array().unwrap();
    assert_eq!(measured.iter().map(|one| one["processors"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    assert!(measured.iter().all(|one| one["times"].as_array().unwrap().len() == 2));
    assert!(json["fits"][0]["law"].is_object() || json["fits"][0]["law"].is_string(), "{json}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let sandbox = Sandbox::new();
    let case = |line: &str, parts: &[&str]| sandbox.makespan(&format!("profile {line}")).refused(parts);
    case("-- no-such-program-x", &["no-such-program-x", "PATH"]);
    sandbox.makespan("profile --timeout soon -- true").misused(&["--timeout", "'soon'", "60s"]);
    case("--allotments 0 -- true", &["each at least 1"]);
    case("--allotments 99999 -- true", &["99999 processors", "cores"]);
    case("--repetitions 0 -- true", &["at least one repetition"]);
    case("--allotments 1 -- false", &["failed", "exit status 1"]);
    case("--allotments 1 --repetitions 1 --timeout 0.05 -- sleep 9", &["0.05 s", "raise --timeout"]);
    sandbox.makespan("profile").misused(&["<COMMAND>"]);
    assert!(sandbox.entries().is_empty());
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_measuring() {
    let sandbox = Sandbox::new();
    for (file, part) in [("x.foo", "it must be .json, .toml, .swf, .etc or"), ("no/x.toml", "`no` does not exist")] {
        let line = format!("profile --allotments 1 --output {file} -- sh -c 'echo x > measured'");
        sandbox.makespan(&line).refused(&[file, part]);
    }
    assert!(sandbox.entries().is_empty());
}
