//! Interface between a session and the machine or cluster on which tasks run.

use std::time::{Duration, SystemTime};

use makespan_core::{Outage, Platform, ProcSet, TaskId, Time};

pub use crate::process::Identity;
pub use crate::status::{EndedBy, ended_by, has_succeeded};

/// Request to start an attempt at a task.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Task to start.
    pub task: TaskId,
    /// Name of the task.
    pub name: &'a str,
    /// Program and arguments, with `{processors}` and `{gpus}` not yet replaced.
    pub command: &'a [String],
    /// Number of the attempt, counted from 1 for each task.
    pub attempt: u32,
    /// Total number of processors on all nodes.
    pub allotment: u32,
    /// Processors that the task holds.
    pub processors: &'a ProcSet,
    /// True if the task runs on the cores of these processors only. Otherwise it may use all cores of the machine that no
    /// pinned task holds. Engines of clusters pin all tasks.
    pub is_pinned: bool,
    /// GPUs that the task holds, numbered through the platform. `None` if the platform states no GPUs.
    pub gpus: Option<&'a [u64]>,
    /// Memory limit in bytes, if the task states one.
    pub memory: Option<u64>,
    /// Time limit, if any.
    pub walltime: Option<Time>,
    /// Expected run time.
    pub expected: Time,
    /// True if the expected run time is a guess.
    pub is_guess: bool,
    /// Names of the task's files, relative to the folder of the run.
    pub files: &'a TaskFiles,
    /// Additional environment variables.
    pub environment: &'a [(String, String)],
    /// Minimum delay before the start, for engines that decide when a task starts ([`crate::Reserved::hand_over`]).
    pub not_before: Duration,
    /// Tasks that must succeed before this one starts, for engines that decide when a task starts.
    pub after: &'a [TaskId],
}

/// Files of one attempt, relative to the folder of the run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskFiles {
    /// Files for standard output and standard error.
    pub outputs: [String; 2],
    /// File in which the shim records the outcome.
    pub status: String,
    /// Files that are copied to the node and back. `None` if the attempt does not run in a folder on its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging: Option<Staging>,
    /// True if no job of the run has written these output files yet, so an existing file with content belongs to
    /// another program. The field is not sent to other machines, because an attempt may start twice there.
    #[serde(skip)]
    pub is_new: bool,
}

/// Input and output files of an attempt that runs in a folder on its node.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Staging {
    /// Path on each node for the folders of attempts. `%N` stands for the node, and `%j` for the Slurm job.
    pub scratch: String,
    /// Folder shared by all nodes, to which file names are relative.
    pub home: String,
    /// Identifier of the run.
    pub run: String,
    /// Name of the task as it appears in file names.
    pub name: String,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// Files that are copied to the node before the task starts.
    pub reads: Vec<String>,
    /// Files that are copied back after the task has succeeded.
    pub writes: Vec<String>,
}

impl Staging {
    /// Returns the 64-bit FNV-1a hash of bytes. The hash is equal on all machines.
    pub(crate) fn hash(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

/// Reason why a task was not started.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Reason in words.
    pub reason: String,
    /// True if a later attempt may succeed.
    pub passing: bool,
    /// True if the processors are unavailable and [`Notice::Down`] follows. The task then waits again.
    pub closing: bool,
}

/// Processes that earlier sessions may have left.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    /// Shims of the tasks.
    pub shims: &'a [Identity],
    /// Path of the control group of the last session.
    pub group: Option<&'a str>,
}

/// Attempt of an earlier session without a recorded end in the journal.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Task of the attempt.
    pub task: TaskId,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// Processors that the task holds.
    pub processors: ProcSet,
    /// Names of the task's files.
    pub files: TaskFiles,
    /// Name of the task.
    pub name: String,
    /// Shim of the attempt, if it ran on this machine since the last boot.
    pub shim: Option<Identity>,
    /// GPUs that the task holds, numbered through the platform. `None` if the journal does not record them.
    pub gpus: Option<Vec<u64>>,
    /// True if the task runs on the cores of its processors only.
    pub is_pinned: bool,
}

/// Attempt of an earlier session that this session takes over. The attempt is running, or its end has not yet been reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Task of the attempt.
    pub task: TaskId,
    /// GPUs that the task holds, numbered through the platform.
    pub gpus: Vec<u64>,
}

/// Event that an engine reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A task started at an instant that the engine chose.
    Begun {
        /// Task that started.
        task: TaskId,
        /// Start by the wall clock of the task's machine.
        at: SystemTime,
        /// Processors that the task holds.
        processors: ProcSet,
    },
    /// A task ended, and none of its processes is left.
    Ended(TaskId),
    /// A task reached its time limit and ended while no session was running. None of its processes is left.
    TimedOut(TaskId),
    /// A task could not be started after [`Engine::go`]. The text gives the reason.
    Refused(TaskId, String),
    /// A task was lost with its node and left no outcome. The text gives the reason.
    Lost(TaskId, String),
    /// No task may start on these processors until [`Notice::Up`].
    Down {
        /// Identifier, unique among simultaneous outages.
        outage: Outage,
        /// Unavailable processors.
        processors: ProcSet,
        /// Expected duration, if it is known.
        expected: Option<Duration>,
    },
    /// The outage is over.
    Up(Outage),
    /// These processors are expected to go down, which [`Notice::Down`] will report. This notice replaces an earlier one with the
    /// same identifier. The identifiers of actual outages are different.
    Closing {
        /// Identifier, unique among simultaneous announcements.
        outage: Outage,
        /// Processors that will go down.
        processors: ProcSet,
        /// Time until they go down. `None` withdraws the announcement.
        after: Option<Duration>,
    },
    /// Message for the user.
    Told(String),
    /// Warning for the user that explains why no task starts.
    Warned(String),
    /// No processor will become available again, for this reason, and no task is running. The run ends and can be resumed.
    Over(String),
}

