//! Predicted run times of tasks that state none, from the records of the history.
//!
//! An estimate first uses runs of the same command, and then runs of commands with the same template but other arguments. Only
//! successful runs count: the latest runs of each allotment, with runs on this machine preferred to runs on others. The estimate is
//! the median of their run times. If the size of the input files explains the run times markedly better, the estimate is a robust
//! line through the sizes. Run times at several allotments give a speed-up law ([`crate::law`]). Run times at one allotment also
//! give a law if the kernel counted the CPU time. A process that kept 3.6 of 4 processors busy was 3.6 times as fast as on one
//! processor, provided that both runs do the same work.
//!
//! Pinned and unpinned runs are kept apart, because the run time of an unpinned job depends on the jobs that run at the same time.
//! A pinned task learns from pinned runs only. An unpinned run gives no information about speed-ups.
//!
//! A learned profile covers the allotments between the smallest and the largest measured one. Other allotments are tried within
//! limits ([`Exploration`]).

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

/// Maximum number of runs per allotment that an estimate from the same command uses. It is small so that an estimate soon reflects
/// a program that became slower.
const RECENT_OF_COMMAND: usize = 9;
/// Maximum number of runs per allotment that an estimate from a template uses. It is larger because the commands differ.
const RECENT_OF_TEMPLATE: usize = 50;
/// Maximum number of records that are read for one estimate.
const LIMIT_OF_COMMAND: usize = 100;
const LIMIT_OF_TEMPLATE: usize = 1000;

/// A task whose run time is to be estimated.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Command of the task.
    pub command: &'a Command,
    /// Minimum and maximum number of processors that the task accepts.
    pub processors: RangeInclusive<u32>,
    /// True if the task will be pinned to its processors. Such a task learns from pinned runs only.
    pub pinned: bool,
    /// Current total size in bytes of the input files ([`Command::input_bytes`]).
    pub inputs: Option<u64>,
}

/// A run-time estimate from the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Run times on the measured allotments that the task accepts. If the task accepts none of them, the profile has the nearest
    /// allotment that it accepts.
    pub profile: Profile,
    /// Number of runs that the estimate uses.
    pub runs: u32,
    /// Robust estimate of the relative standard deviation of the run times; 0 for a single run.
    pub spread: f64,
    /// Commands whose runs the estimate uses.
    pub basis: Basis,
    model: Model,
    inputs: Option<u64>,
}

/// Source of the runs that an estimate uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Runs of the same command.
    Command,
    /// Runs of commands with the same template.
    Template,
}

/// Estimates run times from a history, and caches the models of templates.
#[derive(Debug)]
pub struct Estimator<'a> {
    history: &'a History,
    host: String,
    folder: String,
    templates: BTreeMap<TemplateKey, Option<Model>>,
}

/// Text of a template, true if the user stated it, and true if its runs were pinned.
type TemplateKey = (String, bool, bool);

impl<'a> Estimator<'a> {
    /// Creates an estimator for tasks that run on this machine in this folder.
    pub fn new(history: &'a History, host: impl Into<String>, folder: impl Into<String>) -> Self {
        Self { history, host: host.into(), folder: folder.into(), templates: BTreeMap::new() }
    }

    /// Returns the estimate for a task, or `None` if neither its command nor a command with its template has succeeded.
    ///
    /// # Errors
    /// [`HistoryError`] if the history cannot be read.
    pub fn estimate(&mut self, question: &Question<'_>) -> Result<Option<Learned>, HistoryError> {
        // Run times of pinned runs still help to order the starts of unpinned tasks.
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
        // The speed-up law of the template completes the model of a command that ran on one allotment only.
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

    /// Returns the model of the template that the user stated. If that template has none, returns the model of the template with
    /// holes.
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

/// Returns the median of the positive run times, or `None` if there are none. The median of the finished tasks of a run is the
/// guess for its tasks without a history.
pub fn typical(times: &[Time]) -> Option<Time> {
    let mut sorted: Vec<Time> = times.iter().copied().filter(|time| *time > Time::ZERO).collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests;
