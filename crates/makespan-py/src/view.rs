//! What a policy sees, and tasks.
//!
//! A view of Rust is borrowed for one call of the policy. It is set aside for the thread while Python decides, so that Python
//! asks for what it needs and nothing is copied for it in advance.

use std::borrow::Cow;
use std::sync::Arc;

use makespan::{Instance, ProcSet, TaskId, Time, View as Core};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use crate::processors::{Processors, count_of, set_of};

scoped_thread_local!(
    /// What the policy that decides on this thread sees.
    pub static SEEN: for<'a> Core<'a>
);

/// What the policy that decides now sees.
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
    /// Its number.
    pub id: TaskId,
    instance: Arc<Instance>,
}

impl Task {
    /// A task of this instance, which has it.
    pub fn new(id: TaskId, instance: &Arc<Instance>) -> Self {
        Self { id, instance: Arc::clone(instance) }
    }

    /// Whose it is.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }
}

#[pymethods]
impl Task {
    /// Its number: all tasks of all jobs, in the order of the instance.
    #[getter]
    fn id(&self) -> u64 {
        self.id.0
    }

    /// Its full name.
    #[getter]
    pub fn name(&self) -> Cow<'_, str> {
        self.instance.name(self.id)
    }

    /// The name of its job.
    #[getter]
    fn job(&self) -> &str {
        &self.instance.job_of(self.id).name
    }

    /// When it is released, in seconds.
    #[getter]
    fn released(&self) -> f64 {
        self.instance.release(self.id).seconds()
    }

    /// Its part of the weight of its job.
    #[getter]
    fn weight(&self) -> f64 {
        self.instance.weight(self.id).as_f64()
    }

    /// The priority of its job.
    #[getter]
    fn priority(&self) -> i32 {
        self.instance.job_of(self.id).priority
    }

    /// The number of who submitted it, where that is known.
    #[getter]
    fn user(&self) -> Option<u32> {
        self.instance.job_of(self.id).user
    }

    /// When its job should have ended.
    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.instance.job_of(self.id).deadline.map(Time::seconds)
    }

    /// After how long it is ended.
    #[getter]
    fn walltime(&self) -> Option<f64> {
        self.instance.walltime(self.id).map(Time::seconds)
    }

    /// The fewest processors that it accepts.
    #[getter]
    fn min_processors(&self) -> u32 {
        self.instance.profile(self.id).min_processors()
    }

    /// The most processors that it accepts.
    #[getter]
    fn max_processors(&self) -> u32 {
        self.instance.profile(self.id).max_processors()
    }

    /// The numbers of processors worth choosing from: more of them are faster.
    #[getter]
    fn allotments(&self) -> Vec<u32> {
        self.instance.profile(self.id).allotments().collect()
    }

    /// How long it is estimated to take, in seconds: on so many processors of speed 1, on these, or on as few as it accepts.
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

    /// The tasks that it waits for.
    #[getter]
    fn predecessors(&self) -> Vec<Task> {
        self.instance.incoming(self.id).map(|edge| Task::new(edge.from, &self.instance)).collect()
    }

    /// The tasks that wait for it.
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

/// A task that runs.
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
    /// Which task.
    #[getter]
    fn task(&self) -> Task {
        Task::new(self.task, &self.instance)
    }

    /// Since when, in seconds.
    #[getter]
    fn start(&self) -> f64 {
        self.start.seconds()
    }

    /// When it is expected to end, in seconds.
    #[getter]
    fn expected_end(&self) -> f64 {
        self.expected_end.seconds()
    }

    /// Where.
    #[getter]
    fn processors(&self) -> Processors {
        Processors { set: self.processors.clone() }
    }
}

/// What a policy may know: estimates only. It is valid while `on` decides.
#[pyclass(frozen, module = "makespan._native")]
pub struct View {
    instance: Arc<Instance>,
}

impl View {
    /// A view for policies that drive this instance.
    pub fn new(instance: &Arc<Instance>) -> Self {
        Self { instance: Arc::clone(instance) }
    }
}

#[pymethods]
impl View {
    /// The present instant, in seconds.
    #[getter]
    fn now(&self) -> PyResult<f64> {
        seen(|view| Ok(view.now.seconds()))
    }

    /// How many processors there are.
    #[getter]
    fn processors(&self) -> u32 {
        self.instance.processors()
    }

    /// How many processors are free now.
    #[getter]
    fn free(&self) -> PyResult<u32> {
        seen(|view| Ok(view.free.len()))
    }

    /// Which processors are free now.
    #[getter]
    fn free_processors(&self) -> PyResult<Processors> {
        seen(|view| Ok(Processors { set: view.free.clone() }))
    }

    /// The tasks that wait, in the order of the instance.
    #[getter]
    fn waiting(&self) -> Waiting {
        Waiting { instance: Arc::clone(&self.instance) }
    }

    /// The tasks that run, in no order.
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

    /// When all data of a task have arrived on these processors, in seconds; None when something that it waits for has not ended.
    fn arrival(&self, task: &Task, processors: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let set = set_of(processors)?;
        seen(|view| Ok(view.arrival(task.id, &set).map(Time::seconds)))
    }

    /// Whether a task may start on these processors now: all are free, it accepts them, and the memory and whatever else it needs is left.
    fn fits(&self, task: &Task, processors: &Bound<'_, PyAny>) -> PyResult<bool> {
        let set = set_of(processors)?;
        seen(|view| {
            let now = set.is_subset(view.free) && view.instance.accepts(task.id, &set);
            let there = now && view.arrival(task.id, &set).is_some_and(|arrival| arrival <= view.now);
            Ok(there && makespan_core::Left::of(view).take(task.id, &set))
        })
    }
}

/// The tasks that wait, while `on` decides.
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

    /// The task at a place, counted from the end where it is negative. O(waiting tasks).
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

/// The tasks that wait, one by one.
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
