//! Views of policies, and tasks.
//!
//! A Rust view is borrowed for one call of the policy. During this call it is stored for the thread, so that Python can query it
//! and no data is copied in advance.

use std::borrow::Cow;
use std::sync::Arc;

use makespan::{Instance, ProcSet, TaskId, Time, View as Core};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use crate::processors::{Processors, count_of, set_of};

scoped_thread_local!(
    /// View of the policy that currently decides on this thread.
    pub static SEEN: for<'a> Core<'a>
);

/// Queries the view of the policy that currently decides.
///
/// # Errors
/// `RuntimeError` outside of `Policy.on`.
fn seen<R>(ask: impl FnOnce(&Core<'_>) -> PyResult<R>) -> PyResult<R> {
    if SEEN.is_set() {
        return SEEN.with(|view| ask(&view));
    }
    Err(PyRuntimeError::new_err("a view is valid while `on` decides; keep what you need of it, not the view"))
}

/// A task of an instance.
#[pyclass(frozen, module = "makespan._native")]
pub struct Task {
    /// Number of the task.
    pub id: TaskId,
    instance: Arc<Instance>,
}

impl Task {
    /// Creates a task of this instance, in which `id` must exist.
    pub fn new(id: TaskId, instance: &Arc<Instance>) -> Self {
        Self { id, instance: Arc::clone(instance) }
    }

    /// Returns the instance of the task.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }
}

#[pymethods]
impl Task {
    /// Number of the task, counted over all tasks of all jobs in the order of the instance.
    #[getter]
    fn id(&self) -> u64 {
        self.id.0
    }

    /// Full name of the task.
    #[getter]
    pub fn name(&self) -> Cow<'_, str> {
        self.instance.name(self.id)
    }

    /// Name of the job.
    #[getter]
    fn job(&self) -> &str {
        &self.instance.job_of(self.id).name
    }

    /// Release date in seconds.
    #[getter]
    fn released(&self) -> f64 {
        self.instance.release(self.id).seconds()
    }

    /// Share of this task in the weight of its job.
    #[getter]
    fn weight(&self) -> f64 {
        self.instance.weight(self.id).as_f64()
    }

    /// Priority of the job.
    #[getter]
    fn priority(&self) -> i32 {
        self.instance.job_of(self.id).priority
    }

    /// Number of the user who submitted the job, if it is known.
    #[getter]
    fn user(&self) -> Option<u32> {
        self.instance.job_of(self.id).user
    }

    /// Deadline of the job.
    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.instance.job_of(self.id).deadline.map(Time::seconds)
    }

    /// Time limit of the task.
    #[getter]
    fn walltime(&self) -> Option<f64> {
        self.instance.walltime(self.id).map(Time::seconds)
    }

    /// Minimum number of processors that the task accepts.
    #[getter]
    fn min_processors(&self) -> u32 {
        self.instance.profile(self.id).min_processors()
    }

    /// Maximum number of processors that the task accepts.
    #[getter]
    fn max_processors(&self) -> u32 {
        self.instance.profile(self.id).max_processors()
    }

    /// Allotments worth choosing: each is faster than all smaller ones.
    #[getter]
    fn allotments(&self) -> Vec<u32> {
        self.instance.profile(self.id).allotments().collect()
    }

    /// Returns the estimated run time in seconds on a number of processors of speed 1, on a set of processors, or on the minimum
    /// number that the task accepts.
    #[pyo3(signature = (processors=None))]
    fn time(&self, processors: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
        let profile = self.instance.profile(self.id);
        let Some(asked) = processors else { return Ok(profile.longest().seconds()) };
        let time = match count_of(asked)? {
            Some(count) => {
                let fits = profile.machine_times().is_none() && profile.accepts(count);
                fits.then(|| profile.time(count)).ok_or_else(|| format!("{count} processors"))
            }
            None => {
                let set = set_of(asked)?;
                let last = self.instance.processors() - 1;
                let known = set.last().is_some_and(|id| id <= last);
                let time = known.then(|| self.instance.try_time(self.id, &set)).flatten();
                time.ok_or_else(|| format!("the processors `{set}`"))
            }
        };
        let (least, most) = (profile.min_processors(), profile.max_processors());
        time.map(Time::seconds).map_err(|on| {
            let name = self.name();
            let problem = if profile.machine_times().is_some() {
                format!("task `{name}` has no time on {on}; it has one of its own on each node: ask for a processor by its id")
            } else {
                format!("task `{name}` has no time on {on}; it accepts {least} to {most} processors of the platform")
            };
            PyValueError::new_err(problem)
        })
    }

    /// Predecessors, which must end before this task starts.
    #[getter]
    fn predecessors(&self) -> Vec<Task> {
        self.instance.incoming(self.id).map(|edge| Task::new(edge.from, &self.instance)).collect()
    }

    /// Successors, which wait for this task.
    #[getter]
    fn successors(&self) -> Vec<Task> {
        self.instance.outgoing(self.id).map(|edge| Task::new(edge.to, &self.instance)).collect()
    }

    fn __repr__(&self) -> String {
        format!("<task {}>", self.name())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.instance, &other.instance)
    }

    fn __hash__(&self) -> u64 {
        self.id.0
    }
}

