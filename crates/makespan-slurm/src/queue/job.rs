//! Jobs that wait or run, each task of an array by itself.

use std::collections::HashMap;

use makespan_core::counted;

use crate::text::moment;
use crate::{Job, JobState, Limit, Partition};

use super::array::known_of_cut;
use super::holding::holdings;
use super::{Dependency, Holding, Member, Request, members};

/// What runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Seconds after 1970.
    pub started: i64,
    /// When it is ended at the latest; `None` without a limit.
    pub ends_by: Option<i64>,
    /// What it holds, by node.
    pub holds: Vec<Holding>,
}

/// A job that waits or runs.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueJob {
    /// Its number; tasks of an array that wait share that of their record.
    pub id: u64,
    /// As Slurm shows it: `12`, `12_3` of an array, `12+1` of a heterogeneous job.
    pub shown: String,
    /// As its user calls it.
    pub name: String,
    /// Whose it is.
    pub user: String,
    /// Who pays.
    pub account: Option<String>,
    /// Its quality of service.
    pub qos: Option<String>,
    /// Where it may run, or runs.
    pub partitions: Vec<String>,
    /// Its state.
    pub state: JobState,
    /// Why it waits, as Slurm says.
    pub reason: String,
    /// Higher comes first.
    pub priority: u64,
    /// Whether its user or an operator holds it.
    pub is_held: bool,
    /// Seconds after 1970 at which it was submitted.
    pub submitted: Option<i64>,
    /// From when it may start.
    pub eligible: Option<i64>,
    /// Seconds that it may run; `None`: for ever.
    pub limit: Option<u64>,
    /// Slurm does not start it where it cannot end by then, and gives it up.
    pub deadline: Option<i64>,
    /// What it asks for.
    pub request: Request,
    /// What it waits for.
    pub waits_for: Vec<Dependency>,
    /// Which task of which array it is.
    pub array: Option<Member>,
    /// The number of the first of the jobs that start together with it.
    pub together: Option<u64>,
    /// What it holds, if it runs.
    pub run: Option<Run>,
    /// When Slurm expects it to start, if it says so.
    pub slurm_start: Option<i64>,
}

impl QueueJob {
    /// The last instant at which it may start, if it has a deadline.
    pub fn latest_start(&self) -> Option<i64> {
        // To a job with a deadline and no limit Slurm gives a least time of a minute.
        let needs = self.request.min_time.or(self.limit).unwrap_or(60);
        Some(self.deadline?.saturating_sub(i64::try_from(needs).unwrap_or(i64::MAX)))
    }
}

/// What is known around the jobs, and how many tasks of arrays may still be listed.
pub(super) struct Around<'a> {
    pub now: i64,
    pub nodes: HashMap<&'a str, usize>,
    pub partitions: &'a [Partition],
    pub room: usize,
    pub remarks: Vec<String>,
}

