//! Trials: runs on allotments without recorded run times, within a limit on the work.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use makespan_core::{Profile, Time};

use super::Learned;
use crate::{Command, History, HistoryError};

/// Maximum share of all work that may be spent on learning speed-ups.
pub const SHARE: f64 = 0.05;

/// Run time on a larger allotment, relative to the current one, above which the larger allotment is not tried. The speed-up law
/// predicts this run time.
const WORTHWHILE: f64 = 0.9;

/// A task that may be tried on another allotment.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Command of the task. For each template and allotment, only one task is tried.
    pub command: &'a Command,
    /// Prediction from the history.
    pub learned: &'a Learned,
    /// Minimum and maximum number of processors that the task accepts.
    pub processors: RangeInclusive<u32>,
}

/// A task that will be tried on another allotment.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Index of the task among the candidates.
    pub candidate: usize,
    /// Allotment of the trial, and an upper limit on the expected run time.
    pub profile: Profile,
}

/// Budget of processor-seconds for learning speed-ups.
///
/// Trials may take up to 5 % of the total work, which consists of the last 10,000 records of this machine and the work of the
/// planned run. The whole work of a trial is charged to this budget. On more processors, the run time is assumed to stay the same.
/// On fewer processors, the work is assumed to stay the same. A task is tried on twice its largest measured allotment if the task
/// accepts this allotment and the law predicts a run time at least 10 % shorter. Otherwise, the task is tried on half its smallest
/// measured allotment. The cheapest trials are chosen first.
#[derive(Clone, Copy, Debug)]
pub struct Exploration {
    budget: f64,
}

impl Exploration {
    /// Computes the budget for a run on this machine with `planned` processor-seconds of work.
    ///
    /// # Errors
    /// [`HistoryError`] if the history cannot be read.
    pub fn new(history: &History, host: &str, planned: f64) -> Result<Self, HistoryError> {
        let (done, explored) = history.work(host)?;
        let planned = if planned.is_finite() { planned.max(0.0) } else { 0.0 };
        Ok(Self { budget: SHARE * (done + planned) - explored })
    }

    /// Returns the trials that fit into the budget, in order of the candidates.
    pub fn choose(mut self, candidates: &[Candidate<'_>]) -> Vec<Trial> {
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

/// Returns the next allotment to try for a task, and an upper limit on the expected run time on this allotment.
fn next(candidate: &Candidate<'_>) -> Option<(u32, Time)> {
    let Candidate { learned, processors: wanted, .. } = candidate;
    let Learned { model, inputs, .. } = learned;
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
