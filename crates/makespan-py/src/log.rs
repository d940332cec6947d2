//! Logs: what policies may know, apart from what really happened.

use std::path::PathBuf;
use std::sync::Arc;

use makespan::formats::{Replay, ReplayOptions, read_replay};
use makespan::tree::TreeProblem;
use makespan::{Actual, Deviation, Instance as CoreInstance, Platform};
use pyo3::prelude::*;

use crate::errors;
use crate::instance::Instance;
use crate::options::Reading;

/// Jobs as they are told to policies, and how long they really take.
#[pyclass(frozen, module = "makespan._native")]
pub struct Log {
    /// With estimates.
    pub instance: Arc<CoreInstance>,
    /// The real times.
    pub actual: Arc<Actual>,
    remarks: Vec<String>,
    /// Whether policies are told how long jobs of a log really take, or nothing.
    pub is_clairvoyant: bool,
}

impl Log {
    /// What the simulator can play.
    pub fn checked(
        py: Python<'_>,
        instance: Arc<CoreInstance>,
        actual: Actual,
        remarks: Vec<String>,
    ) -> PyResult<Self> {
        if TreeProblem::is_meant(&instance) {
            let problem = "bags of tasks with data on a tree of machines have policies of their own; call `makespan.simulate_tree(instance)`";
            return Err(errors::input(py, problem));
        }
        instance.check_task_names().map_err(|error| errors::input(py, error))?;
        Ok(Self { instance, actual: Arc::new(actual), remarks, is_clairvoyant: false })
    }
}

/// What is not read for a number of processors is read on a flat platform of so many.
fn on_flat(path: &std::path::Path, mut options: ReplayOptions) -> Option<Replay> {
    let flat = Platform::flat(options.processors.take()?).ok()?;
    options.platform.is_none().then_some(())?;
    options.platform = Some(flat);
    read_replay(path, &options).ok()
}

#[pymethods]
impl Log {
    /// Reads a log, or an instance, whose tasks then take as long as estimated.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, reading: Reading<'_>) -> PyResult<Self> {
        let options = reading.of_log(py)?;
        let read = py.detach(|| read_replay(&path, &options).or_else(|error| on_flat(&path, options).ok_or(error)));
        let Replay { mut instance, mut actual, mut remarks, .. } = read.map_err(|error| errors::of_file(py, &error))?;
        if reading.are_unknown() {
            (instance, actual) = makespan::unknown(&instance, &actual).map_err(|error| errors::input(py, error))?;
        }
        remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
        let remarks = remarks.into_iter().map(errors::in_python).collect();
        Ok(Self { is_clairvoyant: reading.is_clairvoyant(), ..Self::checked(py, Arc::new(instance), actual, remarks)? })
    }

    /// An instance whose tasks take as long as estimated, or that times a factor of their own, log-normal of mean 1 and this standard
    /// deviation.
    #[staticmethod]
    fn of_instance(py: Python<'_>, instance: &Instance, deviation: Option<f64>, seed: u64) -> PyResult<Self> {
        let core = Arc::clone(&instance.core);
        let actual = match deviation {
            None => Actual::AsEstimated,
            Some(share) => {
                core.check_task_names().map_err(|error| errors::input(py, error))?;
                let drawn = Deviation::new(share, seed).map_err(|error| errors::at(py, "deviation", error))?;
                drawn.draw(core.tasks() as usize)
            }
        };
        Self::checked(py, core, actual, Vec::new())
    }

    /// What policies are told.
    #[getter]
    fn instance(&self) -> Instance {
        Instance::shared(&self.instance)
    }

    /// What was odd in the file.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}
