//! Detects contradictions between the files of a folder. Outputs from two different times or clusters cannot be
//! combined into one queue.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cluster::read_records;
use crate::text::{Kind, date, records};
use crate::{Config, Job, JobState, Record, jobs_of_json};

use super::now::{self, OutputInstant};
use super::saved::{FILES, SavedError, saved};
use super::{ClusterOutput, Texts};

/// The jobs in a file.
struct JobList {
    name: String,
    all: BTreeSet<u64>,
    /// The jobs that have not ended. Ended jobs are not compared, because some outputs leave them out.
    active: BTreeSet<u64>,
    told: Option<OutputInstant>,
}

impl JobList {
    /// Collects the jobs in a file. Invalid content is reported by other functions.
    fn of(part: ClusterOutput, name: String, text: &str) -> Self {
        let (records, told) = if part == ClusterOutput::JobsJson {
            (jobs_of_json(text).unwrap_or_default(), now::of_json(text))
        } else {
            (records(Kind::Job, text).0, None)
        };
        // Even if a record cannot be parsed, it shows that its job exists.
        let number = |record: &Record| record.get("JobId")?.split_whitespace().next()?.parse().ok();
        let all = records.iter().filter_map(number).collect();
        let jobs: Vec<Job> = records.into_iter().filter_map(|record| Job::of(record).ok()).collect();
        let has_ended = |job: &&Job| job.state.has_ended() || job.state == JobState::Completing;
        let active = jobs.iter().filter(|job| !has_ended(job)).map(|job| job.id).collect();
        let told = told.or_else(|| now::of_jobs(jobs.iter()));
        Self { name, all, active, told }
    }
}

/// Describes the contradictions between the files that are used and the files that are not used, one sentence each.
pub(super) fn remarks(
    folder: &Path,
    texts: &Texts,
    names: &[(ClusterOutput, String)],
) -> Result<Vec<String>, SavedError> {
    let mut remarks = Vec::new();
    let of = |part: ClusterOutput| Some((names.iter().find(|name| name.0 == part)?.1.clone(), texts.get(part)?));
    let taken = of(ClusterOutput::Jobs)
        .map(|file| (ClusterOutput::Jobs, file))
        .or_else(|| Some((ClusterOutput::JobsJson, of(ClusterOutput::JobsJson)?)));
    let Some((part, (name, text))) = taken else { return Ok(remarks) };
    let taken = JobList::of(part, name, text);
    let is_of_jobs = |part: ClusterOutput| matches!(part, ClusterOutput::Jobs | ClusterOutput::JobsJson);
    for (part, name) in FILES.iter().filter(|file| is_of_jobs(file.0) && file.1 != taken.name) {
        let other = match saved(folder, name) {
            // Ignore damage, because the file is not needed.
            Err(SavedError::Damaged { .. }) => continue,
            other => other?,
        };
        if let Some((_, text)) = other {
            remarks.extend(against(&taken, &JobList::of(*part, (*name).to_owned(), &text)));
        }
    }
    for part in [ClusterOutput::Nodes, ClusterOutput::NodesJson] {
        let Some((name, text)) = of(part) else { continue };
        let nodes = if part == ClusterOutput::Nodes {
            read_records(Kind::Node, text, crate::Node::of).items
        } else {
            let records = crate::cluster::nodes_of_json(text).into_iter().flatten();
            records.filter_map(|record| crate::Node::of(record).ok()).collect()
        };
        let told = now::of_nodes(&nodes, Some(text).filter(|_| part == ClusterOutput::NodesJson));
        remarks.extend(instants(&taken.name, taken.told, &name, told));
        // If there is a text file and a JSON file, prefer the text.
        break;
    }
    let config = of(ClusterOutput::Config).map(|(name, text)| (name, Config::parse(text)));
    if let Some((config, version)) = config.as_ref().and_then(|(name, config)| Some((name, config.version()?))) {
        for (name, text) in [of(ClusterOutput::JobsJson), of(ClusterOutput::NodesJson)].into_iter().flatten() {
            let other = crate::cluster::version_of_json(text).filter(|other| !same_version(version, other));
            remarks.extend(other.map(|other| {
                format!(
                    "{name} is from Slurm {other}, and {config} is from Slurm {version}: they are from different clusters or times"
                )
            }));
        }
    }
    Ok(remarks)
}

/// Returns true if two versions differ at most in their third number.
fn same_version(one: &str, other: &str) -> bool {
    let start = |text: &str| text.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    start(one) == start(other)
}

/// Returns the contradictions between the list of jobs in use and another list.
fn against(taken: &JobList, other: &JobList) -> Vec<String> {
    if let Some(remark) = instants(&taken.name, taken.told, &other.name, other.told) {
        return vec![format!("{remark}; the jobs of {} are used", taken.name)];
    }
    let missing = |from: &BTreeSet<u64>, of: &JobList, other: &JobList| {
        let missing: Vec<u64> = from.difference(&other.all).copied().collect();
        let first = missing.first()?;
        let count = missing.len();
        let named = if count == 1 { format!("job {first}") } else { format!("{count} jobs, such as {first},") };
        Some(format!("{0} has {named} that {1} does not contain; {1} may have been cut off", of.name, other.name))
    };
    [missing(&other.active, other, taken), missing(&taken.active, taken, other)].into_iter().flatten().collect()
}

/// Returns a message if two files are from different instants.
fn instants(name: &str, told: Option<OutputInstant>, other: &str, other_told: Option<OutputInstant>) -> Option<String> {
    let (told, other_told) = told.zip(other_told)?;
    let of = |told: OutputInstant| match told {
        OutputInstant::Exactly(at) => format!("is from {}", date(at)),
        OutputInstant::AtLeast(at) => format!("contains the instant {}", date(at)),
    };
    told.contradicts(other_told)
        .then(|| format!("{name} {} and {other} {} (UTC): they are from different times", of(told), of(other_told)))
}