/// A running task.
#[pyclass(frozen, module = "makespan._native")]
pub struct Running {
    task: TaskId,
    instance: Arc<Instance>,
    start: Time,
    expected_end: Time,
    processors: ProcSet,
}

#[pymethods]
impl Running {
    /// The task itself.
    #[getter]
    fn task(&self) -> Task {
        Task::new(self.task, &self.instance)
    }

    /// Start in seconds.
    #[getter]
    fn start(&self) -> f64 {
        self.start.seconds()
    }

    /// Expected end in seconds.
    #[getter]
    fn expected_end(&self) -> f64 {
        self.expected_end.seconds()
    }

    /// Processors that the task holds.
    #[getter]
    fn processors(&self) -> Processors {
        Processors { set: self.processors.clone() }
    }
}

/// Information for a policy, with estimates only. It is valid during a call of `on`.
#[pyclass(frozen, module = "makespan._native")]
pub struct View {
    instance: Arc<Instance>,
}

impl View {
    /// Creates a view for policies of this instance.
    pub fn new(instance: &Arc<Instance>) -> Self {
        Self { instance: Arc::clone(instance) }
    }
}

#[pymethods]
impl View {
    /// Current instant in seconds.
    #[getter]
    fn now(&self) -> PyResult<f64> {
        seen(|view| Ok(view.now.seconds()))
    }

    /// Number of processors.
    #[getter]
    fn processors(&self) -> u32 {
        self.instance.processors()
    }

    /// Number of processors that are currently free.
    #[getter]
    fn free(&self) -> PyResult<u32> {
        seen(|view| Ok(view.free.len()))
    }

    /// Processors that are currently free.
    #[getter]
    fn free_processors(&self) -> PyResult<Processors> {
        seen(|view| Ok(Processors { set: view.free.clone() }))
    }

    /// Waiting tasks, in the order of the instance.
    #[getter]
    fn waiting(&self) -> Waiting {
        Waiting { instance: Arc::clone(&self.instance) }
    }

    /// Running tasks, in no particular order.
    #[getter]
    fn running(&self) -> PyResult<Vec<Running>> {
        seen(|view| {
            let each = |running: &makespan_core::Running| Running {
                task: running.task,
                instance: Arc::clone(&self.instance),
                start: running.start,
                expected_end: running.expected_end(view.instance, view.now),
                processors: running.processors.clone(),
            };
            Ok(view.running.iter().map(each).collect())
        })
    }

    /// Returns the instant in seconds at which all data of a task will have arrived on these processors, or None if a predecessor
    /// has not ended.
    fn arrival(&self, task: &Task, processors: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let set = set_of(processors)?;
        seen(|view| Ok(view.arrival(task.id, &set).map(Time::seconds)))
    }

    /// Returns whether a task may start on these processors now: they are free, the task accepts them, and its memory and other
    /// resources are available.
    fn fits(&self, task: &Task, processors: &Bound<'_, PyAny>) -> PyResult<bool> {
        let set = set_of(processors)?;
        seen(|view| {
            let now = set.is_subset(view.free) && view.instance.accepts(task.id, &set);
            let there = now && view.arrival(task.id, &set).is_some_and(|arrival| arrival <= view.now);
            Ok(there && makespan_core::Left::of(view).take(task.id, &set))
        })
    }
}

/// Waiting tasks, valid during a call of `on`.
#[pyclass(frozen, module = "makespan._native")]
struct Waiting {
    instance: Arc<Instance>,
}

#[pymethods]
impl Waiting {
    fn __len__(&self) -> PyResult<usize> {
        seen(|view| Ok(view.waiting.len()))
    }

    fn __contains__(&self, task: &Task) -> PyResult<bool> {
        seen(|view| Ok(view.waiting.contains(task.id)))
    }

    /// Returns the task at this index. Negative indices count from the end. O(waiting tasks).
    fn __getitem__(&self, at: isize) -> PyResult<Task> {
        let found = seen(|view| {
            let len = view.waiting.len();
            let at = if at < 0 { len.checked_sub(at.unsigned_abs()) } else { Some(at.unsigned_abs()) };
            Ok(at.and_then(|at| view.waiting.iter().nth(at)))
        })?;
        let task = found.ok_or_else(|| PyIndexError::new_err("fewer tasks wait"))?;
        Ok(Task::new(task, &self.instance))
    }

    fn __iter__(&self) -> WaitingTasks {
        WaitingTasks { instance: Arc::clone(&self.instance), next: 0 }
    }
}

/// Iterator over the waiting tasks.
#[pyclass(module = "makespan._native")]
struct WaitingTasks {
    instance: Arc<Instance>,
    next: u64,
}

#[pymethods]
impl WaitingTasks {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> PyResult<Option<Task>> {
        let found = seen(|view| Ok(view.waiting.next(TaskId(self.next))))?;
        Ok(found.map(|task| {
            self.next = task.0 + 1;
            Task::new(task, &self.instance)
        }))
    }
}
