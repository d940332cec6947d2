//! Pilots that have nodes and of which no agent comes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::Pilots;

/// After how long without an agent that is told.
const PATIENCE: Duration = Duration::from_secs(20);

/// Since when such pilots run; `None` where it was told.
#[derive(Debug, Default)]
pub(super) struct Mute(BTreeMap<u64, Option<Instant>>);

impl Pilots {
    /// Slurm says that a pilot has its nodes.
    pub(super) fn await_agents(&mut self, job: u64) {
        self.mute.0.entry(job).or_insert_with(|| Some(Instant::now()));
    }

    /// Tells of pilots that have run for a while without an agent.
    pub(super) fn look_for_mute(&mut self) {
        let is_due = |since: &Option<Instant>| since.is_some_and(|since| since.elapsed() >= PATIENCE);
        let due: Vec<u64> = self.mute.0.iter().filter(|(_, since)| is_due(since)).map(|(&job, _)| job).collect();
        for job in due {
            self.mute.0.insert(job, None);
            if let Some(text) = self.why_mute(job) {
                self.tell(format!(
                    "pilot {job} runs, and after {} s none of its agents is there: {text}",
                    PATIENCE.as_secs()
                ));
            }
        }
    }

    /// What is known of why no agent of a pilot has come; `None` if one has.
    pub(super) fn why_mute(&self, job: u64) -> Option<String> {
        if self.agents.keys().any(|place| place.job == job) {
            return None;
        }
        let log = self.board.log(job);
        let said = std::fs::read(&log).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let last = said.as_deref().and_then(|said| said.lines().rfind(|line| !line.trim().is_empty()));
        Some(match last {
            Some(line) => format!("`{}` in {}", line.trim(), log.display()),
            None => "it has left no log, so its nodes may not share the folder of the run; `makespan slurm doctor` tries that".into(),
        })
    }
}
