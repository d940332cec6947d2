//! Converts errors to the exceptions of the package `makespan.errors`.

use std::io;

use makespan::formats::{FilePlace, FormatError};
use makespan::{PlanError, SimulateError, SimulationError};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// An exception class of the package.
struct Class {
    name: &'static str,
    cell: PyOnceLock<Py<PyType>>,
}

impl Class {
    const fn new(name: &'static str) -> Self {
        Self { name, cell: PyOnceLock::new() }
    }

    /// Returns an exception of this class. If its creation fails, returns the error of the creation.
    fn raised<'py>(&self, py: Python<'py>, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
        let class = self.cell.import(py, "makespan._errors", self.name);
        match class.and_then(|class| class.call1(arguments)) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    }
}

static INPUT: Class = Class::new("InputError");
static ALGORITHM: Class = Class::new("AlgorithmError");
static POLICY: Class = Class::new("PolicyError");
static STOPPED: Class = Class::new("StoppedError");

/// Options of the command line, and the corresponding arguments in Python.
const SAID: [(&str, &str); 12] = [
    ("makespan plan FILE.dot --nextflow-trace TRACE", "makespan.read(\"FILE.dot\", trace=\"TRACE\")"),
    ("`makespan verify INSTANCE PLAN`", "`makespan.verify(instance, path)`"),
    ("--processors N", "processors=N"),
    ("--platform FILE", "platform=Platform(..)"),
    ("--stage-in NODE", "storage=NODE"),
    ("--buffer to ", "buffer="),
    ("--processors", "processors="),
    ("--platform", "platform="),
    ("--bandwidth", "bandwidth="),
    ("--queues", "queues="),
    ("--strict", "strict=True"),
    ("--estimates user", "estimates=\"user\""),
];

/// Replaces options of the command line in a message by the arguments of the Python function.
pub fn in_python(text: impl ToString) -> String {
    let text = text.to_string();
    if !text.contains("--") && !text.contains("makespan verify") {
        return text;
    }
    SAID.iter().fold(text, |text, (option, argument)| text.replace(option, argument))
}

/// Returns the error for invalid input at an unknown place.
pub fn input(py: Python<'_>, problem: impl ToString) -> PyErr {
    INPUT.raised(py, (in_python(problem),))
}

/// Returns the error for invalid input at the path `field` of a document that was made from Python objects.
pub fn at(py: Python<'_>, field: &str, problem: impl ToString) -> PyErr {
    INPUT.raised(py, (problem.to_string(), py.None(), py.None(), py.None(), field))
}

/// Converts an error about a file.
pub fn of_file(py: Python<'_>, error: &FormatError) -> PyErr {
    match error {
        FormatError::Io { source, .. } => os_error(source.kind(), error.to_string()),
        FormatError::Content { file, place: FilePlace { line, column, field }, problem } => {
            INPUT.raised(py, (in_python(problem), file, *line, *column, field.as_deref()))
        }
    }
}

/// Returns the error for a file that cannot be read.
pub fn of_io(file: &str, error: &io::Error) -> PyErr {
    os_error(error.kind(), format!("{file}: cannot read: {error}"))
}

fn os_error(kind: io::ErrorKind, text: String) -> PyErr {
    match kind {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// Converts an error about a document that was made from Python objects. Leaves out the line number, because the user
/// did not write the text of the document.
pub fn of_document(py: Python<'_>, error: &FormatError) -> PyErr {
    match error {
        FormatError::Content { place: FilePlace { field, .. }, problem, .. } => {
            INPUT.raised(py, (in_python(problem), py.None(), py.None(), py.None(), field.as_deref()))
        }
        other @ FormatError::Io { .. } => of_file(py, other),
    }
}

/// Returns the error for an algorithm that is unknown or does not support the request.
pub fn algorithm(py: Python<'_>, problem: impl ToString) -> PyErr {
    ALGORITHM.raised(py, (in_python(problem),))
}

/// Converts an error of the planner. `own` is the name of the Python scheduler, if a Python scheduler made the plan.
/// In this case, an invalid schedule is an error of the Python scheduler.
pub fn of_plan(py: Python<'_>, error: &PlanError, own: Option<&str>) -> PyErr {
    match (error, own) {
        (PlanError::Invalid { violation, .. }, Some(name)) => {
            POLICY.raised(py, (format!("{name} made a schedule that breaks a rule: {violation}"),))
        }
        _ => algorithm(py, error),
    }
}

/// Converts an error of the simulator.
pub fn of_simulation(py: Python<'_>, error: &SimulateError) -> PyErr {
    match error {
        SimulateError::Policy(error) => algorithm(py, error),
        SimulateError::Simulation { policy, source: SimulationError::Policy { at, defect } } => {
            POLICY.raised(py, (format!("{policy} at {at} s: {defect}"),))
        }
        SimulateError::Simulation { source: SimulationError::Stopped { .. }, .. } => {
            STOPPED.raised(py, (error.to_string(),))
        }
        SimulateError::Simulation { .. } => input(py, error),
    }
}

/// Returns the error for a policy or scheduler that was written in Python and breaks a rule.
pub fn policy(py: Python<'_>, problem: impl ToString) -> PyErr {
    POLICY.raised(py, (problem.to_string(),))
}

/// Adds the name of the policy and the instant to an error about a decision of the policy. An exception from the code
/// of the policy itself is returned unchanged.
pub fn of_decision(py: Python<'_>, error: PyErr, name: &str, now: makespan::Time) -> PyErr {
    let is = |class: &Class| {
        let class = class.cell.import(py, "makespan._errors", class.name);
        class.is_ok_and(|class| error.is_instance(py, class))
    };
    if !is(&INPUT) && !is(&POLICY) {
        return error;
    }
    let told = policy(py, format!("{name} at {now} s: {}", error.value(py)));
    told.set_cause(py, Some(error));
    told
}
