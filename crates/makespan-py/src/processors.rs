//! Sets of processors.

use makespan::ProcSet;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors;

/// A set of processors by their ids, written as `0-3,8`. It does not change.
#[pyclass(frozen, eq, module = "makespan._native")]
#[derive(PartialEq)]
pub struct Processors {
    /// The ids.
    pub set: ProcSet,
}

/// Which processors are meant: a text such as `0-3,8`, or ids.
///
/// # Errors
/// `InputError` for a text that is none.
pub fn set_of(value: &Bound<'_, PyAny>) -> PyResult<ProcSet> {
    if let Ok(processors) = value.cast::<Processors>() {
        return Ok(processors.get().set.clone());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_cow()?;
        return text.parse().map_err(|error| errors::at(value.py(), "processors", format!("{error}")));
    }
    let mut intervals = Vec::new();
    for id in value.try_iter()? {
        let id: u32 = id?.extract()?;
        if id == u32::MAX {
            return Err(errors::at(value.py(), "processors", format!("{id} is no id of a processor")));
        }
        intervals.push((id, id));
    }
    Ok(ProcSet::from_intervals(intervals))
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

    /// So many of them: a contiguous block if there is one, otherwise the lowest ids; None when there are fewer.
    fn take(&self, count: u32) -> Option<Self> {
        self.set.clone().take(count).map(|set| Self { set })
    }
}

/// The ids, ascending.
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
