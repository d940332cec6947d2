//! Instances: made of Python's objects, read from files, written, and shown as tables.

use std::path::PathBuf;
use std::sync::Arc;

use makespan::Instance as Core;
use makespan::formats::{
    Language, ReadInstance, ReadOptions, parse_instance, read_instance, write_atomic, write_instance,
};
use pyo3::exceptions::PyOSError;
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
        remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
        Ok(Self { core: Arc::new(instance), remarks, format: format.to_string() })
    }
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
        let read = py.detach(|| read_instance(&path, &options));
        Self::read(py, read)
    }

    /// The instance in a text of any format.
    #[staticmethod]
    fn of_text(py: Python<'_>, text: &str, name: &str, reading: Reading<'_>) -> PyResult<Self> {
        let options = reading.of_instance(py)?;
        let read = py.detach(|| parse_instance(text.as_bytes(), name, &options));
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

    /// All tasks.
    fn tasks(&self) -> Vec<Task> {
        self.core.task_ids().map(|task| Task::new(task, &self.core)).collect()
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
