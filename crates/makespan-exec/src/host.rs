//! Processes and clocks as a session uses them. Tests put a process table in their place that fails where it is told to.

use std::time::{Duration, SystemTime};

use makespan_core::{ProcSet, TaskId};

use crate::process::Identity;

/// What is to be started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub task: TaskId,
    pub name: &'a str,
    pub command: &'a [String],
    pub attempt: u32,
    pub processors: &'a ProcSet,
    /// What programs call the GPUs that it holds; `None` where the platform states none.
    pub gpus: Option<&'a [String]>,
    /// Most bytes of memory that it may use, where it states any.
    pub memory: Option<u64>,
}

/// Why a task was not started.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub reason: String,
    /// Whether it may work a moment later.
    pub passing: bool,
}

/// What is known of the processes that earlier sessions left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left<'a> {
    pub shims: &'a [Identity],
    /// The control group of the last session.
    pub group: Option<&'a str>,
}

/// What a session needs of the machine.
pub(crate) trait Host {
    /// A clock that never goes back.
    fn now(&self) -> Duration;
    /// The wall clock.
    fn wall(&self) -> SystemTime;
    /// The id of the machine's present boot; start times of processes are comparable within one only.
    fn boot(&self) -> String;
    /// Makes the control group that the tasks of this session run in, where that is possible, and says its path.
    fn group(&mut self) -> Option<String> {
        None
    }
    /// Gives the groups of tasks limits of memory from now on.
    ///
    /// # Errors
    /// Why that is not possible here.
    fn limit_memory(&mut self) -> Result<(), String> {
        Err("this machine has no control groups".into())
    }
    /// What programs call the GPUs of the machine, where they can be counted.
    fn gpus(&self) -> Option<Vec<String>> {
        None
    }
    /// How many processes the system has killed for lack of memory since it began, where it says so.
    fn memory_kills(&self) -> Option<u64> {
        None
    }
    /// Starts the shim of a task, which waits.
    fn start(&mut self, start: &Start<'_>) -> Result<Identity, Refusal>;
    /// Lets a task run.
    fn go(&mut self, task: TaskId, claim: &str);
    /// Ends a shim whose task was not let run.
    fn call_off(&mut self, task: TaskId);
    /// Asks a task to end with all that descends from it, or kills it.
    fn end(&mut self, task: TaskId, kill: bool);
    /// Waits until nothing of some task is left, and says of which; or until the time is over.
    fn wait(&mut self, timeout: Duration) -> Option<TaskId>;
    /// The exit status of the shim of such a task.
    fn reap(&mut self, task: TaskId) -> i32;
    /// Whether a shim of an earlier session still runs.
    fn is_alive(&self, shim: Identity) -> bool;
    /// Ends all that earlier sessions of the run left. Returns when nothing of it lives.
    fn end_left(&mut self, left: &Left<'_>, grace: Duration, tell: &mut dyn FnMut(&str));
}
