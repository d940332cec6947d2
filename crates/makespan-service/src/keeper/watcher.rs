//! Passes the events of the engine to the thread that writes the store, and snapshots of the engine to the planner.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};

use makespan_core::{Demand, Instance, Outcome, ProcSet, Run, Running, TaskId, TaskSet, Time, View};
use makespan_exec::{MeasuredAttempt, Observer, Progress, output_files};

use super::ahead::LengthPredictor;
use super::follow::LineKey;
use super::shared::{SharedState, Snapshot, StoreRequest};
use super::wear::RunReplacement;
use crate::clock::wall;
use crate::prepare::unwrapped;
use crate::store::{Reader, TaskEnd};
use crate::words::{JobNumber, State};

/// Maximum number of waiting tasks in a snapshot for the planner.
const PLANNED: usize = 2000;
/// Number of the oldest waiting tasks in every snapshot.
const OLDEST: usize = 200;

/// The observer of one session of the engine.
pub(super) struct Watcher {
    shared: Arc<SharedState>,
    asks: Sender<StoreRequest>,
    /// The wall clock at instant 0 of the run, in seconds since 1970.
    origin: Option<f64>,
    /// Whether the tasks that were running at the beginning of the session have been reported.
    told: bool,
    /// Whether the session ends when no task is running.
    pub drains: bool,
    /// The number of changes in this session, plus 1.
    changes: u64,
    wear: RunReplacement,
}

impl Watcher {
    pub fn new(shared: Arc<SharedState>, asks: Sender<StoreRequest>, drains: bool, wear: RunReplacement) -> Self {
        Self { shared, asks, origin: None, told: false, drains, changes: 1, wear }
    }

    fn instant(&mut self, at: Time, progress: &Progress<'_>) -> f64 {
        let origin = *self.origin.get_or_insert_with(|| wall() - progress.view.now.seconds());
        origin + at.seconds()
    }

    fn send(&mut self, end: TaskEnd) {
        self.changes += 1;
        let _ = self.asks.send(StoreRequest::Task(Box::new(end)));
    }

    /// Returns a change of a task to a state, or `None` if the job of the task is unknown.
    fn task(&self, task: TaskId, state: State) -> Option<TaskEnd> {
        let owners = self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let (owned, number) = owners.of(task)?;
        Some(TaskEnd {
            job: owned.job,
            position: owned.position,
            task: number,
            state,
            started: None,
            ended: None,
            processors: None,
            width: 0,
            nodes: None,
            output: None,
            exit: None,
            memory: None,
            reason: None,
        })
    }

    fn placed(end: TaskEnd, processors: &ProcSet, view: &View<'_>) -> TaskEnd {
        let platform = view.instance.platform();
        let nodes = platform.parts(processors).into_iter().map(|(node, _)| platform.nodes()[node].name.clone());
        let nodes: Vec<String> = nodes.take(1000).collect();
        let (width, processors) = (processors.len(), processors.to_string());
        TaskEnd { width, processors: Some(processors), nodes: Some(nodes.join(",")), ..end }
    }

    fn ended_as(&mut self, run: &Run, reason: Option<&str>, progress: &Progress<'_>) {
        let (state, exit) = TaskEnd::after(run.outcome);
        let Some(end) = self.task(run.task, state) else { return };
        let ended = Some(self.instant(run.end, progress));
        let reason = reason.map(Self::named);
        if run.outcome == Outcome::NotStarted {
            return self.send(TaskEnd { ended, reason, ..end });
        }
        let started = Some(self.instant(run.start, progress));
        let memory = run.accounting.map(|accounting| accounting.peak_memory);
        let end = Self::placed(end, &run.processors, &progress.view);
        self.send(TaskEnd { started, ended, exit, memory, reason, ..end });
    }

    /// Replaces the name of a job by the number of the job, in a reason from the engine.
    fn named(reason: &str) -> String {
        match reason.strip_prefix('`').and_then(|rest| rest.split_once("`, which it waits for")) {
            Some((name, rest)) => {
                let number = name.split(['-', '/']).next().unwrap_or(name);
                format!("job {number}, which it waits for{rest}")
            }
            None => reason.to_owned(),
        }
    }

    /// Reports the tasks that are running at the beginning of the session. Tasks that ended earlier have already been
    /// reported.
    fn tell_found(&mut self, progress: &Progress<'_>) {
        self.told = true;
        let owners = self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let running =
            progress.view.running.iter().filter_map(|run| owners.of(run.task).map(|(owned, task)| (owned.job, task)));
        let running: BTreeSet<(JobNumber, u64)> = running.collect();
        drop(owners);
        let _ = self.asks.send(StoreRequest::Found(running));
    }

    /// Returns true if no task is running, and no task of a started job is waiting.
    fn is_drained(&self, progress: &Progress<'_>) -> bool {
        let rules = self.shared.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let owners = self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let has_begun = |task: TaskId| {
            let begun = rules.begun.as_ref();
            owners.of(task).is_some_and(|(owned, _)| begun.is_some_and(|begun| begun.contains(&owned.job)))
        };
        progress.view.running.is_empty() && !progress.view.waiting.iter().any(has_begun)
    }

