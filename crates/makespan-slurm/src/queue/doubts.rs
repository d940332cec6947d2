//! Warns about invalid dates, and about outputs that contradict each other. For each kind of problem, there is one
//! warning with a count.

use crate::text::{date, moment};
use crate::{Job, JobState, Node};

use super::QueueJob;
use super::now::TOLERANCE;

/// Dates of jobs. Each entry contains the name in the text output, the name in JSON, and the assumption if the date is
/// invalid.
const DATES: [(&str, &str, &str); 5] = [
    ("SubmitTime", "SubmitTime", "it is treated as missing"),
    ("EligibleTime", "eligible_time", "the job may start at once"),
    ("StartTime", "StartTime", "a running job is assumed to have started now"),
    ("EndTime", "EndTime", "a running job is assumed to end at its time limit"),
    ("Deadline", "deadline", "the job is assumed to have no deadline"),
];

/// Reports invalid dates. Also reports dates of past events that are later than the instant of the queue.
pub(super) fn dates(jobs: &[Job], now: i64) -> Vec<String> {
    let mut remarks = Vec::new();
    let listed = |job: &&Job| job.state.is_waiting() || job.state.holds_nodes();
    for (key, other, supposed) in DATES {
        let wrong = jobs.iter().filter(listed).filter_map(|job| {
            let text = job.record.get(key).or_else(|| job.record.get(other))?;
            // The value for a missing date is 0 or a word.
            let is_wrong = moment(text).is_none() && text != "0" && text.bytes().any(|byte| byte.is_ascii_digit());
            is_wrong.then(|| format!("{key}={text} of job {}", job.id))
        });
        remarks.extend(counted(wrong, "is not a date", "are not dates").map(|text| format!("{text}: {supposed}")));
    }
    for (key, time) in [("SubmitTime", submitted as fn(&Job) -> Option<i64>), ("StartTime", started)] {
        let late = jobs.iter().filter(listed).filter_map(|job| {
            let at = time(job).filter(|at| at.saturating_sub(now) > TOLERANCE)?;
            Some(format!("{key}={} of job {}", date(at), job.id))
        });
        let told = counted(late, "is", "are");
        remarks.extend(told.map(|text| format!("{text} later than the instant of the queue, {} (UTC)", date(now))));
    }
    remarks
}

fn submitted(job: &Job) -> Option<i64> {
    job.submitted
}

/// Returns the start of a job. Ignores the expected start of a pending job.
fn started(job: &Job) -> Option<i64> {
    job.start.filter(|_| !job.state.is_waiting())
}

/// Returns the jobs that run on idle nodes. Leaves out ending and suspended jobs, because their nodes may be idle.
pub(super) fn on_idle_nodes<'a>(
    jobs: &'a [QueueJob],
    nodes: &'a [Node],
) -> impl Iterator<Item = (&'a QueueJob, &'a Node)> {
    let is_idle = |node: &Node| node.state.base == "IDLE" && node.allocated_cpus == 0;
    jobs.iter().filter(|job| job.state == JobState::Running).filter_map(move |job| {
        let held = job.run.iter().flat_map(|run| &run.holds);
        Some((job, held.map(|holding| &nodes[holding.node]).find(|node| is_idle(node))?))
    })
}

/// Reports jobs that run on idle nodes.
pub(super) fn idle(jobs: &[QueueJob], nodes: &[Node]) -> Option<String> {
    let found: Vec<_> = on_idle_nodes(jobs, nodes).collect();
    let (job, node) = found.first()?;
    let (job, node, count) = (&job.shown, &node.name, found.len());
    let runs = if count == 1 {
        format!("job {job} runs on {node}, but this node is idle")
    } else {
        format!("{count} jobs run on idle nodes, such as job {job} on {node}")
    };
    Some(format!("{runs}: nodes and jobs are from different times or clusters"))
}

/// Formats a count with an example, such as `x is ..` or `x and 2 more are ..`. Returns `None` if `found` is empty.
fn counted(mut found: impl Iterator<Item = String>, one: &str, several: &str) -> Option<String> {
    let first = found.next()?;
    Some(match found.count() {
        0 => format!("{first} {one}"),
        more => format!("{first} and {more} more {several}"),
    })
}

/// Reports jobs with free texts that may have been parsed as fields. If there is no JSON output, adds a remedy.
pub(super) fn texts(jobs: &[u64], lacks_json: bool) -> Option<String> {
    let looks = match jobs {
        [] => return None,
        [_] => "a text in the record of this job looks like fields, so these fields may be wrong",
        _ => "texts in the records of these jobs look like fields, so these fields may be wrong",
    };
    let help =
        if lacks_json { "; to separate texts and fields, save the output of `squeue --json --states=all`" } else { "" };
    Some(format!("{}: {looks}{help}", named(jobs)))
}

/// Reports records in the text output that are missing in the JSON output.
pub(super) fn part_of_a_name(jobs: &[u64], json: &str) -> Option<String> {
    let is = match jobs {
        [] => return None,
        [_] => "is ignored: its record may be a part of another job's name",
        _ => "are ignored: their records may be parts of other jobs' names",
    };
    Some(format!("{} {is}, and {json} does not know {}", named(jobs), if jobs.len() == 1 { "it" } else { "them" }))
}

/// Formats job ids, such as `job 7` or `jobs 7, 8, 9 and 4 more`.
fn named(jobs: &[u64]) -> String {
    const SHOWN: usize = 3;
    let names: Vec<String> = jobs.iter().take(SHOWN).map(u64::to_string).collect();
    let more = jobs.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} {}{more}", if jobs.len() == 1 { "job" } else { "jobs" }, names.join(", "))
}

/// Reports the number of records that cannot be parsed.
pub(super) fn unread(problems: &[String], of: usize) -> Option<String> {
    let first = problems.first()?;
    let count = problems.len();
    let (is, are) = if count == 1 { ("is", "it cannot") } else { ("are", "they cannot") };
    Some(format!("{count} of {} {is} ignored, because {are} be read: {first}", makespan_core::counted(of, "record")))
}
