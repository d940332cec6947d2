//! The critical chains by which compound jobs were planned.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Instance, TaskId, Time};
use crate::schedule::Schedule;

/// A processor, and the instant at which a task starts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartPlace {
    /// Id of the processor.
    pub processor: u32,
    /// The instant at which the task starts.
    pub start: Time,
}

/// The interval within which a task must run, so that its job ends in time while other tasks keep their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskWindow {
    /// The task.
    pub task: TaskId,
    /// Earliest start of the task.
    pub earliest: Time,
    /// Latest end of the task.
    pub latest: Time,
}

/// A critical chain of a compound job: a path through its graph that is planned as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalChain {
    /// Position of the chain among the chains of its job, from 1. The chains are planned in this order.
    pub rank: u32,
    /// Length of the path: the sum of the fastest times of the tasks and of the mean times of the transfers.
    pub length: Time,
    /// The tasks of the path, in order.
    pub tasks: Vec<TaskId>,
    /// The windows of the tasks that are in no chain of a smaller rank. The chains of smaller ranks keep their places.
    pub windows: Vec<TaskWindow>,
    /// Number of variants of the job after this chain was planned. `None` if the schedule does not consist of chains
    /// that were planned one after another: its chains improve a schedule of HEFT or of a search.
    pub variants: Option<u32>,
}

/// A task that was moved because its planned place was not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedCollision {
    /// The task.
    pub task: TaskId,
    /// The planned place.
    pub planned: StartPlace,
    /// The place after the move.
    pub resolved: StartPlace,
    /// Penalty of the move.
    pub penalty: i64,
}

/// The chains and collisions of the chosen variant of a strategy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainReport {
    /// The chains of all compound jobs. The chains of a job are consecutive, in the order of their ranks.
    pub chains: Vec<CriticalChain>,
    /// The collisions, in the order in which they were resolved.
    pub collisions: Vec<ResolvedCollision>,
}

impl ChainReport {
    /// Returns true if the report has no chains. The instance then has no compound jobs.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Returns the report with other identifiers of the tasks.
    #[must_use]
    pub fn map(mut self, task: impl Fn(TaskId) -> TaskId) -> Self {
        for chain in &mut self.chains {
            chain.tasks.iter_mut().for_each(|own| *own = task(*own));
            chain.windows.iter_mut().for_each(|window| window.task = task(window.task));
        }
        self.collisions.iter_mut().for_each(|collision| collision.task = task(collision.task));
        self
    }

    /// Returns a sentence for each chain that is no path of the graph of its job, and for each task that runs outside
    /// its window in `schedule`.
    pub fn problems(&self, instance: &Instance, schedule: &Schedule) -> Vec<String> {
        let mut problems = Vec::new();
        let mut windows: BTreeMap<TaskId, TaskWindow> = BTreeMap::new();
        for (at, chain) in self.chains.iter().enumerate() {
            let joined = |pair: &[TaskId]| instance.incoming(pair[1]).any(|edge| edge.from == pair[0]);
            if let Some(pair) = chain.tasks.windows(2).find(|pair| !joined(pair)) {
                problems.push(format!(
                    "strategy.chains[{at}]: there is no edge from `{}` to `{}`",
                    instance.name(pair[0]),
                    instance.name(pair[1])
                ));
            }
            windows.extend(chain.windows.iter().map(|window| (window.task, *window)));
        }
        for placement in schedule.placements() {
            let Some(&TaskWindow { task, earliest, latest }) = windows.get(&placement.task) else { continue };
            if placement.start < earliest || placement.end > latest {
                problems.push(format!(
                    "strategy.chains: `{}` runs from {} to {} s, outside its window from {earliest} to {latest} s",
                    instance.name(task),
                    placement.start,
                    placement.end
                ));
            }
        }
        problems
    }
}
