//! A run on this machine that accepts jobs while it runs. The package's `Executor` uses it.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use makespan::formats::{ReadOptions, parse_instance};
use makespan::policy::{Improve, Improving, RenewedPolicy};
use makespan::{Instance, Job, Objective, Platform, Policy, Stop, TaskId};
use makespan_core::Run;
use makespan_exec::{ExecuteOptions, Intake, Observer, Progress, cores, reserve};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{document, errors, options, tables};

/// The fraction of one core that improves the plan of the waiting tasks during the run.
const SHARE: f64 = 0.1;

/// An event of the run.
enum Told {
    /// The run accepted this number of tasks.
    Grown(u64),
    /// The run rejected a job, for this reason.
    NotGrown(String),
    Started(TaskId),
    /// A task ended, with this outcome and for this reason.
    Ended(TaskId, &'static str, Option<String>),
    Cancelled(TaskId),
    /// The run has ended. If the run failed, the text is the reason.
    Over(Option<String>),
}

/// Sends the events of the run to a channel.
struct Teller(Sender<Told>);

impl Teller {
    fn tell(&self, told: Told) {
        // If the receiver no longer exists, the event is not needed.
        let _ = self.0.send(told);
    }
}

impl Observer for Teller {
    fn started(&mut self, running: &makespan_core::Running, _: &Progress<'_>) {
        self.tell(Told::Started(running.task));
    }

    fn ended(&mut self, run: &Run, reason: Option<&str>, _: &Progress<'_>) {
        self.tell(Told::Ended(run.task, tables::outcome(run.outcome), reason.map(str::to_owned)));
    }

    fn grown(&mut self, tasks: std::ops::Range<TaskId>, _: &Progress<'_>) {
        self.tell(Told::Grown(tasks.end.0 - tasks.start.0));
    }

    fn not_grown(&mut self, reason: &str) {
        self.tell(Told::NotGrown(reason.to_owned()));
    }

    fn cancelled(&mut self, task: TaskId, _: &Progress<'_>) {
        self.tell(Told::Cancelled(task));
    }
}

/// A run on this machine that accepts jobs while it runs.
#[pyclass(frozen, module = "makespan._native")]
pub struct Session {
    intake: Intake,
    stop: Stop,
    platform: Platform,
    told: Mutex<Receiver<Told>>,
}

#[pymethods]
impl Session {
    /// Begins a run in a folder. `platform` is a dict with the keys of a native file. `guard` is the path of the
    /// program that starts each job and records its end.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, guard: PathBuf, platform: &Bound<'_, PyDict>) -> PyResult<Self> {
        let platform = options::platform(py, platform)?;
        let (intake, stop) = (Intake::new(), Stop::default());
        let options = ExecuteOptions {
            shim: Some(guard),
            intake: Some(intake.clone()),
            stop: stop.clone(),
            grace: Duration::from_secs(1),
            ..ExecuteOptions::new(folder)
        };
        let instance = Instance::new(platform.clone(), Vec::new(), Vec::new());
        let instance = instance.map_err(|error| errors::input(py, error))?;
        // Before the thread starts, report an error if the machine lacks resources.
        py.detach(|| reserve(&instance, &options).map(drop)).map_err(|error| errors::input(py, error))?;
        let (sender, receiver) = channel();
        let run = thread::Builder::new().name("makespan-run".into()).spawn(move || {
            let failed = run(&instance, &options, &sender).err();
            let _ = sender.send(Told::Over(failed));
        });
        run.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
        Ok(Self { intake, stop, platform, told: Mutex::new(receiver) })
    }

    /// The number of processors of the run.
    #[getter]
    fn processors(&self) -> u32 {
        self.platform.processors()
    }

    /// Submits a job. `job` is a dict with the keys of a native file. `after` contains the names of earlier jobs that
    /// must end before this job. A later call of [`Self::next`] returns an event that states whether the run accepted
    /// the job.
    fn append(&self, job: &Bound<'_, PyAny>, after: Vec<String>) -> PyResult<()> {
        let py = job.py();
        let text = format!(r#"{{"version":2,"jobs":[{}]}}"#, document::json(job)?);
        let options = ReadOptions { machine: Some(self.platform.clone()), ..ReadOptions::default() };
        let read = parse_instance(text.as_bytes(), "job", &options);
        let instance = read.map_err(|error| errors::of_document(py, &error))?.instance;
        let jobs: Vec<Job> = instance.all_submitted().into_iter().map(|job| job.with_after(after.clone())).collect();
        self.intake.append(jobs);
        Ok(())
    }

    /// Cancels waiting tasks, and ends running tasks.
    fn cancel(&self, tasks: Vec<u64>) {
        self.intake.cancel(tasks.into_iter().map(TaskId).collect());
    }

    /// Ends the run after all tasks have ended.
    fn leave(&self) {
        self.intake.leave();
    }

    /// Ends the run and all its running tasks.
    fn end(&self) {
        self.stop.request();
        self.intake.leave();
    }

    /// Returns the next event as a triple, or None if no event occurs within `seconds`. The triple consists of the kind
    /// of the event, a number, and a reason or None. For an event of a task, the number is the task. For the kind
    /// `grown`, the number is the number of accepted tasks. For all other kinds, the number is 0.
    fn next(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<(&'static str, u64, Option<String>)>> {
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let told = py.detach(|| match self.told.lock() {
            Ok(told) => told.recv_timeout(wait),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        match told {
            Ok(Told::Grown(count)) => Ok(Some(("grown", count, None))),
            Ok(Told::NotGrown(reason)) => Ok(Some(("refused", 0, Some(reason)))),
            Ok(Told::Started(task)) => Ok(Some(("started", task.0, None))),
            Ok(Told::Ended(task, outcome, reason)) => Ok(Some((outcome, task.0, reason))),
            Ok(Told::Cancelled(task)) => Ok(Some(("cancelled", task.0, None))),
            Ok(Told::Over(reason)) => Ok(Some(("over", 0, reason))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Ok(Some(("over", 0, None))),
        }
    }
}

fn run(instance: &Instance, options: &ExecuteOptions, told: &Sender<Told>) -> Result<(), String> {
    let reserved = reserve(instance, options).map_err(|error| error.to_string())?;
    let improving = Improving { objective: Objective::Makespan, ..Improving::default() };
    let policy = move |_: &Instance| -> Option<Box<dyn Policy>> {
        Some(Box::new(Improve::new(improving, 0).in_background(SHARE)))
    };
    let first = policy(instance).ok_or("no policy")?;
    let mut renewed = RenewedPolicy::new(first, instance, policy);
    let ended = reserved.execute(&mut renewed, &mut Teller(told.clone()));
    ended.map(drop).map_err(|error| error.to_string())
}

/// Returns the number of cores and the memory in bytes that this process may use. The memory is None if it is unknown.
#[pyfunction]
pub fn machine() -> PyResult<(usize, Option<u64>)> {
    let cores = cores().map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok((cores.len(), makespan_exec::memory()))
}

/// If this process was started as the guard of a job, runs the guard and does not return.
#[pyfunction]
pub fn guard(arguments: Vec<std::ffi::OsString>) {
    makespan_exec::serve_as(arguments);
}
