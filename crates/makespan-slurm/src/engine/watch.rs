//! Queries the batch system regularly for the state of pilots and nodes, on a separate thread.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::EngineMessage;
use crate::batch::{BatchSystem, ListedJob};
use crate::pilot::PilotNode;
use crate::{Commands, JobState, Node};

/// Time between two lists if a state may change soon, such as the state of a pending job.
const OFTEN: Duration = Duration::from_secs(1);
/// Time between two lists if all jobs run.
const SELDOM: Duration = Duration::from_secs(5);

/// If all lists of this time lack a job, the job has ended. For batch systems other than Slurm, with lists that contain no
/// ended jobs. A list may lack a new job, or a job that is about to start.
const ABSENCE: Duration = Duration::from_secs(30);
/// The time that replaces [`ABSENCE`] if the pilot is expected to end, or if one of its agents is silent.
const SHORT_ABSENCE: Duration = Duration::from_secs(3);

/// If a list command fails for this time, or prints only text that cannot be read, a message reports this.
const MENTION: Duration = Duration::from_secs(10);

/// Reported end of a job that is missing in the lists.
pub(super) const LEFT: &str = "it has left the queue";

/// Reported end of a job that the controller has forgotten.
pub(super) const FORGOTTEN: &str = "forgotten by Slurm";

/// A report from the thread that queries the batch system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PilotReport {
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
    /// The job has ended. Contains the state of the job, or another description of the end.
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

/// The jobs and nodes that the thread queries.
#[derive(Debug, Default)]
struct Watched {
    /// The jobs. The flag is true if the job is pending, or if its state is unknown.
    jobs: BTreeMap<u64, bool>,
    nodes: BTreeSet<PilotNode>,
    /// Jobs that will end soon.
    ending: BTreeSet<u64>,
    /// Jobs to cancel.
    cancelled: Vec<u64>,
}

/// A request to the thread.
type WatchRequest = Box<dyn FnOnce(&mut Watched) + Send>;

/// The channel to the thread that queries the batch system.
#[derive(Debug)]
pub(super) struct PilotWatch(Sender<WatchRequest>);

impl PilotWatch {
    pub fn begin(batch: BatchSystem, told: Sender<EngineMessage>) -> Self {
        let (sender, requests) = mpsc::channel();
        let run = move || watch(&batch.with_patience(Duration::ZERO), &requests, &told);
        // If the thread cannot be started, the planner gets no reports of the batch system. The messages of living
        // agents are then sufficient.
        let _ = thread::Builder::new().name("watch".into()).spawn(run);
        Self(sender)
    }

    fn request(&self, change: impl FnOnce(&mut Watched) + Send + 'static) {
        let _ = self.0.send(Box::new(change));
    }

    /// Starts the queries for a job.
    pub fn ask_job(&self, job: u64) {
        self.request(move |watched| _ = watched.jobs.entry(job).or_insert(true));
    }

    /// Stops the queries for a job and its nodes.
    pub fn forget_job(&self, job: u64) {
        self.request(move |watched| {
            watched.jobs.remove(&job);
            watched.nodes.retain(|place| place.job != job);
        });
    }

    /// Starts the queries for the node of a place.
    pub fn ask_node(&self, place: &PilotNode) {
        let place = place.clone();
        self.request(move |watched| _ = watched.nodes.insert(place));
    }

    pub fn forget_node(&self, place: &PilotNode) {
        let place = place.clone();
        self.request(move |watched| _ = watched.nodes.remove(&place));
    }

    /// Queries a job more often, because it will end soon.
    pub fn expect_end(&self, job: u64) {
        self.request(move |watched| _ = watched.ending.insert(job));
    }

    /// Cancels a job that is missing in the lists, because the job may still be pending.
    pub fn cancel(&self, job: u64) {
        self.request(move |watched| watched.cancelled.push(job));
    }
}

