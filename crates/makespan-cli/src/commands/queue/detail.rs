//! `makespan queue --job 123`: one job, with details of its predicted start.

use makespan_core::counted;
use makespan_slurm::JobState;
use makespan_slurm::forecast::{ExpectedJob, NodeCountStart, PredictionSource};

use super::rows::{between, clocked, head, nodes, remarks, width};
use super::{ForecastQueue, SelectedJobs};
use crate::outlook::{line, lines};
use crate::output::shown;

/// A function that returns the predicted starts of a job for other numbers of nodes that the job accepts.
pub type Sizes<'a> = &'a dyn Fn(&ExpectedJob) -> Vec<NodeCountStart>;

/// Default for the maximum number of array tasks to show.
pub const SHOWN: usize = 8;
/// Number of jobs below which the text says that the estimate includes a default.
const FEW: usize = 10;

pub fn text(seen: &ForecastQueue<'_>, chosen: &SelectedJobs<'_>, limit: Option<usize>, sizes: Sizes<'_>) -> String {
    let (waiting, limit) = (&chosen.waiting, limit.unwrap_or(SHOWN));
    let mut text = head(seen);
    let jobs = &seen.queue.jobs;
    for (job, end) in &chosen.running {
        let of = &jobs[*job];
        if let Some(run) = &of.run {
            let latest = match run.ends_by.filter(|_| of.limit.is_some()) {
                Some(at) => format!("at {} at the latest", seen.clock.words(at)),
                None => "without a limit".to_owned(),
            };
            let since = seen.clock.words(run.started);
            let ends = seen.clock.words(*end);
            let (job, name) = (shown(&of.shown), shown(&of.name));
            text += &if of.state == JobState::Suspended {
                format!("\njob {job} ({name}) is suspended; if it continued now, it would end at {ends}\n")
            } else {
                format!("\njob {job} ({name}) has run since {since} and is expected to end at {ends}, {latest}\n")
            };
        }
    }
    for one in waiting.iter().take(limit) {
        text += &job(seen, one, sizes);
    }
    if waiting.len() > limit {
        text += &format!("\n{} more tasks of the array are pending (--limit shows more)\n", waiting.len() - limit);
    }
    text + &remarks(seen, width())
}

pub fn job(seen: &ForecastQueue<'_>, one: &ExpectedJob, sizes: Sizes<'_>) -> String {
    let job = &seen.queue.jobs[one.job];
    let line = |label: &str, text: &str| line(2, label, text);
    let account = job.account.as_ref().map_or(String::new(), |account| format!(" ({account})"));
    let mut text = format!("\njob {}: {}, of {}{account}\n", shown(&job.shown), shown(&job.name), shown(&job.user));
    let least = job.request.min_time.map_or(String::new(), |least| format!(" (or {})", clocked(least)));
    let limit = job.limit.map_or("none".to_owned(), clocked) + &least;
    let (of_nodes, cpus) = (nodes(job), counted(job.request.cpus, "processor"));
    let what = match of_nodes.as_str() {
        "any" => format!("{cpus} on any number of nodes"),
        "1" => format!("1 node, {cpus}"),
        of_nodes => format!("{of_nodes} nodes, {cpus}"),
    };
    let asked = format!("{what} in {}, limit {limit}", job.partitions.join(","));
    text += &line("asks for", &asked);
    if let Some(deadline) = job.deadline {
        let latest =
            job.latest_start().map_or(String::new(), |at| format!(": it has to start by {}", seen.clock.words(at)));
        text += &line("deadline", &format!("{}{latest}", seen.clock.full(deadline)));
    }
    let never = if one.after.is_empty() { "never, unless something is changed" } else { "unknown" };
    let start = one.outlook.start.map_or(never.to_owned(), |at| seen.clock.full(at));
    text += &line("starts", &start);
    let between = Some(between(seen, one)).filter(|range| range != "-");
    let reasons = one.outlook.reasons.iter().map(|reason| (&*reason.text, reason.remedy.as_deref()));
    text += &lines(2, between.as_deref(), seen.ranges.percent, reasons);
    let run_time = if one.known == PredictionSource::Limit && job.limit.is_none() {
        "unknown: the job has no time limit, and there are no records of similar jobs".to_owned()
    } else {
        format!("about {}, {}", clocked(one.lasts.unsigned_abs()), known(one.known, job.limit.is_some()))
    };
    text += &line("run time", &run_time);
    if let Some(at) = job.slurm_start {
        text += &line("Slurm says", &seen.clock.full(at));
    }
    // Grid Engine states no reasons in its list of jobs.
    if !job.reason.is_empty() && !seen.queue.is_grid_engine() {
        text += &line("Slurm's why", &job.reason);
    }
    if !one.after.is_empty() {
        let names: Vec<&str> = one.after.iter().map(|&job| seen.queue.jobs[job].shown.as_str()).collect();
        text += &line("waits for", &format!("the end of {}", names.join(", ")));
    }
    if !one.nodes.is_empty() {
        let names: Vec<&str> =
            one.nodes.iter().take(12).map(|&(node, _)| seen.queue.nodes[node].name.as_str()).collect();
        let more = one.nodes.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &line("on", &format!("{}{more}", names.join(", ")));
    }
    let sizes = sizes(one);
    if !sizes.is_empty() {
        let each = |size: &NodeCountStart| {
            let start = size.start.map_or("never".to_owned(), |at| seen.clock.words(at));
            format!("{}: {start}", counted(size.nodes, "node"))
        };
        text += &line("other sizes", &sizes.iter().map(each).collect::<Vec<_>>().join("; "));
    }
    text
}

/// Describes the source of the predicted run time of a job.
fn known(known: PredictionSource, has_limit: bool) -> String {
    let jobs = |count: usize| counted(count, "job");
    // The estimate includes the default as if it were one more job. With many jobs, this has little effect and is not
    // printed.
    let one_more = |count: usize, what: &str| {
        if has_limit && count < FEW { format!("; {what} is treated as one more job") } else { String::new() }
    };
    let public = |count: usize| one_more(count, "the usual fraction in public logs");
    match known {
        PredictionSource::Name(count) => {
            format!("learned from {} of this name{}", jobs(count), one_more(count, "the fraction that other jobs use"))
        }
        PredictionSource::User(count) => {
            format!(
                "learned from the fraction of their time limits that {} of this user used{}",
                jobs(count),
                public(count)
            )
        }
        PredictionSource::Anybody(count) => {
            format!(
                "learned from the fraction of their time limits that {} of all users used{}",
                jobs(count),
                public(count)
            )
        }
        PredictionSource::Usual if !has_limit => {
            "one day times the fraction of time limits that jobs of public logs use, because the job has no limit"
                .to_owned()
        }
        PredictionSource::Usual => "its time limit times the fraction that jobs of public logs use".to_owned(),
        PredictionSource::Limit => "its time limit".to_owned(),
    }
}
