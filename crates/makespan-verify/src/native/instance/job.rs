//! Reads a job in a native file.

use makespan_core::{Graph, Job, NamedTask, Needs, Profile, Task, Time, Weight, Work};
use serde::Deserialize;

use super::command::CommandEntry;
use super::graph::{EdgeEntry, LagEntry, TaskEntry, graph};
use super::penalty::PenaltyEntry;
use super::positions::Positions;
use super::resources::NeedsEntry;
use super::submission::SubmissionEntry;
use super::times::{TaskTimes, TimeFields, times};
use super::values::{Allotments, EstimateEntry, OneOrMany, SpeedupEntry, TimesOn, memory_estimate, names};
use crate::native::document::{Unique, UniquelyNamed};
use crate::native::guess::keep_walltime;
use crate::native::milestones::check_keys;
use crate::native::scalar::{BagTasks, Bytes, Scalar};

/// A job in a file. The job is checked while it is read, so that errors state the place in the file.
#[derive(Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct JobEntry {
    job: Job,
    /// Names of the nodes in each task's `time_on`, in the order of the times. The names are resolved when the
    /// platform is known.
    nodes: Vec<Option<Vec<String>>>,
    /// True if the job takes no time. Such a job is removed when all jobs are known.
    is_milestone: bool,
}

impl UniquelyNamed for JobEntry {
    const KIND: &'static str = "job";

    fn name(&self) -> &str {
        &self.job.name
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    name: String,
    weight: Option<Scalar<Weight>>,
    priority: Option<i32>,
    released: Option<Scalar<Time>>,
    deadline: Option<Scalar<Time>>,
    must_end_by: Option<Scalar<Time>>,
    penalty: Option<PenaltyEntry>,
    walltime: Option<Scalar<Time>>,
    count: Option<Scalar<BagTasks>>,
    data: Option<Scalar<Bytes>>,
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    time_on: Option<TimesOn>,
    speedup: Option<SpeedupEntry>,
    estimate: Option<EstimateEntry>,
    processors: Option<Allotments>,
    needs: Option<NeedsEntry>,
    memory_estimate: Option<EstimateEntry>,
    family: Option<String>,
    #[serde(default, deserialize_with = "names")]
    after: Vec<String>,
    #[serde(default)]
    command: CommandEntry,
    submission: Option<SubmissionEntry>,
    tasks: Option<Unique<TaskEntry>>,
    edges: Option<Vec<EdgeEntry>>,
    lags: Option<Vec<LagEntry>>,
}

impl TryFrom<Fields> for JobEntry {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        if fields.name.is_empty() {
            return Err("the name of a job is empty; give the job a unique name".to_owned());
        }
        if fields.tasks.is_some() || fields.edges.is_some() || fields.lags.is_some() {
            let name = fields.name.clone();
            return compound(fields).map_err(|problem| format!("job `{name}`: {problem}"));
        }
        let given = fields.given_besides_time();
        let written = TimeFields {
            time: fields.time,
            work: fields.work,
            time_on: fields.time_on,
            speedup: fields.speedup,
            estimate: fields.estimate,
        };
        let of_job = |problem: String| format!("job `{}`: {problem}", fields.name);
        if written.is_of_milestone() {
            check_keys(&given).map_err(of_job)?;
            written.of_milestone().map_err(of_job)?;
            return milestone(fields.name, &fields.after);
        }
        let TaskTimes { profile, estimate, nodes } = times(written, fields.processors).map_err(of_job)?;
        let count = fields.count.map(|count| count.0.0);
        let data = fields.data.map(|data| data.0.0);
        if data.is_some() && count.is_none() {
            return Err(format!(
                "job `{}`: `data` is the input of each task of a bag, but the job has no `count`; state `count`, or \
                 remove `data`",
                fields.name
            ));
        }
        let submission = fields.submission.map(SubmissionEntry::read).transpose();
        let submission = submission.map_err(|problem| format!("job `{}`: {problem}", fields.name))?;
        let needs = fields.needs.map_or(Needs::NONE, |needs| needs.0);
        let memory_estimate = memory_estimate(fields.memory_estimate, &needs)
            .map_err(|problem| format!("job `{}`: {problem}", fields.name))?;
        let family = fields.family.map(Into::into);
        let task =
            Task { estimate, command: fields.command.0, data, needs, memory_estimate, family, ..Task::new(profile) };
        let mut job = Job {
            name: fields.name,
            priority: fields.priority.unwrap_or(0),
            weight: fields.weight.map_or(usual_weight(count.is_some(), data), |weight| weight.0),
            release: fields.released.map_or(Time::ZERO, |release| release.0),
            deadline: fields.deadline.map(|deadline| deadline.0),
            must_end_by: fields.must_end_by.map(|must_end_by| must_end_by.0),
            penalty: fields.penalty.map(|penalty| penalty.0),
            walltime: fields.walltime.map(|walltime| walltime.0),
            user: None,
            after: fields.after.into_iter().map(Into::into).collect(),
            submission,
            work: match count {
                Some(count) => Work::Bag(task, count),
                None => Work::Task(task),
            },
        };
        keep_walltime(&mut job);
        Ok(Self { job, nodes: vec![nodes], is_milestone: false })
    }
}

