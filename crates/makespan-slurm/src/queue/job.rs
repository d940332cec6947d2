//! Pending and running jobs. Each task of an array is a separate job.

use std::collections::HashMap;

use makespan_core::counted;

use crate::text::moment;
use crate::{Job, JobState, OptionalLimit, Partition};

use super::array::{known_of_cut, task_name};
use super::holding::holdings;
use super::{Dependency, JobRequest, Member, NodeHolding, members};

/// The displayed id of a job that has not been submitted, and the beginning of the ids of its tasks.
pub(super) const NEW: &str = "new";

/// The data of a running job.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningJobData {
    /// Start in seconds since 1970.
    pub started: i64,
    /// Latest end in seconds since 1970, or `None` without a limit.
    pub ends_by: Option<i64>,
    /// Held resources by node.
    pub holds: Vec<NodeHolding>,
}

/// A pending or running job.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueJob {
    /// The id of the job. If a record contains several pending tasks, they share this id.
    pub id: u64,
    /// The id as Slurm shows it: `12`, or `12_3` in an array, or `12+1` in a heterogeneous job.
    pub shown: String,
    /// The name that the user gave the job.
    pub name: String,
    /// The user who submitted the job.
    pub user: String,
    /// The account that is charged.
    pub account: Option<String>,
    /// The quality of service.
    pub qos: Option<String>,
    /// The partition of a running job, or all partitions in which a pending job may run.
    pub partitions: Vec<String>,
    /// The state of the job.
    pub state: JobState,
    /// Slurm's reason why the job is pending.
    pub reason: String,
    /// Priority. Jobs of higher priority come first.
    pub priority: u64,
    /// True if the job is held by its user or an operator.
    pub is_held: bool,
    /// Time of submission in seconds since 1970.
    pub submitted: Option<i64>,
    /// Earliest start in seconds since 1970.
    pub eligible: Option<i64>,
    /// Time limit in seconds, or `None` without a limit.
    pub limit: Option<u64>,
    /// Deadline in seconds since 1970. Slurm cancels the job if it cannot end by then.
    pub deadline: Option<i64>,
    /// The requested resources.
    pub request: JobRequest,
    /// The dependencies of the job.
    pub waits_for: Vec<Dependency>,
    /// The dependency on the start of an ended job that decides [`QueueJob::eligible`], if there is one.
    pub after_start_of: Option<Dependency>,
    /// The array and the task number, if the job is a task of an array.
    pub array: Option<Member>,
    /// The id of the first component, if the job is a component of a heterogeneous job.
    pub together: Option<u64>,
    /// The data of the run, if the job runs.
    pub run: Option<RunningJobData>,
    /// The start that Slurm expects, in seconds since 1970.
    pub slurm_start: Option<i64>,
}

impl QueueJob {
    /// Returns true if the job has not been submitted ([`super::Queue::with_new_job`]).
    pub fn is_new(&self) -> bool {
        self.shown.starts_with(NEW)
    }

    /// Returns the latest start with which the job can meet its deadline, in seconds since 1970.
    pub fn latest_start(&self) -> Option<i64> {
        // If a job has a deadline but no limit, Slurm assumes a minimum run time of one minute.
        let needs = self.request.min_time.or(self.limit).unwrap_or(60);
        Some(self.deadline?.saturating_sub(i64::try_from(needs).unwrap_or(i64::MAX)))
    }

    /// Returns true if the job is pending and can no longer meet its deadline.
    pub(super) fn is_too_late(&self, now: i64) -> bool {
        self.run.is_none() && self.latest_start().is_some_and(|latest| latest < now)
    }
}

/// Data for the conversion of all jobs.
pub(super) struct JobContext<'a> {
    pub now: i64,
    pub nodes: HashMap<&'a str, usize>,
    pub partitions: &'a [Partition],
    pub room: usize,
    pub remarks: Vec<String>,
}

impl JobContext<'_> {
    /// Converts a job. The result has one entry for each task in the record. It has no entry for an ended job.
    pub(super) fn entries(&mut self, job: &Job) -> Vec<QueueJob> {
        let waits = job.state.is_waiting();
        if !waits && !job.state.holds_nodes() {
            if let JobState::Other(word) = &job.state {
                self.remarks.push(format!("job {} is ignored: its state `{word}` is unknown", job.id));
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
                "job {}: Slurm has cut off the list of the tasks of this array, `{tasks}`: only {count} of them are \
                 known; set SLURM_BITSTR_LEN=0 in the environment, and save the list of jobs again",
                job.id
            ));
        }
        let Some((numbers, at_once, left_out)) = found else {
            self.remarks
                .push(format!("job {}: `{tasks}` is not a list of tasks; the job is treated as one task", job.id));
            return vec![one];
        };
        if left_out > 0 {
            self.remarks.push(format!("job {}: its array is too large; {} ignored", job.id, counted(left_out, "task")));
        }
        self.room -= numbers.len();
        let throttle = ["ArrayTaskThrottle", "array_max_tasks"].iter().find_map(|key| job.record.get(key));
        let at_once = at_once.or_else(|| throttle?.parse().ok().filter(|&most| most > 0));
        let task = |task| QueueJob {
            shown: task_name(*array, task),
            array: Some(Member { array: *array, task, at_once }),
            ..one.clone()
        };
        numbers.into_iter().map(task).collect()
    }

    fn entry(&mut self, job: &Job) -> QueueJob {
        let record = &job.record;
        let time = |keys: [&str; 2]| keys.iter().find_map(|key| record.get(key)).and_then(moment);
        let (request, remarks) = JobRequest::of(job);
        self.remarks.extend(remarks);
        let (waits_for, strange) = Dependency::list(job.dependency.as_deref().unwrap_or_default());
        for part in strange {
            self.remarks.push(format!("job {}: its dependency `{part}` cannot be understood and is ignored", job.id));
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
            after_start_of: None,
            array: None,
            together,
            slurm_start: job.start.filter(|_| run.is_none()),
            run,
        }
    }

    /// Returns the time limit of a job. If the job has none, returns the limit of its partition.
    fn limit(&mut self, job: &Job, partitions: &[String]) -> Option<u64> {
        let text = job.record.get("TimeLimit").filter(|text| job.time_limit.is_none() && *text != "Partition_Limit");
        if let Some(text) = text {
            let id = job.id;
            self.remarks.push(format!(
                "job {id}: TimeLimit={text} cannot be understood; the time limit of its partition is used"
            ));
        }
        let partition = || self.partitions.iter().find(|partition| Some(&partition.name) == partitions.first());
        let stated = job.time_limit.or_else(|| partition().map(|partition| partition.max_time));
        stated.and_then(OptionalLimit::value)
    }

    fn run(&mut self, job: &Job, limit: Option<u64>) -> RunningJobData {
        let (holds, strange) = holdings(job, &self.nodes);
        if let Some(name) = strange.first() {
            self.remarks.push(format!(
                "job {} runs on `{name}`, which is not in the list of nodes; this node is ignored",
                job.id
            ));
        }
        let started = job.start.unwrap_or(self.now);
        let by_limit = limit.and_then(|limit| started.checked_add_unsigned(limit));
        let ends_by = if job.state == JobState::Completing {
            Some(self.now)
        } else {
            job.end.filter(|_| limit.is_some()).or(by_limit)
        };
        RunningJobData { started, ends_by, holds }
    }
}
