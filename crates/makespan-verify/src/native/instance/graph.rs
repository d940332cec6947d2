//! Reads the tasks and edges of a compound job in a native file.

use makespan_core::{Edge, Graph, Lag, NamedTask, Needs, Payload, Task, Time};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::command::CommandEntry;
use super::resources::NeedsEntry;
use super::times::{TaskTimes, TimeFields, times};
use super::values::{Allotments, EstimateEntry, OneOrMany, SpeedupEntry, TimesOn, memory_estimate};
use crate::native::document::UniquelyNamed;
use crate::native::milestones::{check_keys, without_tasks};
use crate::native::scalar::{Bytes, Scalar};
use crate::native::suggest::nearest;

/// A task in a file. The task is checked while it is read, so that errors state the place in the file.
#[derive(Deserialize)]
#[serde(try_from = "TaskFields")]
pub(super) struct TaskEntry {
    task: NamedTask,
    /// Names of the nodes in `time_on`, in the order of the times.
    nodes: Option<Vec<String>>,
    /// True if the task takes no time. Such a task is removed when the graph is known.
    is_milestone: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskFields {
    name: String,
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    time_on: Option<TimesOn>,
    speedup: Option<SpeedupEntry>,
    estimate: Option<EstimateEntry>,
    processors: Option<Allotments>,
    needs: Option<NeedsEntry>,
    memory_estimate: Option<EstimateEntry>,
    gang: Option<String>,
    family: Option<String>,
    #[serde(default)]
    command: CommandEntry,
}

impl UniquelyNamed for TaskEntry {
    const KIND: &'static str = "task";

    fn name(&self) -> &str {
        &self.task.name
    }
}

/// An edge between two tasks, which are stated by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EdgeEntry {
    from: String,
    to: String,
    data: Option<Scalar<Bytes>>,
    transfer: Option<Scalar<Time>>,
}

/// Limits on the time from the start of one task to the start of another task, which are stated by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LagEntry {
    from: String,
    to: String,
    min: Option<Scalar<Time>>,
    max: Option<Scalar<Time>>,
}

impl TryFrom<TaskFields> for TaskEntry {
    type Error = String;

    fn try_from(fields: TaskFields) -> Result<Self, String> {
        let mut written = TimeFields {
            time: fields.time,
            work: fields.work,
            time_on: fields.time_on,
            speedup: fields.speedup,
            estimate: fields.estimate,
        };
        let is_milestone = written.is_of_milestone();
        if is_milestone {
            let given = [
                ("needs", fields.needs.is_some() || fields.memory_estimate.is_some()),
                ("gang", fields.gang.is_some()),
                ("family", fields.family.is_some()),
                ("command", !fields.command.0.is_empty()),
            ];
            let of_task = |problem| format!("task `{}`: {problem}", fields.name);
            check_keys(&given).map_err(of_task)?;
            written = written.of_milestone().map_err(of_task)?;
        }
        let TaskTimes { profile, estimate, nodes } =
            times(written, fields.processors).map_err(|problem| format!("task `{}`: {problem}", fields.name))?;
        let needs = fields.needs.map_or(Needs::NONE, |needs| needs.0);
        let memory_estimate = memory_estimate(fields.memory_estimate, &needs)
            .map_err(|problem| format!("task `{}`: {problem}", fields.name))?;
        if fields.gang.as_deref() == Some("") {
            return Err(format!(
                "task `{}`: the name of the gang is empty; write a name, or remove `gang`",
                fields.name
            ));
        }
        let gang = fields.gang.map(Into::into);
        let family = fields.family.map(Into::into);
        let task =
            Task { estimate, command: fields.command.0, needs, memory_estimate, gang, family, ..Task::new(profile) };
        Ok(Self { task: NamedTask { name: fields.name.into(), task }, nodes, is_milestone })
    }
}

/// A graph, and for each task the names of the nodes in its `time_on`.
type Joined = (Graph, Vec<Option<Vec<String>>>);

/// Adds time lags to the tasks of a graph.
fn with_lags(graph: Graph, arcs: &[(u32, Lag)]) -> Result<Graph, String> {
    if arcs.is_empty() {
        return Ok(graph);
    }
    let mut tasks = graph.tasks().to_vec();
    for (to, lag) in arcs {
        tasks[*to as usize].task.lags.push(*lag);
    }
    Graph::new(tasks, graph.edges().to_vec()).map_err(|error| error.to_string())
}