fn watch(batch: &BatchSystem, requests: &Receiver<WatchRequest>, told: &Sender<EngineMessage>) {
    let (mut watched, mut list) = (Watched::default(), JobList::default());
    loop {
        match requests.recv_timeout(OFTEN / 4) {
            Ok(change) => change(&mut watched),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        requests.try_iter().for_each(|change| change(&mut watched));
        let _ = batch.cancel(&std::mem::take(&mut watched.cancelled));
        for report in list.ask(batch, &mut watched) {
            if told.send(EngineMessage::Batch(report)).is_err() {
                return;
            }
        }
    }
}

/// The lists of jobs. One list contains the states of all jobs.
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
    /// Lists the jobs if the last list is old enough, and returns the reports. Jobs that may soon change their state are
    /// listed more often, and so are the jobs of agents that give no sign of life.
    fn ask(&mut self, batch: &BatchSystem, watched: &mut Watched) -> Vec<PilotReport> {
        let Watched { jobs, nodes, ending, .. } = watched;
        let is_in_doubt = !self.absent.is_empty() || self.failing.is_some() || !nodes.is_empty();
        let is_soon = is_in_doubt || jobs.iter().any(|(job, waits)| *waits || ending.contains(job));
        let pause = if is_soon { OFTEN } else { SELDOM };
        if jobs.is_empty() || self.asked.is_some_and(|asked| asked.elapsed() < pause) {
            return Vec::new();
        }
        let listed = batch.list().map_err(|error| error.to_string());
        let now = Instant::now();
        self.asked = Some(now);
        self.absent.retain(|job, _| jobs.contains_key(job));
        let (all, has_text) = match listed {
            Ok(listed) => listed,
            Err(error) => return self.fails(&error, now).into_iter().collect(),
        };
        let mut reports = self.messages(batch.name(), !all.is_empty(), has_text, now);
        for (&job, waits) in jobs {
            let limit = match batch.as_slurm() {
                Some(_) => Duration::ZERO,
                // The lists lack the job, and one of its agents is silent.
                None if nodes.iter().any(|place| place.job == job) => SHORT_ABSENCE,
                None if ending.contains(&job) => SHORT_ABSENCE,
                None => ABSENCE,
            };
            let Some(mut state) = self.state(&all, job, limit, now) else { continue };
            *waits = matches!(state, JobStateChange::Waits(_));
            if let (JobStateChange::Waits(pending), Some(commands)) = (&mut state, batch.as_slurm()) {
                pending.up = nodes_for(commands, &pending.reason);
            }
            reports.push(PilotReport::Job(job, state));
        }
        if let Some(commands) = batch.as_slurm().filter(|_| !nodes.is_empty()) {
            let known = commands.nodes().map_or_else(|_| Vec::new(), |nodes| nodes.items);
            let gone = nodes.iter().filter(|place| is_gone(&known, &all, place));
            reports.extend(gone.cloned().map(PilotReport::NodeGone));
        }
        reports
    }

    /// Handles a list command that failed. Returns a message if the command has been failing for a while.
    fn fails(&mut self, error: &str, now: Instant) -> Option<PilotReport> {
        // A list that failed proves nothing about missing jobs.
        self.absent.clear();
        let since = *self.failing.get_or_insert(now);
        let is_due = now - since >= MENTION && !std::mem::replace(&mut self.is_failure_told, now - since >= MENTION);
        is_due.then(|| PilotReport::Told(format!("{error}; running jobs continue meanwhile")))
    }

    /// Returns messages after a list command that succeeded: it works again, or its output has never contained a job.
    fn messages(&mut self, name: &str, has_jobs: bool, has_text: bool, now: Instant) -> Vec<PilotReport> {
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
        texts.into_iter().map(PilotReport::Told).collect()
    }

    /// Returns the state of a job in a list. A job that has been missing for the time `limit` has ended. If the limit is
    /// zero, the lists contain ended jobs, so a missing job is unknown.
    fn state(&mut self, all: &[ListedJob], job: u64, limit: Duration, now: Instant) -> Option<JobStateChange> {
        let Some(found) = all.iter().find(|one| one.job == job) else {
            let since = *self.absent.entry(job).or_insert(now);
            let how = if limit.is_zero() { FORGOTTEN } else { LEFT };
            return (now - since >= limit).then(|| JobStateChange::Over(how.into()));
        };
        self.absent.remove(&job);
        Some(match &found.state {
            state if state.has_ended() => JobStateChange::Over(format!("{state:?}").to_ascii_lowercase()),
            state if state.is_waiting() => {
                let nodes = found.nodes.unwrap_or(1) as u64;
                JobStateChange::Waits(PendingJob { reason: found.reason.clone(), nodes, up: None })
            }
            JobState::Suspended => JobStateChange::Rests,
            _ => JobStateChange::Runs(found.left),
        })
    }
}

/// Returns the nodes that accept jobs, if a job that is pending for this reason may wait for other nodes.
fn nodes_for(commands: &Commands, reason: &str) -> Option<Vec<String>> {
    let reason = reason.to_ascii_lowercase();
    ["down", "drain", "unavail", "notavail"].iter().find(|word| reason.contains(**word))?;
    let up = commands.nodes().ok()?.items.into_iter().filter(|node| node.state.takes_jobs());
    Some(up.map(|node| node.name).collect())
}

/// Returns true if the node of a place is down, or if the pilot runs without this node. Slurm never returns a failed
/// node to a running job.
fn is_gone(nodes: &[Node], all: &[ListedJob], place: &PilotNode) -> bool {
    let is_down = |node: &Node| node.name == place.node && node.state.base == "DOWN";
    let has_lost = |job: &ListedJob| {
        job.job == place.job
            && matches!(job.state, JobState::Running | JobState::Suspended)
            && !job.hosts.is_empty()
            && !job.hosts.contains(&place.node)
    };
    nodes.iter().any(is_down) || all.iter().any(has_lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_absence_is_an_end() {
        let (mut list, begun) = (JobList::default(), Instant::now());
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let state = JobState::Running;
        let seen = [ListedJob {
            job: 7,
            state,
            reason: String::new(),
            name: "a".into(),
            nodes: None,
            left: None,
            hosts: vec![],
        }];
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
        assert_eq!(told, PilotReport::Told("`bjobs`: no answer; running jobs continue meanwhile".into()));
        assert_eq!(list.fails("`bjobs`: no answer", at(11)), None);
        assert_eq!(list.messages("LSF", false, true, at(12)), [PilotReport::Told("LSF answers again".into())]);
        assert!(list.messages("LSF", false, true, at(21)).is_empty());
        let told = list.messages("LSF", false, true, at(22));
        assert!(matches!(&told[..], [PilotReport::Told(text)] if text.contains("list.job")), "{told:?}");
        assert!(list.messages("LSF", false, true, at(40)).is_empty());
        assert!(JobList::default().messages("LSF", true, true, at(40)).is_empty());
    }
}
