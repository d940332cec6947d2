//! No change of an instance or a plan file makes the check panic, and every error is one line that names the file.

use makespan_core::Instance;
use makespan_verify::check::{problems, verdict};
use makespan_verify::native::PlanFile;
use makespan_verify::native::error::FormatError;
use makespan_verify::native::instance::read_json;
use proptest::prelude::*;

use crate::refusal::is_clear_refusal;
use crate::sample::{INSTANCE, instance, plan};

/// A change of a text. The position of the change is a fraction of the length of the text.
#[derive(Clone, Debug)]
enum Change {
    Insert(f64, String),
    Remove(f64, usize),
    /// Copies a part of the text to another position.
    Copy(f64, usize, f64),
}

/// Texts that are inserted.
const WORDS: &[&str] = &[
    "-",
    "0",
    "9",
    "e9",
    "1e400",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "null",
    "\\ud800",
    "\u{0}",
    "9223372036854775808",
];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let share = 0.0..1.0_f64;
    let change = prop_oneof![
        (share.clone(), prop::sample::select(WORDS)).prop_map(|(at, word)| Change::Insert(at, word.to_owned())),
        (share.clone(), 1..30_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (share.clone(), 1..60_usize, share).prop_map(|(from, length, to)| Change::Copy(from, length, to)),
    ];
    prop::collection::vec(change, 1..4)
}

fn changed(text: &str, changes: Vec<Change>) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for change in changes {
        let at = |share: f64| (share * bytes.len() as f64) as usize;
        match change {
            Change::Insert(to, word) => {
                let to = at(to);
                bytes.splice(to..to, word.into_bytes());
            }
            Change::Remove(from, length) => {
                let from = at(from);
                bytes.drain(from..(from + length).min(bytes.len()));
            }
            Change::Copy(from, length, to) => {
                let (from, to) = (at(from), at(to));
                let part = bytes[from..(from + length).min(bytes.len())].to_vec();
                bytes.splice(to..to, part);
            }
        }
    }
    bytes
}

/// Checks that an error is one line that begins with the name of the file.
fn is_clear(error: &FormatError, file: &str) -> bool {
    let text = error.to_string();
    text.starts_with(file) && text.len() > file.len() + 10 && text.len() < 2000 && !text.contains(char::is_control)
}

fn check(instance: &Instance, bytes: &[u8]) {
    match PlanFile::read("p.json", bytes, instance) {
        Ok(file) => {
            let problems = problems(instance, &file);
            let text = verdict("p.json", instance, &file, &problems);
            assert_eq!(text.starts_with("valid: "), problems.is_empty(), "{text}");
            problems.iter().for_each(|problem| assert!(is_clear_refusal(problem), "{problem}"));
        }
        Err(error) => assert!(is_clear(&error, "p.json"), "{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_changed_plan_is_rejected_clearly_or_proved(changes in changes()) {
        check(&instance(), &changed(&plan(), changes));
    }

    #[test]
    fn a_changed_instance_is_refused_clearly_or_another_instance(changes in changes()) {
        match read_json("i.json", &changed(INSTANCE, changes), None) {
            Ok(instance) => check(&instance, plan().as_bytes()),
            Err(error) => assert!(is_clear(&error, "i.json"), "{error}"),
        }
    }
}
