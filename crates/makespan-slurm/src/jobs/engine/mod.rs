//! An engine that runs each task as a Slurm job. It accepts all tasks at once, submits a job for each task, and
//! reports the end of each task.

mod clusters;
mod ends;
mod late;
mod places;
mod silent;
mod submit;
mod verdict;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant, SystemTime};

use makespan_core::{Instance, ProcSet, TaskId};
use makespan_exec::engine::{
    EarlierAttempt, Engine, EngineStart, Identity, LeftProcesses, Notice, Refusal, Staging, TakenAttempt,
};

pub use clusters::{JobCluster, alone};
use clusters::{LateSide, SlurmSide, cluster_of};

use super::board::{Claim, JobBoard, Submissions};
use super::queue::{ThreadAnswer, ThreadRequest, cancel};
use crate::pilot::{AttemptEnd, AttemptOrder};

/// Minimum time between two checks of the files.
const SHORTEST: Duration = Duration::from_millis(20);
/// Maximum time between two checks of the files.
const LONGEST: Duration = Duration::from_millis(250);

/// Minimum time between two queries of the queue.
const PAUSE: Duration = Duration::from_secs(1);
/// The time between two queries of the queue is at least this multiple of the duration of the last query.
const TIMES: u32 = 5;

/// Maximum number of tasks that the run has given to the engine but that are not submitted. If this process dies,
/// these tasks are submitted only in the next session.
const MAX_WAITING: usize = 32;

/// The options of the engine.
#[derive(Clone, Debug)]
pub struct JobsOptions {
    /// The folder of the run, on a file system that all nodes share. The path is absolute.
    pub folder: PathBuf,
    /// The clusters. Their processors are the processors of the plan.
    pub clusters: Vec<JobCluster>,
    /// The path of this program on the nodes.
    pub program: PathBuf,
    /// Time between SIGTERM and SIGKILL for a task.
    pub grace: Duration,
    /// Further options of `sbatch`, such as account and partition.
    pub options: Vec<String>,
    /// Time limit in seconds of jobs for tasks without a walltime. `None` means the default of the partition.
    pub limit: Option<u64>,
    /// Maximum time limit of a job in seconds.
    pub most: Option<u64>,
}

/// An attempt with a job that is or will be submitted.
#[derive(Debug)]
struct SubmittedAttempt {
    id: String,
    /// The position of the cluster.
    cluster: usize,
    order: AttemptOrder,
    /// The options of `sbatch` for this attempt.
    options: Vec<String>,
    /// The tasks that must succeed before this attempt starts.
    after: Vec<TaskId>,
    is_let_go: bool,
    /// The earliest instant at which the job may be in the queue.
    submitted: Option<Instant>,
    number: Option<u64>,
    claim: Option<Claim>,
    fate: Option<AttemptEnd>,
    /// True if the attempt was stopped and Slurm must report the reason.
    is_stopped: bool,
    /// The instant since which the job has been ended or absent from the queue.
    over: Option<Instant>,
    /// The last sign of life, by the clock of the job's node, and the instant at which the planner noticed this sign.
    beat: Option<(SystemTime, Instant)>,
}

/// An engine that runs each task as a Slurm job. Slurm decides when the job starts. The predecessors of a task in a
/// graph become dependencies of its job. If this process ends, attempts continue.
///
/// A job claims its attempt before it starts the attempt. So if a job starts a second time, or if its attempt was
/// withdrawn too late, the job runs nothing.
#[derive(Debug)]
pub struct SlurmJobEngine<'a> {
    instance: &'a Instance,
    options: JobsOptions,
    board: JobBoard,
    /// The nodes of the plan, by the position of the cluster and the name of the node in this cluster.
    nodes: HashMap<(usize, &'a str), usize>,
    begun: Instant,
    looked: Instant,
    pause: Duration,
    run: RunSide,
    /// The clusters, in the order of the options.
    slurm: Vec<SlurmSide>,
    /// The answers of the threads of all clusters.
    heard: Receiver<ThreadAnswer>,
    submissions: SubmissionSide,
    late: LateSide,
}

/// Tasks that the run has given to the engine, and the engine's notices for the run.
#[derive(Debug, Default)]
struct RunSide {
    tasks: BTreeMap<TaskId, SubmittedAttempt>,
    by_id: HashMap<String, TaskId>,
    succeeded: BTreeSet<TaskId>,
    /// The assumed processors of running tasks, if Slurm does not report them.
    busy: BTreeMap<TaskId, ProcSet>,
    notices: VecDeque<Notice>,
}

/// Submitted jobs, and tasks that have not been submitted yet.
#[derive(Debug)]
struct SubmissionSide {
    log: Submissions,
    /// Suffix of the names of all jobs that this run submits.
    mark: String,
    /// Part of the ids of attempts that is different in each session.
    session: String,
    /// Tasks that have not been submitted yet, in the order of submission.
    waiting: VecDeque<TaskId>,
    /// The task that is being submitted.
    submitting: Option<TaskId>,
    /// Earliest time of the next submission, if the last submission failed on this machine.
    again: Option<Instant>,
    has_told_limit: bool,
    /// Number of delayed submissions since tasks were planned.
    kept_waiting: u32,
    /// True if Slurm has accepted a job.
    has_any: bool,
    /// Number of jobs that ended without a log. `None` after the first job of the run has started.
    stillborn: Option<u32>,
}

