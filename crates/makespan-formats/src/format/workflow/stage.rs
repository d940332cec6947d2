//! Handles files from outside a workflow. Either a node sends the files to the tasks, or the files are available
//! everywhere from the beginning.

use makespan_core::{Edge, Graph, Job, NamedTask, Payload, Platform, Profile, Time};

use super::draft::ExternalFiles;
use crate::needs::rounded;
use crate::suggest::nearest;

/// Name of the task that sends the files from outside.
const NAME: &str = "stage-in";

/// Returns a remark about files from outside. The remark is shown if the user states no node that holds these files.
pub(super) fn remark(outside: &ExternalFiles) -> Option<String> {
    (outside.bytes > 0).then(|| {
        format!(
            "{}; all nodes are assumed to have such files from the beginning; if only one node has these files, add \
             --stage-in NODE",
            what(outside)
        )
    })
}

fn what(outside: &ExternalFiles) -> String {
    let ExternalFiles { files, bytes, first, .. } = outside;
    let bytes = rounded(*bytes as f64);
    match files {
        1 => format!("1 file of {bytes} in all (`{first}`) comes from outside the workflow"),
        _ => format!("{files} files of {bytes} in all (such as `{first}`) come from outside the workflow"),
    }
}

/// Returns the job with an additional task on the node `node`, and a remark. The additional task takes one tick. It
/// sends to each original task the outside files that the original task reads.
pub(super) fn from(
    node: &str,
    outside: &ExternalFiles,
    job: &Job,
    platform: &Platform,
) -> Result<(Job, String), String> {
    let nodes = platform.nodes();
    let Some(place) = nodes.iter().position(|one| one.name == node) else {
        let near = nearest(node, nodes.iter().map(|one| one.name.as_str()));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!(
            "node `{node}` cannot send the files from outside the workflow, because the platform has no such node{hint}"
        ));
    };
    if nodes[place].processors == 0 {
        return Err(format!(
            "node `{node}` cannot send the files from outside the workflow, because the node has no processors; choose a \
             node with processors"
        ));
    }
    let Some(graph) = job.work.graph().filter(|_| !outside.reads.is_empty()) else {
        return Ok((job.clone(), format!("no file comes from outside the workflow, so node `{node}` sends none")));
    };
    let mut tasks = graph.tasks().to_vec();
    let mut name = NAME.to_owned();
    while tasks.iter().any(|task| *task.name == *name) {
        name.push('\'');
    }
    let mut times = vec![Profile::CANNOT_RUN; nodes.len()];
    times[place] = Time::TICK;
    let profile = Profile::on_machines(times).map_err(|error| error.to_string())?;
    let (stage, said) = (tasks.len() as u32, format!("{}; task `{name}` sends them from node `{node}`", what(outside)));
    tasks.push(NamedTask::new(name, profile));
    let fetched = outside.reads.iter().map(|&(to, bytes)| Edge { from: stage, to, payload: Payload::Bytes(bytes) });
    let edges = graph.edges().iter().copied().chain(fetched).collect();
    let graph = Graph::new(tasks, edges).map_err(|error| error.to_string())?;
    Ok((Job::compound(job.name.clone(), graph), said))
}
