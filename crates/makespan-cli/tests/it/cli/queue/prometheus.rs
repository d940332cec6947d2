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

/// Checks a text of metrics with `promtool`.
fn promtool(text: &str) {
    let tool = Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut tool) = tool else {
        println!("SKIPPED: promtool is not installed; it is in the package prometheus of Debian");
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
    promtool(&said(&sandbox, &["--from", &example(), "--format", "prometheus"], 80).succeeds());
    saved(&sandbox);
    promtool(&said(&sandbox, &["--from", "saved", "--format", "prometheus"], 80).succeeds());
}
