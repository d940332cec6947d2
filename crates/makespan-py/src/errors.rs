//! What is wrong, as the exceptions of the package `makespan.errors`.

use std::io;

use makespan::formats::{FormatError, Place};
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

    /// The exception, made of these arguments; or why there is none.
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

/// Options of the command line, and what they are called here.
const SAID: [(&str, &str); 12] = [
    ("plan FILE.dot --nextflow-trace TRACE", "makespan.read(\"FILE.dot\", trace=\"TRACE\")"),
    ("`makespan verify INSTANCE PLAN`", "`makespan.verify(instance, path)`"),
    ("--processors N", "processors=N"),
    ("--platform FILE", "platform=Platform(..)"),
    ("--stage-in NODE", "storage=NODE"),
    ("--buffer ", "buffer="),
    ("--processors", "processors="),
    ("--platform", "platform="),
    ("--bandwidth", "bandwidth="),
    ("--queues", "queues="),
    ("--strict", "strict=True"),
    ("--estimates user", "estimates=\"user\""),
];

/// What readers say to users of the command line, in the words of Python.
pub fn in_python(text: impl ToString) -> String {
    let text = text.to_string();
    if !text.contains("--") && !text.contains("makespan verify") {
        return text;
    }
    SAID.iter().fold(text, |text, (option, argument)| text.replace(option, argument))
}

/// Input that is wrong at no place that has a name.
pub fn input(py: Python<'_>, problem: impl ToString) -> PyErr {
    INPUT.raised(py, (in_python(problem),))
}

/// Input that is wrong at this place of a document made of Python's objects.
pub fn at(py: Python<'_>, field: &str, problem: impl ToString) -> PyErr {
    INPUT.raised(py, (problem.to_string(), py.None(), py.None(), py.None(), field))
}

/// What a reader says of a file.
pub fn of_file(py: Python<'_>, error: &FormatError) -> PyErr {
    match error {
        FormatError::Io { source, .. } => os_error(source.kind(), error.to_string()),
        FormatError::Content { file, place: Place { line, column, field }, problem } => {
            INPUT.raised(py, (in_python(problem), file, *line, *column, field.as_deref()))
        }
    }
}

/// A file that cannot be read.
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

/// What a reader says of a document that was made of Python's objects: its lines are nobody's.
pub fn of_document(py: Python<'_>, error: &FormatError) -> PyErr {
    match error {
        FormatError::Content { place: Place { field, .. }, problem, .. } => {
            INPUT.raised(py, (in_python(problem), py.None(), py.None(), py.None(), field.as_deref()))
        }
        other @ FormatError::Io { .. } => of_file(py, other),
    }
}

/// An algorithm that is unknown, or does not do what is asked.
pub fn algorithm(py: Python<'_>, problem: impl ToString) -> PyErr {
    ALGORITHM.raised(py, (in_python(problem),))
}

/// Why there is no plan. `own` is the name of a scheduler that was written in Python: its defects are not ours.
pub fn of_plan(py: Python<'_>, error: &PlanError, own: Option<&str>) -> PyErr {
    match (error, own) {
        (PlanError::Invalid { violation, .. }, Some(name)) => {
            POLICY.raised(py, (format!("{name} made a schedule that breaks a rule: {violation}"),))
        }
        _ => algorithm(py, error),
    }
}

/// Why there is no simulation.
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

/// A policy, or a scheduler, that was written in Python and breaks a rule.
pub fn policy(py: Python<'_>, problem: impl ToString) -> PyErr {
    POLICY.raised(py, (problem.to_string(),))
}

/// What a policy of Python decided wrongly, with its name and the instant, if the package found it: what else its code raised stays as it is.
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
