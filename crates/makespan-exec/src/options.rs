//! Options of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use makespan_core::{Estimation, Instance, Stop, TaskId, Time};

use crate::halt::HaltRule;
use crate::intake::Intake;
use crate::keep::Keep;
use crate::shim::{check_name, check_pattern};

/// Conditions that hold starts. Running tasks go on.
#[derive(Clone, Debug, Default)]
pub struct StartHold {
    /// Shortest time between two starts.
    pub delay: Duration,
    /// Bytes of memory that must be available.
    pub free_memory: Option<u64>,
    /// The number of running threads of the machine below which a task starts.
    pub load: Option<u32>,
}

/// How processes of tasks are set up on this machine.
#[derive(Clone, Debug, Default)]
pub struct JobSetting {
    /// The working folder. Without it, tasks run in the working folder of this process.
    pub folder: Option<PathBuf>,
    /// The niceness, unless this process has a higher one.
    pub niceness: Option<i32>,
}

/// Copying of files for tasks that run in separate folders on the disks of their nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    pub(crate) folder: String,
    pub(crate) home: String,
    pub(crate) files: BTreeMap<TaskId, (Vec<String>, Vec<String>)>,
}

impl Scratch {
    /// Creates the options for task folders. On each node, `folder` is the parent of these folders, where `%N` stands for the node
    /// and `%j` for the Slurm job. File names are relative to `home`, which all nodes share. `files` lists the input and the output
    /// files of each task. A task without files has an empty folder.
    ///
    /// # Errors
    /// The problem of an invalid file name.
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
    /// Tasks whose number of processors is stated. A task that only assumes one core ([`makespan_core::Task::assumes_one_core`])
    /// may use all cores that no pinned task holds.
    Stated,
}

impl Pinning {
    /// Returns whether a task is pinned.
    pub fn pins(self, instance: &Instance, task: TaskId) -> bool {
        self == Self::All || !instance.task(task).assumes_one_core
    }
}

/// How [`crate::execute`] runs an instance.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "choices of the user that go in any combination")]
pub struct ExecuteOptions {
    /// Folder of the run, with `<task>.out`, `<task>.err` and the journal. It is created if it does not exist.
    pub folder: PathBuf,
    /// Names of further files and folders that the caller writes in the folder of the run. A new run does not start if
    /// one of them already exists.
    pub results: Vec<String>,
    /// Resume the run in the folder, or start a new run if the folder holds none. If false, the folder must not hold a run.
    pub resume: bool,
    /// When resuming, run tasks again that failed, timed out, were not started or were cancelled.
    pub retry_failed: bool,
    /// Maximum number of further attempts at a task that failed or reached its time limit. Attempts of earlier sessions count,
    /// unless failed tasks are run again ([`Self::retry_failed`]). A task that ran out of memory gets twice the memory.
    pub retries: u32,
    /// Ends the run early, when enough tasks have failed or succeeded in this session.
    pub halt: Option<HaltRule>,
    /// Time limit of tasks that state none.
    pub timeout: Option<Time>,
    /// Limit each task to its stated memory by a control group (cgroup v2). If this is impossible, no task starts.
    pub limit_memory: bool,
    /// Job names are generated, for example from line numbers. After an edit of the instance, a resumed run then identifies jobs by
    /// their content alone.
    pub made_up_names: bool,
    /// The instance contains only work that is still to be done, as determined by another program such as make. All its tasks are
    /// run, regardless of earlier sessions.
    pub run_all: bool,
    /// When resuming a run with a damaged journal, continue with its undamaged records.
    pub recover: bool,
    /// Accept more processors than cores, and more memory and GPUs than the machine has. Processor `p` is core `p` modulo the
    /// number of cores, and likewise for GPUs.
    pub oversubscribe: bool,
    /// Tasks that are pinned to their cores.
    pub pinning: Pinning,
    /// Program that guards each task and records its exit status, such as `makespan-shim`. `None` selects this program itself,
    /// which must then call [`crate::serve`] before anything else.
    pub shim: Option<PathBuf>,
    /// When starts are held although the policy wants them.
    pub hold: Option<StartHold>,
    /// The working folder and the niceness of tasks on this machine.
    pub setting: JobSetting,
    /// Separate folders for tasks on their nodes. `None` runs tasks in the working directory.
    pub scratch: Option<Scratch>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Interval between progress reports to the observer.
    pub tick: Duration,
    /// The longest time between the end of a task and the sync of the journal. Ends within this time are synced together, and
    /// the observer receives them after that.
    pub group: Duration,
    /// Estimator that replaces estimated run times by what ended tasks show. `None` keeps the estimates.
    pub estimation: Option<Estimation>,
    /// Source of jobs that are added while the run goes on. Such a run ends only on request.
    pub intake: Option<Intake>,
    /// Ends the run: the first request sends SIGTERM to the running tasks, and SIGKILL after the grace period; the
    /// second sends SIGKILL at once.
    pub stop: Stop,
}

impl ExecuteOptions {
    /// Returns the options for a new run in this folder, with five seconds of grace, ten progress reports per second, and a sync of
    /// the journal at least every 8 ms.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            results: Vec::new(),
            resume: false,
            retry_failed: false,
            retries: 0,
            halt: None,
            timeout: None,
            limit_memory: false,
            made_up_names: false,
            run_all: false,
            recover: false,
            oversubscribe: false,
            pinning: Pinning::All,
            shim: None,
            hold: None,
            setting: JobSetting::default(),
            scratch: None,
            grace: Duration::from_secs(5),
            tick: Duration::from_millis(100),
            group: Duration::from_millis(8),
            estimation: None,
            intake: None,
            stop: Stop::default(),
        }
    }

    /// Returns the rule for keeping finished tasks of earlier sessions.
    pub(crate) fn keep(&self) -> Keep {
        match (self.run_all, self.made_up_names) {
            (true, _) => Keep::Nothing,
            (false, true) => Keep::SameDeeds,
            (false, false) => Keep::SameNames,
        }
    }
}
