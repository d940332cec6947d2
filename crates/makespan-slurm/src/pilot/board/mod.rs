//! The files that the planner and the agents share.

mod agent;
mod planner;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use makespan_exec::engine::Identity;
use makespan_exec::host;
use makespan_exec::order::AttemptEnd;
use serde::{Deserialize, Serialize};

/// Name of the folder inside the run's folder.
pub(crate) const FOLDER: &str = "pilot";

/// Name of the file in `agents` that contains a planner's sign of life.
const PLANNER_BEAT: &str = "planner=beat";

/// A place: a node in a pilot, `JOB.NODE`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PilotNode {
    /// The id of the pilot's job.
    pub job: u64,
    /// The name of the node in Slurm.
    pub node: String,
}

impl PilotNode {
    /// Returns the name of the place's folders and files.
    pub fn name(&self) -> String {
        format!("{}.{}", self.job, self.node)
    }

    /// Parses a name such as `17.node3`.
    pub fn parse(name: &str) -> Option<Self> {
        let (job, node) = name.split_once('.')?;
        (!node.is_empty() && !node.contains('/')).then_some(())?;
        Some(Self { job: job.parse().ok()?, node: node.to_owned() })
    }
}

/// An agent's description of itself, written when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentBeacon {
    /// The host name of the agent's machine.
    pub host: String,
    /// The port on which the agent listens, or 0 if it cannot listen.
    pub port: u16,
    /// The token that a planner must send first.
    pub token: String,
    /// The process of the agent. Valid until the machine boots again.
    pub process: Identity,
    pub boot: String,
    /// Number of cores that the agent may use.
    pub cores: usize,
    /// Number of GPUs, if known.
    pub gpus: Option<usize>,
    /// Difference between the agent's clock and the clock of the file system, in nanoseconds. Positive if the agent's
    /// clock is ahead. `None` if unknown.
    #[serde(default)]
    pub clock: Option<i64>,
    /// The end of the pilot in seconds since 1970, if the script of its job states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<u64>,
    /// The reason why the requested memory limit of tasks has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_limits: Option<String>,
}

/// The claim of an attempt. It contains the process that wraps the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttemptProcess {
    pub shim: Identity,
    /// The boot of the machine in which this process is valid.
    pub boot: String,
    /// The GPUs of the node that the attempt holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<Vec<u64>>,
}

/// The files in the folder of a run through which the planner and the agents communicate.
///
/// | folder | content |
/// |---|---|
/// | `todo` | orders that the planner is writing |
/// | `in/PLACE` | attempts that are given to a place |
/// | `run/PLACE` | attempts that the agent has taken |
/// | `done/PLACE` | attempts that have ended, `ID=FATE` |
/// | `end/PLACE` | attempts that must end, `ID=term` or `ID=kill` |
/// | `claims` | the claims of attempts that have started; created only if they do not exist |
/// | `agents` | each agent's description of itself, its lock, and its signs of life |
/// | `slots` | the plan node of each place |
/// | `pilots` | the jobs that are pilots |
/// | `over` | pilots that must end |
#[derive(Clone, Debug)]
pub(crate) struct PilotBoard {
    run: PathBuf,
    folder: PathBuf,
}

impl PilotBoard {
    /// Returns the board of the run in the folder `run`.
    pub fn of(run: &Path) -> Self {
        Self { run: run.to_owned(), folder: run.join(FOLDER) }
    }

    /// Returns the folder of the run.
    pub fn run(&self) -> &Path {
        &self.run
    }

    /// Creates the folders that the planner needs.
    pub fn make(&self) -> io::Result<()> {
        for name in ["todo", "in", "run", "done", "end", "claims", "agents", "slots", "pilots", "over"] {
            fs::create_dir_all(self.folder.join(name))?;
        }
        Ok(())
    }

    /// Creates the folders that the agent of a place needs.
    pub fn make_place(&self, place: &PilotNode) -> io::Result<()> {
        ["in", "run", "done", "end"].into_iter().try_for_each(|name| fs::create_dir_all(self.at(name, place)))
    }

