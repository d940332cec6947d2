//! Queries the batch system regularly for the state of pilots and nodes, on a separate thread.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::EngineMessage;
use crate::batch::{BatchSystem, ListedJob};
use crate::pilot::PilotNode;
use crate::{Commands, JobState, OptionalLimit, duration};

/// Time between two queries for a pending job.
const OFTEN: Duration = Duration::from_secs(1);
/// Time between two queries for a running job.
const SELDOM: Duration = Duration::from_secs(5);

/// Number of consecutive lists without a job after which the job has ended. For batch systems other than Slurm, with
/// lists that contain no ended jobs. A new job may appear late in the list.
const MAX_ABSENCES: u32 = 3;

/// Reported end of a job that the controller has forgotten.
pub(super) const FORGOTTEN: &str = "forgotten by Slurm";

/// A report from the thread that queries Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SlurmReport {
    Job(u64, JobStateChange),
    /// The node of this place is down, or no longer belongs to the pilot.
    NodeGone(PilotNode),
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobStateChange {
    /// The job is pending.
    Waits(PendingJob),
    /// The job runs. Contains the remaining time, if known.
    Runs(Option<Duration>),
    /// The job is suspended.
    Rests,
    /// The job has ended. Contains Slurm's state of the job, or another description of the end.
    Over(String),
}

/// A pending job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingJob {
    /// The reason why the job is pending.
    pub reason: String,
    /// The number of requested nodes.
    pub nodes: u64,
    /// The nodes that accept jobs. Set only if the job may be waiting for nodes that accept no jobs.
    pub up: Option<Vec<String>>,
}

/// A request to the thread.
#[derive(Debug)]
enum WatchRequest {
    Job(u64),
    NoJob(u64),
    Node(PilotNode),
    NoNode(PilotNode),
    /// The job will end soon, so its state is queried more often.
    Ending(u64),
}

/// The channel to the thread that queries Slurm.
#[derive(Debug)]
pub(super) struct SlurmWatch(Sender<WatchRequest>);

impl SlurmWatch {
    pub fn begin(batch: BatchSystem, told: Sender<EngineMessage>) -> Self {
        let (sender, wishes) = mpsc::channel();
        let run = move || watch(&batch.with_patience(Duration::ZERO), &wishes, &told);
        // If the thread cannot be started, the planner gets no reports of Slurm. The messages of living agents are
        // then sufficient.
        let _ = thread::Builder::new().name("slurm".into()).spawn(run);
        Self(sender)
    }

    /// Starts the queries for a job.
    pub fn ask_job(&self, job: u64) {
        let _ = self.0.send(WatchRequest::Job(job));
    }

    /// Stops the queries for a job.
    pub fn forget_job(&self, job: u64) {
        let _ = self.0.send(WatchRequest::NoJob(job));
    }

    /// Starts the queries for the node of a place.
    pub fn ask_node(&self, place: &PilotNode) {
        let _ = self.0.send(WatchRequest::Node(place.clone()));
    }

    /// Queries a job more often, because it will end soon.
    pub fn expect_end(&self, job: u64) {
        let _ = self.0.send(WatchRequest::Ending(job));
    }

    pub fn forget_node(&self, place: &PilotNode) {
        let _ = self.0.send(WatchRequest::NoNode(place.clone()));
    }
}

