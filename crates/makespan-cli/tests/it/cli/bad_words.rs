//! Error messages about invalid input use the words of the file and of the command line, never those of Rust, and state
//! a remedy.

use crate::cli::sandbox::Sandbox;

/// Words of Rust and its libraries that users do not know.
const RUST: [&str; 17] = [
    "struct",
    "variant",
    "Entry",
    "Fields",
    "Document",
    "invalid type",
    "invalid value",
    "invalid digit",
    "target type",
    "literal",
    " i32",
    " u32",
    " u64",
    " f64",
    "unit value",
    "a sequence",
    "a map",
];

#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write(name, content);
    let said = sandbox.makespan(&format!("plan {name} -o out.json --gantt out.svg --report out.html --jobs out.csv"));
    RUST.iter().for_each(|word| assert!(!said.err.contains(word), "`{word}`: {}", said.err));
    assert!(said.err.chars().count() < 700, "{}", said.err);
    let parts = [&[name], parts].concat();
    said.refused(&parts);
    assert_eq!(sandbox.entries(), [name], "no other files are left");
}

fn json(job: &str, parts: &[&str]) {
    refused("a.json", format!("{{\"version\": 2, \"platform\": {{\"processors\": 4}},\n \"jobs\": [{job}]}}"), parts);
}

fn toml(job: &str, parts: &[&str]) {
    refused("a.toml", format!("version = 2\nplatform = {{processors = 4}}\n[[jobs]]\nname = \"a\"\n{job}\n"), parts);
}

#[test]
fn values_of_another_kind() {
    let work = |rest: &str, parts: &[&str]| json(&format!("{{\"name\": \"a\", \"work\": 3, {rest}}}"), parts);
    let law = "expected a speed-up law with its parameters, such as {\"amdahl\": {\"serial\": 0.05}}";
    work("\"speedup\": {\"amdahl\": 3}", &["a.json:2:", "jobs[0].speedup", "found the number 3", "expected a table"]);
    work("\"speedup\": \"amdahl\"", &["jobs[0].speedup", "found the text \"amdahl\"", law]);
    work("\"speedup\": 3", &["jobs[0].speedup", "found the number 3", law]);
    work("\"speedup\": {}", &["jobs[0].speedup", "no speed-up law is stated", "amdahl"]);
    work("\"speedup\": {\"linear\": null}", &["jobs[0].speedup", "found nothing; expected a table"]);
    work(
        "\"speedup\": {\"linear\": {}, \"power\": {}}",
        &["jobs[0].speedup", "`power` is a second speed-up law; write only one law"],
    );
    work("\"speedup\": {\"power\": {\"exponent\": \"x\"}}", &["jobs[0].speedup", "`x` is not a finite number"]);
    work("\"priority\": \"x\"", &["jobs[0].priority", "found the text \"x\"; expected a whole number"]);
    work("\"priority\": 1.5", &["jobs[0].priority", "found the number 1.5; expected a whole number"]);
    work("\"edges\": 3", &["jobs[0].edges", "found the number 3; expected a list"]);
    work("\"after\": \"b\"", &["jobs[0].after", "found the text \"b\"; expected a list of names"]);
    work("\"needs\": 3", &["jobs[0].needs", "expected a table of amounts by name"]);
    work("\"command\": 3", &["jobs[0].command", "expected a program and its arguments"]);
    work("\"processors\": [1, 2]", &["jobs[0].processors", "found a list; expected a number of processors"]);
    json("\"x\"", &["jobs[0]", "found the text \"x\"; expected a table"]);
    json("{\"name\": 3}", &["jobs[0].name", "found the number 3; expected a text"]);
    toml("speedup = \"amdahl\"\nwork = 2", &["a.toml:5", "jobs[0].speedup", law]);
    toml("priority = 1.5", &["a.toml:5", "expected a whole number"]);
    refused("a.json", "[1, 2]", &["found the number 2; expected a table"]);
    refused(
        "a.json",
        "{\"version\": 2, \"platform\": 3, \"jobs\": []}",
        &["platform", "found the number 3; expected a table"],
    );
}

#[test]
fn what_is_written_twice_is_named() {
    json("{\"name\": \"a\", \"time\": 3, \"time\": 4}", &["a.json:2:", "jobs[0]", "the key `time` occurs twice"]);
    toml("time = 1\ntime = 2", &["a.toml:6:1", "the key `time` occurs twice"]);
    refused(
        "a.toml",
        "version = 2\nplatform = {processors = 2}\n[platform]\nprocessors = 3\n",
        &["a.toml:3", "the key `platform` occurs twice"],
    );
}

