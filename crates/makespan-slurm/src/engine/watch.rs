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

/// If all lists of this time lack a job, the job has ended. For batch systems other than Slurm, with lists that contain no
/// ended jobs. A list may lack a new job, or a job that is about to start.
const ABSENCE: Duration = Duration::from_secs(30);
/// The time that replaces [`ABSENCE`] if the pilot is expected to end.
const SHORT_ABSENCE: Duration = Duration::from_secs(3);

/// If a list command fails for this time, or prints only text that cannot be read, a message reports this.
const MENTION: Duration = Duration::from_secs(10);

/// Reported end of a job that is missing in the lists.
pub(super) const LEFT: &str = "it has left the queue";

/// Reported end of a job that the controller has forgotten.
pub(super) const FORGOTTEN: &str = "forgotten by Slurm";

/// A report from the thread that queries Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SlurmReport {
    Job(u64, JobStateChange),
    /// The node of this place is down, or no longer belongs to the pilot.
    NodeGone(PilotNode),
    /// A message about the command that lists the jobs.
    Told(String),
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
    /// Cancels a job.
    Cancel(u64),
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

    /// Cancels a job that is missing in the lists, because the job may still be pending.
    pub fn cancel(&self, job: u64) {
        let _ = self.0.send(WatchRequest::Cancel(job));
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
    let mut list = JobList::default();
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
                Ok(WatchRequest::Cancel(job)) => {
                    let _ = batch.cancel(&[job]);
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
        let is_soon = |job: &u64, waits: bool| waits || urgent.contains(job) || ending.contains(job);
        let Some(commands) = batch.as_slurm() else {
            let pause = if jobs.iter().any(|(job, (_, waits))| is_soon(job, *waits)) { OFTEN } else { SELDOM };
            for report in list.ask(batch, &jobs.keys().copied().collect::<Vec<_>>(), &ending, pause) {
                if let SlurmReport::Job(job, state) = &report
                    && let Some((_, waits)) = jobs.get_mut(job)
                {
                    *waits = matches!(state, JobStateChange::Waits(_));
                }
                if told.send(EngineMessage::Slurm(report)).is_err() {
                    return;
                }
            }
            continue;
        };
        for (&job, (last, waits)) in &mut jobs {
            let pause = if is_soon(&job, *waits) { OFTEN } else { SELDOM };
            if last.elapsed() < pause && !(*waits && last.elapsed() >= OFTEN / 4) {
                continue;
            }
            *last = Instant::now();
            if let Some(state) = state_of(commands, job) {
                *waits = matches!(state, JobStateChange::Waits(_));
                if told.send(EngineMessage::Slurm(SlurmReport::Job(job, state))).is_err() {
                    return;
                }
            }
        }
        if !nodes.is_empty() && asked_nodes.elapsed() >= OFTEN {
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

/// The lists of jobs of a batch system other than Slurm. One list contains the states of all jobs.
#[derive(Debug, Default)]
struct JobList {
    /// Instant of the last list.
    asked: Option<Instant>,
    /// For each missing job, the instant of the first consecutive list without the job.
    absent: BTreeMap<u64, Instant>,
    /// Instant since which the command has been failing.
    failing: Option<Instant>,
    is_failure_told: bool,
    /// Instant since which the lists have contained text but no jobs.
    unread: Option<Instant>,
    is_unread_told: bool,
    /// True if a list has contained a job.
    has_matched: bool,
}

impl JobList {
    /// Lists the jobs if the last list is older than `pause`, and returns the reports.
    fn ask(&mut self, batch: &BatchSystem, jobs: &[u64], ending: &BTreeSet<u64>, pause: Duration) -> Vec<SlurmReport> {
        let is_in_doubt = !self.absent.is_empty() || self.failing.is_some();
        let pause = if is_in_doubt { OFTEN } else { pause };
        if jobs.is_empty() || self.asked.is_some_and(|asked| asked.elapsed() < pause) {
            return Vec::new();
        }
        let listed = batch.list().map_err(|error| error.to_string());
        let now = Instant::now();
        self.asked = Some(now);
        self.absent.retain(|job, _| jobs.contains(job));
        let (all, has_text) = match listed {
            Ok(listed) => listed,
            Err(error) => return self.fails(&error, now).into_iter().collect(),
        };
        let states = jobs.iter().filter_map(|&job| {
            let limit = if ending.contains(&job) { SHORT_ABSENCE } else { ABSENCE };
            Some(SlurmReport::Job(job, self.state(&all, job, limit, now)?))
        });
        let states: Vec<SlurmReport> = states.collect();
        self.messages(batch.name(), !all.is_empty(), has_text, now).into_iter().chain(states).collect()
    }

    /// Handles a list command that failed. Returns a message if the command has been failing for a while.
    fn fails(&mut self, error: &str, now: Instant) -> Option<SlurmReport> {
        // A list that failed proves nothing about missing jobs.
        self.absent.clear();
        let since = *self.failing.get_or_insert(now);
        let is_due = now - since >= MENTION && !std::mem::replace(&mut self.is_failure_told, now - since >= MENTION);
        is_due.then(|| SlurmReport::Told(format!("{error}; running jobs continue meanwhile")))
    }

    /// Returns messages after a list command that succeeded: it works again, or its output has never contained a job.
    fn messages(&mut self, name: &str, has_jobs: bool, has_text: bool, now: Instant) -> Vec<SlurmReport> {
        self.failing = None;
        let mut texts = Vec::new();
        if std::mem::take(&mut self.is_failure_told) {
            texts.push(format!("{name} answers again"));
        }
        self.has_matched |= has_jobs;
        self.unread = if self.has_matched || !has_text { None } else { self.unread.or(Some(now)) };
        if self.unread.is_some_and(|since| now - since >= MENTION) && !self.is_unread_told {
            self.is_unread_told = true;
            texts.push(format!(
                "the list command of {name} prints text, but the expression `list.job` has matched no job in it: check the \
                 expression, unless all pilots have ended"
            ));
        }
        texts.into_iter().map(SlurmReport::Told).collect()
    }

    /// Returns the state of a job in a list. A job that has been missing for the time `limit` has ended.
    fn state(&mut self, all: &[ListedJob], job: u64, limit: Duration, now: Instant) -> Option<JobStateChange> {
        let Some(found) = all.iter().find(|one| one.job == job) else {
            let since = *self.absent.entry(job).or_insert(now);
            return (now - since >= limit).then(|| JobStateChange::Over(LEFT.into()));
        };
        self.absent.remove(&job);
        Some(match &found.state {
            state if state.has_ended() => JobStateChange::Over(format!("{state:?}").to_ascii_lowercase()),
            state if state.is_waiting() => {
                JobStateChange::Waits(PendingJob { reason: found.reason.clone(), nodes: 1, up: None })
            }
            JobState::Suspended => JobStateChange::Rests,
            _ => JobStateChange::Runs(None),
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_absence_is_an_end() {
        let (mut list, begun) = (JobList::default(), Instant::now());
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let state = JobState::Running;
        let seen = [ListedJob { job: 7, state, reason: String::new(), name: "a".into(), nodes: None }];
        let over = Some(JobStateChange::Over(LEFT.into()));
        assert_eq!(list.state(&[], 7, ABSENCE, at(0)), None);
        assert_eq!(list.state(&[], 7, ABSENCE, at(29)), None);
        assert_eq!(list.state(&seen, 7, ABSENCE, at(30)), Some(JobStateChange::Runs(None)));
        assert_eq!(list.state(&[], 7, ABSENCE, at(31)), None);
        assert_eq!(list.fails("no answer", at(40)), None);
        assert_eq!(list.state(&[], 7, ABSENCE, at(62)), None);
        assert_eq!(list.state(&[], 7, ABSENCE, at(92)), over);
        assert_eq!(list.state(&[], 8, SHORT_ABSENCE, at(92)), None);
        assert_eq!(list.state(&[], 8, SHORT_ABSENCE, at(95)), over);
    }

    #[test]
    fn a_command_that_fails_or_prints_no_jobs_is_reported_once() {
        let (mut list, begun) = (JobList::default(), Instant::now());
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        assert_eq!(list.fails("`bjobs`: no answer", at(0)), None);
        let told = list.fails("`bjobs`: no answer", at(10)).unwrap();
        assert_eq!(told, SlurmReport::Told("`bjobs`: no answer; running jobs continue meanwhile".into()));
        assert_eq!(list.fails("`bjobs`: no answer", at(11)), None);
        assert_eq!(list.messages("LSF", false, true, at(12)), [SlurmReport::Told("LSF answers again".into())]);
        assert!(list.messages("LSF", false, true, at(21)).is_empty());
        let told = list.messages("LSF", false, true, at(22));
        assert!(matches!(&told[..], [SlurmReport::Told(text)] if text.contains("list.job")), "{told:?}");
        assert!(list.messages("LSF", false, true, at(40)).is_empty());
        assert!(JobList::default().messages("LSF", true, true, at(40)).is_empty());
    }
}
