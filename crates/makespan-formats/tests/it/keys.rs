//! Checks each key, column and field that a format defines. The reader must use the key, or name it in a warning (an
//! error with `--strict`), or `docs/formats.md` must list it as ignored.

mod bases;

use bases::{BASES, DAG, TRACE};
use makespan_formats::{NextflowTrace, ReadOptions, parse_instance, parse_machines};

/// The text of an instance and its warnings, or an error message.
type Found = Result<(String, String), String>;

/// An example file of a format, and replacements of text that add keys to this file.
struct Base {
    /// Name of the format's row in the table of ignored keys.
    row: &'static str,
    read: fn(&str, bool) -> Found,
    text: &'static str,
    /// For each key: a text in the file, the replacement for this text, and the key, which only the replacement
    /// contains.
    keys: &'static [(&'static str, &'static str, &'static str)],
}

fn instance(text: &str, strict: bool) -> Found {
    read(text, &ReadOptions { processors: Some(4), strict, ..ReadOptions::default() })
}

/// Reads a file that states its own machines.
fn whole(text: &str, strict: bool) -> Found {
    read(text, &ReadOptions { strict, ..ReadOptions::default() })
}

fn trace(text: &str, strict: bool) -> Found {
    drawn(DAG, text, strict)
}

fn drawn_alone(text: &str, strict: bool) -> Found {
    drawn(text, TRACE, strict)
}

fn drawn(graph: &str, trace: &str, strict: bool) -> Found {
    let trace = Some(NextflowTrace { file: "trace.txt".into(), text: trace.into() });
    read(graph, &ReadOptions { processors: Some(4), strict, trace, ..ReadOptions::default() })
}

fn read(text: &str, options: &ReadOptions) -> Found {
    let found = parse_instance(text.as_bytes(), "x", options).map_err(|error| error.to_string())?;
    Ok((format!("{:?}", found.instance), found.remarks.join("; ")))
}

fn machines(text: &str, strict: bool) -> Found {
    let found = parse_machines(text.as_bytes(), "x.xml", strict).map_err(|error| error.to_string())?;
    Ok((format!("{:?}", found.instance), found.remarks.join("; ")))
}

/// Returns two rows of the table of ignored keys in `docs/formats.md`: the row for this format, and the row for all
/// formats.
fn ignored(row: &str) -> String {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md")).unwrap();
    let (_, list) = docs.split_once("## Keys that are ignored").unwrap();
    let (list, _) = list.split_once("\n## ").unwrap();
    let rows: Vec<&str> = [row, "all"]
        .map(|row| {
            list.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap_or_else(|| panic!("no row {row}"))
        })
        .into();
    rows.join("\n")
}