/// Starts and ends tasks on this machine ([`crate::Local`]) or on a cluster, and reports their ends. The session handles the
/// journal, time limits, retries, policies and logs.
///
/// A task starts in two steps. [`Engine::start`] prepares the task, and the start is written to the journal. Then [`Engine::go`]
/// lets the task run. The shim writes the outcome to the status file ([`TaskFiles::status`]). The session reads this file after the
/// engine has reported the end.
pub trait Engine {
    /// Returns the time of a monotonic clock.
    fn now(&self) -> Duration;

    /// Returns the time of the wall clock.
    fn wall(&self) -> SystemTime;

    /// Returns an identifier of the place where attempts can be found again. For a machine, this is the id of its current boot,
    /// because start times of processes are comparable only within one boot.
    fn place(&self) -> String;

    /// Checks that attempts which an earlier session started at this place cannot interfere: they have ended, or this engine can
    /// end them or take them over.
    ///
    /// # Errors
    /// A sentence that tells the user how to proceed.
    fn follows(&self, _place: &str) -> Result<(), String> {
        Ok(())
    }

    /// Returns the name of the machine on which a task runs.
    fn host(&self, processors: &ProcSet) -> String;

    /// Creates the control group for the tasks of this session, if possible, and returns its path.
    fn group(&mut self) -> Option<String> {
        None
    }

    /// Enables memory limits for the control groups of tasks.
    ///
    /// # Errors
    /// The reason why memory limits are unavailable.
    fn limit_memory(&mut self) -> Result<(), String> {
        Err("this machine has no control groups".into())
    }

    /// Returns the number of processes that the system has killed for lack of memory since boot, if it is known.
    fn memory_kills(&self) -> Option<u64> {
        None
    }

    /// Returns whether tasks continue when the machine of the session loses power. If so, starts are synced to disk before tasks
    /// run.
    fn outlives_us(&self) -> bool {
        false
    }

    /// Returns whether unavailable processors may become available, so that tasks may wait for them.
    fn awaits(&self) -> bool {
        false
    }

    /// Receives the number of waiting tasks from time to time. This is the demand for more processors. `_shortest` returns a lower
    /// limit on the expected run times of these tasks, if none of them is a guess.
    fn hear_waiting(&mut self, _tasks: usize, _shortest: &dyn Fn() -> Option<Duration>) {}

    /// Returns whether the engine accepts another task now. This applies to engines that decide when tasks start.
    fn takes_more(&self) -> bool {
        true
    }

    /// Returns whether the engine has delayed tasks, so that the remaining tasks should be planned again. Each delay is reported
    /// once. This applies to engines that decide when tasks start.
    fn wants_new_plan(&mut self) -> bool {
        false
    }

    /// Reports that a task has succeeded, so that its successors may start. This applies to engines that decide when tasks start.
    fn hear_success(&mut self, _task: TaskId) {}

    /// Takes back a task that was let run but has not started. Returns whether this was possible. If so, the task never starts, and
    /// the engine reports no further events for it.
    fn recall(&mut self, _task: TaskId) -> bool {
        false
    }

    /// Prepares a task without running it. The returned identity goes to the journal.
    ///
    /// # Errors
    /// [`Refusal`].
    fn start(&mut self, start: &Start<'_>) -> Result<Identity, Refusal>;

    /// Lets a prepared task run. `claim` is a line that the task's status file will contain.
    fn go(&mut self, task: TaskId, claim: &str);

    /// Takes back a prepared task that was not let run.
    fn call_off(&mut self, task: TaskId);

    /// Asks a task and all its descendants to end, or kills them.
    fn end(&mut self, task: TaskId, kill: bool);

    /// Waits for the next event, up to `timeout`.
    fn wait(&mut self, timeout: Duration) -> Option<Notice>;

    /// Prepares the end of the session while tasks continue: dropping the engine then ends no task.
    fn leave(&mut self) {}

    /// Forgets a task that has ended. Returns the exit status of its shim, for tasks without a status file.
    fn reap(&mut self, task: TaskId) -> i32;

    /// Takes over running attempts of earlier sessions of this instance. Each attempt that is not in the result has left its
    /// status, is ended by [`Engine::end_left`], or is gone.
    fn take_over(&mut self, _earlier: &[Earlier]) -> Vec<Taken> {
        Vec::new()
    }

    /// Returns whether a process of an earlier session is still running.
    fn is_alive(&self, shim: Identity) -> bool;

    /// Ends all processes of earlier sessions that were not taken over. Returns when none of them is left.
    fn end_left(&mut self, left: &Left<'_>, grace: Duration, tell: &mut dyn FnMut(&str));
}

/// Returns whether a task holds processors of several machines although one of the machines has enough.
pub(crate) fn is_spread(engine: &dyn Engine, platform: &Platform, processors: &ProcSet) -> bool {
    let parts = platform.parts(processors);
    if parts.len() < 2 || processors.len() > platform.largest_node() {
        return false;
    }
    let host = |node: usize| engine.host(&processors.intersection(&platform.processors_of(node)));
    parts.iter().any(|part| host(part.0) != host(parts[0].0))
}
