//! Instances: made of Python's objects, read from files, written, and shown as tables.

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

/// Machines and jobs, checked.
#[pyclass(frozen, module = "makespan._native")]
pub struct Instance {
    /// What is shared with plans and simulations.
    pub core: Arc<Core>,
    remarks: Vec<String>,
    format: String,
}

impl Instance {
    /// One that no file was read for.
    pub fn new(core: Core) -> Self {
        let remarks = core.notes().iter().map(|note| note.describe(&core)).collect();
        Self { core: Arc::new(core), remarks, format: "instance".into() }
    }

    /// One that others have, too.
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

/// What is not read for a number of processors is read on a flat platform of so many.
fn on_flat(
    options: &ReadOptions,
    read: impl Fn(&ReadOptions) -> Result<ReadInstance, makespan::formats::FormatError>,
) -> Option<ReadInstance> {
    let flat = Platform::flat(options.processors.filter(|_| options.platform.is_none())?).ok()?;
    read(&ReadOptions { processors: None, platform: Some(flat), ..options.clone() }).ok()
}

#[pymethods]
impl Instance {
    /// The instance that a dict states, with the keys of a native file.
    #[staticmethod]
    fn of_document(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = document.py();
        let text = document::json(document)?;
        let read = py.detach(|| parse_instance(text.as_bytes(), "instance", &ReadOptions::default()));
        let read = read.map_err(|error| errors::of_document(py, &error))?;
        Ok(Self::new(read.instance))
    }

    /// The instance in a file of any format.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, reading: Reading<'_>) -> PyResult<Self> {
        let options = reading.of_instance(py)?;
        let read = py.detach(|| {
            let read = |options: &ReadOptions| read_instance(&path, options);
            read(&options).or_else(|error| on_flat(&options, read).ok_or(error))
        });
        Self::read(py, read)
    }

    /// The instance in a text of any format.
    #[staticmethod]
    fn of_text(py: Python<'_>, text: &str, name: &str, reading: Reading<'_>) -> PyResult<Self> {
        let options = reading.of_instance(py)?;
        let read = py.detach(|| {
            let read = |options: &ReadOptions| parse_instance(text.as_bytes(), name, options);
            read(&options).or_else(|error| on_flat(&options, read).ok_or(error))
        });
        Self::read(py, read)
    }

    /// How many processors the platform has.
    #[getter]
    fn processors(&self) -> u32 {
        self.core.processors()
    }

    /// How many jobs there are.
    #[getter]
    fn job_count(&self) -> usize {
        self.core.jobs().len()
    }

    /// How many tasks there are: the copies of a bag count one by one.
    #[getter]
    fn task_count(&self) -> u64 {
        self.core.tasks()
    }

    /// How many edges there are between tasks.
    #[getter]
    fn edge_count(&self) -> usize {
        self.core.edges().len()
    }

    /// What the reader, and the check of the jobs, have to tell.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// The name of the format that it was read from.
    #[getter]
    fn format(&self) -> &str {
        &self.format
    }

    /// How many of the times are guesses.
    #[getter]
    fn guesses(&self) -> usize {
        self.core.guesses()
    }

    /// The task of this number, of which there are `task_count`.
    fn task(&self, number: u64) -> PyResult<Task> {
        let task = TaskId(number);
        if self.core.has_task(task) {
            return Ok(Task::new(task, &self.core));
        }
        Err(PyIndexError::new_err(format!("there are {} tasks", self.core.tasks())))
    }

    /// Refuses more tasks than are looked at one by one.
    fn check_task_count(&self, py: Python<'_>) -> PyResult<()> {
        self.core.check_task_count().map_err(|error| errors::input(py, error))
    }

    /// The machines alone, as the text of a native file.
    fn machines(&self, py: Python<'_>) -> PyResult<String> {
        let machines = Core::new(self.core.platform().clone(), Vec::new(), self.core.unavailable().to_vec());
        let machines = machines.map_err(|error| errors::input(py, error))?;
        let mut text = Vec::new();
        write_instance(&machines, Language::Json, &mut text).map_err(PyOSError::new_err)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// What `pickle` makes of the text of an instance that has jobs, or none.
    #[staticmethod]
    fn of_pickle(py: Python<'_>, text: &str, jobs: usize, reading: Reading<'_>) -> PyResult<Self> {
        if jobs > 0 {
            return Self::of_text(py, text, "instance", reading);
        }
        // Readers want a job, which goes again.
        let end = text.rfind('}').unwrap_or_default();
        let text = format!("{}, \"jobs\": [{{\"name\": \"any\", \"time\": 1}}]}}", text.get(..end).unwrap_or_default());
        let read = Self::of_text(py, &text, "instance", reading)?.core;
        let empty = Core::new(read.platform().clone(), Vec::new(), read.unavailable().to_vec());
        empty.map(Self::new).map_err(|error| errors::input(py, error))
    }

    /// The jobs, one a row.
    fn jobs(&self) -> PyResult<Columns> {
        tables::jobs(&self.core)
    }

    /// The nodes of the platform, one a row.
    fn nodes(&self) -> PyResult<Columns> {
        tables::nodes(&self.core)
    }

    /// The edges between tasks, one a row.
    fn edges(&self) -> PyResult<Columns> {
        tables::edges(&self.core)
    }

    /// The text of a native file.
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
