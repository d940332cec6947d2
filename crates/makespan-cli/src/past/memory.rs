//! What a run adds to the history.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use makespan_core::{Instance, Outcome, TaskId, Time};
use makespan_exec::Measured;
use makespan_history::{Ending, Record, Recorder};

use super::{Place, give_up};

/// Hands what runs to the history.
pub struct Memory {
    recorder: Option<Recorder>,
    place: Place,
    trials: BTreeSet<TaskId>,
    /// Bytes of the input files of those that run.
    inputs: BTreeMap<TaskId, Option<u64>>,
}

impl Memory {
    pub(super) fn new(recorder: Option<Recorder>, place: Place, trials: BTreeSet<TaskId>) -> Self {
        Self { recorder, place, trials, inputs: BTreeMap::new() }
    }

    /// A task starts: its input files are as large as they are now.
    pub fn started(&mut self, task: TaskId, instance: &Instance) {
        if self.recorder.is_some() {
            let inputs = self.input_bytes(&instance.command(task));
            self.inputs.insert(task, inputs);
        }
    }

    #[cfg(feature = "service")]
    /// A process ran to its end, in a folder of its own if one is named.
    pub fn measured_in(&mut self, folder: Option<&str>, measured: &Measured<'_>) {
        let Some(folder) = folder else { return self.measured(measured) };
        let own = std::mem::replace(&mut self.place.folder, folder.to_owned());
        self.measured(measured);
        self.place.folder = own;
    }

    /// A process ran to its end.
    pub fn measured(&mut self, measured: &Measured<'_>) {
        let Some(recorder) = &self.recorder else { return };
        let run = measured.run;
        if measured.is_spread {
            // It tells nothing of the command on as many processors of one node.
            self.inputs.remove(&run.task);
            return;
        }
        let inputs = self.inputs.remove(&run.task).unwrap_or_else(|| self.input_bytes(measured.command));
        let ending = match run.outcome {
            Outcome::Succeeded => Ending::Succeeded,
            Outcome::Failed { status } => Ending::Failed(status),
            Outcome::TimedOut => Ending::TimedOut,
            Outcome::Interrupted => Ending::Interrupted,
            Outcome::NotStarted => return,
        };
        let wall = (run.end - run.start).max(Time::TICK);
        let ended = measured.began + Duration::from_nanos(wall.ticks().unsigned_abs());
        let ended = ended.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        recorder.append(Record {
            command: self.place.command(measured.command),
            folder: self.place.folder.clone(),
            host: self.place.host.clone(),
            processors: run.processors.len(),
            wall,
            cpu: run.accounting.map(|accounting| accounting.cpu),
            memory: run.accounting.map(|accounting| accounting.peak_memory),
            ending,
            ended,
            inputs,
            explored: self.trials.contains(&run.task),
        });
    }

    /// Waits until all is written.
    pub fn finish(&mut self) {
        if let Some(error) = self.recorder.take().and_then(Recorder::finish) {
            give_up(&error);
        }
    }

    fn input_bytes(&self, words: &[String]) -> Option<u64> {
        self.place.command(words).input_bytes(Path::new(&self.place.folder))
    }
}
