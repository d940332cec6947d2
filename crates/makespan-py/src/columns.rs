//! Tables by column. pandas, polars and pyarrow read the columns without copying single values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

/// A table of columns of equal length with integers, floats or texts.
#[pyclass(frozen, module = "makespan._native")]
pub struct Columns {
    batch: RecordBatch,
}

/// Builds a table column by column.
#[derive(Default)]
pub struct Table {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Table {
    fn with(mut self, name: &str, kind: DataType, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, kind, array.null_count() > 0));
        self.arrays.push(array);
        self
    }

    /// Adds a column of integers.
    pub fn integers(self, name: &str, values: impl IntoIterator<Item = i64>) -> Self {
        self.with(name, DataType::Int64, Arc::new(Int64Array::from_iter_values(values)))
    }

    /// Adds a column of floats.
    pub fn floats(self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        self.with(name, DataType::Float64, Arc::new(Float64Array::from_iter_values(values)))
    }

    /// Adds a column of floats. Some of the floats may be missing.
    pub fn some_floats(self, name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.with(name, DataType::Float64, Arc::new(values.into_iter().collect::<Float64Array>()))
    }

    /// Adds a column of texts.
    pub fn texts<T: AsRef<str>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, DataType::Utf8, Arc::new(StringArray::from_iter_values(values)))
    }

    /// Adds a column of texts. Some of the texts may be missing.
    pub fn some_texts<T: AsRef<str>>(self, name: &str, values: impl IntoIterator<Item = Option<T>>) -> Self {
        self.with(name, DataType::Utf8, Arc::new(values.into_iter().collect::<StringArray>()))
    }

    /// Returns the table. The columns must have equal lengths.
    pub fn finish(self) -> PyResult<Columns> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays).map_err(defect)?;
        Ok(Columns { batch })
    }
}

fn defect(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("a defect of Makespan, please report it: {error}"))
}

#[pymethods]
impl Columns {
    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Creates a table from columns. Each column has a name, a type (`integer`, `float` or `text`) and values, with
    /// None for missing values. Pickle uses this function to restore a table.
    #[staticmethod]
    fn of_columns(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let mut table = Table::default();
        for (name, kind, values) in columns {
            table = match kind.as_str() {
                "integer" => table.integers(&name, values.extract::<Vec<i64>>()?),
                "float" => table.some_floats(&name, values.extract::<Vec<Option<f64>>>()?),
                _ => table.some_texts(&name, values.extract::<Vec<Option<String>>>()?),
            };
        }
        table.finish()
    }

    /// Returns the columns as a list that `of_columns` accepts.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, &'static str, Bound<'py, PyList>)>> {
        let schema = self.batch.schema();
        let column = |field: &Arc<Field>| {
            let kind = match field.data_type() {
                DataType::Int64 => "integer",
                DataType::Float64 => "float",
                _ => "text",
            };
            Ok((field.name().clone(), kind, self.values(py, field.name())?))
        };
        schema.fields().iter().map(column).collect()
    }

    /// Returns up to `count` rows, starting with row `first`.
    fn slice(&self, first: usize, count: usize) -> Self {
        let first = first.min(self.batch.num_rows());
        Self { batch: self.batch.slice(first, count.min(self.batch.num_rows() - first)) }
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.batch == other.batch
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns the values of a column, with None for missing values.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let array = self.column(name)?;
        match array.data_type() {
            DataType::Int64 => PyList::new(py, array.as_primitive::<Int64Type>().values().iter()),
            DataType::Float64 => {
                let floats = array.as_primitive::<Float64Type>();
                if floats.null_count() == 0 {
                    PyList::new(py, floats.values().iter())
                } else {
                    listed(py, floats.iter())
                }
            }
            _ => listed(py, array.as_string::<i32>().iter()),
        }
    }

    /// Returns the bytes of a numeric column, 8 for each value, and the name of its type in numpy. NaN marks a missing
    /// value. Returns None for a column of texts.
    fn buffer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<(Bound<'py, PyBytes>, &'static str)>> {
        let array = self.column(name)?;
        let bytes = match array.data_type() {
            DataType::Int64 => {
                let values = array.as_primitive::<Int64Type>().values();
                (PyBytes::new(py, values.inner().as_slice()), "int64")
            }
            DataType::Float64 => {
                let floats = array.as_primitive::<Float64Type>();
                if floats.null_count() == 0 {
                    (PyBytes::new(py, floats.values().inner().as_slice()), "float64")
                } else {
                    let bytes = floats.iter().flat_map(|value| value.unwrap_or(f64::NAN).to_ne_bytes());
                    (PyBytes::new(py, &bytes.collect::<Vec<u8>>()), "float64")
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(bytes))
    }

    /// Returns the table as a stream of Arrow's C interface, wrapped in a Python capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows a producer to ignore `requested_schema`.
        let _ = requested_schema;
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }
}

impl Columns {
    fn column(&self, name: &str) -> PyResult<&ArrayRef> {
        self.batch
            .column_by_name(name)
            .ok_or_else(|| PyKeyError::new_err(format!("{name}; there are {}", self.names().join(", "))))
    }
}

fn listed<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<T>>,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, values.collect::<Vec<_>>())
}
