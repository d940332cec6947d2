//! Files with random damage give a result or an error, never a panic.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::cli::sandbox::{Said, Sandbox};

/// Generates replacements, insertions and removals of a few bytes.
fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    let bytes = prop::sample::select(b"0159-.,:\"[]{}= \ne\xff\0".to_vec());
    prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, bytes), 1..4)
}

fn damaged(content: &str, damage: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    let mut bytes = content.as_bytes().to_vec();
    for (index, how, byte) in damage {
        let at = index.index(bytes.len());
        match how {
            0 => bytes[at] = *byte,
            1 => bytes.insert(at, *byte),
            _ => drop(bytes.remove(at)),
        }
    }
    bytes
}

/// Checks that the command succeeded without a message, or failed with one.
fn sound(said: &Said) -> Result<(), TestCaseError> {
    let refused = said.status == Some(1) && (said.err.is_empty() != said.out.is_empty());
    prop_assert!((said.status == Some(0) && said.err.is_empty()) || refused, "{:?}", said);
    prop_assert!(!said.err.contains("panicked"), "{:?}", said);
    Ok(())
}

fn check(cases: u32, test: impl Fn(Vec<(prop::sample::Index, u8, u8)>) -> Result<(), TestCaseError>) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(&damage(), test).unwrap();
}

#[test]
fn instances() {
    let sandbox = Sandbox::with_small();
    sandbox.makespan("convert small.toml small.json").succeeds();
    sandbox.makespan("convert small.toml small.swf").succeeds();
    for name in ["small.toml", "small.json", "small.swf"] {
        let content = sandbox.read(name);
        check(30, |damage| {
            sandbox.write("bad", damaged(&content, &damage));
            // The test examines how damaged files are read, so a short search for bounds is enough.
            sound(&sandbox.makespan("bound bad --time-limit 0.1s"))
        });
    }
}

#[test]
fn logs_of_a_simulation() {
    let sandbox = Sandbox::with_small();
    sandbox.makespan("convert small.toml small.swf").succeeds();
    sandbox.write("f.csv", "processors,down,up,expected_up\n0-3,5,9,8\n\"1,7\",11,30,\n");
    for (name, line) in [
        ("small.swf", "simulate bad --policy easy,conservative --start-time-of 1 --report r.html"),
        ("small.toml", "simulate bad --policy moldable-easy,batch[scheduler=list]"),
        ("f.csv", "simulate small.toml --failures bad --policy easy,fcfs"),
        ("small.toml", "simulate small.swf --platform bad"),
    ] {
        let content = sandbox.read(name);
        check(20, |damage| {
            sandbox.write("bad", damaged(&content, &damage));
            sound(&sandbox.makespan(line))
        });
    }
}

#[test]
fn schedules_are_accepted_only_when_their_values_are_the_true_ones() {
    let sandbox = Sandbox::with_small();
    sandbox.makespan("plan small.toml --algorithm demt --output p.json").succeeds();
    let content = sandbox.read("p.json");
    let plan = sandbox.json("p.json");
    check(80, |damage| {
        sandbox.write("bad.json", damaged(&content, &damage));
        let said = sandbox.makespan("verify small.toml bad.json");
        sound(&said)?;
        if said.status == Some(0) {
            // The file is valid if the damage hit white space, a name, or a certificate that still proves the value.
            let read = sandbox.json("bad.json");
            let figure = |value: &serde_json::Value| value.to_string().parse::<f64>().unwrap();
            for objective in ["makespan", "weighted_completion"] {
                let stated = figure(&read[objective]);
                prop_assert!(figure(&read["bounds"][objective]["value"]) <= stated + 1e-9);
                prop_assert!(stated >= figure(&plan["bounds"][objective]["value"]) - 1e-9);
            }
        }
        Ok(())
    });
}