impl Fields {
    /// Returns the keys that no milestone states, except keys about its time, and whether the job states them.
    fn given_besides_time(&self) -> [(&'static str, bool); 11] {
        [
            ("released", self.released.is_some()),
            ("deadline", self.deadline.is_some()),
            ("must_end_by", self.must_end_by.is_some()),
            ("penalty", self.penalty.is_some()),
            ("walltime", self.walltime.is_some()),
            ("count", self.count.is_some()),
            ("data", self.data.is_some()),
            ("needs", self.needs.is_some() || self.memory_estimate.is_some()),
            ("family", self.family.is_some()),
            ("command", !self.command.0.is_empty()),
            ("submission", self.submission.is_some()),
        ]
    }
}

/// Returns a job that takes no time. The job is removed when all jobs are known.
fn milestone(name: String, after: &[String]) -> Result<JobEntry, String> {
    let profile = Profile::rigid(1, Time::TICK).map_err(|error| error.to_string())?;
    let job = Job { after: after.iter().map(|name| name.as_str().into()).collect(), ..Job::new(name, profile) };
    Ok(JobEntry { job, nodes: vec![None], is_milestone: true })
}

impl JobEntry {
    /// Returns true if the job takes no time.
    pub(super) fn is_milestone(&self) -> bool {
        self.is_milestone
    }

    /// Returns, for each task with one time per node, the number of nodes for which the task states a time.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().flatten().map(Vec::len)
    }

    /// Converts a job that was written in version 1 of the format. In version 1, the `walltime` of a job with `tasks`
    /// is the time from the release date to the deadline.
    pub(super) fn of_version_1(mut self) -> Result<Self, String> {
        if matches!(self.job.work, Work::Graph(_))
            && let Some(allowed) = self.job.walltime.take()
        {
            if self.job.deadline.is_some() {
                let name = &self.job.name;
                return Err(format!(
                    "job `{name}`: `deadline` and `walltime` are both stated; in version 1, the `walltime` of a job \
                     with `tasks` is its deadline, counted from its release; remove one of them, or write `version = 2`"
                ));
            }
            self.job.deadline = Some(self.job.release + allowed);
        }
        Ok(self)
    }

    /// Returns the job for a platform with these node positions.
    pub(super) fn resolved(self, positions: &Positions<'_>) -> Result<Job, String> {
        let Self { mut job, nodes, .. } = self;
        if nodes.iter().all(Option::is_none) {
            return Ok(job);
        }
        let Job { name, work, .. } = &mut job;
        let of_job = |problem| format!("job `{name}`: {problem}");
        match work {
            Work::Task(task) | Work::Bag(task, _) => {
                task.profile = placed(&task.profile, nodes[0].as_deref(), positions).map_err(of_job)?;
            }
            Work::Graph(graph) => {
                let mut tasks = graph.tasks().to_vec();
                for (NamedTask { name, task }, nodes) in tasks.iter_mut().zip(&nodes) {
                    task.profile = placed(&task.profile, nodes.as_deref(), positions)
                        .map_err(|problem| of_job(format!("task `{name}`: {problem}")))?;
                }
                *graph = Graph::new(tasks, graph.edges().to_vec()).map_err(|error| of_job(error.to_string()))?;
            }
        }
        Ok(job)
    }
}

