//! Time lags between the starts of tasks of a graph.

use super::{Edge, GraphError, NamedTask, cycle_of};
use crate::model::Time;

/// A time lag: a task starts at the earliest `least` after another task of its graph has started.
///
/// A negative `least` is a *maximal* time lag: the other task then starts at most `-least` after this task. M. Bartusch,
/// R. Moehring and F. Radermacher, "Scheduling project networks with resource constraints and time windows", Annals of
/// Operations Research 16, 1988, DOI 10.1007/BF02283745.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The number of the other task within the graph.
    pub from: u32,
    /// The least difference between the starts of the tasks.
    pub least: Time,
}

/// Checks that the lags name other tasks of the graph, and that some starts of the tasks satisfy all lags and edges. Each
/// task takes its shortest time. Takes O(tasks * (lags + edges)) if there are lags.
///
/// # Errors
/// [`GraphError::UnknownLag`], or [`GraphError::Lags`] with the names of tasks that can never start.
pub(super) fn check(tasks: &[NamedTask], edges: &[Edge]) -> Result<(), GraphError> {
    let count = tasks.len() as u32;
    let mut arcs: Vec<(u32, u32, i64)> = Vec::new();
    for (to, task) in (0..).zip(tasks) {
        for lag in &task.task.lags {
            if lag.from >= count || lag.from == to {
                return Err(GraphError::UnknownLag { task: task.name.to_string(), from: lag.from, last: count - 1 });
            }
            arcs.push((lag.from, to, lag.least.ticks()));
        }
    }
    if arcs.is_empty() {
        return Ok(());
    }
    let shortest = |task: u32| tasks[task as usize].task.profile.shortest().ticks();
    arcs.extend(edges.iter().map(|edge| (edge.from, edge.to, shortest(edge.from))));
    // Bellman and Ford: the longest path to each task. If a path grows for as many rounds as there are tasks, then the
    // arcs through which it grew contain a cycle of positive length.
    let mut starts = vec![0_i64; tasks.len()];
    let mut through = vec![u32::MAX; tasks.len()];
    for _ in 0..=tasks.len() {
        let mut grown = None;
        for &(from, to, least) in &arcs {
            let start = starts[from as usize].saturating_add(least);
            if start > starts[to as usize] {
                starts[to as usize] = start;
                through[to as usize] = from;
                grown = Some(to);
            }
        }
        if grown.is_none() {
            return Ok(());
        }
        if let Some(cycle) = cycle_of(&through) {
            return Err(GraphError::Lags(
                cycle.into_iter().map(|task| tasks[task as usize].name.to_string()).collect(),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Graph, Payload, Profile};

    fn made(lags: &[(u32, u32, i64)]) -> Result<(), GraphError> {
        let task = |number: u32| {
            let mut named =
                NamedTask::new(["a", "b", "c"][number as usize], Profile::rigid(1, Time::from_seconds(4)).unwrap());
            let own = lags.iter().filter(|lag| lag.1 == number);
            named.task.lags = own.map(|&(from, _, least)| Lag { from, least: Time::from_seconds(least) }).collect();
            named
        };
        let edge = Edge { from: 0, to: 1, payload: Payload::Bytes(0) };
        Graph::new((0..3).map(task).collect(), vec![edge]).map(drop)
    }

    #[test]
    fn lags_without_a_solution_are_refused() {
        // Task b starts at least 4 s after task a, because it waits for the end of a.
        assert_eq!(made(&[(1, 0, -4)]), Ok(()), "exactly then");
        let names = |names: &[&str]| Err(GraphError::Lags(names.iter().map(ToString::to_string).collect()));
        assert_eq!(made(&[(1, 0, -3)]), names(&["a", "b"]));
        assert_eq!(made(&[(0, 2, 5), (2, 0, -5)]), Ok(()));
        assert_eq!(made(&[(1, 2, 5), (2, 0, -9)]), Ok(()));
        assert_eq!(made(&[(1, 2, 5), (2, 0, -8)]), names(&["a", "b", "c"]));
        let unknown = |from| Err(GraphError::UnknownLag { task: "c".into(), from, last: 2 });
        assert_eq!([made(&[(3, 2, 0)]), made(&[(2, 2, 0)])], [unknown(3), unknown(2)]);
    }
}