#[test]
fn each_key_is_used_named_in_a_warning_or_listed_as_ignored() {
    let mut dropped = Vec::new();
    for Base { row, read, text, keys } in BASES {
        let docs = ignored(row);
        let without = read(text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        for (from, to, key) in keys {
            assert!(text.contains(from), "{from}");
            let changed = text.replacen(from, to, 1);
            let (instance, remarks) = match read(&changed, false) {
                Ok(found) => found,
                // The added key may contradict another key. Then the error must name the key.
                Err(error) => {
                    assert!(error.contains(key), "{row}: {key}: {error}");
                    continue;
                }
            };
            let is_listed = docs.contains(&format!("`{key}`")) || docs.contains(&format!("({key})"));
            let is_named = remarks.contains(key) && !without.1.contains(key);
            if instance == without.0 && !is_named && !is_listed {
                dropped.push(format!("{row}: `{key}` is dropped: {to}: {remarks}"));
            }
            let strict = read(&changed, true);
            if is_named && !is_listed && strict.is_ok() {
                dropped.push(format!("{row}: --strict accepts `{key}`: {to}: {remarks}"));
            } else if is_listed {
                assert!(strict.is_ok(), "{row}: --strict refuses `{key}`, which is listed as ignored: {strict:?}");
            }
        }
        assert!(read(text, true).is_ok(), "{row}: --strict refuses {text}");
    }
    assert!(dropped.is_empty(), "{}", dropped.join("\n"));
}

/// Checks files that contain only numbers: if any number is increased, the instance changes or the file is refused.
#[test]
fn each_number_counts() {
    let modes = include_str!("../../../../fuzz/corpus/psplib/own.mm");
    let modes =
        modes.replacen("         3     4       6    1    0\n", "", 1).replacen("   2        3 ", "   2        2 ", 1);
    // In an activity without duration, other numbers have no effect. So the test gives this activity a duration.
    let modes = modes.replace("1     0       0    0    0", "1     6       0    0    0");
    let sections = modes.find("PRECEDENCE").unwrap();
    let files = [
        (whole as fn(&str, bool) -> Found, "2 2\n1 2\n3 4\n".to_owned(), 0),
        (instance, "2\n0 0 0\n1 4 1 0\n2 5 1 1\n3 0 1 2\n".to_owned(), 0),
        (whole, "4 1\n4\n3 0 1 2\n1 1 1 3\n2 1 1 4\n5 0 0\n".to_owned(), 0),
        (whole, modes, sections),
    ];
    for (read, text, from) in files {
        let without = read(&text, false).unwrap();
        let digit = |at: &usize| text.as_bytes()[*at].is_ascii_digit();
        for at in (from..text.len()).filter(digit).filter(|at| *at == 0 || !digit(&(at - 1))) {
            let number: String = text[at..].chars().take_while(char::is_ascii_digit).collect();
            let more = number.parse::<u64>().unwrap() + 1;
            let changed = format!("{}{more}{}", &text[..at], &text[at + number.len()..]);
            let found = read(&changed, false);
            assert!(found.is_err() || found != Ok(without.clone()), "{at}: {changed}");
        }
    }
}

/// Checks that a file can be read even if an optional value is unusable. A warning names the value, and with `--strict`
/// the value is an error.
#[test]
fn one_value_that_is_not_needed_refuses_no_file() {
    let wf = |machine: &str, command: &str, more: &str| {
        format!(
            r#"{{"schemaVersion": "1.5", "workflow": {{"specification": {{"tasks": [{{"id": "a"}}]}}, "execution": {{"tasks": [{{"id": "a",
            "runtimeInSeconds": 5{command}}}{more}], "machines": [{machine}]}}}}}}"#
        )
    };
    let cores = |count: &str| format!(r#"{{"nodeName": "m", "cpu": {{"coreCount": {count}}}, "memoryInBytes": "x"}}"#);
    let swf = "; MaxProcs: abc\n; MaxNodes: 8\n1 0 5 100 2 -1 -1 2 200 -1 1 -1 -1 -1 -1 -1 -1 -1\n".to_owned();
    let batsim = r#"{"nb_res": "x", "jobs": [{"id": "a", "subtime": 5, "res": 2, "profile": "d", "walltime": 90}],
        "profiles": {"d": {"type": "delay", "delay": 5}}}"#
        .to_owned();
    let cases = [
        (wf(&cores("\"x\""), "", ""), None),
        (wf(&cores("-4"), "", ""), None),
        (wf(&cores("2.5"), "", ""), None),
        (wf("", r#", "command": "echo a""#, ""), None),
        (wf("", r#", "coreCount": "x""#, ""), Some("number of cores is not a number")),
        (wf("", "", r#", {"id": "b", "runtimeInSeconds": 5}"#), Some("not in the specification")),
        (swf, Some("the log states an invalid number of processors of the machine: `MaxProcs: abc`")),
        (batsim, Some("the log states an invalid number of processors of the machine: `nb_res: x`")),
        ("digraph { a [time=3, work=5]; a [time=4] }".to_owned(), Some("contradicted by another attribute")),
    ];
    for (text, named) in cases {
        let read = |strict| {
            let options = ReadOptions { processors: Some(4), strict, ..ReadOptions::default() };
            parse_instance(text.as_bytes(), "x", &options).map_err(|error| error.to_string())
        };
        let found = read(false).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found.instance.jobs().len(), 1, "{text}");
        if let Some(named) = named {
            assert!(found.remarks.iter().any(|remark| remark.contains(named)), "{text}: {:?}", found.remarks);
            assert!(read(true).is_err_and(|error| error.contains(named)), "{text}");
        }
    }
}
