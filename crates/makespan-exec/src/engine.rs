//! Where tasks run, as a session uses it.

use std::time::{Duration, SystemTime};

use makespan_core::{Outage, Platform, ProcSet, TaskId, Time};

pub use crate::process::Identity;
pub use crate::status::{EndedBy, ended_by, has_succeeded};

/// What is to be started.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Which task.
    pub task: TaskId,
    /// What it is called.
    pub name: &'a str,
    /// The program and its arguments, with `{processors}` and `{gpus}`.
    pub command: &'a [String],
    /// Counted from 1 for each task.
    pub attempt: u32,
    /// How many processors it has, on all nodes together.
    pub allotment: u32,
    /// The processors that it holds.
    pub processors: &'a ProcSet,
    /// True if the task runs on the cores of these processors only. Otherwise it may use all cores of the machine that no
    /// pinned task holds. Engines of clusters pin all tasks.
    pub is_pinned: bool,
    /// The GPUs that it holds, numbered through the platform; `None` where the platform states none.
    pub gpus: Option<&'a [u64]>,
    /// Most bytes of memory that it may use, where it states any.
    pub memory: Option<u64>,
    /// After how long it is ended, if ever.
    pub walltime: Option<Time>,
    /// How long it is expected to take.
    pub expected: Time,
    /// Whether nobody knows how long it takes, so that this is a guess.
    pub is_guess: bool,
    /// The names of its files, from the folder of the run on.
    pub files: &'a TaskFiles,
    /// What its environment has besides.
    pub environment: &'a [(String, String)],
    /// Where the engine decides when a task starts ([`crate::Reserved::hand_over`]): not before so long from now.
    pub not_before: Duration,
    /// The same: only after these have ended with success.
    pub after: &'a [TaskId],
}

/// The files of one attempt, from the folder of the run on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskFiles {
    /// For its output and its errors.
    pub outputs: [String; 2],
    /// Where the process around it leaves how it ended.
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
    /// The folder on each node in which attempts have theirs: `%N` is the node, `%j` the job of Slurm.
    pub scratch: String,
    /// The folder that all nodes share: names of files count from there.
    pub home: String,
    /// What tells the run from others.
    pub run: String,
    /// What the task is called in names of files.
    pub name: String,
    /// Counted from 1.
    pub attempt: u32,
    /// What is copied to the node before it starts.
    pub reads: Vec<String>,
    /// What is copied back after it has succeeded.
    pub writes: Vec<String>,
}

impl Staging {
    /// A short name of bytes (FNV-1a, 64 bits), which is the same everywhere.
    pub(crate) fn hash(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

/// Why a task was not started.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// In words.
    pub reason: String,
    /// Whether it may work a moment later.
    pub passing: bool,
    /// Whether it is due to the processors, of which [`Notice::Down`] tells next: the task waits again.
    pub closing: bool,
}

/// What is known of the processes that earlier sessions left.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    /// The processes around the tasks.
    pub shims: &'a [Identity],
    /// The control group of the last session.
    pub group: Option<&'a str>,
}

/// An attempt that an earlier session began, and of which the journal knows no end.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Which task.
    pub task: TaskId,
    /// Counted from 1.
    pub attempt: u32,
    /// Where.
    pub processors: ProcSet,
    /// The names of its files.
    pub files: TaskFiles,
    /// What it is called.
    pub name: String,
    /// The process around it, where that ran on this machine since it was started.
    pub shim: Option<Identity>,
    /// The GPUs that it holds, numbered through the platform; `None` where the journal does not tell.
    pub gpus: Option<Vec<u64>>,
    /// True if the task runs on the cores of its processors only.
    pub is_pinned: bool,
}

/// An attempt of an earlier session that goes on under this one, or whose end this one is still to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Which task.
    pub task: TaskId,
    /// The GPUs that it holds, numbered through the platform.
    pub gpus: Vec<u64>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A task that the engine was to start when it sees fit has begun.
    Begun {
        /// Which.
        task: TaskId,
        /// By the wall clock of its machine.
        at: SystemTime,
        /// Where.
        processors: ProcSet,
    },
    /// Nothing of a task is left.
    Ended(TaskId),
    /// The same, and it was ended at its walltime while no session was there.
    TimedOut(TaskId),
    /// A task that was let run could not be started, for this reason.
    Refused(TaskId, String),
    /// A task is gone with its node, and has left no end. The words say why.
    Lost(TaskId, String),
    /// No task may start on these processors until [`Notice::Up`], which is expected after so long, if anybody knows.
    Down {
        /// Names it, as no other at the same time.
        outage: Outage,
        /// Which.
        processors: ProcSet,
        /// How long.
        expected: Option<Duration>,
    },
    /// An outage is over.
    Up(Outage),
    /// These processors will go down after so long, which [`Notice::Down`] tells when it comes; `None`: nothing of the kind is known any more. What
    /// was said under this name before is replaced; names of outages are others.
    Closing {
        /// Names it, as no other at the same time.
        outage: Outage,
        /// Which.
        processors: ProcSet,
        /// How long.
        after: Option<Duration>,
    },
    /// Something the user should know.
    Told(String),
    /// The same, without which nobody understands why nothing happens.
    Warned(String),
    /// No processor will be up again, for this reason, and no task runs: the run ends, and can be resumed.
    Over(String),
}

