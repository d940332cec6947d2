//! Jobs in JSON. The parser accepts the formats of several Slurm versions. A number may be bare, null or `{set,
//! infinite, number}`. A state may be a text or a list.

use serde_json::{Map, Value};

use crate::text::Record;

/// Field names of the text output, each with its name in JSON. Fields that are not listed have equal names in both
/// formats.
const NAMES: [(&str, &str); 23] = [
    ("JobId", "job_id"),
    ("ArrayJobId", "array_job_id"),
    ("JobName", "name"),
    ("UserId", "user_name"),
    ("Account", "account"),
    ("Partition", "partition"),
    ("JobState", "job_state"),
    ("Reason", "state_reason"),
    ("NodeList", "nodes"),
    ("SchedNodeList", "scheduled_nodes"),
    ("NumCPUs", "cpus"),
    ("SubmitTime", "submit_time"),
    ("StartTime", "start_time"),
    ("EndTime", "end_time"),
    ("Deadline", "deadline"),
    ("Priority", "priority"),
    ("Dependency", "dependency"),
    ("Comment", "comment"),
    ("Command", "command"),
    ("WorkDir", "current_working_directory"),
    ("Features", "features"),
    ("Reservation", "resv_name"),
    ("Licenses", "licenses"),
];

/// Parses the output of `squeue --json` into records with the field names of the text output.
///
/// # Errors
/// A message that states what is wrong with the document.
pub fn jobs_of_json(text: &str) -> Result<Vec<Record>, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("the text is not JSON: {error}"))?;
    let jobs = document.get("jobs").and_then(Value::as_array).ok_or("the document has no list `jobs`")?;
    // A command that fails prints a document that contains only errors.
    if let Some(problem) = problem(&document).filter(|_| jobs.is_empty()) {
        return Err(format!("the document contains no jobs, but this error: {problem}"));
    }
    jobs.iter().map(|job| job.as_object().map(record).ok_or_else(|| "a job is not an object".to_owned())).collect()
}

/// Returns the first error that a document reports.
fn problem(document: &Value) -> Option<String> {
    let first = document.get("errors")?.as_array()?.first()?;
    let text = ["description", "error"].iter().find_map(|key| first.get(key)?.as_str().filter(|text| !text.is_empty()));
    Some(text.map_or_else(|| first.to_string(), str::to_owned))
}

/// Returns the version of Slurm that printed a document, such as `24.11.5`.
pub fn version_of_json(text: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    let meta = document.get("meta")?;
    let release = meta.get("slurm").or_else(|| meta.get("Slurm"))?.get("release")?;
    release.as_str().map(str::to_owned)
}

fn record(job: &Map<String, Value>) -> Record {
    let mut fields: Vec<(String, String)> = Vec::new();
    for (key, value) in job {
        let name = NAMES.iter().find(|(_, json)| json == key).map_or(key.as_str(), |(name, _)| name);
        let text = match value {
            // If a job has several states, join them by `+`, as in the text output. Join all other lists by commas.
            Value::Array(words) if name != "JobState" && words.iter().all(Value::is_string) => {
                words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
            }
            value => plain(value),
        };
        fields.push((name.to_owned(), text));
    }
    let get = |key: &str| job.get(key).map(plain).filter(|text| !text.is_empty());
    // A job outside an array has the array id 0. A single job of an array has no list of task ids.
    if get("array_job_id").is_none_or(|id| id == "0") {
        fields.retain(|field| field.0 != "ArrayJobId");
    } else {
        let tasks = get("array_task_string").or_else(|| get("array_task_id")).unwrap_or_default();
        fields.push(("ArrayTaskId".into(), tasks));
    }
    if let Some(minutes) = get("time_limit") {
        let digits = minutes.bytes().all(|byte| byte.is_ascii_digit());
        fields.push(("TimeLimit".into(), if digits { format!("{minutes}:00") } else { minutes }));
    }
    if let Some(nodes) = node_count(job) {
        fields.push(("NumNodes".into(), nodes));
    }
    if let Some(exit) = job.get("exit_code").and_then(exit) {
        fields.push(("ExitCode".into(), exit));
    }
    Record::of(fields)
}

/// Formats a value as in the text output.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("+")
        }
        Value::Object(number) if number.contains_key("set") && number.contains_key("number") => {
            let says = |key: &str| number.get(key).and_then(Value::as_bool).unwrap_or(false);
            match (says("infinite"), says("set")) {
                (true, _) => "UNLIMITED".to_owned(),
                (false, true) => number.get("number").map(plain).unwrap_or_default(),
                (false, false) => String::new(),
            }
        }
        other => other.to_string(),
    }
}

/// Returns the minimum and maximum number of nodes. If a job requests a range of nodes, the minimum is stated only in
/// its requested resources.
fn node_count(job: &Map<String, Value>) -> Option<String> {
    let text = |key: &str| job.get(key).map(plain).filter(|text| !text.is_empty() && text != "0");
    let count = text("node_count")?;
    let least = text("tres_req_str")
        .and_then(|tres| tres.split(',').find_map(|part| part.strip_prefix("node=").map(str::to_owned)));
    let most = text("max_nodes").unwrap_or_else(|| count.clone());
    let waits = text("job_state").is_some_and(|state| state.starts_with("PENDING"));
    let value = |text: &str| text.parse::<u64>().ok();
    match (least, waits) {
        (Some(least), true) if value(&least)? <= value(&most)? => Some(format!("{least}-{most}")),
        _ => Some(count),
    }
}

/// Formats an exit code and a signal. `value` is an object, or a number in the format of the system call `wait`.
fn exit(value: &Value) -> Option<String> {
    if let Some(object) = value.as_object()
        && let Some(code) = object.get("return_code")
    {
        let signal = object.get("signal").and_then(|signal| signal.get("id").or_else(|| signal.get("signal_id")));
        let number = |value: &Value| plain(value).parse::<i64>().unwrap_or(0);
        return Some(format!("{}:{}", number(code), signal.map_or(0, number)));
    }
    let status: i64 = plain(value).parse().ok()?;
    Some(format!("{}:{}", (status >> 8) & 0xff, status & 0x7f))
}
