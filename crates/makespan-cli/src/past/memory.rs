//! The records that a run adds to the history.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use makespan_core::{Instance, Outcome, Running, TaskId, Time};
use makespan_exec::MeasuredAttempt;
use makespan_history::{Ending, MemoryRequest, Recorder, RunRecord};

use super::{Place, give_up};

/// Records the processes of a run in the history.
pub struct Memory {
    recorder: Option<Recorder>,
    place: Place,
    trials: BTreeSet<TaskId>,
    /// Size in bytes of the input files of each running task.
    inputs: BTreeMap<TaskId, Option<u64>>,
    crowd: MeanConcurrency,
}

/// Computes the mean number of jobs that run at the same time.
#[derive(Default)]
struct MeanConcurrency {
    /// Start time, and `area` at this time, of each running job.
    running: BTreeMap<TaskId, (Time, f64)>,
    /// Time of the latest start or end.
    latest: Time,
    /// Sum of the run times of all jobs until `latest`, in seconds.
    area: f64,
}

impl MeanConcurrency {
    fn advance(&mut self, now: Time) {
        if now > self.latest {
            self.area += self.running.len() as f64 * (now - self.latest).seconds();
            self.latest = now;
        }
    }

    fn started(&mut self, task: TaskId, at: Time) {
        self.advance(at);
        self.running.insert(task, (at, self.area));
    }

    /// Returns the mean number of running jobs during the run of this job, including this job.
    fn ended(&mut self, task: TaskId, at: Time) -> Option<f64> {
        self.advance(at);
        let (start, area) = self.running.remove(&task)?;
        let seconds = (at - start).seconds();
        (seconds > 0.0).then(|| ((self.area - area) / seconds).max(1.0))
    }
}

impl Memory {
    pub(super) fn new(recorder: Option<Recorder>, place: Place, trials: BTreeSet<TaskId>) -> Self {
        Self { recorder, place, trials, inputs: BTreeMap::new(), crowd: MeanConcurrency::default() }
    }

    /// Stores the size of a task's input files when the task starts.
    pub fn started(&mut self, running: &Running, instance: &Instance) {
        if self.recorder.is_some() {
            let inputs = self.input_bytes(&instance.command(running.task));
            self.inputs.insert(running.task, inputs);
            self.crowd.started(running.task, running.start);
        }
    }

    #[cfg(feature = "service")]
    /// Records an ended process. `folder` is the working directory of the process, if it differs from the working
    /// directory of the run.
    pub fn measured_in(&mut self, folder: Option<&str>, measured: &MeasuredAttempt<'_>) {
        let Some(folder) = folder else { return self.measured(measured) };
        let own = std::mem::replace(&mut self.place.folder, folder.to_owned());
        self.measured(measured);
        self.place.folder = own;
    }

    /// Records an ended process.
    pub fn measured(&mut self, measured: &MeasuredAttempt<'_>) {
        let Some(recorder) = &self.recorder else { return };
        let run = measured.run;
        let at_once = self.crowd.ended(run.task, run.end);
        if measured.is_spread {
            // A run on several nodes does not show the run time of the command on one node.
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
        let reserved = run.accounting.and_then(|accounting| accounting.reserved_memory);
        recorder.append(RunRecord {
            command: self.place.command(measured.command),
            folder: self.place.folder.clone(),
            host: self.place.host.clone(),
            processors: run.processors.len(),
            wall,
            cpu: run.accounting.map(|accounting| accounting.cpu),
            memory: run.accounting.map(|accounting| accounting.peak_memory),
            reserved: reserved.map(|bytes| MemoryRequest { bytes, source: measured.memory_source }),
            memory_kill: run.accounting.is_some_and(|accounting| accounting.memory_kill.is_some()),
            attempt: measured.attempt,
            ending,
            ended,
            inputs,
            pinned: measured.is_pinned,
            at_once,
            explored: self.trials.contains(&run.task),
        });
    }

    /// Waits until all records are written.
    pub fn finish(&mut self) {
        if let Some(error) = self.recorder.take().and_then(Recorder::finish) {
            give_up(&error);
        }
    }

    fn input_bytes(&self, words: &[String]) -> Option<u64> {
        self.place.command(words).input_bytes(Path::new(&self.place.folder))
    }
}
