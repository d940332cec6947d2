//! Logs, in which the information for policies is separate from the real run times.

use std::path::PathBuf;
use std::sync::Arc;

use makespan::formats::{Replay, ReplayOptions, read_replay};
use makespan::tree::TreeProblem;
use makespan::{Actual, Deviation, Instance as CoreInstance, Platform};
use pyo3::prelude::*;

use crate::errors;
use crate::instance::Instance;
use crate::options::Reading;

/// Jobs with the estimates that policies see, and with their real run times.
#[pyclass(frozen, module = "makespan._native")]
pub struct Log {
    /// Instance with estimates.
    pub instance: Arc<CoreInstance>,
    /// Real run times.
    pub actual: Arc<Actual>,
    remarks: Vec<String>,
    /// True if policies see the real run times of a log.
    pub is_clairvoyant: bool,
}

impl Log {
    /// Checks that the simulator can process this log.
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

/// Reads a log. If the format does not support a number of processors, the log is read with a flat platform of this size.
fn on_flat(path: &std::path::Path, mut options: ReplayOptions) -> Option<Replay> {
    let flat = Platform::flat(options.processors.take()?).ok()?;
    options.platform.is_none().then_some(())?;
    options.platform = Some(flat);
    read_replay(path, &options).ok()
}

#[pymethods]
impl Log {
    /// Reads a log, or an instance whose tasks take as long as estimated.
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

    /// Creates a log from an instance. The real run time of each task is its estimate, optionally multiplied by a random log-normal
    /// factor with mean 1 and this standard deviation.
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

    /// Instance that policies see.
    #[getter]
    fn instance(&self) -> Instance {
        Instance::shared(&self.instance)
    }

    /// Warnings of the reader.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}