impl Around<'_> {
    /// The entries of a job: several for a record that stands for tasks of an array, none for one that is over.
    pub(super) fn entries(&mut self, job: &Job) -> Vec<QueueJob> {
        let waits = job.state.is_waiting();
        if !waits && !job.state.holds_nodes() {
            if let JobState::Other(word) = &job.state {
                self.remarks.push(format!("job {} is left out: its state `{word}` is not known", job.id));
            }
            return Vec::new();
        }
        let one = self.entry(job);
        let Some((array, tasks)) = job.array.as_ref().filter(|(array, _)| *array > 0) else { return vec![one] };
        let known = known_of_cut(tasks);
        let found = members(known.as_ref().unwrap_or(tasks), self.room);
        if known.is_some() {
            let count = found.as_ref().map_or(0, |found| found.0.len());
            self.remarks.push(format!(
                "job {}: Slurm has cut the list of its array's tasks, `{tasks}`: {count} are known, and at least 1 is missing; save the \
                 jobs with SLURM_BITSTR_LEN=0",
                job.id
            ));
        }
        let Some((numbers, at_once, left_out)) = found else {
            self.remarks.push(format!("job {}: `{tasks}` is no list of tasks; it is counted once", job.id));
            return vec![one];
        };
        if left_out > 0 {
            self.remarks.push(format!(
                "job {}: its array is too large; {} left out",
                job.id,
                counted(left_out, "task")
            ));
        }
        self.room -= numbers.len();
        let throttle = ["ArrayTaskThrottle", "array_max_tasks"].iter().find_map(|key| job.record.get(key));
        let at_once = at_once.or_else(|| throttle?.parse().ok().filter(|&most| most > 0));
        let task = |task| QueueJob {
            shown: format!("{array}_{task}"),
            array: Some(Member { array: *array, task, at_once }),
            ..one.clone()
        };
        numbers.into_iter().map(task).collect()
    }

    fn entry(&mut self, job: &Job) -> QueueJob {
        let record = &job.record;
        let time = |keys: [&str; 2]| keys.iter().find_map(|key| record.get(key)).and_then(moment);
        let (request, remarks) = Request::of(job);
        self.remarks.extend(remarks);
        let (waits_for, strange) = Dependency::list(job.dependency.as_deref().unwrap_or_default());
        for part in strange {
            self.remarks.push(format!("job {}: its dependency `{part}` cannot be understood and is left out", job.id));
        }
        let partitions: Vec<String> = job.partition.split(',').map(str::to_owned).collect();
        let limit = self.limit(job, &partitions);
        let run = job.state.holds_nodes().then(|| self.run(job, limit));
        let het = record.get("HetJobId").or_else(|| record.get("het_job_id")).and_then(|text| text.parse().ok());
        let together = het.filter(|&het: &u64| het > 0);
        let offset = record.get("HetJobOffset").or_else(|| record.get("het_job_offset")).unwrap_or("0");
        QueueJob {
            id: job.id,
            shown: together.map_or_else(|| job.id.to_string(), |first| format!("{first}+{offset}")),
            name: job.name.clone(),
            user: job.user.clone(),
            account: job.account.clone().filter(|account| !account.is_empty()),
            qos: record.get("QOS").or_else(|| record.get("qos")).map(str::to_owned),
            partitions,
            state: job.state.clone(),
            reason: job.reason.clone(),
            priority: job.priority.unwrap_or(0),
            is_held: job.is_held(),
            submitted: job.submitted,
            eligible: time(["EligibleTime", "eligible_time"]),
            limit,
            deadline: time(["Deadline", "deadline"]),
            request,
            waits_for,
            array: None,
            together,
            slurm_start: job.start.filter(|_| run.is_none()),
            run,
        }
    }

    /// The limit of a job, or that of its partition where it states none.
    fn limit(&mut self, job: &Job, partitions: &[String]) -> Option<u64> {
        let text = job.record.get("TimeLimit").filter(|text| job.time_limit.is_none() && *text != "Partition_Limit");
        if let Some(text) = text {
            let id = job.id;
            self.remarks
                .push(format!("job {id}: TimeLimit={text} cannot be understood; the limit of its partition is taken"));
        }
        let partition = || self.partitions.iter().find(|partition| Some(&partition.name) == partitions.first());
        let stated = job.time_limit.or_else(|| partition().map(|partition| partition.max_time));
        stated.and_then(Limit::value)
    }

    fn run(&mut self, job: &Job, limit: Option<u64>) -> Run {
        let (holds, strange) = holdings(job, &self.nodes);
        if let Some(name) = strange.first() {
            self.remarks.push(format!("job {} runs on `{name}`, which is none of the nodes; it is left out", job.id));
        }
        let started = job.start.unwrap_or(self.now);
        let by_limit = limit.and_then(|limit| started.checked_add_unsigned(limit));
        let ends_by = if job.state == JobState::Completing {
            Some(self.now)
        } else {
            job.end.filter(|_| limit.is_some()).or(by_limit)
        };
        Run { started, ends_by, holds }
    }
}
