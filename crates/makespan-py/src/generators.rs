//! Generates random instances.

use std::any::type_name;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use makespan::formats::parse_bandwidth;
use makespan_generate::{
    EtcOptions, FlowOptions, GenerateError, GraphOptions, LublinOptions, MoldableOptions, PoissonOptions,
    ProjectOptions, Shape, TreeOptions, etc, flow, generate as moldable, generate_graphs, generate_tree, lublin,
    poisson, project,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::instance::Instance;
use crate::log::Log;
use crate::processors::shown;

/// Keyword arguments of a generator. The functions in `generate.py` list these arguments with their types.
struct Given<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Given<'_, 'py> {
    fn get<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
    {
        let py = self.0.py();
        let value = self.0.get_item(name)?.ok_or_else(|| errors::at(py, name, "it is missing"))?;
        value.extract().map_err(|_: PyErr| {
            errors::at(py, name, format!("found {}; give {}", shown(&value), wanted(type_name::<T>())))
        })
    }

    /// Returns the value of an argument that is a word, such as the name of a family.
    fn word<T: FromStr<Err: Display>>(&self, name: &str) -> PyResult<T> {
        let text: String = self.get(name)?;
        text.parse().map_err(|error| errors::at(self.0.py(), name, error))
    }
}

/// Describes a Rust type and its range in Python terms.
fn wanted(kind: &str) -> &'static str {
    let is = |word: &str| kind.contains(word);
    match () {
        () if is("String") => "a text",
        () if is("bool") => "True or False",
        () if is("(f64") => "a pair (smallest, largest) of numbers",
        () if is("(u") => "a pair (smallest, largest) of whole numbers that are at least 0",
        () if is("Vec<") => "a list of whole numbers that are at least 0",
        () if is("f64") => "a number",
        () if is("u32") => "a whole number from 0 to 4294967295",
        () => "a whole number that is at least 0",
    }
}

/// Generates an instance of this kind.
#[pyfunction]
pub fn generate(py: Python<'_>, kind: &str, options: &Bound<'_, PyDict>) -> PyResult<Instance> {
    let given = Given(options);
    let drawn = match kind {
        "moldable" => moldable(&MoldableOptions {
            family: given.word("family")?,
            jobs: given.get("jobs")?,
            processors: given.get("processors")?,
            seed: given.get("seed")?,
            arrival_rate: given.get("arrival_rate")?,
        }),
        "poisson" => poisson(&PoissonOptions {
            family: given.word("family")?,
            jobs: given.get("jobs")?,
            processors: given.get("processors")?,
            seed: given.get("seed")?,
            load: given.get("load")?,
        }),
        "etc" => etc(&EtcOptions {
            tasks: given.get("tasks")?,
            machines: given.get("machines")?,
            consistency: given.word("consistency")?,
            high_tasks: given.get("high_tasks")?,
            high_machines: given.get("high_machines")?,
            seed: given.get("seed")?,
        }),
        "project" => project(&ProjectOptions {
            activities: given.get("activities")?,
            modes: given.get("modes")?,
            renewable: given.get("renewable")?,
            nonrenewable: given.get("nonrenewable")?,
            complexity: given.get("complexity")?,
            factor: given.get("factor")?,
            strength: given.get("strength")?,
            seed: given.get("seed")?,
        }),
        "flow" => flow(&FlowOptions {
            tasks: given.get("tasks")?,
            mean_size: given.get("mean_size")?,
            capacities: given.get("capacities")?,
            rate: given.get("rate")?,
            swing: given.get("swing")?,
            swings: given.get("swings")?,
            seed: given.get("seed")?,
        }),
        "tree" => tree(&given)?,
        "graphs" => graphs(&given)?,
        _ => return Err(errors::at(py, "kind", format!("`{kind}` is not a kind of instance"))),
    };
    drawn.map(Instance::new).map_err(|error| errors::input(py, error))
}

fn tree(given: &Given<'_, '_>) -> PyResult<Result<makespan::Instance, GenerateError>> {
    Ok(generate_tree(&TreeOptions {
        nodes: given.get("nodes")?,
        degree: given.get("degree")?,
        applications: given.get("applications")?,
        largest_ratio: given.get("largest_ratio")?,
        tasks: given.get("tasks")?,
        unit: given.word("unit")?,
        latency: given.word("latency")?,
        data: given.get("data")?,
        seed: given.get("seed")?,
    }))
}

fn graphs(given: &Given<'_, '_>) -> PyResult<Result<makespan::Instance, GenerateError>> {
    let shape: Shape = given.word("shape")?;
    let shape = match shape {
        Shape::Layers { .. } => Shape::Layers { width: given.get("width")?, density: given.get("density")? },
        other => other,
    };
    let bandwidth = given
        .0
        .get_item("bandwidth")?
        .map_or_else(|| Ok(String::new()), |value| Ok::<_, PyErr>(value.str()?.to_string()))?;
    let bandwidth = parse_bandwidth(&bandwidth).map_err(|problem| errors::at(given.0.py(), "bandwidth", problem))?;
    Ok(generate_graphs(&GraphOptions {
        shape,
        tasks: given.get("tasks")?,
        jobs: given.get("jobs")?,
        volume: given.get("volume")?,
        data: given.get("data")?,
        parallel: given.get("parallel")?,
        law: given.word("law")?,
        processors: given.get("processors")?,
        cores: given.get("cores")?,
        fastest: given.get("fastest")?,
        bandwidth,
        gap: given.get("gap")?,
        deadline: given.get("deadline")?,
        seed: given.get("seed")?,
    }))
}

/// Generates a log of rigid jobs, with actual run times and requested times. Policies see only the requested times.
#[pyfunction]
pub fn generate_log(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Log> {
    let given = Given(options);
    let requests: Option<String> = given.get("requests")?;
    let requests = requests.as_deref().map(str::parse).transpose();
    let requests = requests.map_err(|error: GenerateError| {
        let problem = error.to_string().replace("requests is NaN; ", "it is not a number; ");
        errors::at(py, "requests", problem)
    })?;
    let drawn = lublin(&LublinOptions {
        jobs: given.get("jobs")?,
        processors: given.get("processors")?,
        seed: given.get("seed")?,
        load: given.get("load")?,
        requests,
    });
    let drawn = drawn.map_err(|error| errors::input(py, error))?;
    Log::checked(py, Arc::new(drawn.instance), drawn.actual, Vec::new())
}
