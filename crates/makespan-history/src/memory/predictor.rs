//! Predicts the memory of commands from a history.

use std::collections::BTreeMap;

use rusqlite::Transaction;
use rustc_hash::FxHashMap;

use super::{ExcessRule, MemoryBasis, MemoryModel, MemoryRun};
use crate::store::RecalledPeak;
use crate::{Command, History, HistoryError};

/// Number of latest runs of a command, and of commands with one template, from which memory is learned.
const RECENT_OF_COMMAND: usize = 20;
const RECENT_OF_TEMPLATE: usize = 50;
/// Largest quotient of the sizes of two inputs that are treated as equal.
const SIMILAR: f64 = 1.1;

/// Learned memory of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnedMemory {
    /// Memory in bytes to reserve for the task.
    pub bytes: u64,
    /// Number of runs from which the memory is learned.
    pub runs: u32,
    /// Standard deviation of the peaks divided by the typical peaks; 0 for a single run.
    pub spread: f64,
    /// The kind of runs from which the memory is learned.
    pub basis: MemoryBasis,
}

/// Predicts the memory of tasks from a history. Caches the models of templates, so a long list of like commands needs
/// one query.
#[derive(Debug)]
pub struct MemoryPredictor<'a> {
    history: &'a History,
    folder: String,
    excess: ExcessRule,
    commands: FxHashMap<Command, Vec<RecalledPeak>>,
    templates: BTreeMap<(String, bool), Option<MemoryModel>>,
    _snapshot: Transaction<'a>,
}

impl<'a> MemoryPredictor<'a> {
    /// Creates a predictor for tasks that run in this folder. `excess` is the consequence for a task that uses more
    /// memory than predicted. The predictor uses the records that the history contains now.
    ///
    /// # Errors
    /// [`HistoryError`] if the history cannot be read.
    pub fn new(history: &'a History, folder: impl Into<String>, excess: ExcessRule) -> Result<Self, HistoryError> {
        let (folder, snapshot) = (folder.into(), history.snapshot()?);
        let (commands, templates) = (FxHashMap::default(), BTreeMap::new());
        Ok(Self { history, folder, excess, commands, templates, _snapshot: snapshot })
    }

    /// Returns the memory of a task, or `None` if the history has no peak of its command or of a command with its
    /// template. `inputs` is the current size in bytes of the files among the arguments ([`Command::input_bytes`]).
    ///
    /// Runs of the command itself are preferred, if their inputs had nearly the current size.
    ///
    /// # Errors
    /// [`HistoryError`] if the history cannot be read.
    pub fn predict(&mut self, command: &Command, inputs: Option<u64>) -> Result<Option<LearnedMemory>, HistoryError> {
        if !self.commands.contains_key(command) {
            self.commands.insert(command.clone(), self.of_command(command)?);
        }
        let alike: Vec<MemoryRun> = self.commands[command]
            .iter()
            .filter(|peak| are_similar(peak.run.inputs, inputs))
            .map(|peak| peak.run)
            .collect();
        if alike.iter().any(|run| !run.is_killed)
            && let Some(model) = MemoryModel::of(&alike, MemoryBasis::SameCommand, self.excess)
        {
            return Ok(Some(learned(&model, inputs, MemoryBasis::SameCommand)));
        }
        let shared = self.of_template(command)?;
        // If the command itself was killed, its next run needs more memory than the killed run.
        let floor = alike.iter().map(|run| run.peak.saturating_mul(2)).max().unwrap_or(0);
        let own = || MemoryModel::of(&alike, MemoryBasis::SameCommand, self.excess);
        let model = shared.or_else(own);
        Ok(model.map(|model| {
            let learned = learned(&model, inputs, MemoryBasis::LikeCommands);
            LearnedMemory { bytes: learned.bytes.max(floor), ..learned }
        }))
    }

    /// Returns the peaks of a command: of its runs in the folder, or of all its runs if none ran in the folder.
    fn of_command(&self, command: &Command) -> Result<Vec<RecalledPeak>, HistoryError> {
        let Some(number) = self.history.number_of(command)? else { return Ok(Vec::new()) };
        let mut peaks = self.history.peaks_of_command(number, &self.folder, RECENT_OF_COMMAND)?;
        if peaks.iter().any(|peak| peak.in_folder) {
            peaks.retain(|peak| peak.in_folder);
        }
        Ok(peaks)
    }

    /// Returns the model of the template that the user stated, or else of the template with holes.
    fn of_template(&mut self, command: &Command) -> Result<Option<MemoryModel>, HistoryError> {
        let stated = command.stated_template().map(|template| (template.to_owned(), true));
        for key in stated.into_iter().chain([(command.template().text, false)]) {
            if !self.templates.contains_key(&key) {
                let peaks = self.history.peaks_of_template(&key.0, key.1, &self.folder, RECENT_OF_TEMPLATE)?;
                let runs: Vec<MemoryRun> = peaks.iter().map(|peak| peak.run).collect();
                self.templates.insert(key.clone(), MemoryModel::of(&runs, MemoryBasis::LikeCommands, self.excess));
            }
            if let Some(Some(model)) = self.templates.get(&key) {
                return Ok(Some(model.clone()));
            }
        }
        Ok(None)
    }
}

fn learned(model: &MemoryModel, inputs: Option<u64>, basis: MemoryBasis) -> LearnedMemory {
    LearnedMemory { bytes: model.predict(inputs), runs: model.runs, spread: model.spread, basis }
}

/// Returns true if two sizes are nearly equal, or if one of them is unknown.
fn are_similar(one: Option<u64>, other: Option<u64>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let (small, large) = (one.min(other) as f64, one.max(other) as f64);
    large <= SIMILAR * small.max(1.0)
}
