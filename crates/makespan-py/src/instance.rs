//! Instances: creates them from Python objects, reads and writes files, and returns tables.

use std::path::PathBuf;
use std::sync::Arc;

use makespan::formats::{
    Language, ReadInstance, ReadOptions, parse_instance, read_instance, write_atomic, write_instance,
};
use makespan::{Instance as Core, Platform, TaskId};
use pyo3::exceptions::{PyIndexError, PyOSError};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::options::Reading;
use crate::view::Task;
use crate::{document, errors, tables};

/// A checked set of machines and jobs.
#[pyclass(frozen, module = "makespan._native")]
pub struct Instance {
    /// The instance. Plans and simulations share it.
    pub core: Arc<Core>,
    remarks: Vec<String>,
    format: String,
}

impl Instance {
    /// Creates an instance that was not read from a file.
    pub fn new(core: Core) -> Self {
        let remarks = core.notes().iter().map(|note| note.describe(&core)).collect();
        Self { core: Arc::new(core), remarks, format: "instance".into() }
    }

    /// Creates a reference to a shared instance.
    pub fn shared(core: &Arc<Core>) -> Self {
        Self { core: Arc::clone(core), remarks: Vec::new(), format: "instance".into() }
    }

    fn read(py: Python<'_>, read: Result<ReadInstance, makespan::formats::FormatError>) -> PyResult<Self> {
        let ReadInstance { instance, format, mut remarks } = read.map_err(|error| errors::of_file(py, &error))?;
        remarks.iter_mut().for_each(|remark| *remark = errors::in_python(&*remark));
        remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
        Ok(Self { core: Arc::new(instance), remarks, format: format.to_string() })
    }
}

/// Reads a file with a platform of `options.processors` equal processors, because some formats accept only a platform,
/// and not a number of processors. Returns `None` if the options state no number of processors, if they also state a
/// platform, or if reading fails.
fn on_flat(
    options: &ReadOptions,
    read: impl Fn(&ReadOptions) -> Result<ReadInstance, makespan::formats::FormatError>,
) -> Option<ReadInstance> {
    let flat = Platform::flat(options.processors.filter(|_| options.platform.is_none())?).ok()?;
    read(&ReadOptions { processors: None, platform: Some(flat), ..options.clone() }).ok()
}

#[pymethods]
impl Instance {
    /// Creates an instance from a dict with the keys of a native file.
    #[staticmethod]
    fn of_document(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = document.py();
        let text = document::json(document)?;
        let read = py.detach(|| parse_instance(text.as_bytes(), "instance", &ReadOptions::default()));
        let read = read.map_err(|error| errors::of_document(py, &error))?;
        Ok(Self::new(read.instance))
    }

    /// Reads an instance from a file of any format.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, reading: Reading<'_>) -> PyResult<Self> {
        let options = reading.of_instance(py)?;
        let read = py.detach(|| {
            let read = |options: &ReadOptions| read_instance(&path, options);
            read(&options).or_else(|error| on_flat(&options, read).ok_or(error))
        });
        Self::read(py, read)
    }

    /// Reads an instance from a text of any format.
    #[staticmethod]
    fn of_text(py: Python<'_>, text: &str, name: &str, reading: Reading<'_>) -> PyResult<Self> {
        let options = reading.of_instance(py)?;
        let read = py.detach(|| {
            let read = |options: &ReadOptions| parse_instance(text.as_bytes(), name, options);
            read(&options).or_else(|error| on_flat(&options, read).ok_or(error))
        });
        Self::read(py, read)
    }

    /// The number of processors of the platform.
    #[getter]
    fn processors(&self) -> u32 {
        self.core.processors()
    }

    /// The number of jobs.
    #[getter]
    fn job_count(&self) -> usize {
        self.core.jobs().len()
    }

    /// The number of tasks. Each task of a bag is counted.
    #[getter]
    fn task_count(&self) -> u64 {
        self.core.tasks()
    }

    /// The number of edges between tasks.
    #[getter]
    fn edge_count(&self) -> usize {
        self.core.edges().len()
    }

    /// The messages from reading the instance and from checking its jobs.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// The name of the file format of the instance.
    #[getter]
    fn format(&self) -> &str {
        &self.format
    }

    /// The number of guessed times.
    #[getter]
    fn guesses(&self) -> usize {
        self.core.guesses()
    }

    /// Returns the task with this number. The numbers range from 0 to `task_count` - 1.
    fn task(&self, number: u64) -> PyResult<Task> {
        let task = TaskId(number);
        if self.core.has_task(task) {
            return Ok(Task::new(task, &self.core));
        }
        Err(PyIndexError::new_err(format!("there are {} tasks", self.core.tasks())))
    }

    /// Raises an error if the instance has too many tasks to plan each task separately.
    fn check_task_count(&self, py: Python<'_>) -> PyResult<()> {
        self.core.check_task_count().map_err(|error| errors::input(py, error))
    }

    /// Returns the machines without jobs, as the text of a native file.
    fn machines(&self, py: Python<'_>) -> PyResult<String> {
        let machines = Core::new(self.core.platform().clone(), Vec::new(), self.core.unavailable().to_vec());
        let machines = machines.map_err(|error| errors::input(py, error))?;
        let mut text = Vec::new();
        write_instance(&machines, Language::Json, &mut text).map_err(PyOSError::new_err)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Restores a pickled instance from its text. `jobs` is the number of jobs. This number may be 0.
    #[staticmethod]
    fn of_pickle(py: Python<'_>, text: &str, jobs: usize, reading: Reading<'_>) -> PyResult<Self> {
        if jobs > 0 {
            return Self::of_text(py, text, "instance", reading);
        }
        // The reader requires at least one job. Add a job for the reader, and remove this job afterwards.
        let end = text.rfind('}').unwrap_or_default();
        let text = format!("{}, \"jobs\": [{{\"name\": \"any\", \"time\": 1}}]}}", text.get(..end).unwrap_or_default());
        let read = Self::of_text(py, &text, "instance", reading)?.core;
        let empty = Core::new(read.platform().clone(), Vec::new(), read.unavailable().to_vec());
        empty.map(Self::new).map_err(|error| errors::input(py, error))
    }

    /// Returns the jobs, one in each row.
    fn jobs(&self) -> PyResult<Columns> {
        tables::jobs(&self.core)
    }

    /// Returns the nodes of the platform, one in each row.
    fn nodes(&self) -> PyResult<Columns> {
        tables::nodes(&self.core)
    }

    /// Returns the edges between tasks, one in each row.
    fn edges(&self) -> PyResult<Columns> {
        tables::edges(&self.core)
    }

    /// Returns the text of a native file.
    #[pyo3(signature = (toml=false))]
    fn text(&self, py: Python<'_>, toml: bool) -> PyResult<String> {
        let mut text = Vec::new();
        let language = if toml { Language::Toml } else { Language::Json };
        py.detach(|| write_instance(&self.core, language, &mut text)).map_err(PyOSError::new_err)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Writes a native file.
    fn write(&self, py: Python<'_>, path: PathBuf, toml: bool) -> PyResult<()> {
        let language = if toml { Language::Toml } else { Language::Json };
        let written = py.detach(|| write_atomic(&path, |out| write_instance(&self.core, language, out)));
        written.map_err(|error| errors::of_file(py, &error))
    }
}
