//! Sets of processors.

use makespan::ProcSet;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::errors;

/// An immutable set of processor ids, written as `0-3,8`.
#[pyclass(frozen, eq, module = "makespan._native")]
#[derive(PartialEq)]
pub struct Processors {
    /// Ids of the processors.
    pub set: ProcSet,
}

/// Converts a text such as `0-3,8`, or ids, to a set of processors.
///
/// # Errors
/// `InputError` for an invalid text or id.
pub fn set_of(value: &Bound<'_, PyAny>) -> PyResult<ProcSet> {
    if let Ok(processors) = value.cast::<Processors>() {
        return Ok(processors.get().set.clone());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_cow()?;
        return text.parse().map_err(|error| errors::at(value.py(), "processors", format!("{error}")));
    }
    let py = value.py();
    let ids = value.try_iter().map_err(|_| {
        let problem = format!("{} is not a set of processors; write ids, or a text such as \"0-3,8\"", shown(value));
        errors::at(py, "processors", problem)
    })?;
    let mut intervals = Vec::new();
    for id in ids {
        let id = id?;
        match id.extract::<u32>() {
            Ok(id) if id < u32::MAX => intervals.push((id, id)),
            _ => return Err(errors::at(py, "processors", format!("{} is not the id of a processor", shown(&id)))),
        }
    }
    Ok(ProcSet::from_intervals(intervals))
}

/// Returns the value as a number of processors. Returns None if the value is not a number of Python or numpy.
///
/// # Errors
///
/// `InputError` for a number that is not a valid number of processors.
pub fn count_of(value: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    let is_number = value.is_instance_of::<PyInt>() || value.hasattr("__index__")? && !value.hasattr("__len__")?;
    if !is_number {
        return Ok(None);
    }
    value.extract::<u32>().map(Some).map_err(|_| {
        let problem = format!("{} is not a number of processors; write a whole number from 1", shown(value));
        errors::at(value.py(), "processors", problem)
    })
}

/// Returns the `repr` of a value, shortened to 80 characters.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something without a `repr`".into(), |text| text.to_string());
    text.chars().take(80).collect()
}

#[pymethods]
impl Processors {
    #[new]
    fn new(ids: &Bound<'_, PyAny>) -> PyResult<Self> {
        set_of(ids).map(|set| Self { set })
    }

    fn __len__(&self) -> usize {
        self.set.len() as usize
    }

    fn __contains__(&self, id: u32) -> bool {
        self.set.contains(id)
    }

    fn __iter__(&self) -> Ids {
        Ids { set: self.set.clone(), interval: 0, next: 0 }
    }

    /// Returns the data that `pickle` stores for this set.
    fn __reduce__(&self, py: Python<'_>) -> (Py<PyAny>, (String,)) {
        (py.get_type::<Self>().into_any().unbind(), (self.set.to_string(),))
    }

    fn __str__(&self) -> String {
        self.set.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Processors('{}')", self.set)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
        BuildHasherDefault::<DefaultHasher>::default().hash_one(self.set.intervals())
    }

    fn __or__(&self, other: &Self) -> Self {
        Self { set: self.set.union(&other.set) }
    }

    fn __and__(&self, other: &Self) -> Self {
        Self { set: self.set.intersection(&other.set) }
    }

    fn __sub__(&self, other: &Self) -> Self {
        Self { set: self.set.difference(&other.set) }
    }

    /// Returns `count` of these processors: a contiguous block if possible, otherwise the lowest ids. Returns None if
    /// there are fewer than `count`.
    fn take(&self, count: u32) -> Option<Self> {
        self.set.clone().take(count).map(|set| Self { set })
    }
}

/// Iterator over the ids in ascending order.
#[pyclass(module = "makespan._native")]
struct Ids {
    set: ProcSet,
    interval: usize,
    next: u32,
}

#[pymethods]
impl Ids {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<u32> {
        let &(first, last) = self.set.intervals().get(self.interval)?;
        let id = self.next.max(first);
        if id == last {
            self.interval += 1;
        }
        self.next = id + 1;
        Some(id)
    }
}
