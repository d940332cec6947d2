//! Nodes in JSON, from `sinfo --json` of version 22.05 or `scontrol show nodes --json` of later versions.

use serde_json::{Map, Value};

use super::json::plain;
use crate::text::Record;

/// Field names of the text output, each with its possible names in JSON.
const NAMES: [(&str, &[&str]); 15] = [
    ("NodeName", &["name"]),
    ("NodeHostName", &["hostname"]),
    ("CPUTot", &["cpus"]),
    ("CPUEfctv", &["effective_cpus"]),
    ("CPUAlloc", &["alloc_cpus"]),
    ("CoresPerSocket", &["cores"]),
    ("Sockets", &["sockets"]),
    ("ThreadsPerCore", &["threads"]),
    ("RealMemory", &["real_memory"]),
    ("AllocMem", &["alloc_memory"]),
    ("MemSpecLimit", &["specialized_memory"]),
    ("Gres", &["gres"]),
    ("GresUsed", &["gres_used"]),
    ("Weight", &["weight"]),
    ("Reason", &["reason"]),
];

/// Parses the nodes of a document into records with the field names of the text output.
///
/// # Errors
/// A message that states what is wrong with the document.
pub fn nodes_of_json(text: &str) -> Result<Vec<Record>, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("the text is not JSON: {error}"))?;
    let nodes = document.get("nodes").and_then(Value::as_array).ok_or("the document has no list `nodes`")?;
    nodes.iter().map(|node| node.as_object().map(record).ok_or_else(|| "a node is not an object".to_owned())).collect()
}

fn record(node: &Map<String, Value>) -> Record {
    let mut fields: Vec<(String, String)> = Vec::new();
    for (name, keys) in NAMES {
        if let Some(value) = keys.iter().find_map(|key| node.get(*key)) {
            fields.push((name.to_owned(), plain(value)));
        }
    }
    let words = |key: &str| match node.get(key) {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        Some(value) => plain(value),
        None => String::new(),
    };
    let state = words("state").replace(',', "+").to_uppercase();
    let flags = words("state_flags").replace(',', "+").to_uppercase();
    fields.push(("State".into(), if flags.is_empty() { state } else { format!("{state}+{flags}") }));
    fields.push(("ActiveFeatures".into(), words("active_features")));
    fields.push(("Partitions".into(), words("partitions")));
    Record::of(fields)
}