#[test]
fn long_figures_are_quoted_as_they_are_written() {
    toml("time = 1e300", &["jobs[0].time", "`1e300` is too long; the longest time is 292 years"]);
    toml("time = [1, 1e-300]", &["jobs[0]"]);
    toml("time = 1\nweight = 1e300", &["jobs[0].weight", "`1e300`"]);
    toml("time = 1\ncount = 1e30", &["jobs[0].count", "`1e30`"]);
    json("{\"name\": \"a\", \"time\": 1e300}", &["`1e300` is too long"]);
}

#[test]
fn files_of_other_kinds_are_told_apart() {
    let sandbox = Sandbox::with_small();
    sandbox.makespan("plan small.toml -o plan.json").succeeds();
    for line in ["plan plan.json", "bound plan.json", "run plan.json", "simulate plan.json", "compare plan.json"] {
        sandbox.makespan(line).refused(&["plan.json", "this is a plan", "use the instance of the plan"]);
    }
    let all = ["a list of shell commands, native JSON or TOML, SWF, Batsim, sacct", "WfFormat", "DOT", "PSPLIB"];
    let kinds: [(&str, &[u8], &str); 6] = [
        ("a.yaml", b"jobs:\n  - name: a\n", "this is YAML, which is not supported"),
        ("a.txt", b"jobs:\n  - name: a\n", "this is YAML, which is not supported"),
        ("a.csv", b"name,time\na,3\n", "this is CSV, which is not supported"),
        ("a", b"name,time\na,3\n", "this is CSV, which is not supported"),
        ("a.md", b"# A book\nwords\n", "this is Markdown, which is not supported"),
        ("a.bin", b"\x93\x00\x01\xff\x7fELF\n=\x02", "the file is binary data, not text"),
    ];
    for (name, content, what) in kinds {
        refused(name, content, &[&[what], &all[..]].concat());
    }
    refused("a.sh", b"#!/bin/sh\nfor i in 1 2; do\n echo $i\ndone\n", &["this is a script", "makespan run -- ./FILE"]);
}

#[test]
fn outputs_of_kinds_that_are_not_written_are_refused() {
    let sandbox = Sandbox::with_small();
    for (option, parts) in [
        ("--gantt g.bmp", ["--gantt g.bmp", "written as .svg, .png or .pdf"]),
        ("--gantt g.tex", ["--gantt g.tex", "written as .svg, .png or .pdf"]),
        ("--report r.pdf", ["--report r.pdf", "written as .html"]),
        ("--jobs j.xlsx", ["--jobs j.xlsx", "written as .csv"]),
        ("--swf s.csv", ["--swf s.csv", "written as .swf"]),
        ("-o p.toml", ["--output p.toml", "written as .json"]),
    ] {
        sandbox
            .makespan(&format!("plan small.toml -o plan.json {option}").replace("-o plan.json -o", "-o"))
            .refused(&parts);
    }
    for (option, what) in
        [("--jobs j.json", ".csv"), ("--swf s.txt", ".swf"), ("--log l.txt", ".csv"), ("--report r.svg", ".html")]
    {
        sandbox.makespan(&format!("simulate small.toml {option}")).refused(&[option, &format!("written as {what}")]);
    }
    assert_eq!(sandbox.entries(), ["small.toml"]);
    sandbox.makespan("plan small.toml --gantt chart --report /dev/null").succeeds();
}

#[test]
fn figures_on_the_command_line() {
    let sandbox = Sandbox::with_small();
    for (line, what) in [
        ("plan small.toml --seed x", "write a whole number"),
        ("plan small.toml --seed 99999999999999999999", "the number is too large"),
        ("generate moldable --jobs x", "write a whole number"),
        ("simulate small.toml --deviation x", "write a number such as 0.5"),
    ] {
        let said = sandbox.makespan(line);
        RUST.iter().for_each(|word| {
            assert!(word.starts_with("invalid value") || !said.err.contains(word), "`{word}`: {}", said.err)
        });
        said.misused(&[what]);
    }
}

/// Each list has one of the errors that lists can have.
#[test]
fn lists_that_cannot_run() {
    let sandbox = Sandbox::new();
    let refused = |text: &str, parts: &[&str]| {
        sandbox.write("c.txt", text);
        for command in ["plan", "run"] {
            sandbox.makespan(&format!("{command} c.txt")).refused(&[&["c.txt"], parts].concat());
        }
    };
    refused("", &["empty"]);
    refused("# nothing\n\n", &["none of the 2 lines contains a command"]);
    refused("a #: after=2\nb #: after=3\nc #: after=1\n", &["wait for each other", "1-a", "2-b", "3-c"]);
    refused("a #: memory=900TB\n", &["1-a", "memory"]);
    refused("a #: cores=4096\n", &["1-a", "at least 4096 processors"]);
    refused("a #: time=1e300\n", &["c.txt:1: time", "`1e300` is too long"]);
    assert_eq!(sandbox.entries(), ["c.txt"]);
}
