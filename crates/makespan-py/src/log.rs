//! Logs: jobs with the data that policies may use, and their actual run times.

use std::path::PathBuf;
use std::sync::Arc;

use makespan::formats::{Replay, ReplayOptions, read_replay};
use makespan::tree::TreeProblem;
use makespan::{Actual, Deviation, Instance as CoreInstance, Platform};
use pyo3::prelude::*;

use crate::errors;
use crate::instance::Instance;
use crate::options::Reading;

/// Jobs with the estimates that policies see, and with their actual run times.
#[pyclass(frozen, module = "makespan._native")]
pub struct Log {
    /// The instance with the estimates.
    pub instance: Arc<CoreInstance>,
    /// The actual run times.
    pub actual: Arc<Actual>,
    remarks: Vec<String>,
    /// True if policies see the actual run times, or the same time for every job.
    pub is_clairvoyant: bool,
}

impl Log {
    /// Returns a log, or an error if the simulator does not support the instance.
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

/// Reads a file with a platform of `options.processors` equal processors, because some formats accept only a platform,
/// and not a number of processors. Returns `None` if the options state no number of processors, if they also state a
/// platform, or if reading fails.
fn on_flat(path: &std::path::Path, mut options: ReplayOptions) -> Option<Replay> {
    let flat = Platform::flat(options.processors.take()?).ok()?;
    options.platform.is_none().then_some(())?;
    options.platform = Some(flat);
    read_replay(path, &options).ok()
}

#[pymethods]
impl Log {
    /// Reads a log or an instance. If the file contains an instance, the actual run times are the estimates.
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

    /// Creates a log from an instance. The actual run time of a task is its estimate, or its estimate times a random
    /// factor. The factor is log-normal with mean 1 and standard deviation `deviation`.
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

    /// The instance with the estimates that policies see.
    #[getter]
    fn instance(&self) -> Instance {
        Instance::shared(&self.instance)
    }

    /// Messages about unusual records in the file.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}
