//! Each key, column and field that a format defines is used, named in a warning that `--strict` refuses, or listed in
//! `docs/formats.md` as ignored.

use makespan_formats::{ReadOptions, parse_instance};

const DAX: &str = "<adag version='3.6'><job id='A' runtime='14'><uses name='f' link='output' size='5'/></job>\
    <job id='B' runtime='3'><uses name='f' link='input' size='5'/></job></adag>";
const WFFORMAT: &str = r#"{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "a"}, {"id": "b"}],
    "files": [{"id": "f", "sizeInBytes": 3}]}, "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 5}, {"id": "b", "runtimeInSeconds": 5}]}}}"#;
const DOT: &str = "digraph { a [time=3]; b [time=2]; a -> b [data=5] }";
const BATSIM: &str = r#"{"nb_res": 4, "jobs": [{"id": "a", "subtime": 5, "res": 2, "profile": "d", "walltime": 90}],
    "profiles": {"d": {"type": "delay", "delay": 5}}}"#;
const SACCT: &str = "JobID|Submit|Start|End|Elapsed|AllocCPUS|State\n\
    1|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:10:05|00:10:00|1|COMPLETED\n";
const SWF: &str = "; MaxProcs: 4\n1 0 5 100 2 -1 -1 2 200 -1 1 -1 -1 -1 -1 -1 -1 -1\n";

/// For each format a file, a text in it, what stands there with a key more, and the key.
const KEYS: [(&str, &str, &str, &str); 37] = [
    (DAX, "runtime='3'", "runtime='3' name='x'", "name"),
    (DAX, "runtime='3'", "runtime='3' namespace='x'", "namespace"),
    (DAX, "runtime='3'", "runtime='3' version='x'", "version"),
    (DAX, "runtime='3'", "runtime='3' level='2'", "level"),
    (DAX, "runtime='3'", "runtime='3' node-label='x'", "node-label"),
    (DAX, "link='input'", "link='input' register='false'", "register"),
    (DAX, "link='input'", "link='input' transfer='true'", "transfer"),
    (DAX, "link='input'", "link='input' optional='true'", "optional"),
    (DAX, "</job></adag>", "<argument>-x</argument></job></adag>", "argument"),
    (DAX, "</job></adag>", "<stdout name='x'/></job></adag>", "stdout"),
    (DAX, "</job></adag>", "<invoke when='end'/></job></adag>", "invoke"),
    (DAX, "</adag>", "<executable name='x'/></adag>", "executable"),
    (DAX, "</adag>", "<transformation name='x'/></adag>", "transformation"),
    (DAX, "</job></adag>", "<profile namespace='env' key='x'>1</profile></job></adag>", "env"),
    (WFFORMAT, r#"{"id": "b"}"#, r#"{"id": "b", "name": "x"}"#, "name"),
    (WFFORMAT, r#"{"id": "b"}"#, r#"{"id": "b", "parents": ["a"]}"#, "parents"),
    (WFFORMAT, r#""id": "b", "r"#, r#""id": "b", "priority": 3, "r"#, "priority"),
    (WFFORMAT, r#""id": "b", "r"#, r#""id": "b", "avgCPU": 3, "r"#, "avgCPU"),
    (WFFORMAT, r#""id": "b", "r"#, r#""id": "b", "energyInKWh": 3, "r"#, "energyInKWh"),
    (WFFORMAT, r#""id": "b", "r"#, r#""id": "b", "readBytes": 3, "r"#, "readBytes"),
    (WFFORMAT, r#""id": "b", "r"#, r#""id": "b", "coreCount": 2, "r"#, "coreCount"),
    (WFFORMAT, r#""workflow""#, r#""author": {"name": "x"}, "workflow""#, "author"),
    (DOT, "time=2", "time=2, runtime=3", "runtime"),
    (DOT, "time=2", "time=2, duration=3", "duration"),
    (DOT, "time=2", "time=2, cost=3", "cost"),
    (DOT, "data=5", "data=5, time=3", "time"),
    (DOT, "data=5", "data=5, bytes=3", "bytes"),
    (DOT, "time=2", "time=2, work=3", "work"),
    (BATSIM, r#""res": 2"#, r#""res": 2, "user": "x""#, "user"),
    (BATSIM, r#""delay": 5"#, r#""delay": 5, "real_size": 3"#, "real_size"),
    (SACCT, "|AllocCPUS|State\n", "|AllocCPUS|JobName\n", "JobName"),
    (SACCT, "|AllocCPUS|State\n", "|AllocCPUS|ConsumedEnergy\n", "ConsumedEnergy"),
    (SACCT, "|AllocCPUS|State\n", "|AllocCPUS|Priority\n", "Priority"),
    (SWF, "-1 -1 -1\n", "-1 1 -1\n", "fields 17 and 18"),
    (SWF, "-1 -1 -1\n", "-1 -1 30\n", "fields 17 and 18"),
    (SWF, "-1 -1 -1 -1 -1\n", "7 -1 -1 -1 -1\n", "the executable"),
    (SWF, "2 200 -1", "2 200 4000", "memory"),
];

#[test]
fn each_key_is_used_named_in_a_warning_or_listed_as_ignored() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md")).unwrap();
    let read = |text: &str, strict: bool| {
        let options = ReadOptions { processors: Some(4), strict, ..ReadOptions::default() };
        let found = parse_instance(text.as_bytes(), "x", &options).map_err(|error| error.to_string())?;
        Ok::<_, String>((format!("{:?}", found.instance), found.remarks.join("; ")))
    };
    for (text, from, to, key) in KEYS {
        assert!(text.contains(from), "{from}");
        let without = read(text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (instance, remarks) = match read(&text.replacen(from, to, 1), false) {
            Ok(found) => found,
            // A contradiction is refused by name.
            Err(error) => {
                assert!(error.contains(key), "{key}: {error}");
                continue;
            }
        };
        let is_listed = docs.contains(&format!("`{key}`")) || docs.contains(&format!("({key})"));
        let is_named = remarks.contains(key) && !without.1.contains(key);
        assert!(instance != without.0 || is_named || is_listed, "`{key}` is dropped: {to}\n{remarks}");
        if is_named && !is_listed {
            let strict = read(&text.replacen(from, to, 1), true);
            assert!(strict.is_err_and(|error| error.contains(key)), "--strict accepts `{key}`: {to}");
        }
    }
}
