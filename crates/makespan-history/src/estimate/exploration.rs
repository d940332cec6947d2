//! Allotments of which nothing is known, within bounds.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use makespan_core::{Profile, Time};

use super::Learned;
use crate::{Command, History, HistoryError};

/// The share of all work that may be spent to learn speed-ups.
pub const SHARE: f64 = 0.05;

/// By how much a further allotment must shorten the time, as far as the law says, to be tried.
const WORTHWHILE: f64 = 0.9;

/// A task that may be tried on another allotment.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// What it runs: of the commands of one template one is tried on each allotment.
    pub command: &'a Command,
    /// What is known of it.
    pub learned: &'a Learned,
    /// The fewest and the most processors that it may have.
    pub processors: RangeInclusive<u32>,
}

/// A task that is tried on another allotment.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its position among the candidates.
    pub candidate: usize,
    /// That allotment and the time that is expected there, at most.
    pub profile: Profile,
}

/// How much work may still be spent to learn speed-ups.
///
/// The rule: of all work of this machine, that of the latest 10,000 records and that which is about to begin, at most 5 % is work of
/// trials. A trial counts with its whole work, as if more processors did not help and fewer cost nothing. A task is tried on twice the
/// most processors that are known, if it may have them and the law says that it would be at least 10 % faster; or else on half the
/// fewest. The cheapest trials come first.
#[derive(Clone, Copy, Debug)]
pub struct Exploration {
    budget: f64,
}

impl Exploration {
    /// What may be spent in a run on this machine of so many processor-seconds.
    ///
    /// # Errors
    /// [`HistoryError`] when the history cannot be read.
    pub fn new(history: &History, host: &str, planned: f64) -> Result<Self, HistoryError> {
        let (done, explored) = history.work(host)?;
        let planned = if planned.is_finite() { planned.max(0.0) } else { 0.0 };
        Ok(Self { budget: SHARE * (done + planned) - explored })
    }

    /// The trials that are worth it, by candidate.
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

/// The allotment that a task would be tried on, and the longest time that it is expected to take there.
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
