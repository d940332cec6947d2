//! The compiled part of the Python package `makespan`, for code that must be fast or exact.
//!
//! Users call the modules in `python/makespan`. These modules call this one, `makespan._native`; `_native.pyi`
//! contains its types. Rust programs should use the crate `makespan` instead.
//!
//! Searches run in separate threads. Meanwhile, Python's main thread releases the interpreter's lock, waits, and
//! handles signals (`waiting`).

#![allow(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "functions that Python calls own their arguments, may raise an exception, and are methods"
)]

mod bounds;
mod columns;
mod convert;
mod document;
mod errors;
mod events;
mod execution;
mod generators;
mod instance;
mod log;
mod options;
mod pages;
mod plan;
mod plan_file;
mod planning;
mod policy;
mod processors;
mod profiles;
mod scheduler;
mod simulation;
mod tables;
mod trees;
mod view;
mod waiting;

use pyo3::prelude::pymodule;

/// The module that the Python package calls.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::bounds::{Proven, bound, bound_of_text};
    #[pymodule_export]
    use super::columns::Columns;
    #[pymodule_export]
    use super::events::{Cancel, Event, Start, Wake};
    #[pymodule_export]
    use super::execution::{Session, guard, machine};
    #[pymodule_export]
    use super::generators::{generate, generate_log};
    #[pymodule_export]
    use super::instance::Instance;
    #[pymodule_export]
    use super::log::Log;
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::plan_file::{plan_of_text, verify_file};
    #[pymodule_export]
    use super::planning::{algorithms, bounds_of_plans, compared, plan, plan_with};
    #[pymodule_export]
    use super::processors::Processors;
    #[pymodule_export]
    use super::profiles::performance_profiles;
    #[pymodule_export]
    use super::simulation::{Simulation, policies, report, simulate, simulate_with};
    #[pymodule_export]
    use super::trees::{TreeSimulation, simulate_tree};
    #[pymodule_export]
    use super::view::{Running, Task, View};

    /// Adds two constants to the module: `FORMATS`, the names of the formats that Makespan can read, and `VERSION`, the
    /// version of the package.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("FORMATS", makespan::formats::Format::titles(|_| true))?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
