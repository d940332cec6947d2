//! Options of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use makespan_core::{Estimation, Instance, Stop, TaskId, Time};

use crate::halt::HaltRule;
use crate::intake::Intake;
use crate::jobserver::JobserverStyle;
use crate::keep::KeptTasks;
use crate::pruning::Pruning;
use crate::shim::{check_name, check_pattern};

/// Conditions under which no task starts. Running tasks continue.
#[derive(Clone, Debug, Default)]
pub struct StartHold {
    /// Minimum time between two starts.
    pub delay: Duration,
    /// Minimum available memory in bytes.
    pub free_memory: Option<u64>,
    /// Limit for the number of running threads of the machine. Tasks start only if the number is below this limit.
    pub load: Option<u32>,
}

/// Settings for the processes of tasks on this machine.
#[derive(Clone, Debug, Default)]
pub struct JobSetting {
    /// The working folder of tasks. The default is the working folder of this process.
    pub folder: Option<PathBuf>,
    /// The niceness, unless this process has a higher one.
    pub niceness: Option<i32>,
}

/// The folders of tasks on the disks of their nodes, and the files that are copied to and from these folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    pub(crate) folder: String,
    pub(crate) home: String,
    pub(crate) files: BTreeMap<TaskId, (Vec<String>, Vec<String>)>,
}

impl Scratch {
    /// Creates the setting. Each task runs in its own folder within `folder` on its node, with `%N` replaced by the
    /// node and `%j` by the Slurm job. File names are relative to `home`, which all nodes share. `files` lists the
    /// files that each task reads, and the files that it writes. A task without files has an empty folder.
    ///
    /// # Errors
    /// A description of an invalid name.
    pub fn new(
        folder: String,
        home: String,
        files: BTreeMap<TaskId, (Vec<String>, Vec<String>)>,
    ) -> Result<Self, String> {
        check_pattern(&folder)?;
        files.values().flat_map(|(reads, writes)| reads.iter().chain(writes)).try_for_each(|name| check_name(name))?;
        Ok(Self { folder, home, files })
    }
}

/// The tasks of a run that are pinned to the cores of their processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// All tasks.
    #[default]
    All,
    /// Tasks with a stated number of processors. If a single core is only assumed for a task
    /// ([`makespan_core::Task::assumes_one_core`]), the task may use all cores that no pinned task holds.
    Stated,
    /// No task. The processes of a task that use lent cores need cores of other tasks ([`ExecuteOptions::jobserver`]).
    Nothing,
}

impl Pinning {
    /// Returns whether a task is pinned.
    pub fn pins(self, instance: &Instance, task: TaskId) -> bool {
        self.includes(instance.task(task).assumes_one_core)
    }

    /// Returns whether tasks are pinned if a single core is only assumed for them.
    pub fn includes(self, assumes_one_core: bool) -> bool {
        match self {
            Self::All => true,
            Self::Stated => !assumes_one_core,
            Self::Nothing => false,
        }
    }
}

