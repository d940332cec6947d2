use makespan_core::{Instance, JobId, Payload, TaskId, Time};

use super::{DAX as DAX_READER, StatedFiles, WFFORMAT};
use crate::submitted::submitted;
use crate::{Format, ReadInstance, ReadOptions, parse_instance, write_compound_xml};

fn options() -> ReadOptions {
    ReadOptions { processors: Some(3), ..ReadOptions::default() }
}

fn read(text: &str, format: Format) -> ReadInstance {
    let read = parse_instance(text.as_bytes(), "some/flow.x.gz", &options()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.format, format);
    read
}

/// Formats tasks as `name:seconds` and edges as `from>to:bytes`.
fn shown(instance: &Instance) -> String {
    let tasks = instance.jobs()[0].task_ids();
    let tasks = tasks.map(|task| format!("{}:{}", instance.short_name(task), instance.profile(task).shortest()));
    let edges = instance.edges_of(JobId(0)).iter().map(|edge| {
        let payload = match edge.payload {
            Payload::Bytes(bytes) => bytes.to_string(),
            Payload::Fixed(time) => format!("{time}s"),
        };
        format!("{}>{}:{payload}", instance.short_name(edge.from), instance.short_name(edge.to))
    });
    tasks.chain(edges).collect::<Vec<_>>().join(" ")
}

fn refused(text: &str, name: &str, expect: &str) {
    let error = parse_instance(text.as_bytes(), name, &options()).unwrap_err().to_string();
    assert!(error.contains(expect), "{error}\nlacks {expect}");
}

const WF15: &str = r#"{"name": "flow", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
 {"name": "x", "id": "a", "parents": [], "children": ["b"], "inputFiles": ["in"], "outputFiles": ["f", "g"]},
 {"name": "x", "id": "b", "parents": ["a"], "children": [], "inputFiles": ["f", "g"], "outputFiles": []},
 {"name": "x", "id": "c", "parents": ["a"], "children": []}],
 "files": [{"id": "in", "sizeInBytes": 9}, {"id": "f", "sizeInBytes": 3}, {"id": "g", "sizeInBytes": 4}]},
 "execution": {"makespanInSeconds": 9, "executedAt": "x", "tasks": [
 {"id": "b", "runtimeInSeconds": 2.5, "command": {"program": "run", "arguments": ["-x"]}, "coreCount": 2},
 {"id": "a", "runtimeInSeconds": 1}, {"id": "c", "runtimeInSeconds": 0.0}],
 "machines": [{"nodeName": "m", "cpu": {"coreCount": 6, "speedInMHz": 2000}}]}}}"#;

const WF14: &str = r#"{"name": "flow", "schemaVersion": "1.4", "workflow": {"makespanInSeconds": 1, "executedAt": "x", "tasks": [
 {"name": "a", "id": "ID1", "type": "compute", "runtimeInSeconds": 1, "parents": [], "children": ["ID2"],
  "files": [{"link": "output", "name": "f", "sizeInBytes": 3}]},
 {"name": "b", "id": "ID2", "type": "compute", "runtimeInSeconds": 2.5, "parents": ["ID1"], "children": [],
  "files": [{"link": "input", "name": "f", "sizeInBytes": 3}], "cores": 1}]}}"#;

