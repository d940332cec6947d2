//! Times of tasks that state none, from what the history knows.
//!
//! Two things are asked for a task, in this order: runs of the same command, and runs of commands of the same template with other
//! arguments. Only runs that succeeded count, the latest of each allotment, those on this machine before those on others. The
//! estimate is their median; where the size of the input files explains markedly more, a robust line through the sizes. Times
//! at several allotments give a speed-up law ([`crate::law`]). Times at one allotment give one, too, if the kernel counted the time on
//! processors: a process that kept 3.6 of 4 processors busy was 3.6 times as fast as on one, if it did no more work for it.
//!
//! Runs that were pinned to their processors and runs that were not are kept apart, because the time of an unpinned run depends
//! on the jobs beside it. A pinned task learns from pinned runs only. An unpinned run says nothing of speed-ups.
//!
//! A profile that is learned has the allotments between the fewest and the most that are known. Others are tried within bounds
//! ([`Exploration`]).

mod bounded;
mod exploration;
mod model;
mod robust;
mod size;
mod speedup;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use makespan_core::{Profile, Time};

use crate::store::Setting;
use crate::{Command, History, HistoryError};
use model::Model;

pub use exploration::{Candidate, Exploration, SHARE, Trial};

/// The latest runs of each allotment that count for the command itself: few, so that a program that became slower is noticed.
const RECENT_OF_COMMAND: usize = 9;
/// The same for a template, whose commands differ.
const RECENT_OF_TEMPLATE: usize = 50;
/// Records that are read for one estimate.
const LIMIT_OF_COMMAND: usize = 100;
const LIMIT_OF_TEMPLATE: usize = 1000;

/// A task whose times are asked for.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// What it runs.
    pub command: &'a Command,
    /// The fewest and the most processors that it may have.
    pub processors: RangeInclusive<u32>,
    /// True if it will be pinned to its processors. Such a task learns only from runs that were pinned.
    pub pinned: bool,
    /// Bytes of the files among its arguments now ([`Command::input_bytes`]).
    pub inputs: Option<u64>,
}

/// What was learned of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Times on the allotments that are known, as far as the task may have them; else on the next one that it may have.
    pub profile: Profile,
    /// How many runs it is learned from.
    pub runs: u32,
    /// The standard deviation of their times over the mean, estimated robustly; 0 of one run.
    pub spread: f64,
    /// Whose runs.
    pub basis: Basis,
    model: Model,
    inputs: Option<u64>,
}

/// Whose runs an estimate is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Of the same command.
    Command,
    /// Of commands of the same template.
    Template,
}

/// Answers questions from a history, and keeps what it learned of templates.
#[derive(Debug)]
pub struct Estimator<'a> {
    history: &'a History,
    host: String,
    folder: String,
    templates: BTreeMap<TemplateKey, Option<Model>>,
}

/// A template, whether the user stated it, and whether its runs were pinned.
type TemplateKey = (String, bool, bool);

impl<'a> Estimator<'a> {
    /// An estimator for tasks that run on this machine in this folder.
    pub fn new(history: &'a History, host: impl Into<String>, folder: impl Into<String>) -> Self {
        Self { history, host: host.into(), folder: folder.into(), templates: BTreeMap::new() }
    }

    /// What is known of a task; `None` where neither its command nor one of its template has succeeded.
    ///
    /// # Errors
    /// [`HistoryError`] when the history cannot be read.
    pub fn estimate(&mut self, question: &Question<'_>) -> Result<Option<Learned>, HistoryError> {
        // The time of a pinned run still helps to order the starts of tasks that are not pinned.
        let kinds: &[bool] = if question.pinned { &[true] } else { &[false, true] };
        let mut own = None;
        for &pinned in kinds {
            if own.is_none() {
                let setting = Setting { host: &self.host, folder: &self.folder, pinned };
                let rows = self.history.of_command(question.command, setting, LIMIT_OF_COMMAND)?;
                own = Model::of(&rows, RECENT_OF_COMMAND);
            }
        }
        let wanted = &question.processors;
        let complete = own.as_ref().is_some_and(|own| own.law.is_some() || *wanted == own.known);
        // What a template knows of speed-ups helps a command that ran on one allotment only.
        let mut shared = None;
        for &pinned in kinds {
            if !complete && shared.is_none() {
                shared = self.of_template(question.command, pinned)?;
            }
        }
        let (model, basis) = match (own, shared) {
            (Some(own), Some(shared)) => (own.with_speedup_of(&shared), Basis::Command),
            (Some(own), None) => (own, Basis::Command),
            (None, Some(shared)) => (shared, Basis::Template),
            (None, None) => return Ok(None),
        };
        let Some(profile) = model.profile(wanted, question.inputs) else { return Ok(None) };
        let (runs, spread, inputs) = (model.runs, model.spread, question.inputs);
        Ok(Some(Learned { profile, runs, spread, basis, model, inputs }))
    }

    /// The model of the template that the user stated, or else of the one with holes.
    fn of_template(&mut self, command: &Command, pinned: bool) -> Result<Option<Model>, HistoryError> {
        let stated = command.stated_template().map(|template| (template.to_owned(), true, pinned));
        for key in stated.into_iter().chain([(command.template().text, false, pinned)]) {
            if !self.templates.contains_key(&key) {
                let setting = Setting { host: &self.host, folder: &self.folder, pinned };
                let rows = self.history.of_template(&key.0, key.1, setting, LIMIT_OF_TEMPLATE)?;
                self.templates.insert(key.clone(), Model::of(&rows, RECENT_OF_TEMPLATE));
            }
            if let Some(Some(model)) = self.templates.get(&key) {
                return Ok(Some(model.clone()));
            }
        }
        Ok(None)
    }
}

/// The median of times: what a task of which nothing is known may take, by those of its run that have ended. `None` of none.
pub fn typical(times: &[Time]) -> Option<Time> {
    let mut sorted: Vec<Time> = times.iter().copied().filter(|time| *time > Time::ZERO).collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests;
