//! Recognises native instances in JSON, and other JSON files that users often pass by mistake.

use crate::format::head::{Head, has};

/// Returns whether a file is read as a native instance in JSON: it begins with `{` or has the file extension of JSON.
///
/// # Errors
/// An error message if the file is a plan or is JSON from Slurm. The message states the kind of the file, and the file
/// that the user should give instead.
pub(crate) fn is_json(head: &Head<'_>) -> Result<bool, String> {
    match foreign_json(head).filter(|_| head.first == b'{') {
        Some(problem) => Err(problem.to_owned()),
        None => Ok(head.first == b'{' || head.named),
    }
}

/// Returns an error message if a JSON file is a plan or comes from Slurm, or else `None`.
pub(crate) fn foreign_json(head: &Head<'_>) -> Option<&'static str> {
    if is_plan(head) {
        return Some(
            "this is a plan, as written by `plan --output`; use the instance of the plan instead (to check a plan: \
             `makespan verify INSTANCE PLAN`)",
        );
    }
    is_slurm(head).then_some(
        "this is JSON of Slurm (sacct --json, squeue --json), which cannot be read as a log; save the output of \
         `sacct -a -X --parsable2` instead, or use a folder with saved outputs of the cluster (`makespan queue --from \
         FOLDER`)",
    )
}

/// Returns whether a JSON text begins like the output of a Slurm command: with metadata about Slurm, or with jobs that
/// have keys of Slurm.
fn is_slurm(head: &Head<'_>) -> bool {
    let begin = &head.text[..head.text.len().min(2048)];
    let start = Head::new(begin, None);
    let has_key = |key: &[u8]| start.values_of(key).next().is_some();
    let has = |word: &[u8]| has(begin, word);
    (has(b"\"meta\"") && (has(b"openapi") || has(b"data_parser") || has(b"\"Slurm\"") || has(b"\"slurm\"")))
        || (has(b"\"jobs\"") && (has(b"\"allocation_nodes\"") || has(b"\"accrue_time\"")))
        // Users may have removed most keys of the jobs, but not the job number.
        || (has_key(b"\"jobs\"") && has_key(b"\"job_id\"") && !head.is_workload())
}

/// Returns whether a JSON text has keys of a plan and no keys of an instance.
fn is_plan(head: &Head<'_>) -> bool {
    let text = head.text;
    let begins = text.iter().position(|&byte| byte == b'\n').map_or(text, |end| &text[..text.len().min(end + 200)]);
    has(begins, b"\"algorithm\"")
        && (head.has(b"\"placements\"") || head.has(b"\"rates\"") || head.has(b"\"bounds\""))
        && !head.has(b"\"platform\"")
}
