//! The interface between a session and the engine, the part of the program that starts tasks.

use std::time::{Duration, SystemTime};

use makespan_core::{Outage, Platform, ProcSet, TaskId, Time};

pub use crate::process::Identity;
pub use crate::status::{EndedBy, ended_by, has_succeeded};

/// Name of the place in which a run on hosts starts its attempts ([`Engine::place`]).
pub(crate) const HOSTS_PLACE: &str = "ssh:hosts";

/// One attempt at a task, as the engine receives it.
#[derive(Clone, Copy, Debug)]
pub struct EngineStart<'a> {
    /// The task to start.
    pub task: TaskId,
    /// The name of the task.
    pub name: &'a str,
    /// The program and its arguments, with placeholders such as `{processors}` and `{gpus}`.
    pub command: &'a [String],
    /// Number of the attempt, counted from 1 for each task.
    pub attempt: u32,
    /// Number of processors of the task on all nodes.
    pub allotment: u32,
    /// Processors that the task holds.
    pub processors: &'a ProcSet,
    /// True if the task runs only on the cores of these processors. Other tasks may use all cores of the machine that
    /// no pinned task holds. Engines of clusters pin all tasks.
    pub is_pinned: bool,
    /// The GPUs that the task holds, numbered across the platform; `None` if the platform states no GPUs.
    pub gpus: Option<&'a [u64]>,
    /// Memory limit in bytes, if the task states its memory.
    pub memory: Option<u64>,
    /// Time limit, if there is one.
    pub walltime: Option<Time>,
    /// Expected run time.
    pub expected: Time,
    /// True if `expected` is a guess.
    pub is_guess: bool,
    /// Paths of the attempt's files, relative to the folder of the run.
    pub files: &'a TaskFiles,
    /// Additional environment variables.
    pub environment: &'a [(String, String)],
    /// Time from now before which the task must not start, for engines that decide when tasks start
    /// ([`crate::ReservedRun::hand_over`]).
    pub not_before: Duration,
    /// The tasks that must succeed before this task starts, for engines that decide when tasks start.
    pub after: &'a [TaskId],
}

/// The files of one attempt, with paths relative to the folder of the run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskFiles {
    /// The files for the attempt's standard output and standard error.
    pub outputs: [String; 2],
    /// The status file, into which the attempt's shim writes the outcome.
    pub status: String,
    /// Files that are copied to the node and back. `None` if the attempt does not run in a folder on its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging: Option<Staging>,
    /// True if no job of the run has written these output files yet. An existing file with content then belongs to
    /// another program. This field is not sent to other machines, because other machines may start an attempt twice.
    #[serde(skip)]
    pub is_new: bool,
}

/// Input and output files of an attempt that runs in a folder on its node.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Staging {
    /// The folder on each node that contains the folders of attempts. `%N` is replaced by the node, and `%j` by the
    /// Slurm job.
    pub scratch: String,
    /// A folder that all nodes share. File names are relative to this folder.
    pub home: String,
    /// A text that identifies the run.
    pub run: String,
    /// The name of the task in file names.
    pub name: String,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// The files that are copied to the node before the start.
    pub reads: Vec<String>,
    /// The files that are copied back after a success.
    pub writes: Vec<String>,
}

impl Staging {
    /// Returns the FNV-1a hash (64 bits) of bytes. The hash is the same on every machine.
    pub fn hash(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

/// The reason why a task was not started.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The reason as text.
    pub reason: String,
    /// True if a later attempt may succeed.
    pub passing: bool,
    /// True if the processors will go down very soon. [`Notice::Down`] follows, and the task waits again.
    pub closing: bool,
}

/// Processes that earlier sessions left running.
#[derive(Clone, Copy, Debug)]
pub struct LeftProcesses<'a> {
    /// The shims of the tasks.
    pub shims: &'a [Identity],
    /// Path of the control group of the last session.
    pub group: Option<&'a str>,
}