#[test]
fn the_files_of_tasks_are_known_by_name() {
    let shown = |text: &str| {
        let found = WFFORMAT.files.unwrap()("w.json", text).unwrap();
        let one = |(task, files): (&String, &StatedFiles)| format!("{task}:{:?}>{:?}", files.reads, files.writes);
        found.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(WF15), r#"a:["in"]>["f", "g"] b:["f", "g"]>[] c:[]>[]"#);
    assert_eq!(shown(WF14), r#"a:[]>["f"] b:["f"]>[]"#);
    assert!(DAX_READER.files.is_none());
}

#[test]
fn wfformat_is_read_in_four_versions() {
    let found = read(WF15, Format::WfFormat);
    assert_eq!(shown(&found.instance), "a:1 b:2.5 c:0.000000001 a>b:7 a>c:0");
    assert_eq!(found.instance.jobs()[0].name, "flow");
    assert_eq!(found.instance.task(TaskId(1)).command, ["run", "-x"]);
    let remarks = found.remarks.join("; ");
    for part in [
        "1 run time is 0 s (task `c`: `0.0`); one nanosecond is used instead",
        "tasks that ran on several cores: 1 (such as `b`); each is planned on the same number",
        "no bandwidth is stated",
    ] {
        assert!(remarks.contains(part), "{remarks}");
    }
    assert!(!remarks.contains("using the machines of the file"), "others are stated: {remarks}");
    let new = read(&WF15.replace("\"1.5\"", "\"1.6\""), Format::WfFormat);
    assert_eq!(shown(&new.instance), shown(&found.instance));
    let own = parse_instance(WF15.as_bytes(), "f.json", &ReadOptions::default()).unwrap();
    assert_eq!(own.instance.processors(), 6);
    assert_eq!(shown(&read(WF14, Format::WfFormat).instance), "a:1 b:2.5 a>b:3");
    let old = WF14.replace("1.4", "1.3").replace("runtimeInSeconds", "runtime").replace("sizeInBytes", "size");
    let old = old.replace("\"ID1\", ", "\"ID1\",").replace("[\"ID2\"]", "[\"b\"]").replace("[\"ID1\"]", "[\"a\"]");
    assert_eq!(shown(&read(&old, Format::WfFormat).instance), "a:1 b:2.5 a>b:3");
}

#[test]
fn words_that_name_two_tasks_are_refused() {
    let flow = |second: &str| {
        format!(
            r#"{{"schemaVersion": "1.4", "workflow": {{"tasks": [{{"name": "a", "id": "x", "runtimeInSeconds": 1}}, {second}]}}}}"#
        )
    };
    let task = |name: &str, id: &str| flow(&format!(r#"{{"name": "{name}", "id": "{id}", "runtimeInSeconds": 2}}"#));
    refused(&task("b", "x"), "f.json", "two tasks are named `x`");
    refused(&task("b", "a"), "f.json", "`a` is the name of one task and the id of another, `b`");
    assert_eq!(read(&task("a", "y"), Format::WfFormat).instance.jobs()[0].tasks(), 2);
}

#[test]
fn a_contradiction_in_dot_refuses_no_file() {
    for (text, expect, named) in [
        ("digraph { a [time=3]; a [time=5] }", "a:5", "node `a`: `time=3`"),
        ("digraph { a [time=3, time=4] }", "a:4", "line 1: `time=3`"),
        ("digraph { a [work=7, time=2] }", "a:2", "node `a`: `work=7`"),
        ("digraph { node [work=7]\n a [time=2] }", "a:2", "node `a`: `work=7`"),
        ("digraph { a -> b [data=3, transfer=2] }", "a:60 b:60 a>b:3", "edge `a` -> `b`: `transfer=2`"),
        ("digraph { a -> b [data=3]; a -> b [transfer=2] }", "a:60 b:60 a>b:3", "edge `a` -> `b`: `transfer=2"),
        ("digraph { a -> b [transfer=2]; a -> b [data=3] }", "a:60 b:60 a>b:3", "edge `a` -> `b`: `transfer=2"),
    ] {
        let found = read(text, Format::Dot);
        assert_eq!(shown(&found.instance), expect, "{text}");
        let named = format!("1 attribute is contradicted by another attribute ({named}");
        assert!(found.remarks.iter().any(|remark| remark.starts_with(&named)), "{text}: {:?}", found.remarks);
        let strict = ReadOptions { processors: Some(4), strict: true, ..ReadOptions::default() };
        let error = parse_instance(text.as_bytes(), "g.dot", &strict).unwrap_err().to_string();
        assert!(error.contains("which --strict does not allow"), "{error}");
    }
    let twice = read("digraph { a [time=3, work=2]; b [time=3, work=3]; c [time=3, work=4] }", Format::Dot);
    assert!(twice.remarks[0].starts_with("2 attributes are contradicted"), "{:?}", twice.remarks);
    let read = read("digraph { node [time=2] a [time=3]; a [color=red, time=3]; a -> b }", Format::Dot);
    assert_eq!(read.instance.jobs()[0].tasks(), 2);
}

#[test]
fn wfformat_that_is_wrong_is_refused() {
    let wrong = |from: &str, to: &str, expect: &str| {
        assert!(WF15.contains(from), "{from}");
        refused(&WF15.replacen(from, to, 1), "flow.json", expect);
    };
    wrong("\"1.5\"", "\"2.0\"", "version 2.0 of WfFormat is not supported; use a file of version 1.3 to 1.6");
    wrong("\"1.5\"", "\"1.4\"", "workflow.tasks: the field is missing, but versions 1.3 and 1.4 require it");
    wrong("\"parents\": [\"a\"]", "\"parents\": [\"aa\"]", "parents of task `b`: task `aa` does not exist");
    wrong("\"children\": [\"b\"]", "\"children\": [\"z\"]", "children of task `a`: task `z` does not exist");
    wrong("\"id\": \"c\", \"parents\"", "\"id\": \"b\", \"parents\"", "two tasks are named `b`");
    wrong("\"children\": [], \"input", "\"children\": [\"a\"], \"input", "in a cycle: a -> b -> a");
    let strict = ReadOptions { strict: true, ..options() };
    let error = parse_instance(WF15.as_bytes(), "flow.json", &strict).unwrap_err().to_string();
    assert!(error.contains("task `c`: `0.0`: the run time is 0 s, which --strict does not allow"), "{error}");
    let unplaced = parse_instance(WF14.as_bytes(), "flow.json", &ReadOptions::default()).unwrap_err().to_string();
    assert!(unplaced.contains("a file of WfFormat states no machines; add --processors N"), "{unplaced}");
}

const DAX: &str = r#"<?xml version="1.0"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1">
  <job id="A" runtime="14"><uses file="f" link="output" size="2250"/><uses file="g" link="output" size="50"/></job>
  <job id="B" runtime="1.5"><uses file="f" link="input" size="2250"/><uses name="g" link="input" size="50"/></job>
  <job id="C" runtime="2"><uses file="g" link="input" size="50"/></job>
  <child ref="B"><parent ref="A"/></child>
</adag>"#;

#[test]
fn a_dax_is_read_and_files_are_waited_for() {
    let found = read(DAX, Format::Dax);
    assert_eq!(shown(&found.instance), "A:14 B:1.5 C:2 A>B:2300 A>C:50");
    assert_eq!(found.instance.jobs()[0].name, "flow");
    assert!(found.remarks[0].contains("such as `C`, which reads from `A`"), "{:?}", found.remarks);
    let wrong = |from: &str, to: &str, expect: &str| refused(&DAX.replacen(from, to, 1), "f.xml", expect);
    wrong("<parent ref=\"A\"/>", "<parent ref=\"Z\"/>", "f.xml:6:18: <parent>: ref: task `Z` does not exist");
    wrong("<child ref=\"B\">", "<child ref=\"Z\">", "ref: task `Z` does not exist");
    wrong("id=\"B\"", "id=\"A\"", "two tasks are named `A`");
    let differing = read(&DAX.replacen("size=\"2250\"/>", "size=\"2251\"/>", 1), Format::Dax);
    assert_eq!(shown(&differing.instance), "A:14 B:1.5 C:2 A>B:2300 A>C:50");
    assert!(differing.remarks[0].contains("sizes in different tasks: 1 (such as `f`)"), "{:?}", differing.remarks);
    wrong("<child ref=\"B\"><parent ref=\"A\"/>", "<child ref=\"A\"><parent ref=\"B\"/>", "in a cycle: A -> B -> A");
    wrong("</adag>", "", "the XML is broken");
    wrong("<child", "<dax/><child", "a workflow within a workflow");
    refused("<!DOCTYPE x [<!ENTITY a \"b\">]><adag/>", "f.xml", "declares entities");
    refused("<other/>", "f.xml", "the supported elements are <adag> (DAX) and <compound-jobs>");
}

const STG: &str = "   3\n 0 0 0\n 1 9 1 0\n 2 4 1 0\n 3 3 2 1 2\n 4 0 1 3\n# a remark\n";

#[test]
fn stg_is_read_without_its_dummies() {
    let found = read(STG, Format::Stg);
    assert_eq!(shown(&found.instance), "1:9 2:4 3:3 1>3:0 2>3:0");
    let wrong = |from: &str, to: &str, expect: &str| refused(&STG.replacen(from, to, 1), "a.stg", expect);
    wrong(" 3 3 2 1 2", " 3 3 3 1 2", "a.stg:5: the line announces 3 predecessors but lists 2");
    wrong(" 3 3 2 1 2", " 3 3 2 1 7", "a.stg:5: task 3 waits for task 7, which does not exist");
    wrong(" 2 4 1 0", " 2 4 1 3", "in a cycle: 2 -> 3 -> 2");
    wrong(" 2 4 1 0\n", "", "a.stg:4: expected task 2, found task 3");
    wrong("   3", "   4", "announces 4 tasks and two dummies, but 5 tasks follow");
}

const DOT: &str = "/* a */ strict digraph \"g\" { rankdir=LR; node [shape=box, time=2]\n a [time=\"1.5\"]; b; // there\n\
 a -> b -> \"c d\" [data=5e6; color=red]\n a -> \"c d\" [transfer=3] }\n";

#[test]
fn dot_is_read_as_far_as_it_says_something_of_tasks() {
    assert_eq!(shown(&read(DOT, Format::Dot).instance), "a:1.5 b:2 c d:2 a>b:5000000 b>c d:5000000 a>c d:3s");
    let wrong = |from: &str, to: &str, expect: &str| refused(&DOT.replacen(from, to, 1), "a.dot", expect);
    wrong("b -> \"c d\"", "b -- \"c d\"", "a.dot:3: `--` is an edge without direction");
    wrong("strict di", "", "expected `digraph`, found `graph`");
    wrong("a -> \"c d\"", "\"c d\" -> a", "in a cycle: a -> b -> c d -> a");
    wrong("b; ", "subgraph x; ", "expected `{`, found `;`");
    wrong("b; ", &format!("{} b", "{".repeat(101)), "nested more than 100 levels deep");
    let groups = "digraph { node [time=1]; {rank=same; a b} -> {node [time=2]; c -> d e} [data=5]; subgraph s { f, g -> a } h -> f, g }";
    let all = "a:1 b:1 c:2 d:2 e:2 f:1 g:1 h:1 c>d:0 a>c:5 a>d:5 a>e:5 b>c:5 b>d:5 b>e:5 f>a:0 g>a:0 h>f:0 h>g:0";
    let mut parts: Vec<&str> = all.split(' ').collect();
    let found = shown(&read(groups, Format::Dot).instance);
    let mut found: Vec<&str> = found.split(' ').collect();
    parts.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, parts);
    wrong("\"c d\" [data", "\"c d [data", "a text does not end");
    wrong(" }\n", "\n", "expected a node, found the end");
    wrong("b; ", "b:; ", "expected a port, found `;`");
    wrong(" }\n", "b [label=<<b>x] }\n", "a text in HTML does not end");
}

/// Checks that the reader of each format replaces and counts impossible values, and that a strict reading refuses
/// them.
#[test]
fn one_rule_holds_for_values_that_cannot_be() {
    let cases = [
        (
            WF15,
            "\"runtimeInSeconds\": 2.5",
            "\"runtimeInSeconds\": -2.5",
            "b:60",
            "1 run time is negative or invalid (task `b`: `-2.5`)",
        ),
        (WF15, "\"runtimeInSeconds\": 2.5,", "", "b:60", "1 run time is missing (task `b`)"),
        (WF15, "\"runtimeInSeconds\": 2.5", "\"runtimeInSeconds\": 1e11", "b:60", "1 run time is above 292 years"),
        (
            WF15,
            "\"runtimeInSeconds\": 2.5",
            "\"runtimeInSeconds\": [2]",
            "b:60",
            "1 run time is negative or invalid (task `b`: `a list`)",
        ),
        (WF15, "{\"id\": \"a\", \"runtimeInSeconds\": 1},", "", "a:60", "1 run time is missing (task `a`)"),
        (
            WF15,
            "\"g\", \"sizeInBytes\": 4",
            "\"g\", \"sizeInBytes\": -4",
            "a>b:3",
            "1 size is not a whole number of bytes from 0 to 10^18 (file `g`: `-4`)",
        ),
        (WF15, "\"id\": \"g\"", "\"id\": \"h\"", "a>b:3", "1 size is missing (file `g`)"),
        (WF14, "\"runtimeInSeconds\": 2.5", "\"runtimeInSeconds\": null", "b:60", "1 run time is missing (task `b`)"),
        (
            WF14,
            "{\"link\": \"input\", \"name\": \"f\", \"sizeInBytes\": 3}",
            "{\"link\": \"input\", \"name\": \"f\"}",
            "a>b:0",
            "1 size is missing",
        ),
        (WF14, "\"schemaVersion\": \"1.4\", ", "", "a>b:3", "states no `schemaVersion`; it is read as version 1.3"),
        (DAX, "runtime=\"14\"", "runtime=\"0.00\"", "A:0.000000001", "1 run time is 0 s (task `A`: `0.00`)"),
        (DAX, "runtime=\"14\"", "", "A:60", "1 run time is missing (task `A`)"),
        (DAX, "link=\"input\" size=\"2250\"", "link=\"input\" size=\"-2\"", "A>B:50", "1 size is not a whole number"),
        (DAX, "link=\"input\" size=\"2250\"", "link=\"input\"", "A>B:50", "1 size is missing (file `f`)"),
        (STG, " 3 3 2 1 2", " 3 0 2 1 2", "3:0.000000001", "1 run time is 0 s (task `3`: `0`)"),
        (STG, " 2 4", " 2 x", "2:60", "1 run time is negative or invalid (task `2`: `x`)"),
        (STG, " 2 4", " 2 -4", "2:60", "1 run time is negative or invalid"),
        (DOT, "time=\"1.5\"", "time=0", "a:0.000000001", "1 run time is 0 s (node `a`: `0`)"),
        (DOT, ", time=2", "", "b:60", "2 run times are missing (the first: node `b`); a guess of 60 s is used instead"),
        (DOT, "data=5e6", "data=0.5", "a>b:0", "2 sizes are not a whole number of bytes"),
        (DOT, "transfer=3", "transfer=-3", "a>c d:0", "1 transfer time is negative"),
        (
            DOT,
            "time=\"1.5\"",
            "time=1, runtime=3, duration=3",
            "a:1",
            "are ignored: `duration` of nodes (1), `runtime` of nodes (1)",
        ),
        (XML, "volume=\"7\"", "volume=\"0\"", "b:0.000000001", "1 run time is 0 s (task `b`: `0`)"),
        (XML, "data=\"5\"", "data=\"-5\"", "a>b:0", "1 size is not a whole number of bytes"),
    ];
    for (text, from, to, expect, remark) in cases {
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let found = parse_instance(text.as_bytes(), "f.x", &options()).unwrap_or_else(|error| panic!("{to}: {error}"));
        let (graph, remarks) = (shown(&found.instance), found.remarks.join("; "));
        assert!(graph.contains(expect) && remarks.contains(remark), "{to}: {graph}\n{remarks}");
        let guessed = found.instance.task_ids().any(|task| found.instance.task(task).estimate.is_guess());
        assert_eq!(guessed, expect.contains(":60"), "{to}");
        let strict = ReadOptions { strict: true, ..options() };
        let error = parse_instance(text.as_bytes(), "f.x", &strict).expect_err(to).to_string();
        assert!(error.contains("--strict does not allow"), "{to}: {error}");
    }
}

const XML: &str = "<compound-jobs version=\"1\"><job name=\"j\"><task name=\"a\" volume=\"2\"/><task name=\"b\" volume=\"7\"/>\
    <transfer from=\"a\" to=\"b\" data=\"5\"/></job></compound-jobs>";

#[test]
fn dot_of_other_programs_is_read() {
    for (text, expect) in [
        ("digraph { node [time=1] a:p:n -> b:s; a:x -> c }", "a:1 b:1 c:1 a>b:0 a>c:0"),
        ("digraph { node [time=1] a [label=<<b>A</b> x>]; a -> b }", "a:1 b:1 a>b:0"),
        ("strict digraph { node [time=1] a -> b [data=3]; a -> b [data=5]; a -> b }", "a:1 b:1 a>b:5"),
        ("digraph { node [time=1] a -> b [data=3]; a -> b [data=5]; a -> b }", "a:1 b:1 a>b:8"),
        ("digraph { node [time=1] a -> b [transfer=3]; a -> b [transfer=2]; a -> b }", "a:1 b:1 a>b:3s"),
        ("DiGraph { Node [time=1] \"a\" + \"x\" -> b; SubGraph s { b } }", "ax:1 b:1 ax>b:0"),
    ] {
        assert_eq!(shown(&read(text, Format::Dot).instance), expect, "{text}");
    }
    refused("digraph { a -> a }", "g.dot", "a");
}

#[test]
fn a_runtime_of_a_profile_counts_in_a_dax() {
    let profile = "<profile namespace=\"pegasus\" key=\"runtime\">7</profile>";
    let text = format!("<adag version=\"3.4\"><job id=\"A\">{profile}</job></adag>");
    assert_eq!(shown(&read(&text, Format::Dax).instance), "A:7");
}

#[test]
fn compound_xml_survives_writing_and_reading() {
    let native = r#"{"version": 1, "platform": {"processors": 3}, "jobs": [{"name": "<j> & \"k\"", "walltime": 110, "weight": 2.5,
      "released": 3, "tasks": [{"name": "a", "work": 12.5, "command": ["./a", "x<y", " "]}, {"name": "b", "time": 7}],
      "edges": [{"from": "a", "to": "b", "data": 5e6}]}, {"name": "k", "tasks": [{"name": "a", "work": 1},
      {"name": "b", "work": 1}], "edges": [{"from": "b", "to": "a", "transfer": 2}]}]}"#;
    let instance = parse_instance(native.as_bytes(), "a.json", &ReadOptions::default()).unwrap().instance;
    let mut bytes = Vec::new();
    write_compound_xml(&instance, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let again = read(&text, Format::CompoundXml).instance;
    assert_eq!(submitted(&again), submitted(&instance), "{text}");
    assert_eq!(again.jobs()[0].deadline, Some(Time::from_seconds(113)));
    let wrong = |from: &str, to: &str, expect: &str| refused(&text.replacen(from, to, 1), "a.xml", expect);
    wrong("version=\"1\">", "version=\"2\">", "this version is not supported");
    wrong("volume=", "volum=", "unknown attribute `volum`; known are name, volume");
    wrong("from=\"a\"", "from=\"z\"", "from: the job has no task `z`");
    let bag = r#"{"version": 1, "platform": {"processors": 3}, "jobs": [{"name": "b", "count": 3, "work": 2}]}"#;
    let bag = parse_instance(bag.as_bytes(), "a.json", &ReadOptions::default()).unwrap().instance;
    assert!(write_compound_xml(&bag, &mut Vec::new()).unwrap_err().to_string().contains("bags of tasks"));
}

#[test]
fn a_platform_and_a_network_are_for_workflows() {
    let link = makespan_core::Link { bandwidth: 50.0, latency: Time::ZERO };
    let joined = ReadOptions { network: Some(link), ..options() };
    let found = parse_instance(DAX.as_bytes(), "f.xml", &joined).unwrap();
    assert_eq!(found.instance.platform().transfer(0, 2, 50), Time::from_seconds(1));
    assert!(found.remarks.iter().all(|remark| !remark.contains("bandwidth")));
    let check = |options: ReadOptions, text: &str, expect: &str| {
        let error = parse_instance(text.as_bytes(), "f.json", &options).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    let platform = found.instance.platform().clone();
    let none = ReadOptions::default;
    check(ReadOptions { platform: Some(platform.clone()), ..options() }, DAX, "remove one");
    check(ReadOptions { network: Some(link), platform: Some(platform.clone()), ..none() }, DAX, "in the platform");
    check(ReadOptions { network: Some(link), ..none() }, DAX, "no number of processors; add --processors N");
    check(ReadOptions { speedup: "linear".parse().ok(), ..options() }, DAX, "allowed only for logs");
    let native = "{\"version\": 1}";
    check(ReadOptions { network: Some(link), ..none() }, native, "allowed only for workflows");
    let one = r#"{"version": 1, "platform": {"processors": 1}, "jobs": [{"name": "a", "processors": 1, "time": 2}]}"#;
    let moved = parse_instance(one.as_bytes(), "a", &ReadOptions { platform: Some(platform), ..none() }).unwrap();
    assert_eq!(moved.instance.processors(), 3);
}

fn planned(text: &str, options: &ReadOptions) -> (Instance, String) {
    let read = parse_instance(text.as_bytes(), "flow.x", options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (read.instance, read.remarks.join("; "))
}

fn needed(instance: &Instance, task: u64, name: &str) -> Option<u64> {
    instance.task(TaskId(task)).needs.of(name).map(|need| need.total(instance.profile(TaskId(task)).min_processors()))
}

#[test]
fn wfformat_states_cores_and_memory() {
    let with = |own: &str| {
        let memory = own.replace('\'', "\"");
        WF15.replace("\"coreCount\": 2}", "\"coreCount\": 1.5, \"memoryInBytes\": 5e9}")
            .replace(
                "{\"id\": \"a\", \"runtimeInSeconds\": 1}",
                "{\"id\": \"a\", \"runtimeInSeconds\": 1, \"memoryInBytes\": 0.5}",
            )
            .replace("2000}}", &format!("2000}}{memory}}}"))
    };
    let widths = |instance: &Instance| [0, 1, 2].map(|task| instance.profile(TaskId(task)).min_processors());
    let (instance, remarks) = planned(&with(", 'memoryInBytes': 6e9"), &ReadOptions::default());
    assert_eq!((widths(&instance), instance.processors()), ([1, 2, 1], 6));
    assert_eq!([0, 1, 2].map(|task| needed(&instance, task, "memory")), [Some(1), Some(5_000_000_000), None]);
    assert!(!remarks.contains("memory"), "{remarks}");
    // The machines of the file have too little memory. Such files must remain readable.
    let (instance, remarks) = planned(&with(", 'memoryInBytes': 4e9"), &ReadOptions::default());
    assert_eq!([0, 1].map(|task| needed(&instance, task, "memory")), [Some(1), None]);
    assert!(
        remarks.contains("`memory` is needed by 1 task (largest need: 5.00 GB, of task `b`); no machine of"),
        "{remarks}"
    );
    // The machines do not state memory.
    let (instance, remarks) = planned(&with(""), &ReadOptions::default());
    assert_eq!([0, 1].map(|task| needed(&instance, task, "memory")), [None, None]);
    assert!(
        remarks.contains(
            "`memory` is needed by 2 tasks (largest need: 5.00 GB, of task `b`); the machines state no such resource"
        ),
        "{remarks}"
    );
    // The platform has fewer cores than the task used.
    let one = ReadOptions { processors: Some(1), ..ReadOptions::default() };
    let (instance, remarks) = planned(&with(""), &one);
    assert_eq!(widths(&instance), [1, 1, 1]);
    assert!(
        remarks.contains("1 tasks (such as `b`) ran on more cores than the machines have; each is planned on one"),
        "{remarks}"
    );
    // Impossible values are ignored, with a warning.
    for odd in ["\"coreCount\": 0", "\"coreCount\": -1", "\"coreCount\": 1, \"memoryInBytes\": -5"] {
        let (instance, remarks) =
            planned(&with("").replace("\"coreCount\": 1.5, \"memoryInBytes\": 5e9", odd), &ReadOptions::default());
        assert_eq!(widths(&instance), [1, 1, 1]);
        assert!(
            remarks.contains("impossible numbers of cores or bytes of memory are ignored: 1 (such as "),
            "{remarks}"
        );
        assert!(remarks.contains(" of `b`)"), "{remarks}");
    }
    let second = |machine: &str| WF15.replace("2000}}]", &format!("2000}}, \"memoryInBytes\": 9}}, {machine}]"));
    let bare = second("{\"nodeName\": \"bare\", \"cpu\": {\"coreCount\": 1}}");
    let (_, remarks) = planned(&bare, &ReadOptions::default());
    assert!(remarks.contains("1 of 2 machines (such as `bare`) state no memory"), "{remarks}");
    let unusable = |machine: &str| parse_instance(second(machine).as_bytes(), "x.json", &ReadOptions::default());
    for (machine, why) in [
        ("{\"nodeName\": \"k\"}", "machine `k` has no `coreCount`"),
        ("{\"nodeName\": \"m\", \"cpu\": {\"coreCount\": 1}}", "`m`"),
    ] {
        let error = unusable(machine).unwrap_err().to_string();
        assert!(error.contains("the machines of the file cannot be used: ") && error.contains(why), "{error}");
    }
    let huge = with("").replace("\"coreCount\": 1.5", "\"coreCount\": 1e300");
    assert_eq!(widths(&planned(&huge, &ReadOptions::default()).0), [1, 1, 1]);
}

#[test]
fn needs_are_kept_on_stated_machines_that_state_the_resource() {
    let memory = |amount: u64| {
        let resources = makespan_core::Resources::new([("memory", amount)]).unwrap();
        let platform = makespan_core::Platform::cluster(2, 4).unwrap().with_node_resources(&resources).unwrap();
        ReadOptions { platform: Some(platform), ..ReadOptions::default() }
    };
    let text = WF14.replace("\"cores\": 1", "\"cores\": 8, \"memory\": 5000");
    let (instance, _) = planned(&text, &memory(2500));
    assert_eq!((needed(&instance, 1, "memory"), instance.profile(TaskId(1)).min_processors()), (Some(5000), 8));
    let error = parse_instance(text.as_bytes(), "flow.x", &memory(2499)).unwrap_err().to_string();
    assert!(
        error.contains("job `flow/b` needs 5000 bytes of `memory` on 8 processors, but all nodes together have 4998"),
        "{error}"
    );
}

#[test]
fn a_dax_states_cores_memory_and_gpus_in_profiles() {
    let profiles = "<profile namespace=\"pegasus\" key=\"cores\">4</profile><profile namespace='condor' key='request_memory'>2</profile>\
        <profile namespace='pegasus' key='gpus'>two</profile><profile namespace='env' key='memory'>9</profile>";
    let text = format!(
        "<adag version=\"3.6\"><job id=\"A\" runtime=\"14\">{profiles}</job><job id=\"B\" runtime=\"1\"/></adag>"
    );
    let resources = makespan_core::Resources::new([("memory", 1 << 30)]).unwrap();
    let platform = makespan_core::Platform::cluster(2, 4).unwrap().with_node_resources(&resources).unwrap();
    let (instance, remarks) = planned(&text, &ReadOptions { platform: Some(platform), ..ReadOptions::default() });
    assert_eq!((needed(&instance, 0, "memory"), needed(&instance, 1, "memory")), (Some(2 << 20), None));
    assert_eq!([0, 1].map(|task| instance.profile(TaskId(task)).min_processors()), [4, 1]);
    assert!(
        remarks.contains(
            "values of cores, memory or GPUs are ignored because they are not whole numbers: 1 (such as `two` of job `A`)"
        ),
        "{remarks}"
    );
    let twice =
        text.replace("</profile></job>", "</profile><profile namespace='condor' key='request_cpus'>2</profile></job>");
    let (instance, remarks) = planned(&twice, &ReadOptions { processors: Some(8), ..ReadOptions::default() });
    assert_eq!(instance.profile(TaskId(0)).min_processors(), 4);
    assert!(
        remarks.contains(
            "are ignored because they differ from an earlier profile of the same job: 1 (such as `2` of job `A`)"
        ),
        "{remarks}"
    );
    for (attribute, expect, problem) in [
        ("cores='160'", 160, ""),
        ("cores=' 2 '", 2, ""),
        ("cores='many'", 1, "are ignored because they are not whole numbers: 1 (such as `many` of job `A`)"),
        ("cpus='3'", 1, "`cpus` of <job> (1)"),
    ] {
        let text = format!("<adag><job id='A' runtime='14' {attribute}/></adag>");
        let (instance, remarks) = planned(&text, &ReadOptions { processors: Some(200), ..ReadOptions::default() });
        assert_eq!(instance.profile(TaskId(0)).min_processors(), expect, "{attribute}");
        assert!(remarks.contains(problem) && (problem.is_empty() == remarks.is_empty()), "{attribute}: {remarks}");
    }
    let (bare, remarks) = planned(&text, &options());
    assert_eq!((bare.profile(TaskId(0)).min_processors(), needed(&bare, 0, "memory")), (1, None));
    assert!(remarks.contains("`memory` is needed by 1 task (largest need: 2.10 MB, of task `A`)"), "{remarks}");
}
