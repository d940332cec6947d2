//! Milestones: activities without duration. An instance has none, so readers remove them. The successors of a removed
//! milestone wait for its predecessors.

use makespan_core::{Edge, Graph, Instance, Job, JobId, NamedTask, Payload, Profile, Time};
use rustc_hash::FxHashMap;

/// Returns, for each activity, the activities with a duration that it waits for, directly or through milestones. The
/// numbers are ascending and unique.
///
/// # Errors
/// A message if the arcs would become too many. A milestone with many predecessors and successors could turn a small
/// file into a very large graph.
pub fn joined(graph: &Graph, is_milestone: impl Fn(u32) -> bool) -> Result<Vec<Vec<u32>>, String> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); graph.len()];
    for edge in graph.edges() {
        before[edge.to as usize].push(edge.from);
    }
    let most = 8 * graph.edges().len() + (1 << 18);
    let mut size = 0;
    for &number in graph.order() {
        let own = std::mem::take(&mut before[number as usize]);
        let mut all = Vec::with_capacity(own.len());
        for from in own {
            if is_milestone(from) {
                all.extend_from_slice(&before[from as usize]);
            } else {
                all.push(from);
            }
            if size + all.len() > most {
                let name = graph.name(number);
                return Err(format!(
                    "removing the activities without duration before activity `{name}` would add more than {most} edges; \
                     give them durations"
                ));
            }
        }
        all.sort_unstable();
        all.dedup();
        size += all.len();
        before[number as usize] = all;
    }
    Ok(before)
}

/// Returns an error if a milestone states a key that has no effect without a duration. `given` contains each of these
/// keys, and whether the milestone states it.
pub(super) fn check_keys(given: &[(&str, bool)]) -> Result<(), String> {
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => Err(format!(
            "it takes no time, so it is removed as a milestone, but it states `{key}`; remove `{key}`, or state a time \
             above 0"
        )),
    }
}

/// Removes the jobs in `is_milestone` from the jobs of an instance. `whole` is the instance with these jobs.
///
/// # Errors
/// A message if all jobs would be removed, or if the arcs would become too many.
pub(super) fn without(whole: &Instance, jobs: Vec<Job>, is_milestone: &[bool]) -> Result<Vec<Job>, String> {
    if is_milestone.iter().all(|&is_milestone| is_milestone) {
        return Err("no job takes any time; give at least one job a run time above 0".to_owned());
    }
    let tick = Profile::rigid(1, Time::TICK).map_err(|error| error.to_string())?;
    let nodes = jobs.iter().map(|job| NamedTask::new(job.name.as_str(), tick.clone())).collect();
    let edge = |to: JobId| {
        let before = whole.job(to).waits_for().iter();
        before.map(move |from| Edge { from: from.0, to: to.0, payload: Payload::Bytes(0) })
    };
    let graph = Graph::new(nodes, whole.ids().flat_map(edge).collect()).map_err(|error| error.to_string())?;
    let before = joined(&graph, |job| is_milestone[job as usize])?;
    let named = |&job: &u32| graph.name(job).into();
    let each = jobs.into_iter().zip(before).zip(is_milestone).filter(|(_, is_milestone)| !**is_milestone);
    Ok(each.map(|((job, before), _)| Job { after: before.iter().map(named).collect(), ..job }).collect())
}

/// Returns a graph without the tasks in `is_milestone`, or `None` if no task remains.
///
/// # Errors
/// A message if an edge of a milestone takes time, or if the edges would become too many.
pub(super) fn without_tasks(graph: &Graph, is_milestone: &[bool]) -> Result<Option<Graph>, String> {
    let is_gone = |task: u32| is_milestone[task as usize];
    let mut payloads = FxHashMap::default();
    for (at, edge) in graph.edges().iter().enumerate() {
        if !is_gone(edge.from) && !is_gone(edge.to) {
            payloads.insert((edge.from, edge.to), edge.payload);
        } else if !matches!(edge.payload, Payload::Bytes(0) | Payload::Fixed(Time::ZERO)) {
            return Err(format!(
                "edges[{at}]: a task without duration is removed as a milestone, but this edge transfers data; remove \
                 the data, or state a time above 0"
            ));
        }
    }
    let before = joined(graph, is_gone)?;
    let mut numbers = vec![0_u32; graph.len()];
    let mut kept = Vec::new();
    for (at, task) in graph.tasks().iter().enumerate().filter(|(at, _)| !is_milestone[*at]) {
        numbers[at] = kept.len() as u32;
        kept.push(task.clone());
    }
    if kept.is_empty() {
        return Ok(None);
    }
    let mut edges = Vec::new();
    for to in (0..graph.len() as u32).filter(|&to| !is_gone(to)) {
        edges.extend(before[to as usize].iter().map(|&from| Edge {
            from: numbers[from as usize],
            to: numbers[to as usize],
            payload: payloads.get(&(from, to)).copied().unwrap_or(Payload::Bytes(0)),
        }));
    }
    Graph::new(kept, edges).map(Some).map_err(|error| error.to_string())
}
