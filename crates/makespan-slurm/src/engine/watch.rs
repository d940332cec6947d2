//! Asks Slurm now and then what became of pilots and nodes, on a thread of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::Heard;
use crate::pilot::Place;
use crate::{Commands, JobState, Limit, duration};

/// Between two questions: about what waits, and about what runs.
const OFTEN: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(5);

/// How a job ended that the controller does not know.
pub(super) const FORGOTTEN: &str = "forgotten by Slurm";

/// What Slurm says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Job(u64, Became),
    /// The node of this place is down, or does not belong to its pilot any more.
    NodeGone(Place),
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Became {
    /// It is in the queue.
    Waits(Waiting),
    /// It runs, for so long yet.
    Runs(Option<Duration>),
    /// It is suspended.
    Rests,
    /// It is over: how.
    Over(String),
}

/// A job in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Why it waits.
    pub reason: String,
    /// How many nodes it asks for.
    pub nodes: u64,
    /// The nodes that take jobs, where it may be that too few do.
    pub up: Option<Vec<String>>,
}

/// What is to be asked about.
#[derive(Debug)]
enum Wish {
    Job(u64),
    NoJob(u64),
    Node(Place),
    NoNode(Place),
    /// This job is about to end.
    Ending(u64),
}

/// The thread.
#[derive(Debug)]
pub(super) struct Watch(Sender<Wish>);

impl Watch {
    pub fn begin(commands: Commands, told: Sender<Heard>) -> Self {
        let (sender, wishes) = mpsc::channel();
        let run = move || watch(&commands.with_patience(Duration::ZERO), &wishes, &told);
        // Without it nothing is known of Slurm; what agents say is enough while they live.
        let _ = thread::Builder::new().name("slurm".into()).spawn(run);
        Self(sender)
    }

    /// From now on this job is of interest.
    pub fn ask_job(&self, job: u64) {
        let _ = self.0.send(Wish::Job(job));
    }

    /// No more.
    pub fn forget_job(&self, job: u64) {
        let _ = self.0.send(Wish::NoJob(job));
    }

    /// Whether the node of a place is there is of interest.
    pub fn ask_node(&self, place: &Place) {
        let _ = self.0.send(Wish::Node(place.clone()));
    }

    /// A job is about to end.
    pub fn expect_end(&self, job: u64) {
        let _ = self.0.send(Wish::Ending(job));
    }

    pub fn forget_node(&self, place: &Place) {
        let _ = self.0.send(Wish::NoNode(place.clone()));
    }
}

fn watch(commands: &Commands, wishes: &Receiver<Wish>, told: &Sender<Heard>) {
    let mut jobs: BTreeMap<u64, (Instant, bool)> = BTreeMap::new();
    let mut nodes: BTreeSet<Place> = BTreeSet::new();
    let mut ending: BTreeSet<u64> = BTreeSet::new();
    let mut asked_nodes = Instant::now();
    loop {
        let mut wish = wishes.recv_timeout(OFTEN / 4);
        loop {
            match wish {
                Ok(Wish::Job(job)) => {
                    jobs.entry(job).or_insert((Instant::now(), true));
                }
                Ok(Wish::NoJob(job)) => {
                    jobs.remove(&job);
                    nodes.retain(|place| place.job != job);
                }
                Ok(Wish::Ending(job)) => {
                    ending.insert(job);
                }
                Ok(Wish::Node(place)) => {
                    nodes.insert(place);
                }
                Ok(Wish::NoNode(place)) => {
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
        // A silent agent makes it urgent.
        let urgent: BTreeSet<u64> = nodes.iter().map(|place| place.job).collect();
        for (&job, (last, waits)) in &mut jobs {
            let pause = if *waits || urgent.contains(&job) || ending.contains(&job) { OFTEN } else { SELDOM };
            if last.elapsed() < pause && !(*waits && last.elapsed() >= OFTEN / 4) {
                continue;
            }
            *last = Instant::now();
            if let Some(state) = state_of(commands, job) {
                *waits = matches!(state, Became::Waits(_));
                if told.send(Heard::Slurm(Report::Job(job, state))).is_err() {
                    return;
                }
            }
        }
        if !nodes.is_empty() && asked_nodes.elapsed() >= OFTEN {
            asked_nodes = Instant::now();
            for place in nodes.iter().filter(|place| is_gone(commands, place)) {
                let _ = told.send(Heard::Slurm(Report::NodeGone(place.clone())));
            }
        }
    }
}

/// What became of a job; `None` where Slurm does not answer.
fn state_of(commands: &Commands, job: u64) -> Option<Became> {
    let Some(job) = commands.job(job).ok()? else { return Some(Became::Over(FORGOTTEN.into())) };
    if job.state.has_ended() {
        return Some(Became::Over(format!("{:?}", job.state).to_ascii_lowercase()));
    }
    if job.state.is_waiting() {
        let up = || Some(commands.nodes().ok()?.items.into_iter().filter(|node| node.state.takes_jobs()));
        let up = if is_for_nodes(&job.reason) { up() } else { None };
        let up = up.map(|nodes| nodes.map(|node| node.name).collect());
        return Some(Became::Waits(Waiting { reason: job.reason, nodes: job.node_count.0, up }));
    }
    if job.state == JobState::Suspended {
        return Some(Became::Rests);
    }
    // Both by the clock of the controller.
    let run = job.record.get("RunTime").and_then(duration).and_then(Limit::value);
    let left = job.time_limit.and_then(Limit::value).zip(run);
    Some(Became::Runs(left.map(|(limit, run)| Duration::from_secs(limit.saturating_sub(run)))))
}

/// Whether a job waits since nodes do not take jobs, as far as its reason tells.
fn is_for_nodes(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["down", "drain", "unavail", "notavail"].iter().any(|word| reason.contains(word))
}

/// Whether Slurm says that the node of a place is down, or that its pilot runs without it: a node that goes down is taken from a job that
/// goes on, and does not come back to it.
fn is_gone(commands: &Commands, place: &Place) -> bool {
    let is_down = |node: &crate::Node| node.name == place.node && node.state.base == "DOWN";
    if commands.nodes().is_ok_and(|nodes| nodes.items.iter().any(is_down)) {
        return true;
    }
    let Ok(Some(job)) = commands.job(place.job) else { return false };
    matches!(job.state, JobState::Running | JobState::Suspended)
        && !job.nodes.is_empty()
        && !job.nodes.contains(&place.node)
}