    /// Returns true if the folder was removed for certain.
    pub fn is_removed(&self) -> bool {
        fs::metadata(&self.folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Writes a file and compares its time with the clock of this machine. Returns the difference in nanoseconds.
    /// Positive if the clock of this machine is ahead of the clock of the file system.
    pub fn clock(&self) -> Option<i64> {
        let path = self.folder.join("agents").join(format!("{}.{}=clock", host(), std::process::id()));
        let nanoseconds = |at: SystemTime| i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok();
        fs::write(&path, ".").ok()?;
        let (now, written) = (SystemTime::now(), fs::metadata(&path).and_then(|written| written.modified()));
        let _ = fs::remove_file(path);
        Some(nanoseconds(now)? - nanoseconds(written.ok()?)?)
    }

    fn at(&self, state: &str, place: &PilotNode) -> PathBuf {
        self.folder.join(state).join(place.name())
    }

    fn file(&self, state: &str, place: &PilotNode, id: &str) -> PathBuf {
        self.at(state, place).join(id)
    }
}

/// Writes a file that only this user can read, because commands may contain secrets.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(bytes)
}

/// Returns the names in a folder. If the folder does not exist, returns an empty list.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Returns the name of the file that requests the end of an attempt. If `kill` is true, the attempt must be killed.
pub(crate) fn end_name(id: &str, kill: bool) -> String {
    format!("{id}={}", if kill { "kill" } else { "term" })
}

/// Returns the attempt and the fate that the name of a file in a folder `done` states.
pub(crate) fn fate_in(folder: &Path, name: &str) -> Option<(String, AttemptEnd)> {
    let (id, fate) = name.rsplit_once('=')?;
    let fate = match AttemptEnd::parse(fate)? {
        AttemptEnd::Refused(_) => AttemptEnd::Refused(fs::read_to_string(folder.join(name)).unwrap_or_default()),
        fate => fate,
    };
    Some((id.to_owned(), fate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_in_one_place_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let board = PilotBoard::of(folder.path());
        let place = PilotNode { job: 7, node: "a.b-1".into() };
        assert_eq!(PilotNode::parse(&place.name()), Some(place.clone()));
        assert_eq!((PilotNode::parse("x.y"), PilotNode::parse("7."), PilotNode::parse("7")), (None, None, None));
        board.make().unwrap();
        board.make_place(&place).unwrap();
        let order = crate::pilot::example_order();
        board.give(&place, "a~1.1", &order).unwrap();
        assert_eq!(board.order(&place, "a~1.1").as_ref(), Some(&order));
        assert!(board.take(&place, "a~1.1") && !board.take(&place, "a~1.1"));
        assert!(!board.take_back(&place, "a~1.1"), "it is taken");
        assert!(board.claim("a~1.1").unwrap().is_some() && board.claim("a~1.1").unwrap().is_none());
        assert_eq!(board.claimant("a~1.1"), None, "no agent has started it");
        let name = board.done(&place, "a~1.1", &AttemptEnd::Exit(3)).unwrap();
        assert_eq!(board.fate(&place, &name), Some(("a~1.1".into(), AttemptEnd::Exit(3))));
        assert_eq!(board.order(&place, "a~1.1"), Some(order.clone()));
        board.forget(&place, "a~1.1", &AttemptEnd::Exit(3));
        assert_eq!(board.fate(&place, &name), None);
        board.give(&place, "b.1", &order).unwrap();
        assert!(board.take_back(&place, "b.1") && board.ids("in", &place).is_empty());
        board.give(&place, "c.1", &order).unwrap();
        assert!(board.take(&place, "c.1"));
        let name = board.done(&place, "c.1", &AttemptEnd::Refused("no such program".into())).unwrap();
        assert_eq!(board.fate(&place, &name).unwrap().1, AttemptEnd::Refused("no such program".into()));
        assert_eq!(board.places(), std::slice::from_ref(&place));
        let held = board.lock(&place).unwrap();
        assert!(held.is_some() && board.lock(&place).unwrap().is_none());
        assert!(!board.is_over(7) && board.declare_over(7).is_ok() && board.is_over(7));
    }
}