    /// Returns true if the run is long and must be replaced by a new run.
    fn gives_way(&self, progress: &Progress<'_>) -> bool {
        let jobs = self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner).count();
        let open = || {
            let counts = self.shared.readers.read(Reader::counts).ok()?;
            Some(counts.iter().filter(|(state, _)| !state.is_final()).map(|(_, count)| count).sum())
        };
        self.wear.is_due(jobs, &progress.view, open)
    }

    /// Returns the data for predicting the length of a running task.
    fn ahead(&self, run: &Running, instance: &Instance, now: Time) -> LengthPredictor {
        let expected = instance.time(run.task, &run.processors);
        let lengths = self.shared.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        let kinds = self.shared.host.kinds(unwrapped(&instance.task(run.task).command).0);
        let lengths = lengths.of(&kinds, expected.max(now - run.start));
        LengthPredictor { expected, walltime: instance.walltime(run.task), lengths }
    }

    /// Sends a snapshot of the engine to the planner, if the planner has requested one.
    fn picture(&mut self, progress: &Progress<'_>) {
        let mut wanted = self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let request = std::mem::take(&mut *wanted);
        if request == 0 {
            return;
        }
        drop(wanted);
        let View { instance, now, waiting, running, .. } = progress.view;
        let first = first_planned(instance, waiting);
        let known: BTreeMap<TaskId, LengthPredictor> =
            running.iter().map(|run| (run.task, self.ahead(run, instance, now))).collect();
        let end = |run: &Running| known.get(&run.task).map_or(now, |ahead| run.start + ahead.length(now - run.start).0);
        let part = instance.residual_until(&View { waiting: &first, ..progress.view }, Time::MAX, &end);
        let running =
            running.iter().map(|run| (run.clone(), known.get(&run.task).cloned().unwrap_or_default())).collect();
        let names = |task: TaskId| {
            let name = |demand: &Demand| instance.platform().resource_of(demand.resource).name.to_string();
            instance.demands(task).iter().map(name).collect()
        };
        let resources = progress.view.running.iter().map(|run| (run.task, names(run.task))).collect();
        let origin = wall() - now.seconds();
        let left_out = waiting.len().saturating_sub(first.len()) as u64;
        let down = progress.view.down.to_vec();
        let tasks = instance.tasks();
        let snapshot =
            Snapshot { origin, now, part, request, tasks, running, resources, left_out, down, changes: self.changes };
        let _ = self.shared.snapshots.lock().unwrap_or_else(PoisonError::into_inner).send(snapshot);
    }
}

/// Returns the waiting tasks that are planned. If there are many, returns the oldest tasks, and the tasks with the
/// largest weight for each processor-second.
fn first_planned(instance: &Instance, waiting: &TaskSet) -> TaskSet {
    if waiting.len() <= PLANNED {
        return waiting.clone();
    }
    let mut all: Vec<(LineKey, TaskId)> =
        waiting.iter().skip(OLDEST).map(|task| (LineKey::of(instance, task), task)).collect();
    all.select_nth_unstable(PLANNED - OLDEST);
    waiting.iter().take(OLDEST).chain(all[..PLANNED - OLDEST].iter().map(|one| one.1)).collect()
}

impl Observer for Watcher {
    fn started(&mut self, running: &Running, progress: &Progress<'_>) {
        let Some(end) = self.task(running.task, State::Running) else { return };
        let started = Some(self.instant(running.start, progress));
        let [out, _] = output_files(std::path::Path::new(""), progress.view.instance, running.task);
        let output = Some(out.with_extension("").display().to_string());
        let end = Self::placed(end, &running.processors, &progress.view);
        self.send(TaskEnd { started, output, ..end });
    }

    fn ended(&mut self, run: &Run, reason: Option<&str>, progress: &Progress<'_>) {
        self.ended_as(run, reason, progress);
    }

    fn retried(&mut self, run: &Run, reason: Option<&str>, _attempt: u32, progress: &Progress<'_>) {
        self.lost(run, reason.unwrap_or_default(), 0, progress);
    }

    fn lost(&mut self, run: &Run, reason: &str, _attempt: u32, _progress: &Progress<'_>) {
        if let Some(end) = self.task(run.task, State::Waiting) {
            self.send(TaskEnd { reason: Some(reason.to_owned()), ..end });
        }
    }

    fn interrupted(&mut self, run: &Run, progress: &Progress<'_>) {
        self.lost(run, "it was interrupted because the service stopped", 0, progress);
    }

    fn measured(&mut self, measured: &MeasuredAttempt<'_>) {
        let (command, folder) = unwrapped(measured.command);
        self.shared.host.measured(&MeasuredAttempt { command, ..*measured }, folder);
    }

    fn grown(&mut self, _tasks: Range<TaskId>, _progress: &Progress<'_>) {
        self.changes += 1;
    }

    fn not_grown(&mut self, reason: &str) {
        self.shared.trouble(&format!("jobs could not be handed to the engine: {reason}"));
    }

    fn withdrawn(&mut self, tasks: &[TaskId], done: bool) {
        let _ = self.asks.send(StoreRequest::Withdrawn(tasks.to_vec(), done));
    }

    fn cancelled(&mut self, task: TaskId, progress: &Progress<'_>) {
        let ended = Some(self.instant(progress.view.now, progress));
        if let Some(end) = self.task(task, State::Cancelled) {
            self.send(TaskEnd { ended, reason: Some("it was cancelled".into()), ..end });
        }
    }

    fn message(&mut self, text: &str) {
        self.shared.note(text);
    }

    fn outlived(&mut self, text: &str) {
        self.shared.inform(text);
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        if !self.told {
            // A session that cannot begin never comes here, so its problem remains.
            self.shared.runs.store(true, Ordering::Relaxed);
            self.shared.relief();
            self.tell_found(progress);
        }
        if self.drains && (self.is_drained(progress) || self.wear.is_over()) {
            self.shared.leave();
        } else if !self.drains && self.gives_way(progress) {
            self.shared.worn.store(true, Ordering::Relaxed);
            self.shared.leave();
        }
        self.picture(progress);
    }
}
