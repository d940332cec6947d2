//! Estimates from the history the times of tasks that state no times.
//!
//! An estimate uses runs of the same command. If these runs do not suffice, the estimate also uses runs of other
//! commands with the same template. An estimate uses only successful runs: the latest runs of each allotment, and runs
//! on this machine before runs on other machines. The estimate is the median time of these runs. If the size of the
//! input files explains the times much better, the estimate is a robust line over the size. Times at several
//! allotments give a speed-up law ([`crate::law`]). If the kernel measured the CPU time, times at one allotment also
//! give a law. For example, a process that kept 3.6 of 4 processors busy is assumed to be 3.6 times as fast as on one
//! processor.
//!
//! Pinned runs and unpinned runs are kept apart, because the time of an unpinned run depends on the jobs that run at
//! the same time. A pinned task learns only from pinned runs. No speed-up is learned from unpinned runs.
//!
//! A learned profile has the allotments from the smallest to the largest known allotment. Trials measure other
//! allotments, within a budget ([`Exploration`]).

mod bounded;
mod exploration;
mod model;
mod size;
mod speedup;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use makespan_core::{Profile, Time};
use rusqlite::Transaction;
use rustc_hash::FxHashMap;

use crate::store::RecallSetting;
use crate::{Command, History, HistoryError};
use model::Model;

pub use exploration::{Exploration, SHARE, Trial, TrialCandidate};

/// Number of latest runs of each allotment from which a command's times are estimated. The number is small, so that
/// estimates soon reflect a program that became slower.
const RECENT_OF_COMMAND: usize = 9;
/// Number of latest runs of each allotment from which the times of a template are estimated. The number is larger than
/// for a command, because the commands of a template differ.
const RECENT_OF_TEMPLATE: usize = 50;
/// Maximum number of records that are read for one estimate.
const LIMIT_OF_COMMAND: usize = 100;
const LIMIT_OF_TEMPLATE: usize = 1000;

/// A task that needs estimated times.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The command of the task.
    pub command: &'a Command,
    /// The minimum and maximum allotment of the task.
    pub processors: RangeInclusive<u32>,
    /// True if the task will be pinned to its processors. Pinned tasks learn only from pinned runs.
    pub pinned: bool,
    /// Current size in bytes of the files among the arguments ([`Command::input_bytes`]).
    pub inputs: Option<u64>,
}

/// Learned times of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedTimes {
    /// Times on the known allotments that the task accepts. If the task accepts no known allotment, the profile
    /// contains the time on one accepted allotment: the nearest to the known allotments.
    pub profile: Profile,
    /// Number of runs from which the times are learned.
    pub runs: u32,
    /// Relative deviation of the runs from the expected times, estimated robustly; 0 for a single run.
    pub spread: f64,
    /// The kind of runs from which the times are learned.
    pub basis: Basis,
    model: Model,
    inputs: Option<u64>,
}

/// The kind of runs that an estimate uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Runs of the same command.
    Command,
    /// Runs of commands with the same template.
    Template,
}

/// Estimates times of tasks from a history. Caches the models of commands and of templates, so a long list of equal
/// commands needs one query.
#[derive(Debug)]
pub struct Estimator<'a> {
    history: &'a History,
    host: String,
    folder: String,
    commands: FxHashMap<(Command, bool), CommandModels>,
    templates: BTreeMap<TemplateKey, Option<Model>>,
    _snapshot: Transaction<'a>,
}

/// The text of a template, whether the user stated the template, and whether its runs were pinned.
type TemplateKey = (String, bool, bool);

/// The models for the tasks of a command.
#[derive(Debug)]
struct CommandModels {
    /// The model of the runs of the command.
    own: Option<Model>,
    /// The model of the runs of the command's template.
    shared: Option<Model>,
    /// True if the model of the template was read. This model is read only if a task needs it.
    is_whole: bool,
}