impl SlurmJobEngine<'_> {
    /// Returns a new id for an attempt: the name of its status file, followed by the session. Without the session, ids
    /// could repeat, because an edited instance numbers its attempts from the start.
    fn id_of(&self, status: &str) -> String {
        format!("{}+{}", status.rsplit_once('/').map_or(status, |(_, name)| name), self.submissions.session)
    }
}

/// Returns the suffix of the job names of a run. It is different for runs in different folders.
fn mark_of(folder: &std::path::Path) -> String {
    format!("@{:016x}", Staging::hash(folder.as_os_str().as_encoded_bytes()))
}

impl<'a> SlurmJobEngine<'a> {
    /// Begins a session, which can adopt attempts of earlier sessions.
    ///
    /// # Errors
    /// The folder of the run cannot be read or written.
    pub fn begin(instance: &'a Instance, options: JobsOptions) -> Result<Self, String> {
        let board = JobBoard::of(&options.folder);
        let wrong = |error: std::io::Error| format!("{}: {error}", options.folder.display());
        let log = board.make().and_then(|()| board.log_of_submissions()).map_err(wrong)?;
        let mark = mark_of(&options.folder);
        let (sender, heard): (Sender<ThreadAnswer>, Receiver<ThreadAnswer>) = mpsc::channel();
        let platform = instance.platform();
        let nodes = platform.nodes().iter().enumerate().map(|(at, node)| {
            let cluster = cluster_of(&options.clusters, &platform.processors_of(at));
            let prefix = options.clusters.get(cluster).map_or("", |cluster| cluster.prefix.as_str());
            ((cluster, node.name.strip_prefix(prefix).unwrap_or(&node.name)), at)
        });
        let nodes = nodes.collect();
        let now = Instant::now();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let slurm = options.clusters.iter().enumerate();
        let slurm = slurm.map(|(at, cluster)| SlurmSide::begin(at, &cluster.batch, &mark, &sender)).collect();
        let submissions = SubmissionSide {
            log,
            mark,
            session: format!("{:x}", since.as_millis()),
            waiting: VecDeque::new(),
            submitting: None,
            again: None,
            has_told_limit: false,
            kept_waiting: 0,
            has_any: false,
            stillborn: Some(0),
        };
        let (run, begun, looked, pause) = (RunSide::default(), now, now, SHORTEST);
        let late = LateSide::new(sender);
        Ok(Self { instance, options, board, nodes, begun, looked, pause, run, slurm, heard, submissions, late })
    }

    fn tell(&mut self, text: impl Into<String>) {
        self.run.notices.push_back(Notice::Told(text.into()));
    }

    /// Removes a task and its files.
    fn forget(&mut self, task: TaskId) {
        self.submissions.waiting.retain(|&other| other != task);
        self.run.busy.remove(&task);
        if let Some(held) = self.run.tasks.remove(&task) {
            self.run.by_id.remove(&held.id);
            self.board.forget(&held.id);
            if let Some(fate) = &held.fate {
                self.board.forget_end(&held.id, fate);
            }
        }
    }

    /// Reports a task as lost if no record of its end exists.
    fn lose(&mut self, task: TaskId, reason: String) {
        self.forget(task);
        self.run.notices.push_back(Notice::Lost(task, reason));
    }

    /// Checks the files and the queue, each after its interval, and submits tasks.
    fn look(&mut self) {
        if self.looked.elapsed() >= self.pause {
            self.looked = Instant::now();
            let found = self.look_for_news();
            self.pause = if found { SHORTEST } else { LONGEST.min(self.pause * 2) };
        }
        for (at, slurm) in self.slurm.iter_mut().enumerate() {
            let is_there = |held: &SubmittedAttempt| held.cluster == at && held.submitted.is_some();
            if !slurm.is_asked && slurm.ask <= Instant::now() && self.run.tasks.values().any(is_there) {
                slurm.is_asked = true;
                slurm.queue.ask();
            }
            if !slurm.cancel.is_empty() {
                slurm.queue.wish(ThreadRequest::Cancel(std::mem::take(&mut slurm.cancel)));
            }
        }
        self.leave_silent_clusters();
        self.leave_late_clusters();
        self.submit_next();
    }

