//! Tests of the rules of a shared cluster in native files.

use super::{Language, read_json, read_toml, write_instance};

const FILE: &str = r#"{"version": 2, "platform": {"nodes": 4, "processors_per_node": 8, "site": {
    "partitions": [
        {"name": "all", "default": true, "max_time": "2h", "tier": 2, "qos": "p"},
        {"name": "ib", "nodes": ["n[0-1]"], "exclusive": true, "max_nodes": 1, "job_factor": 7, "up": false}],
    "features": {"n[0-1]": ["ib", "ssd"]},
    "qos": [{"name": "p", "priority": 5, "group": {"jobs": 9, "held": {"cpu": 16}, "minutes": {"cpu": 600}}, "per_job": {"node": 2}}],
    "accounts": [
        {"name": "root"},
        {"name": "lab", "parent": "root", "shares": 3, "group": {"held": {"memory": "64GiB"}},
         "users": [{"name": "ann", "usage": 12.5, "own": {"jobs": 2}, "max_time": 60}]}],
    "reservations": [{"name": "r", "nodes": ["n3"], "start": 10, "end": "1h", "users": ["ann"]}]}},
    "jobs": [{"name": "a", "time": 5, "submission": {"user": "ann", "account": "lab", "partitions": ["all", "ib"],
        "constraint": "ib&ssd", "nodes": [1, 2], "per_node": 4, "least_per_node": 2, "exclusive": true, "only": ["n0", "n1"], "except": ["n2"], "among": ["n1"],
        "array": "7", "at_a_time": 2, "reservation": "r", "nice": -3, "priority": 99, "held": "JobHeldUser", "qos": "p",
        "least_time": "90s", "deadline": "2h"}},
        {"name": "b", "time": 5}]}"#;

/// Checks that rules and submissions are unchanged after writing and reading them, in JSON and in TOML.
#[test]
fn rules_and_submissions_are_written_as_they_were_read() {
    let read = read_json("f", FILE.as_bytes(), None).unwrap();
    let site = read.platform().site().unwrap();
    assert_eq!((site.partitions[0].nodes.len(), &site.partitions[1].nodes), (4, &vec![0, 1]));
    assert_eq!((site.features.len(), site.associations.len(), site.associations[2].usage), (2, 3, 12.5));
    assert!(read.jobs()[0].submission.is_some() && read.jobs()[1].submission.is_none());
    let written = |language| {
        let mut out = Vec::new();
        write_instance(&read, language, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let json = read_json("f", written(Language::Json).as_bytes(), None).unwrap();
    let toml = read_toml("f", &written(Language::Toml), None).unwrap();
    for again in [json, toml] {
        assert_eq!(again.platform().site(), read.platform().site());
        assert_eq!(again.jobs()[0].submission, read.jobs()[0].submission);
    }
}

#[test]
fn rules_that_are_wrong_are_named() {
    let refused = |from: &str, to: &str, part: &str| {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE);
        let error = read_json("f", text.as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains(part), "{to}: {error}");
    };
    refused("n[0-1]", "n[0-9]", "`n4` is not a node");
    refused("n[0-1]", "n[1-0]", "not a list of nodes");
    refused("\"tier\"", "\"teir\"", "teir");
    refused("\"name\": \"ib\"", "\"name\": \"all\"", "two partitions");
    refused("\"parent\": \"root\"", "\"parent\": \"rot\"", "`rot`, which does not exist");
    refused("\"end\": \"1h\"", "\"end\": 3", "ends before it begins");
    refused("[1, 2]", "[3, 2]", "3 to 2 nodes");
    refused("\"array\": \"7\", ", "", "state the array");
    refused("\"tier\": 2", "\"tier\": -2", "tier");
    refused("\"usage\": 12.5", "\"usage\": -1", "usage");
}