impl<'a> Estimator<'a> {
    /// Creates an estimator for tasks that run on this machine in this folder. The estimator uses the records that the
    /// history contains now.
    ///
    /// # Errors
    /// [`HistoryError`] if the history cannot be read.
    pub fn new(history: &'a History, host: impl Into<String>, folder: impl Into<String>) -> Result<Self, HistoryError> {
        let (host, folder, snapshot) = (host.into(), folder.into(), history.snapshot()?);
        let (commands, templates) = (FxHashMap::default(), BTreeMap::new());
        Ok(Self { history, host, folder, commands, templates, _snapshot: snapshot })
    }

    /// Returns the learned times of a task, or `None` if neither its command nor a command with its template has succeeded.
    ///
    /// # Errors
    /// [`HistoryError`] if the history cannot be read.
    pub fn estimate(&mut self, question: &Question<'_>) -> Result<Option<LearnedTimes>, HistoryError> {
        // For unpinned tasks, also uses pinned runs, because their times help to order the starts.
        let kinds: &[bool] = if question.pinned { &[true] } else { &[false, true] };
        let key = (question.command.clone(), question.pinned);
        let mut models = match self.commands.remove(&key) {
            Some(models) => models,
            None => CommandModels { own: self.of_command(question.command, kinds)?, shared: None, is_whole: false },
        };
        let wanted = &question.processors;
        let complete = models.own.as_ref().is_some_and(|own| own.law.is_some() || *wanted == own.known);
        // If a command ran on only one allotment, its speed-up is the speed-up of its template.
        if !complete && !models.is_whole {
            models.shared = self.of_template(question.command, kinds)?;
            models.is_whole = true;
        }
        let models = self.commands.entry(key).or_insert(models);
        let shared = models.shared.as_ref().filter(|_| !complete);
        let (model, basis) = match (&models.own, shared) {
            (Some(own), Some(shared)) => (own.clone().with_speedup_of(shared), Basis::Command),
            (Some(own), None) => (own.clone(), Basis::Command),
            (None, Some(shared)) => (shared.clone(), Basis::Template),
            (None, None) => return Ok(None),
        };
        let Some(profile) = model.profile(wanted, question.inputs) else { return Ok(None) };
        let (runs, spread, inputs) = (model.runs, model.spread, question.inputs);
        Ok(Some(LearnedTimes { profile, runs, spread, basis, model, inputs }))
    }

    /// Returns the model of the first kind of runs, pinned or unpinned, that the history has of a command.
    fn of_command(&self, command: &Command, kinds: &[bool]) -> Result<Option<Model>, HistoryError> {
        let Some(number) = self.history.number_of(command)? else { return Ok(None) };
        for &pinned in kinds {
            let setting = RecallSetting { host: &self.host, folder: &self.folder, pinned };
            let rows = self.history.of_command(number, setting, LIMIT_OF_COMMAND)?;
            if let Some(model) = Model::of(&rows, RECENT_OF_COMMAND) {
                return Ok(Some(model));
            }
        }
        Ok(None)
    }

    /// Returns the model of the first kind of runs, pinned or unpinned, that the history has of a template: of the
    /// template that the user stated, or else of the template with holes.
    fn of_template(&mut self, command: &Command, kinds: &[bool]) -> Result<Option<Model>, HistoryError> {
        let with_holes = command.template().text;
        for &pinned in kinds {
            let stated = command.stated_template().map(|template| (template.to_owned(), true, pinned));
            for key in stated.into_iter().chain([(with_holes.clone(), false, pinned)]) {
                if !self.templates.contains_key(&key) {
                    let setting = RecallSetting { host: &self.host, folder: &self.folder, pinned };
                    let rows = self.history.of_template(&key.0, key.1, setting, LIMIT_OF_TEMPLATE)?;
                    self.templates.insert(key.clone(), Model::of(&rows, RECENT_OF_TEMPLATE));
                }
                if let Some(Some(model)) = self.templates.get(&key) {
                    return Ok(Some(model.clone()));
                }
            }
        }
        Ok(None)
    }
}

/// Returns the median of the positive times, or `None` if no time is positive. The median of the ended tasks of a run
/// is the default time of a task without an estimate.
pub fn typical(times: &[Time]) -> Option<Time> {
    let mut sorted: Vec<Time> = times.iter().copied().filter(|time| *time > Time::ZERO).collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests;
