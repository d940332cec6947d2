//! Plans of the package.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use makespan::check::{percent_above, wrong_statements};
use makespan::formats::schedule::{FrontEntry, StrategyEntry};
use makespan::formats::tree_plan::TreePlanFile;
use makespan::formats::{CsvNames, PlanFile, PlanOrigin, ScheduleFile, jobs_csv, write_atomic};
use makespan::tree::TreeProblem;
use makespan::{Instance as CoreInstance, Objective, Plan as CorePlan, Planned, plan_ratio};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::bounds::Proven;
use crate::columns::Columns;
use crate::convert::{figure, objective};
use crate::instance::Instance;
use crate::{errors, pages, tables};

/// A plan with its instance and its bounds.
#[pyclass(frozen, module = "makespan._native")]
pub struct Plan {
    /// The planned instance.
    pub instance: Arc<CoreInstance>,
    /// The plan with its bounds.
    pub planned: Arc<Planned>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The version, the full spec and the hash of the instance. Computed when first used, because hashing a large
    /// instance takes long. `None` in the cell if the plan is from a file that does not state its origin.
    pub origin: Arc<OnceLock<Option<PlanOrigin>>>,
    /// True if Ctrl-C ended the search.
    pub stopped: bool,
    /// The time for planning and proving, in seconds.
    pub seconds: f64,
}

impl Plan {
    fn with(&self, plan: CorePlan, bounds: Vec<makespan::Bound>) -> Self {
        let Planned { algorithm, spec, .. } = &*self.planned;
        let planned = Planned { algorithm: algorithm.clone(), spec: spec.clone(), plan, bounds, remarks: Vec::new() };
        Self {
            instance: Arc::clone(&self.instance),
            planned: Arc::new(planned),
            origin: Arc::clone(&self.origin),
            ..*self
        }
    }

    fn stated_origin(&self) -> Option<&PlanOrigin> {
        let origin = || Some(PlanOrigin::new(self.planned.spec.clone(), &self.instance));
        self.origin.get_or_init(origin).as_ref()
    }
}

#[pymethods]
impl Plan {
    /// Full spec of the algorithm.
    #[getter]
    fn algorithm(&self) -> &str {
        &self.planned.algorithm
    }

    /// Spec of the algorithm with all its parameters.
    #[getter]
    fn spec(&self) -> &str {
        &self.planned.spec
    }

    /// The seed of all random choices.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// Version of Makespan that made the plan, or None for a file that does not state the version.
    #[getter]
    fn version(&self) -> Option<&str> {
        self.stated_origin().map(|origin| origin.version.as_str())
    }

    /// Hash of the planned instance, or None for a file that does not state the hash.
    #[getter]
    fn instance_hash(&self, py: Python<'_>) -> Option<&str> {
        py.detach(|| self.stated_origin()).map(|origin| origin.instance.as_str())
    }

