//! Schedulers that are written in Python.

use std::sync::{Arc, Mutex};

use makespan::{
    Context, Guarantee, Instance, Objective, Placement, Plan, Schedule, ScheduleError, Scheduler, Time, Unsupported,
};
use pyo3::prelude::*;

use crate::processors::set_of;
use crate::view::Task;
use crate::{convert, errors};

/// A scheduler object of the package. Its method `_placements` returns a schedule.
pub struct Own {
    schedule: Py<PyAny>,
    name: String,
    instance: Arc<Instance>,
    raised: Mutex<Option<PyErr>>,
}

impl Own {
    /// Creates a scheduler from an object of the package's class `Scheduler`.
    ///
    /// # Errors
    /// `AttributeError` if a method is missing.
    pub fn new(scheduler: &Bound<'_, PyAny>, instance: &Arc<Instance>) -> PyResult<Self> {
        let name = scheduler.getattr("name").and_then(|name| name.extract());
        let name = name.or_else(|_| scheduler.get_type().name().map(|name| name.to_string()))?;
        let schedule = scheduler.getattr("_placements")?.unbind();
        Ok(Self { schedule, name, instance: Arc::clone(instance), raised: Mutex::new(None) })
    }

    /// Returns the name of the scheduler.
    pub fn called(&self) -> &str {
        &self.name
    }

    /// Returns an error if the scheduler raised an exception.
    ///
    /// # Errors
    /// The exception of the scheduler.
    pub fn raised(&self) -> PyResult<()> {
        match self.raised.lock().ok().and_then(|mut raised| raised.take()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn placements(&self, py: Python<'_>) -> PyResult<Vec<Placement>> {
        let instance = &self.instance;
        let own = Py::new(py, crate::instance::Instance::shared(instance))?;
        let tasks: Vec<Task> = instance.task_ids().map(|task| Task::new(task, instance)).collect();
        let answer = self.schedule.bind(py).call1((own, tasks))?;
        let mut placements = Vec::new();
        for placed in answer.try_iter()? {
            let (task, start, processors): (PyRef<'_, Task>, Bound<'_, PyAny>, Bound<'_, PyAny>) = placed?.extract()?;
            if !Arc::ptr_eq(task.instance(), instance) {
                let problem = format!(
                    "{} places a task of another instance; take tasks from the argument `tasks` of `schedule`",
                    self.name
                );
                return Err(errors::policy(py, problem));
            }
            let (task, start) = (task.id, convert::time(&start, "start")?);
            let processors = set_of(&processors)?;
            let last = instance.processors() - 1;
            let known = instance.has_task(task) && processors.last().is_some_and(|id| id <= last);
            // If the task has no run time on these processors, any end is possible here. The check of the schedule
            // later reports the placement.
            let time = known.then(|| instance.try_time(task, &processors)).flatten().unwrap_or(Time::TICK);
            placements.push(Placement { task, start, end: start + time, processors });
        }
        Ok(placements)
    }
}

impl Scheduler for Own {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn supports(&self, _: &Instance) -> Result<(), Unsupported> {
        Ok(())
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, _: &Instance, _: &mut Context) -> Result<Plan, ScheduleError> {
        match Python::attach(|py| self.placements(py)) {
            Ok(placements) => Ok(Schedule::new(placements).into()),
            Err(error) => {
                let reason = Unsupported(error.to_string());
                if let Ok(mut raised) = self.raised.lock() {
                    *raised = Some(error);
                }
                Err(ScheduleError::Unsupported { scheduler: self.name.clone(), reason })
            }
        }
    }
}
