//! Proven bounds.

use std::sync::Arc;

use makespan::formats::schedule::{BoundEntry, read_bound, write_bound};
use makespan::{Bound as Core, Instance as CoreInstance, Stop};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::convert::{figure, objective as objective_of};
use crate::errors;
use crate::instance::Instance;
use crate::waiting::Watch;

/// A proven bound with its certificate.
#[pyclass(frozen, name = "Bound", module = "makespan._native")]
pub struct Proven {
    core: Core,
    instance: Arc<CoreInstance>,
}

impl Proven {
    /// Creates a bound on this instance.
    pub fn new(core: Core, instance: &Arc<CoreInstance>) -> Self {
        Self { core, instance: Arc::clone(instance) }
    }
}

#[pymethods]
impl Proven {
    /// Name of the objective.
    #[getter]
    fn objective(&self) -> &'static str {
        self.core.objective.name()
    }

    /// Value as the nearest float.
    #[getter]
    fn value(&self) -> f64 {
        figure(self.core.objective, &self.core.value)
    }

    /// Value as an exact decimal.
    #[getter]
    fn exact(&self) -> String {
        self.core.value.decimal(self.core.objective)
    }

    /// The largest makespan (in seconds) of the schedules for which the bound is proved. None if the bound is proved
    /// for all schedules.
    #[getter]
    fn makespan_at_most(&self) -> Option<f64> {
        self.core.makespan_at_most.map(makespan::Time::seconds)
    }

    /// Kind of the proof.
    #[getter]
    fn proof(&self) -> &'static str {
        self.core.proof.name()
    }

    /// True if the bound depends on guessed times.
    #[getter]
    fn rests_on_guesses(&self) -> bool {
        self.instance.has_guesses()
    }

    /// The instance of the bound.
    #[getter]
    fn of(&self) -> Instance {
        Instance::shared(&self.instance)
    }

    /// Returns the value with its certificate, as JSON.
    fn certificate(&self) -> PyResult<String> {
        let mut text = Vec::new();
        write_bound(&self.instance, &self.core, &mut text).map_err(PyOSError::new_err)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Checks the certificate. If the certificate proves the bound, returns None. Otherwise, returns the problem.
    fn problem(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.core.verify(&self.instance)).err().map(|error| error.to_string())
    }
}

/// Returns the standard bounds of an instance, each with its certificate.
#[pyfunction]
pub fn bound(py: Python<'_>, instance: &Instance, thorough: bool) -> PyResult<Vec<Proven>> {
    let core = Arc::clone(&instance.core);
    let watch = Watch { stop: Stop::default(), is_anytime: false, limit: None, progress: None };
    let (bounds, _) =
        watch.wait(
            py,
            None,
            move || if thorough { makespan::thorough_bound(&core, None) } else { makespan::bound(&core) },
        )?;
    let bounds = bounds.map_err(|error| errors::of_plan(py, &error, None))?;
    Ok(bounds.into_iter().map(|bound| Proven::new(bound, &instance.core)).collect())
}

/// Restores a pickled bound from the text of its certificate, without checking it.
#[pyfunction]
pub fn bound_of_text(py: Python<'_>, instance: &Instance, objective: &str, text: &str) -> PyResult<Proven> {
    let entry: BoundEntry = serde_json::from_str(text).map_err(|error| errors::input(py, error))?;
    let core = read_bound("bound", "bound", objective_of(py, objective)?, entry);
    Ok(Proven::new(core.map_err(|error| errors::of_document(py, &error))?, &instance.core))
}