fn watch(batch: &BatchSystem, wishes: &Receiver<WatchRequest>, told: &Sender<EngineMessage>) {
    let mut jobs: BTreeMap<u64, (Instant, bool)> = BTreeMap::new();
    let mut nodes: BTreeSet<PilotNode> = BTreeSet::new();
    let mut ending: BTreeSet<u64> = BTreeSet::new();
    let mut asked_nodes = Instant::now();
    let mut absences: BTreeMap<u64, u32> = BTreeMap::new();
    loop {
        let mut wish = wishes.recv_timeout(OFTEN / 4);
        loop {
            match wish {
                Ok(WatchRequest::Job(job)) => {
                    jobs.entry(job).or_insert((Instant::now(), true));
                }
                Ok(WatchRequest::NoJob(job)) => {
                    jobs.remove(&job);
                    nodes.retain(|place| place.job != job);
                }
                Ok(WatchRequest::Ending(job)) => {
                    ending.insert(job);
                }
                Ok(WatchRequest::Node(place)) => {
                    nodes.insert(place);
                }
                Ok(WatchRequest::NoNode(place)) => {
                    nodes.remove(&place);
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            wish = wishes.try_recv().map_err(|error| match error {
                mpsc::TryRecvError::Empty => RecvTimeoutError::Timeout,
                mpsc::TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        // If an agent gives no sign of life, query the state of its job at once.
        let urgent: BTreeSet<u64> = nodes.iter().map(|place| place.job).collect();
        let mut listed = None;
        for (&job, (last, waits)) in &mut jobs {
            let pause = if *waits || urgent.contains(&job) || ending.contains(&job) { OFTEN } else { SELDOM };
            if last.elapsed() < pause && !(*waits && last.elapsed() >= OFTEN / 4) {
                continue;
            }
            *last = Instant::now();
            let state = match batch.as_slurm() {
                Some(commands) => state_of(commands, job),
                // One list contains the states of all jobs.
                None => {
                    let all = listed.get_or_insert_with(|| batch.jobs().ok());
                    all.as_ref().and_then(|all| listed_state(all, job, absences.entry(job).or_default()))
                }
            };
            if let Some(state) = state {
                *waits = matches!(state, JobStateChange::Waits(_));
                if told.send(EngineMessage::Slurm(SlurmReport::Job(job, state))).is_err() {
                    return;
                }
            }
        }
        if let Some(commands) = batch.as_slurm().filter(|_| !nodes.is_empty() && asked_nodes.elapsed() >= OFTEN) {
            asked_nodes = Instant::now();
            for place in nodes.iter().filter(|place| is_gone(commands, place)) {
                let _ = told.send(EngineMessage::Slurm(SlurmReport::NodeGone(place.clone())));
            }
        }
    }
}

/// Returns the state of a job, or `None` if Slurm does not answer.
fn state_of(commands: &Commands, job: u64) -> Option<JobStateChange> {
    let Some(job) = commands.job(job).ok()? else { return Some(JobStateChange::Over(FORGOTTEN.into())) };
    if job.state.has_ended() {
        return Some(JobStateChange::Over(format!("{:?}", job.state).to_ascii_lowercase()));
    }
    if job.state.is_waiting() {
        let up = || Some(commands.nodes().ok()?.items.into_iter().filter(|node| node.state.takes_jobs()));
        let up = if is_for_nodes(&job.reason) { up() } else { None };
        let up = up.map(|nodes| nodes.map(|node| node.name).collect());
        return Some(JobStateChange::Waits(PendingJob { reason: job.reason, nodes: job.node_count.0, up }));
    }
    if job.state == JobState::Suspended {
        return Some(JobStateChange::Rests);
    }
    // Use the run time and the limit, because both come from the controller's clock.
    let run = job.record.get("RunTime").and_then(duration).and_then(OptionalLimit::value);
    let left = job.time_limit.and_then(OptionalLimit::value).zip(run);
    Some(JobStateChange::Runs(left.map(|(limit, run)| Duration::from_secs(limit.saturating_sub(run)))))
}

/// Returns the state of a job in a list of jobs. `absences` counts the consecutive lists without the job.
fn listed_state(all: &[ListedJob], job: u64, absences: &mut u32) -> Option<JobStateChange> {
    let Some(found) = all.iter().find(|one| one.job == job) else {
        *absences += 1;
        return (*absences >= MAX_ABSENCES).then(|| JobStateChange::Over("it has left the queue".into()));
    };
    *absences = 0;
    Some(match &found.state {
        state if state.has_ended() => JobStateChange::Over(format!("{state:?}").to_ascii_lowercase()),
        state if state.is_waiting() => {
            JobStateChange::Waits(PendingJob { reason: found.reason.clone(), nodes: 1, up: None })
        }
        JobState::Suspended => JobStateChange::Rests,
        _ => JobStateChange::Runs(None),
    })
}

/// Returns true if a job that is pending for this reason waits for nodes that accept no jobs.
fn is_for_nodes(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["down", "drain", "unavail", "notavail"].iter().any(|word| reason.contains(word))
}

/// Returns true if Slurm reports that the node of a place is down, or that the pilot runs without this node. Slurm
/// never returns a failed node to a running job.
fn is_gone(commands: &Commands, place: &PilotNode) -> bool {
    let is_down = |node: &crate::Node| node.name == place.node && node.state.base == "DOWN";
    if commands.nodes().is_ok_and(|nodes| nodes.items.iter().any(is_down)) {
        return true;
    }
    let Ok(Some(job)) = commands.job(place.job) else { return false };
    matches!(job.state, JobState::Running | JobState::Suspended)
        && !job.nodes.is_empty()
        && !job.nodes.contains(&place.node)
}