/// An attempt of an earlier session. The journal does not contain the end of the attempt.
#[derive(Clone, Debug)]
pub struct EarlierAttempt {
    /// The task.
    pub task: TaskId,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// The processors of the attempt.
    pub processors: ProcSet,
    /// The files of the attempt.
    pub files: TaskFiles,
    /// The name of the task.
    pub name: String,
    /// The shim of the attempt, if it was started since the last boot of this machine.
    pub shim: Option<Identity>,
    /// The GPUs that the task holds, numbered across the platform; `None` if the journal does not state the GPUs.
    pub gpus: Option<Vec<u64>>,
    /// True if the task runs only on the cores of its processors.
    pub is_pinned: bool,
}

/// An attempt of an earlier session that this session manages. The attempt is still running, or its end has not been
/// reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenAttempt {
    /// The task.
    pub task: TaskId,
    /// The GPUs that the task holds, numbered across the platform.
    pub gpus: Vec<u64>,
}

/// An event that the engine reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A task has begun. The engine itself chose the time.
    Begun {
        /// The task.
        task: TaskId,
        /// Instant of the start by the wall clock of its machine.
        at: SystemTime,
        /// The processors of the task.
        processors: ProcSet,
    },
    /// A task and all its processes have ended.
    Ended(TaskId),
    /// A task and all its processes have ended, because the task reached its time limit while no session ran.
    TimedOut(TaskId),
    /// The engine could not start a task after [`Engine::go`], for this reason.
    Refused(TaskId, String),
    /// A task was lost with its node, so its outcome is unknown. The text states the reason.
    Lost(TaskId, String),
    /// No task may start on these processors until [`Notice::Up`].
    Down {
        /// Identifies the outage. No other current outage has the same identifier.
        outage: Outage,
        /// The processors that are down.
        processors: ProcSet,
        /// Expected time until the processors are up, if known.
        expected: Option<Duration>,
    },
    /// The end of an outage.
    Up(Outage),
    /// These processors will go down. [`Notice::Down`] follows when the processors go down. A later notice with the
    /// same identifier replaces this notice. The identifiers of notices and of outages differ.
    Closing {
        /// Identifies the notice. No other current notice has the same identifier.
        outage: Outage,
        /// The processors that will go down.
        processors: ProcSet,
        /// Time until the processors go down. `None` cancels the notice.
        after: Option<Duration>,
    },
    /// Information for the user.
    Told(String),
    /// Information for the user that explains why no task starts or ends.
    Warned(String),
    /// No task is running, and no processor will be available again, for this reason. The run ends and can be resumed.
    Over(String),
}

/// Starts and ends tasks, and reports their ends: on this machine ([`crate::Local`]) or on a cluster. The session
/// handles the journal, time limits, retries, policies and logs.
///
/// A task starts in two steps. [`Engine::start`] prepares the task. When the start is in the journal, [`Engine::go`]
/// lets the task run. The shim of the task writes the outcome to the status file ([`TaskFiles::status`]), and the
/// session reads the file after the engine reports the end.
pub trait Engine {
    /// Returns the time of a clock that never goes back.
    fn now(&self) -> Duration;

    /// Returns the time of the wall clock.
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Identifies the place where a later session can find the attempts. For a machine, this is the id of the current
    /// boot, because start times of processes are comparable only within one boot.
    fn place(&self) -> String;

    /// Checks the attempts of an earlier session at this place. Each attempt must have ended, or this session must be
    /// able to end it or to take it over.
    ///
    /// # Errors
    /// A message for the user, with the remedy.
    fn follows(&self, _place: &str) -> Result<(), String> {
        Ok(())
    }

