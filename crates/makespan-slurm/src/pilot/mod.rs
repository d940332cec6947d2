//! Pilots: allocations in which an agent on each node starts tasks for a planner.
//!
//! The planner and the agents share files in the folder of the run (`board`). Each attempt of a task is one file. The
//! file is moved only by renaming, from the planner to the agent of a node and back. So if a process dies, no attempt
//! is lost and none starts twice. A connection (`link`) announces moved files. It only makes the exchange faster.

mod agent;
mod attempt;
mod board;
mod head;
pub(crate) mod link;
mod tasks;

pub use agent::{AgentOptions, serve};
pub(crate) use agent::{LEAVING, REMARK};
pub(crate) use board::{AgentBeacon, PilotBoard, PilotNode, end_name, fate_in, names, write};
pub use head::{HeadOptions, lead};
pub(crate) use makespan_exec::order::{AttemptEnd, AttemptOrder, PredecessorAttempt};
pub(crate) use tasks::DOUBT;

#[cfg(test)]
pub(crate) fn example_order() -> AttemptOrder {
    use makespan_core::{ProcSet, TaskId, Time};
    use makespan_exec::engine::TaskFiles;

    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let outputs = ["a.out".into(), "a.err".into()];
    AttemptOrder {
        task: TaskId(3),
        attempt: 1,
        name: "a/1".into(),
        command: words(&["sh", "-c", "true"]),
        allotment: 2,
        processors: ProcSet::range(1, 2),
        gpus: None,
        all_gpus: vec![],
        memory: None,
        walltime: Some(Time::from_seconds(3)),
        grace: std::time::Duration::from_secs(1),
        files: TaskFiles { outputs, status: "status/a.1".into(), staging: None, is_new: false },
        environment: vec![],
        claim: "{}".into(),
        after: vec![],
    }
}