    /// Messages for the user.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.planned.remarks.clone()
    }

    /// True if Ctrl-C ended the search.
    #[getter]
    fn stopped(&self) -> bool {
        self.stopped
    }

    /// The time for planning and proving, in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Kind of the plan: `schedule`, `front`, `strategy` or `steady state`.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.planned.plan {
            CorePlan::Front(_) => "front",
            CorePlan::Strategy(_) => "strategy",
            CorePlan::Periodic(_) => "steady state",
            _ => "schedule",
        }
    }

    /// Objective that the algorithm minimises. `None` if the algorithm minimises no objective or several objectives.
    #[getter]
    fn minimised(&self) -> Option<&'static str> {
        match makespan::minimised(&self.planned.algorithm) {
            [one] => Some(one.name()),
            _ => None,
        }
    }

    /// The names of the objectives that measure the plan.
    #[getter]
    fn objectives(&self) -> Vec<&'static str> {
        match &self.planned.plan {
            CorePlan::Periodic(_) => vec![Objective::Throughput.name()],
            _ => tables::measured(&self.instance).into_iter().map(Objective::name).collect(),
        }
    }

    /// Returns the value of an objective as a float, or None if the plan has no such value.
    fn value(&self, py: Python<'_>, name: &str) -> PyResult<Option<f64>> {
        let objective = objective(py, name)?;
        let value = self.planned.plan.value(objective, &self.instance);
        Ok(value.map(|value| figure(objective, &value)))
    }

    /// Returns the value of an objective as an exact decimal, or None if the plan has no such value.
    fn exact(&self, py: Python<'_>, name: &str) -> PyResult<Option<String>> {
        let objective = objective(py, name)?;
        let value = self.planned.plan.value(objective, &self.instance);
        Ok(value.map(|value| value.reached(objective)))
    }

    /// Returns the bounds, up to one for each objective.
    fn bounds(&self) -> Vec<Proven> {
        self.planned.bounds.iter().map(|bound| Proven::new(bound.clone(), &self.instance)).collect()
    }

    /// Returns the ratio of the value of an objective to its bound; 1 means optimal. Returns None if there is no bound
    /// for the plan.
    fn ratio(&self, py: Python<'_>, name: &str) -> PyResult<Option<f64>> {
        let objective = objective(py, name)?;
        let bound = self.planned.bounds.iter().find(|bound| bound.objective == objective);
        let Some(bound) = bound else { return Ok(None) };
        let ratio = plan_ratio(&self.instance, &self.planned.plan, bound);
        // If the value equals the bound, return exactly 1. A division could have a rounding error.
        let meets = self.planned.plan.value(objective, &self.instance).is_some_and(|value| value == bound.value);
        Ok(ratio.map(|ratio| if meets { 1.0 } else { ratio }))
    }

    /// Returns the percentage by which the value of an objective exceeds its bound, rounded up to hundredths. Returns
    /// None if there is no bound for the plan, or if the plan is optimal.
    fn percent(&self, py: Python<'_>, name: &str) -> PyResult<Option<String>> {
        Ok(self.ratio(py, name)?.filter(|&ratio| ratio > 1.0).map(percent_above))
    }

    /// Returns the placements, or None for a steady state.
    fn schedule(&self) -> PyResult<Option<Columns>> {
        self.planned.plan.schedule().map(|schedule| tables::schedule(&self.instance, schedule)).transpose()
    }

    /// Returns the plans of a front or a strategy, in order.
    fn points(&self) -> Vec<Plan> {
        match &self.planned.plan {
            CorePlan::Front(front) => {
                let with_bound = |point: &makespan::FrontPoint| {
                    let own = point.bound.iter().cloned();
                    let makespan = self.planned.bounds.iter().filter(|bound| bound.objective == Objective::Makespan);
                    self.with(point.schedule.clone().into(), makespan.cloned().chain(own).collect())
                };
                front.points().iter().map(with_bound).collect()
            }
            CorePlan::Strategy(strategy) => {
                let variants = strategy.variants().iter();
                variants.map(|variant| self.with(variant.schedule.clone().into(), Vec::new())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The planned instance.
    #[getter]
    fn of(&self) -> Instance {
        Instance::shared(&self.instance)
    }

    /// Checks the schedules, the rates and the bounds again. Returns the problems; an empty list means that the plan
    /// is valid.
    fn problems(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.file().map_or_else(|error| vec![error], |file| wrong_statements(&self.instance, &file)))
    }

    /// Returns the text of a plan file.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        pages::text(|out| self.write_json(out)).map_err(|error| errors::input(py, error))
    }

    /// Writes a plan file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        write_atomic(&path, |out| self.write_json(out)).map_err(|error| errors::of_file(py, &error))
    }

    /// Returns the interactive page.
    fn page(&self, py: Python<'_>, title: &str) -> PyResult<String> {
        pages::page(py, title, &self.instance, &self.planned, self.seed)
    }

    /// Returns a Gantt chart in SVG.
    fn chart(&self, title: &str, width: u32) -> PyResult<String> {
        pages::chart(title, &self.instance, &self.planned, width)
    }

    /// Returns the placements as CSV, with the columns of Batsim and evalys.
    fn csv(&self, workload: &str) -> PyResult<String> {
        let schedule = self.planned.plan.schedule().cloned().unwrap_or_default();
        let mut bytes = Vec::new();
        jobs_csv::write_schedule(&self.instance, workload, &schedule, CsvNames::Raw, &mut bytes)
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Plan {
    fn write_json(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        match self.file().map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidInput, error))? {
            PlanFile::Schedule(file) => file.write(&self.instance, out),
            PlanFile::Periodic(file) => file.write(&self.instance, out),
        }
    }

    /// Returns the content of the plan file.
    fn file(&self) -> Result<PlanFile, String> {
        let Planned { algorithm, plan, bounds, remarks, .. } = &*self.planned;
        if let CorePlan::Periodic(state) = plan {
            let problem = TreeProblem::new(&self.instance).map_err(|error| error.to_string())?;
            let bound = bounds.iter().find(|bound| bound.objective == Objective::Throughput);
            let bound = bound.ok_or("the plan has no bound on its throughput")?;
            let mut file = TreePlanFile::new(&problem, state, bound).map_err(|error| error.to_string())?;
            file.remarks.clone_from(remarks);
            file.origin = self.stated_origin().cloned();
            return Ok(PlanFile::Periodic(Box::new(file)));
        }
        let schedule = plan.schedule().cloned().unwrap_or_default();
        let file = ScheduleFile::new(&self.instance, algorithm.clone(), schedule);
        let mut file = file.with_bounds(&self.instance, bounds);
        file.seed = Some(self.seed);
        file.origin = self.stated_origin().cloned();
        file.remarks.clone_from(remarks);
        if let CorePlan::Front(front) = plan {
            file.front = front
                .points()
                .iter()
                .map(|point| FrontEntry::new(&self.instance, &point.schedule, point.bound.as_ref()))
                .collect();
        }
        if let CorePlan::Strategy(strategy) = plan {
            file.strategy = Some(StrategyEntry::new(strategy));
        }
        Ok(PlanFile::Schedule(Box::new(file)))
    }
}
