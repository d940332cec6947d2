//! Handles running pilots if their agents have not appeared or give no sign of life.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::seats::PilotSeat;
use super::{Allocation, Pilots};
use crate::batch::shown;

/// If a running pilot has no agent for this time, a message reports this.
const PATIENCE: Duration = Duration::from_secs(20);

/// If no agent of a running pilot gives a sign of life for this time, the pilot is lost. Slurm may report such a pilot
/// as running for longer. For example, a restarted controller waits before it treats a silent node as down.
const DEAF: Duration = Duration::from_secs(25);

/// For each pilot without an agent, by job id: the instant from which the pilot has been running. `None` after the
/// message was shown.
#[derive(Debug, Default)]
pub(super) struct SilentPilots(BTreeMap<u64, Option<Instant>>);

impl Pilots {
    /// Records that Slurm has allocated the nodes of a pilot.
    pub(super) fn await_agents(&mut self, job: u64) {
        self.hearing.mute.0.entry(job).or_insert_with(|| Some(Instant::now()));
    }

    /// Reports pilots that have run for a while without an agent.
    pub(super) fn look_for_mute(&mut self) {
        let is_due = |since: &Option<Instant>| since.is_some_and(|since| since.elapsed() >= PATIENCE);
        let due: Vec<u64> =
            self.hearing.mute.0.iter().filter(|(_, since)| is_due(since)).map(|(&job, _)| job).collect();
        for job in due {
            self.hearing.mute.0.insert(job, None);
            if let Some(text) = self.why_mute(job) {
                self.tell(format!(
                    "pilot {job} runs, but after {} s none of its agents has reported: {text}",
                    PATIENCE.as_secs(),
                    job = shown(job)
                ));
            }
        }
    }

    /// Cancels each pilot if none of its agents gives a sign of life. If an agent still runs, it reads in its files
    /// that the pilot must end. If Slurm cannot cancel a pilot, the pilot is kept, because it may be the planner that
    /// has no network.
    pub(super) fn look_for_deaf(&mut self) {
        for seat in 0..self.nodes.seats.len() {
            let Some(job) = self.nodes.seats[seat].job.filter(|_| self.nodes.seats[seat].is_awake()) else { continue };
            let mut own =
                self.nodes.agents.iter().filter(|(place, _)| place.job == job).map(|(_, agent)| agent).peekable();
            let is_deaf = own.peek().is_some() && own.all(|agent| agent.gone.is_none() && agent.is_mute_for(DEAF));
            let here = matches!(self.options.allocation, Allocation::Here { .. });
            if !is_deaf || here || !self.nodes.seats[seat].may_give_up() {
                continue;
            }
            if self.options.batch.cancel(&[job]).is_err() {
                continue;
            }
            self.nodes.agents.iter_mut().filter(|(place, _)| place.job == job).for_each(|(_, agent)| agent.hang_up());
            let seconds = DEAF.as_secs();
            self.is_over(
                job,
                &format!(
                    "its agents did not report for {seconds} s, although {} reports that the pilot runs",
                    self.options.batch.name()
                ),
            );
        }
    }

    /// Returns the probable reason why no agent of a pilot has appeared. Returns `None` if an agent has appeared.
    pub(super) fn why_mute(&self, job: u64) -> Option<String> {
        let seat = self.nodes.seats.iter().find(|seat| seat.job == Some(job));
        if seat.is_some_and(|seat| seat.has_agent) || self.nodes.agents.keys().any(|place| place.job == job) {
            return None;
        }
        let log = self.board.log(job);
        let said = std::fs::read(&log).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let last = said.as_deref().and_then(|said| said.lines().rfind(|line| !line.trim().is_empty()));
        Some(match last {
            Some(line) => format!("`{}` in {}", line.trim(), log.display()),
            None => {
                let test = self.options.batch.as_slurm().map_or("", |_| "; `makespan slurm doctor` tests this");
                // Slurm states if a pilot was cancelled, and other batch systems do not.
                let cause = if test.is_empty() && seat.is_some_and(PilotSeat::is_unseen) {
                    "the pilot wrote no log: it was cancelled before it started, or its nodes do not share the folder \
                     of the run"
                } else {
                    "the pilot wrote no log, so its nodes may not share the folder of the run"
                };
                format!("{cause}{test}")
            }
        })
    }
}