/// Options of [`crate::execute`].
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "choices of the user that go in any combination")]
pub struct ExecuteOptions {
    /// The folder of the run, with `<task>.out`, `<task>.err` and the journal. A missing folder is created.
    pub folder: PathBuf,
    /// Names of further files and folders that the caller writes in the folder of the run. A new run does not start if
    /// such a file already exists.
    pub results: Vec<String>,
    /// True to resume the run in the folder, or to begin it if the folder holds none. If false, a folder that holds a
    /// run is an error.
    pub resume: bool,
    /// True to run tasks again that failed, timed out, were not started or were cancelled in earlier sessions.
    pub retry_failed: bool,
    /// Number of times that a task is tried again after it failed or reached its time limit. Attempts of earlier
    /// sessions are included, except for tasks that run again by [`Self::retry_failed`]. If a task lacked memory, its
    /// next attempt gets twice the memory.
    pub retries: u32,
    /// True to try a task again after each kill for lack of memory, with twice the memory, until it holds all memory of
    /// its nodes. These attempts are not included in [`Self::retries`].
    pub raise_memory: bool,
    /// The rule that ends the run early, after some tasks have failed or succeeded in this session.
    pub halt: Option<HaltRule>,
    /// Time limit of each task that states no time limit.
    pub timeout: Option<Time>,
    /// True to limit each task to its stated or learned memory with a control group (cgroup v2). A guessed amount is not
    /// a limit. If limits are not possible, no task starts.
    pub limit_memory: bool,
    /// True if the names of jobs, such as line numbers, are generated. If true, a resumed run of an edited instance
    /// identifies jobs only by their commands and inputs.
    pub made_up_names: bool,
    /// True to run all tasks of the instance, even if they ended in earlier sessions. Use this if another program,
    /// such as make, has just determined the tasks that must be run.
    pub run_all: bool,
    /// True to use the valid records of a damaged journal when the run is resumed.
    pub recover: bool,
    /// True to accept more processors than cores, and more memory and GPUs than the machine has. If true, processor
    /// `p` is core `p` modulo the number of cores. GPU numbers are mapped in the same way.
    pub oversubscribe: bool,
    /// Tasks that are pinned to their cores.
    pub pinning: Pinning,
    /// Lends cores that no task holds to the processes of running tasks, through the jobserver protocol of GNU make. A
    /// start waits until enough lent cores are free. Tasks must not be pinned ([`Pinning::Nothing`]). Used only by
    /// runs on this machine.
    pub jobserver: Option<JobserverStyle>,
    /// The program of the shims, such as `makespan-shim`. A shim guards a task and stores its exit status. The default
    /// is this program, which must then call [`crate::serve`] first.
    pub shim: Option<PathBuf>,
    /// Conditions under which no task starts, even if the policy wants to start it.
    pub hold: Option<StartHold>,
    /// The working folder and the niceness for tasks on this machine.
    pub setting: JobSetting,
    /// The folders of tasks on their nodes. If `None`, tasks run in the working folder.
    pub scratch: Option<Scratch>,
    /// Time between SIGTERM and SIGKILL for a task that is ended.
    pub grace: Duration,
    /// Time between two reports of progress to the observer.
    pub tick: Duration,
    /// Maximum time between the end of a task and the sync of the journal. Ends within this time are synced together.
    /// The observer receives the ends after the sync.
    pub group: Duration,
    /// Replaces estimated times by times that are learned from finished tasks. If `None`, estimates do not change.
    pub estimation: Option<Estimation>,
    /// The source of jobs that arrive during the run. The run ends on request, or when the source is closed and all
    /// jobs have ended.
    pub intake: Option<Intake>,
    /// Finds tasks that need not run, because of the results of other tasks.
    pub pruning: Option<Pruning>,
    /// Stops the run. The first request sends SIGTERM to the running tasks, and SIGKILL after the grace period. The
    /// second request sends SIGKILL at once.
    pub stop: Stop,
}

impl ExecuteOptions {
    /// Creates the options of a new run in this folder, with a grace period of five seconds, ten ticks a second, and a
    /// sync of the journal at most every 8 ms.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            results: Vec::new(),
            resume: false,
            retry_failed: false,
            retries: 0,
            raise_memory: false,
            halt: None,
            timeout: None,
            limit_memory: false,
            made_up_names: false,
            run_all: false,
            recover: false,
            oversubscribe: false,
            pinning: Pinning::All,
            jobserver: None,
            shim: None,
            hold: None,
            setting: JobSetting::default(),
            scratch: None,
            grace: Duration::from_secs(5),
            tick: Duration::from_millis(100),
            group: Duration::from_millis(8),
            estimation: None,
            intake: None,
            pruning: None,
            stop: Stop::default(),
        }
    }

    /// Returns the rule for finished tasks of earlier sessions.
    pub(crate) fn keep(&self) -> KeptTasks {
        match (self.run_all, self.made_up_names) {
            (true, _) => KeptTasks::Nothing,
            (false, true) => KeptTasks::SameDeeds,
            (false, false) => KeptTasks::SameNames,
        }
    }
}
