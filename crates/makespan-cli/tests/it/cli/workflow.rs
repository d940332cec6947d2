//! Workflows of shell commands that name their files.

use std::fmt::Write as _;

/// A task: name, shell command, input files and output files.
pub type Task<'a> = (&'a str, &'a str, &'a [&'a str], &'a [&'a str]);

/// Returns a workflow in `WfFormat` 1.5. A task that reads a file waits for the task that writes it.
pub fn workflow(tasks: &[Task<'_>]) -> String {
    let list = |words: &[&str]| serde_json::to_string(words).unwrap();
    let (mut specified, mut executed) = (Vec::new(), Vec::new());
    let mut files: Vec<&str> = Vec::new();
    for (name, command, reads, writes) in tasks {
        files.extend(reads.iter().chain(*writes));
        specified.push(format!(
            r#"{{"id": "{name}", "parents": [], "children": [], "inputFiles": {}, "outputFiles": {}}}"#,
            list(reads),
            list(writes)
        ));
        let words = list(&["-c", command]);
        executed.push(format!(
            r#"{{"id": "{name}", "runtimeInSeconds": 0.1, "command": {{"program": "sh", "arguments": {words}}}}}"#
        ));
    }
    files.sort_unstable();
    files.dedup();
    let mut sizes = String::new();
    for file in files {
        let _ = write!(sizes, "{}{{\"id\": \"{file}\", \"sizeInBytes\": 9}}", if sizes.is_empty() { "" } else { ", " });
    }
    format!(
        r#"{{"name": "w", "schemaVersion": "1.5", "workflow": {{"specification": {{"tasks": [{}], "files": [{sizes}]}}, "execution": {{"tasks": [{}]}}}}}}"#,
        specified.join(", "),
        executed.join(", ")
    )
}