/// Where tasks run, how they are started and ended, and how it is told that they have ended: this machine ([`crate::Local`]), or a
/// cluster. Journal, walltimes, retries, policies and logs are above it.
///
/// A task starts in two steps: [`Engine::start`] prepares it, its start is written to the journal, and [`Engine::go`] lets it run. The process
/// around it leaves how it ended in the status file ([`TaskFiles::status`]); the session reads it when it hears of the end.
pub trait Engine {
    /// A clock that never goes back.
    fn now(&self) -> Duration;

    /// The wall clock.
    fn wall(&self) -> SystemTime;

    /// Where attempts can be found again: of a machine the id of its present boot, since start times of processes are comparable
    /// within one only.
    fn place(&self) -> String;

    /// Whether attempts that an earlier session began at that place are out of the way, or can be ended or taken over, here. The error
    /// says what to do.
    ///
    /// # Errors
    /// A sentence.
    fn follows(&self, _place: &str) -> Result<(), String> {
        Ok(())
    }

    /// What the machine is called that a task runs on.
    fn host(&self, processors: &ProcSet) -> String;

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

    /// How many processes the system has killed for lack of memory since it began, where it says so.
    fn memory_kills(&self) -> Option<u64> {
        None
    }

    /// Whether tasks go on when the machine of the session loses its power. Then what starts is on disk before.
    fn outlives_us(&self) -> bool {
        false
    }

    /// Whether processors that are down may come up, so that tasks may wait for them.
    fn awaits(&self) -> bool {
        false
    }

    /// Hears how many tasks wait, now and then: what more processors could be used for. And it may ask how long the shortest of them is
    /// expected to take at least, where all of them have times that are more than guesses.
    fn hear_waiting(&mut self, _tasks: usize, _shortest: &dyn Fn() -> Option<Duration>) {}

    /// Where the engine decides when tasks start, whether it takes another one now.
    fn takes_more(&self) -> bool {
        true
    }

    /// Where the engine decides when tasks start, whether it has kept some waiting, so that those that it is still to be given are worth a
    /// new plan. It asks once each time.
    fn wants_new_plan(&mut self) -> bool {
        false
    }

    /// Where the engine decides when tasks start, hears that one has ended with success, so that nothing has to wait for it any more.
    fn hear_success(&mut self, _task: TaskId) {}

    /// Takes back a task that was let run and has not begun; it never will, and is not heard of again. Whether that was so.
    fn recall(&mut self, _task: TaskId) -> bool {
        false
    }

    /// Prepares a task, which waits. What is returned goes to the journal.
    ///
    /// # Errors
    /// [`Refusal`].
    fn start(&mut self, start: &Start<'_>) -> Result<Identity, Refusal>;

    /// Lets a task run, by a line that its status will hold.
    fn go(&mut self, task: TaskId, claim: &str);

    /// Takes back a task that was not let run.
    fn call_off(&mut self, task: TaskId);

    /// Asks a task to end with all that descends from it, or kills it.
    fn end(&mut self, task: TaskId, kill: bool);

    /// Waits until something happens, or until the time is over.
    fn wait(&mut self, timeout: Duration) -> Option<Notice>;

    /// The session ends, and what runs goes on: nothing of it is ended when this is dropped.
    fn leave(&mut self) {}

    /// Forgets a task that has ended; the exit status of the process around it, for a task whose status file is missing.
    fn reap(&mut self, task: TaskId) -> i32;

    /// Takes over what goes on of the attempts of earlier sessions, of the same instance. What is not among the result has left its status, or
    /// is ended by [`Engine::end_left`], or is gone.
    fn take_over(&mut self, _earlier: &[Earlier]) -> Vec<Taken> {
        Vec::new()
    }

    /// Whether a process of an earlier session still runs.
    fn is_alive(&self, shim: Identity) -> bool;

    /// Ends all that earlier sessions of the run left and that was not taken over. Returns when nothing of it lives.
    fn end_left(&mut self, left: &Left<'_>, grace: Duration, tell: &mut dyn FnMut(&str));
}

/// Whether processors of several machines of an engine are held by a task that one of the machines has room for.
pub(crate) fn is_spread(engine: &dyn Engine, platform: &Platform, processors: &ProcSet) -> bool {
    let parts = platform.parts(processors);
    if parts.len() < 2 || processors.len() > platform.largest_node() {
        return false;
    }
    let host = |node: usize| engine.host(&processors.intersection(&platform.processors_of(node)));
    parts.iter().any(|part| host(part.0) != host(parts[0].0))
}
