//! Tasks, and the view that a policy receives.
//!
//! The simulator lends its view to the policy for one call. During this call, a thread-local variable contains a
//! reference to the view. So the policy's Python code can query the view, and its data need not be copied.

use std::borrow::Cow;
use std::sync::Arc;

use makespan::{Instance, ProcSet, TaskId, Time, View as Core};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use crate::processors::{Processors, count_of, set_of};

scoped_thread_local!(
    /// The view of the policy that is deciding in this thread.
    pub static SEEN: for<'a> Core<'a>
);

/// Calls `ask` with the view of the policy that is deciding.
///
/// # Errors
///
/// `RuntimeError` outside `Policy.on`.
fn seen<R>(ask: impl FnOnce(&Core<'_>) -> PyResult<R>) -> PyResult<R> {
    if SEEN.is_set() {
        return SEEN.with(|view| ask(&view));
    }
    Err(PyRuntimeError::new_err(
        "a view is valid only during the call of `on`; keep the values that you need, not the view",
    ))
}

/// A task of an instance.
#[pyclass(frozen, module = "makespan._native")]
pub struct Task {
    /// The number of the task.
    pub id: TaskId,
    instance: Arc<Instance>,
}

impl Task {
    /// Creates a reference to an existing task of this instance.
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
    /// The number of the task among all tasks of the instance.
    #[getter]
    fn id(&self) -> u64 {
        self.id.0
    }

    /// The full name of the task.
    #[getter]
    pub fn name(&self) -> Cow<'_, str> {
        self.instance.name(self.id)
    }

    /// Name of the job.
    #[getter]
    fn job(&self) -> &str {
        &self.instance.job_of(self.id).name
    }

    /// The release date in seconds.
    #[getter]
    fn released(&self) -> f64 {
        self.instance.release(self.id).seconds()
    }

    /// The weight of the task: its share of the weight of its job.
    #[getter]
    fn weight(&self) -> f64 {
        self.instance.weight(self.id).as_f64()
    }

    /// Priority of the job.
    #[getter]
    fn priority(&self) -> i32 {
        self.instance.job_of(self.id).priority
    }

    /// The number of the user who submitted the job, if known.
    #[getter]
    fn user(&self) -> Option<u32> {
        self.instance.job_of(self.id).user
    }

    /// Deadline of the job in seconds.
    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.instance.job_of(self.id).deadline.map(Time::seconds)
    }

    /// The time limit in seconds.
    #[getter]
    fn walltime(&self) -> Option<f64> {
        self.instance.walltime(self.id).map(Time::seconds)
    }

    /// The minimum number of processors.
    #[getter]
    fn min_processors(&self) -> u32 {
        self.instance.profile(self.id).min_processors()
    }

    /// The maximum number of processors.
    #[getter]
    fn max_processors(&self) -> u32 {
        self.instance.profile(self.id).max_processors()
    }

    /// The useful numbers of processors. The task is faster on each of them than on any smaller number.
    #[getter]
    fn allotments(&self) -> Vec<u32> {
        self.instance.profile(self.id).allotments().collect()
    }

    /// Returns the estimated run time in seconds: on a number of processors of speed 1, on a set of processors, or on
    /// the minimum number of processors.
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
                format!(
                    "task `{name}` has no run time on {on}; the run time differs between nodes, so name a processor by its id"
                )
            } else {
                format!("task `{name}` has no run time on {on}; it accepts {least} to {most} processors of the platform")
            };
            PyValueError::new_err(problem)
        })
    }

    /// The tasks that must end before this task.
    #[getter]
    fn predecessors(&self) -> Vec<Task> {
        self.instance.incoming(self.id).map(|edge| Task::new(edge.from, &self.instance)).collect()
    }

    /// The tasks that cannot start before the end of this task.
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
    /// The task.
    #[getter]
    fn task(&self) -> Task {
        Task::new(self.task, &self.instance)
    }

    /// The start in seconds.
    #[getter]
    fn start(&self) -> f64 {
        self.start.seconds()
    }

    /// The expected end in seconds.
    #[getter]
    fn expected_end(&self) -> f64 {
        self.expected_end.seconds()
    }

    /// The processors of the task.
    #[getter]
    fn processors(&self) -> Processors {
        Processors { set: self.processors.clone() }
    }
}

/// The data that a policy may use: estimates, never actual run times. A view is valid only during `on`.
#[pyclass(frozen, module = "makespan._native")]
pub struct View {
    instance: Arc<Instance>,
}

impl View {
    /// Creates a view for a policy in a simulation of this instance.
    pub fn new(instance: &Arc<Instance>) -> Self {
        Self { instance: Arc::clone(instance) }
    }
}

#[pymethods]
impl View {
    /// The current instant in seconds.
    #[getter]
    fn now(&self) -> PyResult<f64> {
        seen(|view| Ok(view.now.seconds()))
    }

    /// The number of processors.
    #[getter]
    fn processors(&self) -> u32 {
        self.instance.processors()
    }

    /// The number of free processors.
    #[getter]
    fn free(&self) -> PyResult<u32> {
        seen(|view| Ok(view.free.len()))
    }

    /// The free processors.
    #[getter]
    fn free_processors(&self) -> PyResult<Processors> {
        seen(|view| Ok(Processors { set: view.free.clone() }))
    }

    /// The waiting tasks, in the order of the instance.
    #[getter]
    fn waiting(&self) -> Waiting {
        Waiting { instance: Arc::clone(&self.instance) }
    }

    /// The running tasks, in no particular order.
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

    /// Returns the instant, in seconds, at which all input data of a task have arrived on these processors. Returns
    /// None if a predecessor has not ended.
    fn arrival(&self, task: &Task, processors: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let set = set_of(processors)?;
        seen(|view| Ok(view.arrival(task.id, &set).map(Time::seconds)))
    }

    /// Returns true if a task may start on these processors now: they are free, the task accepts them, and its other
    /// resources are available.
    fn fits(&self, task: &Task, processors: &Bound<'_, PyAny>) -> PyResult<bool> {
        let set = set_of(processors)?;
        seen(|view| {
            let now = set.is_subset(view.free) && view.instance.accepts(task.id, &set);
            let there = now && view.arrival(task.id, &set).is_some_and(|arrival| arrival <= view.now);
            Ok(there && makespan_core::FreeAmounts::of(view).take(task.id, &set))
        })
    }
}

/// The waiting tasks. The object is valid only during `on`.
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

    /// Returns the task at an index. Negative indices count from the end. The time is proportional to the number of
    /// waiting tasks.
    fn __getitem__(&self, at: isize) -> PyResult<Task> {
        let found = seen(|view| {
            let len = view.waiting.len();
            let at = if at < 0 { len.checked_sub(at.unsigned_abs()) } else { Some(at.unsigned_abs()) };
            Ok(at.and_then(|at| view.waiting.iter().nth(at)))
        })?;
        let task = found.ok_or_else(|| PyIndexError::new_err("the index is out of range; fewer tasks are waiting"))?;
        Ok(Task::new(task, &self.instance))
    }

    fn __iter__(&self) -> WaitingTasks {
        WaitingTasks { instance: Arc::clone(&self.instance), next: 0 }
    }
}

/// An iterator over the waiting tasks.
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
