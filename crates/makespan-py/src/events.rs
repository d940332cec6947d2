//! What a policy hears, and what it may answer.

use std::sync::Arc;

use makespan::{Event as Core, Instance, ProcSet, TaskId, Time};
use pyo3::prelude::*;

use crate::convert;
use crate::processors::{count_of, set_of};
use crate::view::Task;

/// Something that happened.
#[pyclass(frozen, module = "makespan._native")]
pub struct Event {
    core: Core,
    instance: Arc<Instance>,
}

impl Event {
    /// An event of a simulation of this instance.
    pub fn new(core: Core, instance: &Arc<Instance>) -> Self {
        Self { core, instance: Arc::clone(instance) }
    }
}

#[pymethods]
impl Event {
    /// `submitted`, `finished`, `failed`, `interrupted`, `node_up`, `node_down`, `estimated` or `wake`.
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

    /// The task that it is about; None of nodes and wake-ups.
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

    /// The name of the node that went up or down.
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

/// How many processors, or which.
pub enum Wanted {
    /// As few as the task accepts.
    Fewest,
    /// So many of those that are free.
    Count(u32),
    /// These.
    These(ProcSet),
}

/// Start a waiting task now.
#[pyclass(frozen, module = "makespan._native")]
pub struct Start {
    /// Which task.
    pub task: TaskId,
    /// Of which instance.
    pub of: Arc<Instance>,
    /// Where.
    pub wanted: Wanted,
}

#[pymethods]
impl Start {
    /// On so many of the free processors, on these, or on as few as the task accepts.
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

/// Ask again at an instant, unless something else happens before.
#[pyclass(frozen, module = "makespan._native")]
pub struct Wake {
    /// When.
    pub at: Time,
}

#[pymethods]
impl Wake {
    #[new]
    fn new(at: &Bound<'_, PyAny>) -> PyResult<Self> {
        convert::time(at, "at").map(|at| Self { at })
    }
}

/// Give a waiting task up.
#[pyclass(frozen, module = "makespan._native")]
pub struct Cancel {
    /// Which task.
    pub task: TaskId,
    /// Of which instance.
    pub of: Arc<Instance>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new(task: &Task) -> Self {
        Self { task: task.id, of: Arc::clone(task.instance()) }
    }
}
