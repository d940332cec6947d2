//! The check that the tasks of each gang can start together.

use rustc_hash::FxHashMap;

use super::{Edge, GraphError, NamedTask, order};

/// Checks that no task of a gang waits for another task of the gang. All tasks of a gang become one task. The gangs are
/// possible if the graph of these tasks has no cycle. Takes O((tasks + edges) log tasks) if there are gangs.
///
/// # Errors
/// [`GraphError::Gang`] with the name of a gang.
pub(super) fn check(tasks: &[NamedTask], edges: &[Edge]) -> Result<(), GraphError> {
    let mut firsts: FxHashMap<&str, u32> = FxHashMap::default();
    let mut joined: Vec<u32> = (0..tasks.len() as u32).collect();
    for (at, task) in (0..).zip(tasks) {
        if let Some(gang) = &task.task.gang {
            joined[at as usize] = *firsts.entry(gang).or_insert(at);
        }
    }
    if firsts.is_empty() {
        return Ok(());
    }
    let end = |task: u32| joined[task as usize];
    let edges: Vec<Edge> = edges.iter().map(|edge| Edge { from: end(edge.from), to: end(edge.to), ..*edge }).collect();
    // Without gangs, the graph has no cycle. So each cycle contains a gang.
    order::topological(tasks.len(), &edges).map(drop).map_err(|cycle| {
        let gang = cycle.iter().find_map(|&task| tasks[task as usize].task.gang.as_deref());
        GraphError::Gang(gang.unwrap_or_default().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Graph, Payload, Profile, Time};

    #[test]
    fn tasks_of_a_gang_must_not_wait_for_each_other() {
        let task = |name: &str, gang: Option<&str>| {
            let mut named = NamedTask::new(name, Profile::rigid(1, Time::from_seconds(1)).unwrap());
            named.task.gang = gang.map(Into::into);
            named
        };
        let edge = |from, to| Edge { from, to, payload: Payload::Bytes(0) };
        let tasks = || vec![task("a", Some("g")), task("b", None), task("c", Some("g")), task("d", Some("h"))];
        let made = |edges: Vec<Edge>| Graph::new(tasks(), edges).map(drop);
        let wrong = Err(GraphError::Gang("g".into()));
        assert_eq!(made(vec![edge(0, 1), edge(2, 1), edge(1, 3)]), Ok(()));
        assert_eq!(made(vec![edge(0, 2)]), wrong, "directly");
        assert_eq!(made(vec![edge(0, 1), edge(1, 2)]), wrong, "through another task");
        let two = |gangs: [&str; 4]| -> Vec<NamedTask> {
            gangs.iter().zip(["a", "b", "c", "d"]).map(|(gang, name)| task(name, Some(*gang))).collect()
        };
        let crossed = Graph::new(two(["g", "h", "g", "h"]), vec![edge(0, 1), edge(3, 2)]);
        assert_eq!(crossed.map(drop), wrong, "each gang would wait for the other");
    }
}
