//! `--format prometheus`, and the dashboard that uses its metrics.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::{example, said, save, saved};
use crate::cli::sandbox::Sandbox;

const DASHBOARD: &str = include_str!("../../../../../../examples/grafana.json");

/// Returns the names of the metrics in a text of Prometheus.
fn names(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect()
}

/// Returns the words of all queries of a dashboard that begin with `makespan_`.
fn queried(value: &serde_json::Value) -> BTreeSet<String> {
    match value {
        serde_json::Value::Array(all) => all.iter().flat_map(queried).collect(),
        serde_json::Value::Object(own) => {
            let texts = own.iter().filter(|(key, _)| matches!(key.as_str(), "expr" | "query"));
            let texts = texts.filter_map(|(_, text)| text.as_str());
            let words = texts.flat_map(|text| text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_'));
            let words = words.filter(|word| word.starts_with("makespan_")).map(str::to_owned);
            words.chain(own.values().flat_map(queried)).collect()
        }
        _ => BTreeSet::new(),
    }
}

#[test]
fn metrics_count_jobs_nodes_and_processors_of_the_queue() {
    let sandbox = Sandbox::new();
    let from = example();
    let text = said(&sandbox, &["--from", &from, "--format", "prometheus"], 80).succeeds();
    let json = said(&sandbox, &["--from", &from, "--format", "json"], 80).succeeds();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let sum = |name: &str, label: &str| -> i64 {
        let lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")) && line.contains(label));
        lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap()).sum()
    };
    let count = |key: &str| document[key].as_array().unwrap().len() as i64;
    assert_eq!(sum("makespan_queue_jobs", "state=\"running\""), count("running"));
    assert_eq!(sum("makespan_queue_jobs", "state=\"pending\""), count("waiting"));
    assert_eq!(sum("makespan_queue_pending_reason_jobs", ""), count("waiting"));
    assert_eq!(sum("makespan_queue_nodes", "").to_string(), document["nodes"].to_string());
    assert_eq!(sum("makespan_queue_nodes", "away").to_string(), document["nodes_away"].to_string());
    assert_eq!(sum("makespan_queue_timestamp_seconds", "").to_string(), document["now"]["unix"].to_string());
    let waits = document["waiting"].as_array().unwrap().iter();
    let waits: Vec<i64> = waits.filter_map(|job| job["start"]["unix"].as_i64()).collect();
    let never = count("waiting") - waits.len() as i64;
    assert_eq!(sum("makespan_queue_unstartable_jobs", ""), never);
    let longest = waits.into_iter().max().unwrap() - document["now"]["unix"].as_i64().unwrap();
    assert_eq!(sum("makespan_queue_expected_wait_seconds", "statistic=\"max\""), longest);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.contains("{cluster=\"") && line.rsplit_once(' ').unwrap().1.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn names_from_a_cluster_cannot_end_a_label_and_an_empty_queue_has_metrics() {
    let sandbox = Sandbox::new();
    let node = "NodeName=n0 CPUTot=4 CPUAlloc=0 State=IDLE Partitions=p\n";
    save(&sandbox, "scontrol.nodes.txt", node);
    save(&sandbox, "scontrol.jobs.txt", "No jobs in the system\n");
    save(&sandbox, "scontrol.config.txt", "ClusterName = a\"} 1\n");
    let text = said(&sandbox, &["--from", "saved", "--format", "prometheus"], 80).succeeds();
    assert!(text.contains("{cluster=\"a\\\"} 1\""), "{text}");
    assert!(text.contains(",state=\"free\"} 4\n"), "{text}");
    for (words, part) in [
        (&["--job", "5"][..], "--job"),
        (&["--user", "ann"], "--user"),
        (&["--limit", "5"], "--limit"),
        (&["--what-if", "nodes=1"], "--what-if"),
    ] {
        let words = [&["--from", "saved", "--format", "prometheus"], words].concat();
        said(&sandbox, &words, 80).refused(&[part, "whole queue"]);
    }
}

#[test]
fn queries_of_the_dashboard_name_metrics_that_exist() {
    let sandbox = Sandbox::new();
    let text = said(&sandbox, &["--from", &example(), "--format", "prometheus"], 80).succeeds();
    let dashboard = serde_json::from_str(DASHBOARD).unwrap();
    let queried = queried(&dashboard);
    let of_queues: BTreeSet<&str> =
        queried.iter().map(String::as_str).filter(|name| name.starts_with("makespan_queue_")).collect();
    // A test of makespan-service checks the other names against the metrics of the service.
    assert!(of_queues.len() >= 8 && queried.len() > of_queues.len(), "{queried:?}");
    assert_eq!(of_queues.difference(&names(&text)).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// Runs `promtool check` with these words, and with a text as standard input.
fn promtool(words: &[&str], text: &str) {
    let mut tool = Command::new("promtool");
    tool.arg("check").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut tool) = tool.spawn() else {
        eprintln!("SKIPPED: promtool is not installed; it is in the package prometheus of Debian");
        return;
    };
    tool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = tool.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "long: starts promtool, which is seldom installed"]
fn promtool_accepts_the_metrics() {
    let sandbox = Sandbox::new();
    promtool(&["metrics"], &said(&sandbox, &["--from", &example(), "--format", "prometheus"], 80).succeeds());
    saved(&sandbox);
    promtool(&["metrics"], &said(&sandbox, &["--from", "saved", "--format", "prometheus"], 80).succeeds());
}

/// Returns the queries of all panels of a dashboard.
fn queries(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::Array(all) => all.iter().flat_map(queries).collect(),
        serde_json::Value::Object(own) => {
            let text = own.get("expr").and_then(serde_json::Value::as_str);
            text.into_iter().chain(own.values().flat_map(queries)).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
#[ignore = "long: starts promtool, which is seldom installed"]
fn promtool_parses_the_queries_of_the_dashboard() {
    let dashboard = serde_json::from_str(DASHBOARD).unwrap();
    let queries = queries(&dashboard);
    assert!(queries.len() >= 15, "{queries:?}");
    // Grafana replaces its variables before it sends a query. Each query becomes a rule, because promtool parses only rules.
    let rule = |query: &&str| {
        let query = query.replace("$__rate_interval", "5m").replace("$cluster", "a|b");
        assert!(!query.contains('$'), "a variable without a value: {query}");
        serde_json::json!({ "record": "parsed", "expr": query, "labels": { "text": query } })
    };
    let rules: Vec<_> = queries.iter().map(rule).collect();
    let file = serde_json::json!({ "groups": [{ "name": "dashboard", "rules": rules }] });
    // JSON is YAML.
    let sandbox = Sandbox::new();
    let write = |text: &str| {
        sandbox.write("rules.yml", text);
        sandbox.path("rules.yml").display().to_string()
    };
    promtool(&["rules", &write(&file.to_string())], "");
}
