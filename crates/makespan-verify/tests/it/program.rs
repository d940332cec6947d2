//! The program `makespan-verify` as a process: verdicts, errors and exit statuses.

use std::fs;
use std::process::Command;

use makespan_verify::proof::Refutation;

use crate::sample::{INSTANCE, plan};

/// The output of the program.
#[derive(Debug)]
struct Said {
    status: Option<i32>,
    out: String,
    err: String,
}

/// Runs the program with these arguments in a folder that contains the files `i.json` and `p.json`.
fn run(instance: &str, plan: &str, arguments: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("i.json"), instance).unwrap();
    fs::write(folder.path().join("p.json"), plan).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_makespan-verify"));
    let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn checked(instance: &str, plan: &str) -> Said {
    run(instance, plan, &["i.json", "p.json"])
}

/// Returns the text with `from` replaced by `to`, and checks that this changes the text.
#[track_caller]
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is missing in\n{text}");
    text.replacen(from, to, 1)
}

#[test]
fn a_valid_plan_is_accepted_with_its_bounds() {
    let said = checked(INSTANCE, &plan());
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "{said:?}");
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines[0], "valid: every job is placed once, and the stated values and bounds are proved");
    assert_eq!(lines[1], "objective            value (s)  proven bound   ratio");
    assert_eq!(lines[2], "makespan                 4.000         4.000  1.0000  optimal");
    assert!(lines[3].starts_with("weighted completion     12.000"), "{said:?}");
}

#[test]
fn a_changed_plan_is_rejected_with_the_reason() {
    let plan = plan();
    let changes = [
        ("\"makespan\": 4", "\"makespan\": 3.5", "the stated makespan is 3.5, but the placements have 4"),
        ("\"end\": 4", "\"end\": 3", "job `a` lasts 3 s"),
        ("{\"value\": 4", "{\"value\": 4.000000001", "the bound is 4.000000001, but the certificate proves 4"),
        (
            "\"job\":1",
            "\"job\":7",
            "the certificate cannot be read: it refers to job 7, which the instance does not have",
        ),
        ("\"scale\":20", "\"scale\":0", "bound on the weighted completion"),
    ];
    for (from, to, reason) in changes {
        let said = checked(INSTANCE, &changed(&plan, from, to));
        assert_eq!((said.status, said.err.as_str()), (Some(1), ""), "{said:?}");
        assert!(said.out.starts_with("p.json is rejected:\n  ") && said.out.contains(reason), "{to}: {said:?}");
    }
}