/// Builds the graph from the tasks, edges and lags, without milestones. Returns `None` if all tasks are milestones.
pub(super) fn graph(tasks: Vec<TaskEntry>, edges: &[EdgeEntry], lags: &[LagEntry]) -> Result<Option<Joined>, String> {
    let is_milestone: Vec<bool> = tasks.iter().map(|entry| entry.is_milestone).collect();
    let (tasks, nodes): (Vec<NamedTask>, Vec<_>) = tasks.into_iter().map(|entry| (entry.task, entry.nodes)).unzip();
    let numbers: FxHashMap<&str, u32> =
        tasks.iter().enumerate().map(|(number, task)| (&*task.name, number as u32)).collect();
    let number = |place: &str, name: &str| {
        numbers.get(name).copied().ok_or_else(|| {
            let near = nearest(name, tasks.iter().map(|task| &*task.name));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("{place}: there is no task `{name}`{hint}")
        })
    };
    let edge = |(at, edge): (usize, &EdgeEntry)| {
        let from = number(&format!("edges[{at}].from"), &edge.from)?;
        let to = number(&format!("edges[{at}].to"), &edge.to)?;
        let payload = match (&edge.data, &edge.transfer) {
            (Some(_), Some(_)) => {
                return Err(format!("edges[{at}] has both `data` and `transfer`; remove one of them"));
            }
            (data, None) => Payload::Bytes(data.map_or(0, |data| data.0.0)),
            (None, Some(time)) => Payload::Fixed(time.0),
        };
        Ok(Edge { from, to, payload })
    };
    let edges = edges.iter().enumerate().map(edge).collect::<Result<Vec<_>, String>>()?;
    let mut arcs: Vec<(u32, Lag)> = Vec::new();
    for (at, LagEntry { from, to, min, max }) in lags.iter().enumerate() {
        let (first, second) = (number(&format!("lags[{at}].from"), from)?, number(&format!("lags[{at}].to"), to)?);
        let (min, max) = (min.as_ref().map(|min| min.0), max.as_ref().map(|max| max.0));
        match (min, max) {
            (None, None) => return Err(format!("lags[{at}] has no limit; add `min` or `max`")),
            (Some(min), Some(max)) if min > max => {
                return Err(format!("lags[{at}]: `min` is {min} s, but `max` is only {max} s; raise `max`"));
            }
            _ => {}
        }
        if first == second {
            return Err(format!("lags[{at}] is from task `{from}` to itself; name another task"));
        }
        arcs.extend(min.map(|least| (second, Lag { from: first, least })));
        arcs.extend(max.map(|most| (first, Lag { from: second, least: Time::ZERO - most })));
    }
    let whole = Graph::new(tasks, edges).map_err(|error| error.to_string())?;
    if !is_milestone.contains(&true) {
        return Ok(Some((with_lags(whole, &arcs)?, nodes)));
    }
    let names = |task: u32| whole.name(task).to_owned();
    if let Some((to, lag)) = arcs.iter().find(|(to, lag)| is_milestone[*to as usize] || is_milestone[lag.from as usize])
    {
        let (from, to) = (names(lag.from), names(*to));
        return Err(format!(
            "the time lag between `{from}` and `{to}`: one of them takes no time; write lags between tasks with a time"
        ));
    }
    // The positions of the remaining tasks.
    let position =
        |task: u32| is_milestone[..task as usize].iter().filter(|is_milestone| !**is_milestone).count() as u32;
    let arcs: Vec<(u32, Lag)> =
        arcs.iter().map(|(to, lag)| (position(*to), Lag { from: position(lag.from), ..*lag })).collect();
    let nodes = nodes.into_iter().zip(&is_milestone).filter(|(_, is_milestone)| !**is_milestone);
    let nodes = nodes.map(|(nodes, _)| nodes).collect();
    let Some(graph) = without_tasks(&whole, &is_milestone)? else { return Ok(None) };
    Ok(Some((with_lags(graph, &arcs)?, nodes)))
}
