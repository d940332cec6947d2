//! Asks Slurm now and then what became of pilots and nodes, on a thread of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::Heard;
use crate::pilot::Place;
use crate::{CommandError, Commands, Program, Refusal};

/// Between two questions: about what waits, and about what runs.
const OFTEN: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(5);

/// What Slurm says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Job(u64, JobState),
    /// The node of this place is down.
    NodeDown(Place),
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobState {
    /// It is in the queue, for this reason.
    Waits(String),
    /// It runs, for so long yet.
    Runs(Option<Duration>),
    /// It is over: how.
    Over(String),
}

/// What is to be asked about.
#[derive(Debug)]
enum Wish {
    Job(u64),
    NoJob(u64),
    Node(Place),
    NoNode(Place),
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

    pub fn forget_node(&self, place: &Place) {
        let _ = self.0.send(Wish::NoNode(place.clone()));
    }
}

fn watch(commands: &Commands, wishes: &Receiver<Wish>, told: &Sender<Heard>) {
    let mut jobs: BTreeMap<u64, (Instant, bool)> = BTreeMap::new();
    let mut nodes: BTreeSet<Place> = BTreeSet::new();
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
            let pause = if *waits || urgent.contains(&job) { OFTEN } else { SELDOM };
            if last.elapsed() < pause && !(*waits && last.elapsed() >= OFTEN / 4) {
                continue;
            }
            *last = Instant::now();
            if let Some(state) = state_of(commands, job) {
                *waits = matches!(state, JobState::Waits(_));
                if told.send(Heard::Slurm(Report::Job(job, state))).is_err() {
                    return;
                }
            }
        }
        if !nodes.is_empty() && asked_nodes.elapsed() >= OFTEN {
            asked_nodes = Instant::now();
            for place in nodes.iter().filter(|place| is_down(commands, &place.node)) {
                let _ = told.send(Heard::Slurm(Report::NodeDown(place.clone())));
            }
        }
    }
}

/// What became of a job; `None` where Slurm does not answer.
fn state_of(commands: &Commands, job: u64) -> Option<JobState> {
    let number = job.to_string();
    match commands.run(Program::Scontrol, ["-o", "show", "job", &number]) {
        Ok(printed) => read(&printed.out),
        Err(CommandError::Refused { refusal: Refusal::NoSuchJob, .. }) => Some(JobState::Over("forgotten by Slurm".into())),
        Err(_) => None,
    }
}

/// Of `scontrol -o show job`.
fn read(text: &str) -> Option<JobState> {
    let value = |key: &str| {
        let words = text.split_ascii_whitespace();
        words.filter_map(|word| word.strip_prefix(key)?.strip_prefix('=')).next()
    };
    let state = value("JobState")?;
    Some(match state {
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            JobState::Waits(value("Reason").unwrap_or("None").to_owned())
        }
        "RUNNING" | "SUSPENDED" | "SIGNALING" | "STAGE_OUT" | "STOPPED" | "RESIZING" => {
            let [limit, run] = ["TimeLimit", "RunTime"].map(|key| value(key).and_then(seconds));
            let left = limit.zip(run).map(|(limit, run)| Duration::from_secs(limit.saturating_sub(run)));
            JobState::Runs(left)
        }
        over => JobState::Over(over.to_ascii_lowercase().replace('_', " ")),
    })
}

/// `1-02:03:04`, `02:03:04`, `03:04`; `None` where there is no limit.
fn seconds(text: &str) -> Option<u64> {
    let (days, rest) =
        text.split_once('-').map_or((Some(0), text), |(days, rest)| (days.parse::<u64>().ok(), rest));
    let parts = rest.split(':').map(|part| part.parse::<u64>().ok()).collect::<Option<Vec<_>>>()?;
    let clock = parts.iter().fold(0_u64, |sum, part| sum * 60 + part);
    days?.checked_mul(86400)?.checked_add(clock)
}

/// Whether Slurm says that a node is down.
fn is_down(commands: &Commands, node: &str) -> bool {
    let printed = commands.run(Program::Sinfo, ["--noheader", "-N", "--format=%T", "--nodes", node]);
    printed.is_ok_and(|printed| printed.out.split_ascii_whitespace().any(|state| state.starts_with("down")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_jobs_are_read() {
        let text = "JobId=3 JobName=x JobState=RUNNING Reason=None Dependency=(null) RunTime=00:01:05 TimeLimit=1-00:02:00";
        assert_eq!(read(text), Some(JobState::Runs(Some(Duration::from_secs(86400 + 55)))));
        let endless = "JobState=RUNNING RunTime=00:01:05 TimeLimit=UNLIMITED";
        assert_eq!(read(endless), Some(JobState::Runs(None)));
        assert_eq!(read("JobState=PENDING Reason=Priority"), Some(JobState::Waits("Priority".into())));
        assert_eq!(read("JobState=NODE_FAIL"), Some(JobState::Over("node fail".into())));
        assert_eq!(read("nonsense"), None);
    }
}