#[test]
fn the_refusal_of_a_certificate_states_its_reason() {
    let plan =
        changed(&plan(), r#"{"kind":"alone","job":1}"#, r#"{"kind":"refutation","value":V,"grid":G,"steps":"S"}"#);
    let with = |value: &str, grid: &str, steps: &str| {
        let plan = plan.replace("\"S\"", &format!("\"{steps}\"")).replace(":V,", &format!(":{value},"));
        let said = checked(INSTANCE, &plan.replace(":G,", &format!(":{grid},")));
        assert_eq!(said.status, Some(1), "{said:?}");
        said.out + &said.err
    };
    let bytes = |numbers: &[u64]| {
        let refutation = Refutation { value: 1, grid: 1, steps: Refutation::encoded(numbers) };
        serde_json::to_value(refutation).unwrap()["steps"].as_str().unwrap().to_owned()
    };
    let (half, later, unknown) = (bytes(&[20, 9, 0, 0]), bytes(&[21, 1, 0, 2, 0]), bytes(&[20, 9, 0, 0, 12, 20, 1, 5]));
    let unrelated = bytes(&[21, 0, 1, 2, 0, 1]);
    let cases = [
        ("18446744073709551616", "1000000000", "", "cannot be read: the number 18446744073709551616 is too large"),
        ("4", "-99999999999999999999", "", "cannot be read: the number -99999999999999999999 is too large"),
        ("0", "1000000000", "", "cannot be read: the value or the grid is not positive"),
        ("9", "1000000000", "FA", "cannot be read: `steps` is not base64"),
        ("9", "1000000000", &half, "cannot be read: the steps end within a record"),
        ("9", "1000000000", "AAAA", "cannot be read: the steps"),
        ("9", "1000000000", &unknown, "cannot be read: `steps` refers to entry 5 of a list that has 0 entries"),
        ("9", "1000000000", &later, "step 1 of the certificate is not valid: the nogood does not follow"),
        ("9", "1000000000", &unrelated, "step 1.1 of the certificate is not valid: the step assumes that task 1 waits"),
        ("9", "1000000000", "", "the bound is 4, but the certificate proves nothing, because after the last step"),
        ("3", "1000000000", "", "proves less than it claims: the bound is 4, but the certificate proves 3"),
    ];
    for (value, grid, steps, reason) in cases {
        let text = with(value, grid, steps);
        assert!(text.contains(reason), "{reason}: {text}");
    }
}

#[test]
fn a_broken_file_is_reported_with_its_place() {
    let plan = plan();
    let of_plan = [
        (String::new(), "p.json: this is not a plan file"),
        ("{".into(), "p.json:1:1: the text ends too early"),
        ("{\"version\": 1,\n \"x\": 1}".into(), "p.json:2:4: x: unknown key `x`"),
        (changed(&plan, "\"version\": 1", "\"version\": 9"), "p.json: version: version 9 is not supported"),
        (changed(&plan, "\"job\": \"a\"", "\"job\": \"aa\""), "placements[0]"),
        (changed(&plan, "\"start\": 0", "\"start\": 1e99"), "placements[0].start"),
        (changed(&plan, "\"kind\":\"alone\"", "\"kind\":\"magic\""), "bounds.makespan.certificate"),
        ("[".repeat(100_000), "p.json: this is not a plan file"),
        (format!("{{\"bounds\": {}", "[".repeat(100_000)), "p.json:1:"),
    ];
    let of_instance = [
        ("{\"version\": 2, \"jobs\": []}".to_owned(), "i.json: the key `platform` is missing"),
        (changed(INSTANCE, "\"time\": 3", "\"time\": -3"), "i.json:3:"),
        (changed(INSTANCE, "\"weight\"", "\"wieght\""), "did you mean `weight`?"),
        ("version = 2".into(), "i.json:1:1: "),
        (format!("{{\"jobs\": {}", "[".repeat(100_000)), "i.json:1:"),
    ];
    let cases = of_plan.map(|(plan, part)| (INSTANCE.to_owned(), plan, part));
    let others = of_instance.map(|(instance, part)| (instance, plan.clone(), part));
    for (instance, plan, part) in cases.into_iter().chain(others) {
        let said = checked(&instance, &plan);
        assert_eq!((said.status, said.out.as_str(), said.err.lines().count()), (Some(1), "", 1), "{part}: {said:?}");
        assert!(said.err.starts_with("error: ") && said.err.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn a_name_cannot_control_the_terminal() {
    let name = "a\\u001b[31m\\nvalid";
    let (instance, plan) = (
        changed(INSTANCE, "\"name\": \"a\"", &format!("\"name\": \"{name}\"")),
        plan().replace("\"a\"", &format!("\"{name}\"")),
    );
    let said = checked(&instance, &changed(&plan, "\"end\": 4", "\"end\": 3"));
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(!said.out.contains('\u{1b}') && !said.out.contains("\nvalid"), "{said:?}");
}

#[test]
fn arguments_are_two_files_or_an_option() {
    let with = |arguments: &[&str]| run(INSTANCE, &plan(), arguments);
    for arguments in [&[][..], &["i.json"], &["i.json", "p.json", "p.json"], &["--fast", "p.json"], &["--fast"]] {
        let said = with(arguments);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
        assert!(said.err.contains("makespan-verify INSTANCE PLAN"), "{said:?}");
    }
    assert!(with(&["--help"]).out.contains("Usage: makespan-verify INSTANCE PLAN"));
    assert_eq!(with(&["--version"]).out, format!("makespan-verify {}\n", env!("CARGO_PKG_VERSION")));
    let said = with(&["i.json", "gone.json"]);
    assert_eq!(said.status, Some(1));
    assert!(said.err.starts_with("error: gone.json: cannot open: No such file"), "{said:?}");
}