    /// Requests the machines of the run. Called once, before all other methods that need machines, and only if tasks
    /// remain to be run.
    ///
    /// # Errors
    /// A message for the user.
    fn request_machines(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Returns the name of the machine with these processors.
    fn host(&self, processors: &ProcSet) -> String;

    /// Creates the control group for the tasks of this session, if possible, and returns its path.
    fn group(&mut self) -> Option<String> {
        None
    }

    /// Limits the memory of the control groups of tasks that start from now on.
    ///
    /// # Errors
    /// The reason why memory cannot be limited.
    fn limit_memory(&mut self) -> Result<(), String> {
        Err("this engine has no control groups for jobs".into())
    }

    /// Returns the number of processes that the system has killed for lack of memory since its boot, if known.
    fn memory_kills(&self) -> Option<u64> {
        None
    }

    /// Returns whether tasks continue when the machine of the session loses power. If tasks continue, the record of
    /// each start is synced to disk before the task starts.
    fn outlives_us(&self) -> bool {
        false
    }

    /// Returns whether processors that are down may come up again, so that tasks may wait for these processors.
    fn awaits(&self) -> bool {
        false
    }

    /// Receives the number of waiting tasks from time to time, so that the engine can request more processors.
    /// `shortest` returns a lower bound on the run times of the waiting tasks, or `None` if one of these times is only
    /// a guess.
    fn hear_waiting(&mut self, _tasks: usize, _shortest: &dyn Fn() -> Option<Duration>) {}

    /// Returns whether the engine accepts another task now. Called only for engines that decide when tasks start.
    fn takes_more(&self) -> bool {
        true
    }

    /// Returns whether tasks were delayed, so that a new plan for the remaining tasks is useful. Only engines that
    /// decide when tasks start delay tasks. Each delay is reported once.
    fn wants_new_plan(&mut self) -> bool {
        false
    }

    /// Receives a task that has succeeded. After the success, an engine that decides when tasks start can start the
    /// successors of the task.
    fn hear_success(&mut self, _task: TaskId) {}

    /// Takes back a task after [`Engine::go`], if the task has not begun. Returns true if the task was taken back. A
    /// task that was taken back never begins, and the engine does not report on it.
    fn recall(&mut self, _task: TaskId) -> bool {
        false
    }

    /// Reserves the cores of a task. Called immediately before [`Engine::start`]. Returns false if cores are still lent
    /// to running tasks. The start is then tried again after a short time.
    fn reserve_cores(&mut self, _task: TaskId, _processors: &ProcSet) -> bool {
        true
    }

    /// Prepares a task, which then waits for [`Engine::go`]. The session writes the returned identity to the journal.
    ///
    /// # Errors
    /// [`Refusal`].
    fn start(&mut self, start: &EngineStart<'_>) -> Result<Identity, Refusal>;

    /// Lets a prepared task run. The task's status file will contain the line `claim`.
    fn go(&mut self, task: TaskId, claim: &str);

    /// Cancels a task that was prepared, before [`Engine::go`] is called.
    fn call_off(&mut self, task: TaskId);

    /// Asks a task and all its descendants to end, or kills them if `kill` is true.
    fn end(&mut self, task: TaskId, kill: bool);

    /// Waits until an event occurs or until `timeout` expires.
    fn wait(&mut self, timeout: Duration) -> Option<Notice>;

    /// Ends the session without ending its tasks. The tasks continue after the engine is dropped.
    fn leave(&mut self) {}

    /// Forgets a task that has ended. Returns the exit status of its shim, which is needed if the task has no status
    /// file.
    fn reap(&mut self, task: TaskId) -> i32;

    /// Takes over the running attempts of earlier sessions of the same instance. An attempt that is not taken over has
    /// written its status, has disappeared, or is ended by [`Engine::end_left`].
    fn take_over(&mut self, _earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        Vec::new()
    }

    /// Returns whether a shim of an earlier session still runs on this machine.
    fn is_alive(&self, _shim: Identity) -> bool {
        false
    }

    /// Ends all processes of earlier sessions that were not taken over. Returns when all these processes have ended.
    fn end_left(&mut self, left: &LeftProcesses<'_>, grace: Duration, tell: &mut dyn FnMut(&str));
}

/// Returns whether a task holds processors of several machines, although one machine is large enough for the task.
pub(crate) fn is_spread(engine: &dyn Engine, platform: &Platform, processors: &ProcSet) -> bool {
    let parts = platform.parts(processors);
    if parts.len() < 2 || processors.len() > platform.largest_node() {
        return false;
    }
    let host = |node: usize| engine.host(&processors.intersection(&platform.processors_of(node)));
    parts.iter().any(|part| host(part.0) != host(parts[0].0))
}
