//! Chooses trials: runs of tasks on allotments without known run times.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use makespan_core::{Profile, Time};

use super::LearnedTimes;
use crate::{Command, History, HistoryError};

/// Maximum share of all work that trials may use.
pub const SHARE: f64 = 0.05;

/// Maximum ratio of two predicted times for which a larger allotment is tried: the time on the larger allotment,
/// divided by the time on the largest known allotment.
const WORTHWHILE: f64 = 0.9;

/// A task for which a trial may be chosen.
#[derive(Clone, Debug)]
pub struct TrialCandidate<'a> {
    /// The command of the task. For commands with the same template, at most one trial on each allotment is chosen.
    pub command: &'a Command,
    /// The times that were learned for the task.
    pub learned: &'a LearnedTimes,
    /// The minimum and maximum allotment of the task.
    pub processors: RangeInclusive<u32>,
}

/// A chosen trial: a task that will run on another allotment.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Index of the task among the candidates.
    pub candidate: usize,
    /// The allotment of the trial, and the longest time that is expected on this allotment.
    pub profile: Profile,
}

/// The work that trials may still use.
///
/// Trials may use at most 5 % of the work of a machine: of its latest 10,000 records and of the planned work. The work
/// of a trial is the product of its allotment and its expected time. The expected time is pessimistic: more processors
/// do not make the task faster, and fewer processors lose a perfect speed-up. If the task accepts twice the largest
/// known allotment, and the law predicts that the task is at least 10 % faster there, a trial uses this allotment.
/// Otherwise, a trial halves the smallest known allotment. The trials with the least work are chosen first.
#[derive(Clone, Copy, Debug)]
pub struct Exploration {
    budget: f64,
}

impl Exploration {
    /// Returns the budget of a run on this machine. `planned` is the work of the run in processor-seconds.
    ///
    /// # Errors
    /// [`HistoryError`] if the history cannot be read.
    pub fn new(history: &History, host: &str, planned: f64) -> Result<Self, HistoryError> {
        let (done, explored) = history.work(host)?;
        let planned = if planned.is_finite() { planned.max(0.0) } else { 0.0 };
        Ok(Self { budget: SHARE * (done + planned) - explored })
    }

    /// Returns the chosen trials, ordered by candidate.
    pub fn choose(mut self, candidates: &[TrialCandidate<'_>]) -> Vec<Trial> {
        let mut possible: Vec<(f64, usize, u32, Time)> = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            if let Some((processors, time)) = next(candidate) {
                possible.push((f64::from(processors) * time.seconds(), index, processors, time));
            }
        }
        possible.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut tried = BTreeSet::new();
        let mut trials = Vec::new();
        for (work, candidate, processors, time) in possible {
            if work > self.budget {
                break;
            }
            let template = candidates[candidate].command.template().text;
            if let (true, Ok(profile)) = (tried.insert((template, processors)), Profile::rigid(processors, time)) {
                self.budget -= work;
                trials.push(Trial { candidate, profile });
            }
        }
        trials.sort_by_key(|trial| trial.candidate);
        trials
    }
}

/// Returns the allotment of a task's trial, and the longest time that is expected on this allotment.
fn next(candidate: &TrialCandidate<'_>) -> Option<(u32, Time)> {
    let TrialCandidate { learned, processors: wanted, .. } = candidate;
    let LearnedTimes { model, inputs, .. } = learned;
    let (fewest, most) = (*model.known.start(), *model.known.end());
    let time = |processors: u32| model.time(processors, *inputs);
    let more = wanted.end().min(&most.saturating_mul(2)).to_owned();
    let helps = || match model.law {
        None => true,
        Some(law) => law.time_fraction(more) <= WORTHWHILE * law.time_fraction(most),
    };
    if more > most && wanted.contains(&more) && helps() {
        return Some((more, time(most)));
    }
    let fewer = *wanted.start().max(&(fewest / 2).max(1));
    (fewer < fewest && wanted.contains(&fewer)).then(|| {
        let seconds = time(fewest).seconds() * f64::from(fewest) / f64::from(fewer);
        (fewer, Time::from_seconds_f64(seconds).unwrap_or(Time::MAX))
    })
}
