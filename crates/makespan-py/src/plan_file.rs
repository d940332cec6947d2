//! Reads plan files, and checks the values and bounds in them.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use makespan::Front;
use makespan::check::wrong_statements;
use makespan::formats::schedule::{FrontEntry, ScheduleFile, StrategyEntry};
use makespan::formats::tree_plan::TreePlanFile;
use makespan::formats::{PlanFile, PlanOrigin};
use makespan::tree::{PeriodicError, SteadyState};
use makespan::{FrontPoint, Instance as Core, Plan as CorePlan, Planned, Schedule, Strategy, Variant};
use pyo3::prelude::*;

use crate::errors;
use crate::instance::Instance;
use crate::plan::Plan;

/// The seed of a plan file without one. It is the default of `makespan.plan`.
const DEFAULT_SEED: u64 = 1;

/// Reads a plan file for an instance. Returns the plan, and the problems of its placements, values and bounds.
#[pyfunction]
pub fn verify_file(py: Python<'_>, instance: &Instance, path: PathBuf) -> PyResult<(Plan, Vec<String>)> {
    let name = path.display().to_string();
    let bytes = std::fs::read(&path).map_err(|error| errors::of_io(&name, &error))?;
    if bytes.trim_ascii_start().first().is_some_and(|&byte| byte != b'{') {
        let problem = "this is not a plan file; a plan file is a JSON object, as written by `Plan.write` or `makespan plan --output`";
        return Err(errors::input(py, format!("{name}: {problem}")));
    }
    let file = PlanFile::read(&name, &bytes, &instance.core).map_err(|error| errors::of_file(py, &error))?;
    let core = &instance.core;
    let problems = py.detach(|| wrong_statements(core, &file));
    Ok((stated(py, instance, file)?, problems))
}

/// Restores a pickled plan from its text, without checking it. `stopped` and `seconds` are passed separately, because
/// the text does not contain them.
#[pyfunction]
pub fn plan_of_text(py: Python<'_>, instance: &Instance, text: &str, stopped: bool, seconds: f64) -> PyResult<Plan> {
    let file = PlanFile::read("plan", text.as_bytes(), &instance.core).map_err(|error| errors::of_file(py, &error))?;
    Ok(Plan { stopped, seconds, ..stated(py, instance, file)? })
}

fn stated(py: Python<'_>, instance: &Instance, file: PlanFile) -> PyResult<Plan> {
    let stated = if let PlanFile::Schedule(file) = &file { file.seed } else { None };
    let seed = stated.unwrap_or(DEFAULT_SEED);
    let (origin, planned) = match file {
        PlanFile::Schedule(mut file) => (file.origin.take(), of_schedule(&instance.core, *file)),
        PlanFile::Periodic(mut file) => (file.origin.take(), of_rates(*file)),
    };
    let mut planned = planned.map_err(|problem| errors::input(py, problem))?;
    if let Some(PlanOrigin { spec, .. }) = &origin {
        planned.spec.clone_from(spec);
    }
    let (instance, planned) = (Arc::clone(&instance.core), Arc::new(planned));
    let origin = Arc::new(OnceLock::from(origin));
    Ok(Plan { instance, planned, seed, origin, stopped: false, seconds: 0.0 })
}

fn of_schedule(instance: &Core, file: ScheduleFile) -> Result<Planned, String> {
    let ScheduleFile { algorithm, bounds, remarks, schedule, front, strategy, .. } = file;
    let plan = match strategy {
        Some(strategy) => of_strategy(instance, strategy, &schedule)?.into(),
        None if front.is_empty() => schedule.into(),
        None => {
            let point = |entry: FrontEntry| FrontPoint { schedule: entry.schedule, bound: entry.bound };
            CorePlan::Front(Front::new(instance, front.into_iter().map(point).collect()))
        }
    };
    Ok(Planned { spec: algorithm.clone(), algorithm, plan, bounds, remarks })
}

fn of_strategy(instance: &Core, entry: StrategyEntry, chosen: &Schedule) -> Result<Strategy, String> {
    let variants = entry.variants.into_iter().map(|variant| Variant::new(instance, variant.schedule)).collect();
    Strategy::new(variants, |variant| variant.schedule != *chosen)
        .map(|strategy| strategy.with_chains(entry.chains))
        .ok_or_else(|| "strategy.variants: the list is empty".into())
}

fn of_rates(file: TreePlanFile) -> Result<Planned, String> {
    let TreePlanFile { algorithm, fair_throughput: throughput, bound, rates, fairness, period, remarks, .. } = file;
    // If the file states no period, it does not state the reason either. Assume that the period would be too long.
    let period = period.map_or(Err(PeriodicError::TooLong), |stated| Ok(stated.periodic));
    let fairness = fairness.map(|stated| stated.fairness);
    let state = SteadyState { rates, throughput, optimum: None, fairness, period };
    let plan = CorePlan::Periodic(Box::new(state));
    Ok(Planned { spec: algorithm.clone(), algorithm, plan, bounds: vec![bound], remarks })
}
