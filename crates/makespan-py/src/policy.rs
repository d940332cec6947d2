//! Runs a policy that is written in Python in the simulator.

use std::sync::Arc;

use makespan::{Decision, Event as CoreEvent, Instance, Policy, ProcSet, Stop, TaskId, View as CoreView};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors;
use crate::events::{Cancel, Event, Start, Wake, Wanted};
use crate::processors::shown;
use crate::view::{SEEN, View};

/// A policy that is written in Python. It runs in the thread that holds the interpreter's lock.
pub struct Own<'py> {
    on: Bound<'py, PyAny>,
    name: String,
    view: Bound<'py, View>,
    instance: Arc<Instance>,
    /// The stop request, sent when the policy raises an exception.
    stop: Stop,
    raised: Option<PyErr>,
}

impl<'py> Own<'py> {
    /// Creates a policy from an object with a method `on(events, view)`.
    ///
    /// # Errors
    ///
    /// `AttributeError` if the object has no such method.
    pub fn new(policy: &Bound<'py, PyAny>, name: &str, instance: &Arc<Instance>, stop: &Stop) -> PyResult<Self> {
        Ok(Self {
            on: policy.getattr("on")?,
            name: name.to_owned(),
            view: Bound::new(policy.py(), View::new(instance))?,
            instance: Arc::clone(instance),
            stop: stop.clone(),
            raised: None,
        })
    }

    /// Removes and returns the exception that the policy raised.
    pub fn raised(&mut self) -> Option<PyErr> {
        self.raised.take()
    }

    fn ask(&self, events: &[CoreEvent], view: &CoreView<'_>, decisions: &mut Vec<Decision>) -> PyResult<()> {
        let py = self.view.py();
        let heard = events.iter().map(|&event| Event::new(event, &self.instance));
        let answer = SEEN.set(*view, || {
            let heard = PyList::new(py, heard.collect::<Vec<_>>())?;
            let answer = self.on.call1((heard, &self.view))?;
            // The result of `on` may be a generator. Its code reads the view between the decisions, so run the
            // generator here.
            if answer.is_none() || answer.is_instance_of::<PyList>() {
                return Ok::<_, PyErr>(answer);
            }
            let decided = answer.try_iter().map_err(|_| self.undecided(&answer))?;
            decided.collect::<PyResult<Vec<_>>>()?.into_pyobject(py).map(Bound::into_any)
        })?;
        if answer.is_none() {
            return Ok(());
        }
        let mut free = None;
        for decision in answer.cast::<PyList>()?.iter() {
            decisions.push(self.decision(&decision, view, &mut free)?);
        }
        Ok(())
    }

    /// Converts a decision. `free` contains the processors that are free after the earlier decisions, or None if no
    /// earlier decision starts a task.
    fn decision(
        &self,
        decision: &Bound<'_, PyAny>,
        view: &CoreView<'_>,
        free: &mut Option<ProcSet>,
    ) -> PyResult<Decision> {
        if let Ok(start) = decision.cast::<Start>() {
            let start = start.get();
            self.knows(&start.of)?;
            let free = free.get_or_insert_with(|| view.free.clone());
            let processors = match &start.wanted {
                Wanted::These(set) => {
                    *free = free.difference(set);
                    set.clone()
                }
                Wanted::Count(count) => self.taken(start.task, *count, free)?,
                Wanted::Fewest if self.instance.has_task(start.task) => {
                    self.taken(start.task, self.instance.profile(start.task).min_processors(), free)?
                }
                Wanted::Fewest => ProcSet::new(),
            };
            return Ok(Decision::Start { task: start.task, processors });
        }
        if let Ok(wake) = decision.cast::<Wake>() {
            return Ok(Decision::WakeAt(wake.get().at));
        }
        if let Ok(cancel) = decision.cast::<Cancel>() {
            self.knows(&cancel.get().of)?;
            return Ok(Decision::Cancel(cancel.get().task));
        }
        Err(self.undecided(decision))
    }

    /// Returns the error for a return value of `on` that is not a decision.
    fn undecided(&self, answer: &Bound<'_, PyAny>) -> PyErr {
        let kind = answer.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        let problem = format!("`on` decided {}, a `{kind}`; return a list of Start, Wake and Cancel", shown(answer));
        errors::policy(self.view.py(), problem)
    }

    /// Checks that a task belongs to the simulated instance. The number alone is not enough, because other instances
    /// use the same numbers.
    fn knows(&self, of: &Arc<Instance>) -> PyResult<()> {
        if Arc::ptr_eq(of, &self.instance) {
            return Ok(());
        }
        let problem = "the method `on` decided about a task of another instance; use only tasks of `view.waiting`";
        Err(errors::policy(self.view.py(), problem))
    }

    fn taken(&self, task: TaskId, count: u32, free: &mut ProcSet) -> PyResult<ProcSet> {
        free.take(count).ok_or_else(|| {
            let name = if self.instance.has_task(task) { self.instance.name(task) } else { task.to_string().into() };
            let problem = format!("`on` starts task `{name}` on {count} processors, but only {} are free", free.len());
            errors::policy(self.view.py(), problem)
        })
    }
}

impl Policy for Own<'_> {
    fn on(&mut self, events: &[CoreEvent], view: &CoreView<'_>, decisions: &mut Vec<Decision>) {
        if self.raised.is_some() {
            return;
        }
        if let Err(error) = self.ask(events, view, decisions) {
            decisions.clear();
            self.raised = Some(errors::of_decision(self.view.py(), error, &self.name, view.now));
            self.stop.request();
        }
    }
}
