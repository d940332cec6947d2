//! Events that a policy receives, and the decisions that it returns.

use std::sync::Arc;

use makespan::{Event as Core, Instance, ProcSet, TaskId, Time};
use pyo3::prelude::*;

use crate::convert;
use crate::processors::{count_of, set_of};
use crate::view::Task;

/// An event.
#[pyclass(frozen, module = "makespan._native")]
pub struct Event {
    core: Core,
    instance: Arc<Instance>,
}

impl Event {
    /// Creates an event of a simulation of this instance.
    pub fn new(core: Core, instance: &Arc<Instance>) -> Self {
        Self { core, instance: Arc::clone(instance) }
    }
}

#[pymethods]
impl Event {
    /// Kind: `submitted`, `finished`, `failed`, `interrupted`, `node_up`, `node_down`, `estimated` or
    /// `wake`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.core {
            Core::Finished(_) => "finished",
            Core::Failed(_) => "failed",
            Core::Interrupted(_) => "interrupted",
            Core::NodeUp(_) => "node_up",
            Core::NodeDown(_) => "node_down",
            Core::Submitted(_) => "submitted",
            Core::Estimated(_) => "estimated",
            Core::Wake => "wake",
        }
    }

    /// The task of the event, or None for nodes and wake-ups.
    #[getter]
    fn task(&self) -> Option<Task> {
        match self.core {
            Core::Finished(id)
            | Core::Failed(id)
            | Core::Interrupted(id)
            | Core::Submitted(id)
            | Core::Estimated(id) => Some(Task::new(id, &self.instance)),
            Core::NodeUp(_) | Core::NodeDown(_) | Core::Wake => None,
        }
    }

    /// Name of the node that went up or down.
    #[getter]
    fn node(&self) -> Option<&str> {
        match self.core {
            Core::NodeUp(node) | Core::NodeDown(node) => {
                self.instance.platform().nodes().get(node).map(|node| node.name.as_str())
            }
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        let of = self.task().map(|task| task.name().into_owned()).or_else(|| self.node().map(str::to_owned));
        of.map_or_else(|| format!("<{}>", self.kind()), |of| format!("<{} {of}>", self.kind()))
    }
}

/// The processors that a policy requests for the start of a task.
pub enum Wanted {
    /// Any free processors. Their number is the minimum that the task accepts.
    Fewest,
    /// Any free processors. The field is their number.
    Count(u32),
    /// Exactly the processors in the field.
    These(ProcSet),
}

/// Starts a waiting task now.
#[pyclass(frozen, module = "makespan._native")]
pub struct Start {
    /// The task to start.
    pub task: TaskId,
    /// The instance of the task.
    pub of: Arc<Instance>,
    /// The requested processors.
    pub wanted: Wanted,
}

#[pymethods]
impl Start {
    /// Creates a decision that starts a task on a number of free processors, or on a set of processors. By default,
    /// the task starts on its minimum number of processors.
    #[new]
    #[pyo3(signature = (task, processors=None))]
    fn new(task: &Task, processors: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let wanted = match processors {
            None => Wanted::Fewest,
            Some(asked) => match count_of(asked)? {
                Some(count) => Wanted::Count(count),
                None => Wanted::These(set_of(asked)?),
            },
        };
        Ok(Self { task: task.id, of: Arc::clone(task.instance()), wanted })
    }
}

/// Calls the policy again at an instant. If an event occurs earlier, this call is dropped.
#[pyclass(frozen, module = "makespan._native")]
pub struct Wake {
    /// The instant of the call.
    pub at: Time,
}

#[pymethods]
impl Wake {
    #[new]
    fn new(at: &Bound<'_, PyAny>) -> PyResult<Self> {
        convert::time(at, "at").map(|at| Self { at })
    }
}

/// Cancels a waiting task.
#[pyclass(frozen, module = "makespan._native")]
pub struct Cancel {
    /// The task to cancel.
    pub task: TaskId,
    /// The instance of the task.
    pub of: Arc<Instance>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new(task: &Task) -> Self {
        Self { task: task.id, of: Arc::clone(task.instance()) }
    }
}
