//! One job of the native file.

use std::collections::HashMap;

use makespan_core::{Graph, Job, NamedTask, Platform, Profile, Task, Time, Weight, Work};
use serde::Deserialize;

use super::graph::{EdgeEntry, TaskEntry, graph};
use super::schema::{Allotments, OneOrMany, SpeedupEntry, TimesOn};
use crate::document::{Named, Unique};
use crate::scalar::{Bytes, Scalar, Tasks};
use crate::suggest::nearest;

/// A job, checked while it is read, so that errors carry its place.
#[derive(Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct JobEntry {
    job: Job,
    /// For each task the nodes of its `time_on`, in the order of the times of its profile, until the platform is known.
    nodes: Vec<Option<Vec<String>>>,
}

impl Named for JobEntry {
    const KIND: &'static str = "job";

    fn name(&self) -> &str {
        &self.job.name
    }
}

/// The positions of nodes by name.
pub(super) type Positions<'a> = HashMap<&'a str, usize>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    name: String,
    weight: Option<Scalar<Weight>>,
    priority: Option<i32>,
    released: Option<Scalar<Time>>,
    walltime: Option<Scalar<Time>>,
    count: Option<Scalar<Tasks>>,
    data: Option<Scalar<Bytes>>,
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    time_on: Option<TimesOn>,
    speedup: Option<SpeedupEntry>,
    processors: Option<Allotments>,
    #[serde(default)]
    command: Vec<String>,
    tasks: Option<Unique<TaskEntry>>,
    edges: Option<Vec<EdgeEntry>>,
}

impl TryFrom<Fields> for JobEntry {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        if fields.name.is_empty() {
            return Err("a job's name is empty; give it a unique name".to_owned());
        }
        if fields.tasks.is_some() || fields.edges.is_some() {
            let name = fields.name.clone();
            return compound(fields).map_err(|problem| format!("job `{name}`: {problem}"));
        }
        let times =
            TimeFields { time: fields.time, work: fields.work, time_on: fields.time_on, speedup: fields.speedup };
        let (profile, nodes) =
            profile(times, fields.processors).map_err(|problem| format!("job `{}`: {problem}", fields.name))?;
        let count = fields.count.map(|count| count.0.0);
        let data = fields.data.map(|data| data.0.0);
        if data.is_some() && count.is_none() {
            return Err(format!("job `{}`: `data` is what each task of a bag needs; give `count` too", fields.name));
        }
        let task = Task { profile, command: fields.command, data };
        let job = Job {
            name: fields.name,
            priority: fields.priority.unwrap_or(0),
            weight: fields.weight.map_or(usual_weight(count.is_some(), data), |weight| weight.0),
            release: fields.released.map_or(Time::ZERO, |release| release.0),
            walltime: fields.walltime.map(|walltime| walltime.0),
            user: None,
            work: match count {
                Some(count) => Work::Bag(task, count),
                None => Work::Task(task),
            },
        };
        Ok(Self { job, nodes: vec![nodes] })
    }
}

impl JobEntry {
    /// Whether it has times on nodes that it names.
    pub(super) fn names_nodes(&self) -> bool {
        self.nodes.iter().any(Option::is_some)
    }