    fn take_in(&mut self, heard: ThreadAnswer) {
        match heard {
            ThreadAnswer::Submitted(cluster, task, id, answer) => self.submitted(cluster, task, &id, answer),
            ThreadAnswer::AllJobs(cluster, jobs) => self.hear_all_jobs(cluster, jobs),
            ThreadAnswer::Queue(cluster, at, answer) => {
                let slurm = &mut self.slurm[cluster];
                slurm.is_asked = false;
                slurm.ask = Instant::now() + PAUSE.max(at.elapsed() * TIMES);
                match answer {
                    Ok(snapshot) => {
                        slurm.silent = None;
                        if slurm.mute.take().is_some() {
                            // While the cluster did not answer, tasks may have moved to other clusters. The jobs of
                            // these tasks in this cluster must be cancelled now.
                            let left = snapshot
                                .iter()
                                .filter(|(id, entry)| !self.run.by_id.contains_key(*id) && !entry.state.has_ended());
                            slurm.cancel.extend(left.map(|(id, _)| id.clone()));
                            self.tell(format!("{} answers again", self.options.clusters[cluster].name));
                        }
                        self.judge(cluster, at, &snapshot);
                    }
                    Err(text) => {
                        slurm.doubt = Some(Instant::now());
                        slurm.silent = slurm.silent.or(Some(at));
                        if slurm.mute.replace(text.clone()).is_none() {
                            self.tell(format!("{text}; running jobs continue meanwhile"));
                        }
                    }
                }
            }
        }
    }
}

impl Engine for SlurmJobEngine<'_> {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn place(&self) -> String {
        crate::JOBS.into()
    }

    fn follows(&self, place: &str) -> Result<(), String> {
        crate::follows(crate::JOBS, place)
    }

    fn host(&self, processors: &ProcSet) -> String {
        let platform = self.instance.platform();
        let first = processors.iter().next().filter(|&id| id < platform.processors());
        first.map_or_else(String::new, |id| platform.nodes()[platform.node_of(id)].name.clone())
    }

    fn limit_memory(&mut self) -> Result<(), String> {
        Err("the memory of Slurm jobs is limited only by Slurm's setting ConstrainRAMSpace".into())
    }

    fn outlives_us(&self) -> bool {
        true
    }

    fn takes_more(&self) -> bool {
        self.submissions.waiting.len() < MAX_WAITING
            && self.submissions.again.is_none()
            && self.slurm.iter().any(|slurm| slurm.again.is_none())
    }

    fn wants_new_plan(&mut self) -> bool {
        std::mem::take(&mut self.submissions.kept_waiting) > 0
    }

    fn hear_success(&mut self, task: TaskId) {
        self.run.succeeded.insert(task);
    }

    fn recall(&mut self, task: TaskId) -> bool {
        self.take_back(task)
    }

    fn start(&mut self, start: &EngineStart<'_>) -> Result<Identity, Refusal> {
        self.prepare(start);
        Ok(Identity { pid: 0, start: 0 })
    }

    fn go(&mut self, task: TaskId, claim: &str) {
        if let Some(held) = self.run.tasks.get_mut(&task) {
            claim.clone_into(&mut held.order.claim);
            held.is_let_go = true;
        }
    }

    fn call_off(&mut self, task: TaskId) {
        self.forget(task);
    }

    fn end(&mut self, task: TaskId, kill: bool) {
        self.ask_end(task, kill);
    }

    fn wait(&mut self, timeout: Duration) -> Option<Notice> {
        let begun = Instant::now();
        loop {
            while let Ok(heard) = self.heard.try_recv() {
                self.take_in(heard);
            }
            if self.run.notices.is_empty() {
                self.look();
            }
            if let Some(notice) = self.run.notices.pop_front() {
                return Some(notice);
            }
            let left = timeout.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return None;
            }
            let next = self.pause.saturating_sub(self.looked.elapsed()).max(Duration::from_millis(1));
            if let Ok(heard) = self.heard.recv_timeout(left.min(next)) {
                self.take_in(heard);
            }
        }
    }

    fn reap(&mut self, task: TaskId) -> i32 {
        let status = AttemptEnd::exit_status(self.run.tasks.get(&task).and_then(|held| held.fate.as_ref()));
        self.forget(task);
        status
    }

    fn take_over(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        self.find_tasks(earlier)
    }

    fn end_left(&mut self, _left: &LeftProcesses<'_>, grace: Duration, tell: &mut dyn FnMut(&str)) {
        self.end_strangers(grace, tell);
    }
}

/// Cancel the jobs of withdrawn attempts now, because no later answer of Slurm is handled.
impl Drop for SlurmJobEngine<'_> {
    fn drop(&mut self) {
        for slurm in &mut self.slurm {
            slurm.queue.wish(ThreadRequest::Cancel(std::mem::take(&mut slurm.cancel)));
            slurm.queue.finish();
        }
        let mut late = vec![Vec::new(); self.slurm.len()];
        while let Ok(heard) = self.heard.try_recv() {
            if let ThreadAnswer::Submitted(cluster, task, id, Ok(number)) = heard {
                let _ = self.submissions.log.note(&id, Some(number));
                late[cluster].extend((!self.run.tasks.contains_key(&task)).then_some(id));
            }
        }
        for (cluster, late) in self.options.clusters.iter().zip(&late) {
            cancel(&cluster.batch, &self.submissions.mark, late);
        }
    }
}
