//! Plans instances, with a time limit and progress reports.

use std::sync::Arc;
use std::time::{Duration, Instant};

use makespan::{Incumbent, IncumbentState, PlanError, Planned, Planner, Stop, Time, Value, catalogue};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bounds::Proven;
use crate::convert::{figure, objective};
use crate::errors;
use crate::instance::Instance;
use crate::plan::Plan;
use crate::scheduler::Own;
use crate::waiting::Watch;

/// Options of the planner.
#[derive(FromPyObject)]
pub struct Wishes {
    #[pyo3(item)]
    algorithm: Option<String>,
    #[pyo3(item)]
    objective: Option<String>,
    #[pyo3(item)]
    /// The time limit: a number of seconds, or a time with a unit.
    time_limit: Option<String>,
    #[pyo3(item)]
    makespan_at_most: Option<f64>,
    #[pyo3(item)]
    seed: u64,
    /// Maximum number of threads. `None` means one for each core.
    #[pyo3(item)]
    threads: Option<u32>,
    /// True to prove bounds.
    #[pyo3(item)]
    prove: bool,
}

impl Wishes {
    /// Returns the spec of the algorithm that these options select.
    fn spec(&self, py: Python<'_>, instance: &makespan::Instance) -> PyResult<String> {
        let objective = self.objective.as_deref().map(|name| objective(py, name)).transpose()?;
        let wishes = makespan::PlanWishes {
            algorithm: self.algorithm.clone(),
            objective: objective.map(|objective| objective.name().to_owned()),
            time_limit: self.time_limit.clone(),
            makespan_at_most: self.makespan_at_most.map(|most| most.to_string()),
        };
        wishes.spec(instance).map_err(|error| errors::algorithm(py, error))
    }
}

/// Computes a plan with an algorithm of the catalogue.
#[pyfunction]
pub fn plan(
    py: Python<'_>,
    instance: &Instance,
    wishes: Wishes,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Plan> {
    let spec = wishes.spec(py, &instance.core)?;
    let scheduler = makespan::scheduler(&spec).map_err(|error| errors::algorithm(py, error))?;
    let stop = Stop::default();
    let watch = Watch { stop: stop.clone(), is_anytime: scheduler.is_anytime(), limit: None, progress };
    let stated = wishes.time_limit.as_deref().and_then(|text| Time::parse(text).ok()).map(Time::seconds);
    let limit = stated.or(scheduler.time_limit().map(|limit: Duration| limit.as_secs_f64()));
    let begin = Instant::now();
    // A front or a strategy has no single best value.
    let goal = if let [one] = makespan::minimised(&spec) { Some(*one) } else { None };
    let incumbent = goal.map(Incumbent::of).unwrap_or_default();
    let watched = incumbent.clone();
    let done = move || {
        let IncumbentState { value, bound } = watched.state();
        let shown = |value: &Value| goal.map(|goal| figure(goal, value));
        let value = value.and_then(|value| shown(&value.into()));
        vec![Some(begin.elapsed().as_secs_f64()), limit, value, bound.as_ref().and_then(shown)]
    };
    let core = Arc::clone(&instance.core);
    let (seed, prove, threads) = (wishes.seed, wishes.prove, wishes.threads);
    let (planned, stopped) = watch.wait(py, Some(&done), move || {
        let planner = Planner::new().algorithm(spec).seed(seed).stop(&stop).incumbent(&incumbent);
        let planner = match threads {
            Some(threads) => planner.threads(threads),
            None => planner,
        };
        if prove { planner.plan(&core) } else { planner.plan_unproved(&core) }
    })?;
    let planned = planned.map_err(|error| errors::of_plan(py, &error, None))?;
    Ok(made(instance, planned, seed, stopped, begin))
}

fn made(instance: &Instance, mut planned: Planned, seed: u64, stopped: bool, begin: Instant) -> Plan {
    if stopped {
        planned.remarks.push("the search was stopped before its search time was over".into());
    }
    let seconds = begin.elapsed().as_secs_f64();
    let (instance, planned) = (Arc::clone(&instance.core), Arc::new(planned));
    Plan { instance, planned, seed, origin: Arc::default(), stopped, seconds }
}

/// Plans an instance with a scheduler that is written in Python. Checks the schedule and proves bounds, as for other
/// schedulers.
#[pyfunction]
pub fn plan_with(
    py: Python<'_>,
    instance: &Instance,
    scheduler: &Bound<'_, PyAny>,
    seed: u64,
    prove: bool,
) -> PyResult<Plan> {
    let begin = Instant::now();
    instance.core.check_task_count().map_err(|error| errors::input(py, error))?;
    let own = Own::new(scheduler, &instance.core)?;
    let planner = Planner::new().seed(seed);
    // The scheduler runs in this thread, so that Ctrl-C interrupts its Python code as usual.
    let planned = planner.plan_unproved_by(&own, &instance.core);
    own.raised()?;
    let mut planned = planned.map_err(|error| errors::of_plan(py, &error, Some(own.called())))?;
    if prove {
        let core = Arc::clone(&instance.core);
        let watch = Watch { stop: Stop::default(), is_anytime: false, limit: None, progress: None };
        let (bounds, _) = watch.wait(py, None, move || makespan::bound(&core))?;
        planned.bounds = bounds.map_err(|error| errors::of_plan(py, &error, None))?;
    }
    Ok(made(instance, planned, seed, false, begin))
}

/// Returns bounds for plans of one instance: one for each objective by which the plans are measured.
#[pyfunction]
pub fn bounds_of_plans(py: Python<'_>, instance: &Instance, plans: Vec<PyRef<'_, Plan>>) -> PyResult<Vec<Proven>> {
    let planned: Vec<Arc<Planned>> = plans.iter().map(|plan| Arc::clone(&plan.planned)).collect();
    let core = Arc::clone(&instance.core);
    let watch = Watch { stop: Stop::default(), is_anytime: false, limit: None, progress: None };
    let (bounds, _) =
        watch.wait(py, None, move || makespan::bounds_for(&core, &planned.iter().map(|planned| &planned.plan)))?;
    let bounds = bounds.map_err(|error: PlanError| errors::of_plan(py, &error, None))?;
    Ok(bounds.into_iter().map(|bound| Proven::new(bound, &instance.core)).collect())
}

/// Returns the specs of the algorithms that are compared by default.
#[pyfunction]
pub fn compared(instance: &Instance) -> Vec<String> {
    makespan::compared(&instance.core)
}

/// Returns the catalogue: for each algorithm its name, summary, supported instances, guarantee, source and parameters.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |entry: &makespan::Entry| {
        let dict = PyDict::new(py);
        dict.set_item("name", entry.name)?;
        dict.set_item("summary", entry.summary)?;
        dict.set_item("supports", entry.supports)?;
        dict.set_item("source", entry.source)?;
        dict.set_item("guarantee", entry.kind.guarantee)?;
        let parameters = PyDict::new(py);
        for parameter in entry.parameters {
            parameters.set_item(parameter.name, format!("{} [default: {}]", parameter.values, parameter.default))?;
        }
        dict.set_item("parameters", parameters)?;
        Ok(dict)
    };
    catalogue().iter().map(entry).collect()
}