    /// The job on a platform of these nodes.
    pub(super) fn resolved(self, positions: &Positions<'_>) -> Result<Job, String> {
        let Self { mut job, nodes } = self;
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

/// A profile whose times stand in the order of `nodes`, in the order of the platform.
fn placed(profile: &Profile, nodes: Option<&[String]>, positions: &Positions<'_>) -> Result<Profile, String> {
    let (Some(nodes), Some(times)) = (nodes, profile.machine_times()) else { return Ok(profile.clone()) };
    let mut row = vec![Profile::CANNOT_RUN; positions.len()];
    for (node, &time) in nodes.iter().zip(times) {
        let known = positions.get(node.as_str()).ok_or_else(|| {
            let near = nearest(node, positions.keys().copied());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("`time_on` names `{node}`, which is no node of the platform{hint}")
        })?;
        row[*known] = time;
    }
    Profile::on_machines(row).map_err(|error| error.to_string())
}

/// The times in the order in which they are written.
fn on_machines(times: Vec<Time>, allotments: Option<Allotments>) -> Result<Profile, String> {
    match range(allotments) {
        (None | Some(1), None | Some(1)) => Profile::on_machines(times).map_err(|error| error.to_string()),
        _ => Err("`time_on` is the time on one processor; leave `processors` out".to_owned()),
    }
}

/// A job with `tasks` and perhaps `edges`.
fn compound(fields: Fields) -> Result<JobEntry, String> {
    let Some(tasks) = fields.tasks else {
        return Err("it has `edges` and no `tasks`; write the tasks that they join".to_owned());
    };
    let given = [
        ("count", fields.count.is_some()),
        ("data", fields.data.is_some()),
        ("time", fields.time.is_some()),
        ("work", fields.work.is_some()),
        ("time_on", fields.time_on.is_some()),
        ("speedup", fields.speedup.is_some()),
        ("processors", fields.processors.is_some()),
        ("command", !fields.command.is_empty()),
    ];
    if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
        return Err(format!("it has both `tasks` and `{key}`; a job with `tasks` is what they are"));
    }
    let (graph, nodes) = graph(tasks.0, &fields.edges.unwrap_or_default())?;
    let job = Job::compound(fields.name, graph);
    let job = Job {
        priority: fields.priority.unwrap_or(0),
        weight: fields.weight.map_or(job.weight, |weight| weight.0),
        release: fields.released.map_or(job.release, |release| release.0),
        walltime: fields.walltime.map(|walltime| walltime.0),
        ..job
    };
    Ok(JobEntry { job, nodes })
}

/// The weight of a job that states none. A bag competes only if it is given a weight to do so, or the bytes of its
/// tasks: then it is an application, which shares a tree with others.
pub(super) fn usual_weight(bag: bool, data: Option<u64>) -> Weight {
    if bag && data.is_none() { Weight::ZERO } else { Weight::ONE }
}

/// How the times of a job or a task are written.
pub(super) struct TimeFields {
    pub(super) time: Option<OneOrMany<Time, Scalar<Time>>>,
    pub(super) work: Option<Scalar<Time>>,
    pub(super) time_on: Option<TimesOn>,
    pub(super) speedup: Option<SpeedupEntry>,
}

/// The profile, and the nodes of its times where it has its own on each.
pub(super) fn profile(
    fields: TimeFields,
    allotments: Option<Allotments>,
) -> Result<(Profile, Option<Vec<String>>), String> {
    let TimeFields { time, work, time_on, speedup } = fields;
    let Some(TimesOn(pairs)) = time_on else {
        return Ok((profile_by_number(time, work, speedup, allotments)?, None));
    };
    if time.is_some() || work.is_some() || speedup.is_some() {
        return Err("`time_on` stands alone, without `time`, `work` or `speedup`".to_owned());
    }
    let (nodes, times) = pairs.into_iter().unzip();
    Ok((on_machines(times, allotments)?, Some(nodes)))
}

fn profile_by_number(
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    speedup: Option<SpeedupEntry>,
    allotments: Option<Allotments>,
) -> Result<Profile, String> {
    match (time, work, speedup) {
        (Some(_), Some(_), _) => Err("it has both `time` and `work`; write one of them".to_owned()),
        (None, None, _) => Err("it has neither `time` nor `work`; write one of them, or `time_on`".to_owned()),
        (Some(_), None, Some(_)) => Err("`speedup` goes with `work`, not with `time`".to_owned()),
        (Some(OneOrMany::One(time)), None, None) => rigid(time, allotments),
        (Some(OneOrMany::Many(times)), None, None) => table(times, allotments),
        (None, Some(work), None) => sequential(work.0, allotments),
        (None, Some(work), Some(law)) => {
            let (min, max) = range(allotments);
            // Without a limit the instance clips the allotments to its platform.
            let max = max.unwrap_or(Platform::MAX_PROCESSORS);
            Profile::law(work.0, law.into(), min.unwrap_or(1), max).map_err(|error| error.to_string())
        }
    }
}

fn rigid(time: Time, allotments: Option<Allotments>) -> Result<Profile, String> {
    match allotments {
        Some(Allotments::Range { .. }) => {
            Err("one `time` goes with one number of `processors`; for a range write `time` as a list, or `work` and \
                 `speedup`"
                .to_owned())
        }
        Some(Allotments::Exactly(processors)) => Profile::rigid(processors, time).map_err(|error| error.to_string()),
        None => Profile::rigid(1, time).map_err(|error| error.to_string()),
    }
}

fn sequential(work: Time, allotments: Option<Allotments>) -> Result<Profile, String> {
    match range(allotments) {
        (None | Some(1), None | Some(1)) => Profile::rigid(1, work).map_err(|error| error.to_string()),
        _ => Err("`work` on several processors needs a `speedup`, such as {\"amdahl\": {\"serial\": 0.05}}".to_owned()),
    }
}

fn table(times: Vec<Scalar<Time>>, allotments: Option<Allotments>) -> Result<Profile, String> {
    let (min, max) = range(allotments);
    let (min, max) = (min.unwrap_or(1), max.unwrap_or(Platform::MAX_PROCESSORS));
    let count = times.len();
    if min == 0 || min > max {
        return Err(format!(
            "processors from {min} to {max} is an empty range; min must be at least 1 and at most max"
        ));
    }
    let table = Profile::table(times.into_iter().map(|time| time.0).collect()).map_err(|error| error.to_string())?;
    let narrowed = table.at_most(max).and_then(|table| table.at_least(min));
    narrowed.ok_or_else(|| format!("`processors` asks for at least {min} and `time` lists {count}; lengthen the list"))
}

fn range(allotments: Option<Allotments>) -> (Option<u32>, Option<u32>) {
    match allotments {
        None => (None, None),
        Some(Allotments::Exactly(processors)) => (Some(processors), Some(processors)),
        Some(Allotments::Range { min, max }) => (min, max),
    }
}
