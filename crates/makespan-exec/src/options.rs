//! How a run is carried out.

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

/// Where tasks run in folders of their own, on the disks of their nodes, and which of their files are copied there and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    pub(crate) folder: String,
    pub(crate) home: String,
    pub(crate) files: BTreeMap<TaskId, (Vec<String>, Vec<String>)>,
}

impl Scratch {
    /// In this folder of each node, where `%N` stands for the node and `%j` for the job of Slurm; names of files count from `home`, which all nodes
    /// share. For each task what it reads and what it writes; a task without files has an empty folder.
    ///
    /// # Errors
    /// What is wrong with a name, in words.
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
    /// The folder of the run: `<task>.out`, `<task>.err`, the journal. Made when missing.
    pub folder: PathBuf,
    /// Names of further files and folders that the caller writes in the folder of the run. A new run does not start if
    /// one of them already exists.
    pub results: Vec<String>,
    /// Continue the run in the folder; without one there it begins. Otherwise the folder must hold no run.
    pub resume: bool,
    /// When resuming, run failed, timed-out, not started and cancelled tasks again.
    pub retry_failed: bool,
    /// How often a task that failed, or reached its walltime, is tried again. Earlier sessions count, unless failed tasks are run again
    /// ([`Self::retry_failed`]). A task that lack of memory ended gets twice the memory.
    pub retries: u32,
    /// Ends the run early, when enough tasks have failed or succeeded in this session.
    pub halt: Option<HaltRule>,
    /// Ends tasks that state no walltime after so long.
    pub timeout: Option<Time>,
    /// Limit each task to the memory that it states, by its control group (cgroup v2). Where that is not possible, no task starts.
    pub limit_memory: bool,
    /// Names of jobs are made up, such as the numbers of lines. Then resuming a run of an instance that was edited knows jobs by
    /// what they do alone.
    pub made_up_names: bool,
    /// The instance is what is still to be done, as another program such as make has just found out. Then all of it is run, whatever
    /// ended in earlier sessions.
    pub run_all: bool,
    /// When resuming a run whose journal is damaged, go on with what is certain.
    pub recover: bool,
    /// Accept more processors than cores, and more memory and GPUs than there are; processor `p` is core `p` modulo their number,
    /// and likewise for GPUs.
    pub oversubscribe: bool,
    /// The tasks that are pinned to their cores.
    pub pinning: Pinning,
    /// The program that runs around every task and keeps its exit status, such as `makespan-shim`. `None` is this very
    /// program, which then calls [`crate::serve`] first of all.
    pub shim: Option<PathBuf>,
    /// When starts are held although the policy wants them.
    pub hold: Option<StartHold>,
    /// The working folder and the niceness of tasks on this machine.
    pub setting: JobSetting,
    /// Tasks run in folders of their own on their nodes; without it in the working folder.
    pub scratch: Option<Scratch>,
    /// How long an ended task may take to react to SIGTERM before it gets SIGKILL.
    pub grace: Duration,
    /// How often the observer hears of progress.
    pub tick: Duration,
    /// The longest time between the end of a task and the sync of the journal. Ends within this time are synced together, and
    /// the observer receives them after that.
    pub group: Duration,
    /// Replaces estimated times by what the tasks that have ended teach; without it they stay what they are.
    pub estimation: Option<Estimation>,
    /// Jobs come while the run goes on, which ends when it is told to.
    pub intake: Option<Intake>,
    /// Ends the run: the first request sends SIGTERM to the running tasks, and SIGKILL after the grace period; the
    /// second sends SIGKILL at once.
    pub stop: Stop,
}

impl ExecuteOptions {
    /// A new run in this folder, five seconds of grace, ten ticks a second, and a sync of the journal every 8 ms at most.
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

    /// What is kept of earlier sessions.
    pub(crate) fn keep(&self) -> Keep {
        match (self.run_all, self.made_up_names) {
            (true, _) => Keep::Nothing,
            (false, true) => Keep::SameDeeds,
            (false, false) => Keep::SameNames,
        }
    }
}