/// Returns a profile with the times in the order of the platform's nodes. `nodes` are the names of the nodes, in the
/// order of the times in `profile`.
fn placed(profile: &Profile, nodes: Option<&[String]>, positions: &Positions<'_>) -> Result<Profile, String> {
    let (Some(nodes), Some(times)) = (nodes, profile.machine_times()) else { return Ok(profile.clone()) };
    let position = |node: &String| {
        let unknown = || {
            format!("`time_on` states a time for `{node}`, but the platform has no such node; {}", positions.hint(node))
        };
        positions.get(node).ok_or_else(unknown)
    };
    let known = nodes.iter().map(position).collect::<Result<Vec<usize>, String>>()?;
    let mut row = vec![Profile::CANNOT_RUN; positions.len()];
    for (known, &time) in known.into_iter().zip(times) {
        row[known] = time;
    }
    Profile::on_machines(row).map_err(|error| error.to_string())
}

/// Reads a job with `tasks` and possibly `edges`.
fn compound(fields: Fields) -> Result<JobEntry, String> {
    let beside_time = fields.given_besides_time();
    let Some(tasks) = fields.tasks else {
        let key = if fields.edges.is_some() { "edges" } else { "lags" };
        return Err(format!("the job has `{key}`, but no `tasks`; write the tasks that the {key} connect"));
    };
    let given = [
        ("count", fields.count.is_some()),
        ("data", fields.data.is_some()),
        ("time", fields.time.is_some()),
        ("work", fields.work.is_some()),
        ("time_on", fields.time_on.is_some()),
        ("speedup", fields.speedup.is_some()),
        ("estimate", fields.estimate.is_some()),
        ("processors", fields.processors.is_some()),
        ("needs", fields.needs.is_some()),
        ("memory_estimate", fields.memory_estimate.is_some()),
        ("family", fields.family.is_some()),
        ("command", !fields.command.0.is_empty()),
    ];
    if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
        return Err(format!(
            "the job has both `tasks` and `{key}`; remove `{key}`, because only the tasks state such data"
        ));
    }
    let (edges, lags) = (fields.edges.unwrap_or_default(), fields.lags.unwrap_or_default());
    let Some((graph, nodes)) = graph(tasks.0, &edges, &lags)? else {
        check_keys(&beside_time)?;
        return milestone(fields.name, &fields.after);
    };
    let job = Job::compound(fields.name, graph);
    let mut job = Job {
        priority: fields.priority.unwrap_or(0),
        weight: fields.weight.map_or(job.weight, |weight| weight.0),
        release: fields.released.map_or(job.release, |release| release.0),
        deadline: fields.deadline.map(|deadline| deadline.0),
        must_end_by: fields.must_end_by.map(|must_end_by| must_end_by.0),
        penalty: fields.penalty.map(|penalty| penalty.0),
        walltime: fields.walltime.map(|walltime| walltime.0),
        after: fields.after.into_iter().map(Into::into).collect(),
        submission: fields.submission.map(SubmissionEntry::read).transpose()?,
        ..job
    };
    keep_walltime(&mut job);
    Ok(JobEntry { job, nodes, is_milestone: false })
}

/// Returns the default weight of a job. A bag of tasks without `data` has weight 0 (best effort). A bag with `data` is
/// an application on a tree and has weight 1, like all other jobs.
pub fn usual_weight(bag: bool, data: Option<u64>) -> Weight {
    if bag && data.is_none() { Weight::ZERO } else { Weight::ONE }
}
