//! Simulates policies. Policies of the catalogue run in separate threads, and policies in Python in the calling
//! thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use makespan::formats::gantt::Marks;
use makespan::formats::report::{PolicyPanel, Section, SimulationLevel, SimulationReport, write_simulation};
use makespan::formats::{CsvNames, jobs_csv};
use makespan::policy::policy_for;
use makespan::{
    CircumstanceError, Circumstances, Instance as CoreInstance, Measures, Observer, SimulateError, Simulated,
    SimulationInput, SimulationOptions, Stop, Time, simulate as simulated_by, simulate_policy,
};
use makespan_core::{Schedule, Usage, UsageStep};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{Columns, Table};
use crate::log::Log;
use crate::policy::Own;
use crate::waiting::Watch;
use crate::{errors, pages, tables};

/// Maximum number of tasks in a Gantt chart. A chart with more tasks is unreadable.
const CHARTED: u64 = 20_000;
/// Time between two progress reports to Python.
const TICK: Duration = Duration::from_millis(50);

/// The rules of a simulation: limits, failures and the seed.
#[derive(FromPyObject)]
pub struct Rules {
    #[pyo3(item)]
    kill_at_walltime: bool,
    /// A file of failures, or a model such as `model:mtbf=30d,mttr=4h`.
    #[pyo3(item)]
    failures: Option<String>,
    #[pyo3(item)]
    requeues: Option<u32>,
    #[pyo3(item)]
    seed: u64,
}

impl Rules {
    fn options(&self, py: Python<'_>, log: &Log, stop: &Stop) -> PyResult<SimulationOptions> {
        let stated = Circumstances {
            kill_at_walltime: self.kill_at_walltime,
            is_clairvoyant: log.is_clairvoyant,
            failures: self.failures.clone(),
            requeues: self.requeues,
            seed: self.seed,
        };
        let rules = stated.rules(&log.instance).map_err(|error| match (error.option(), &error) {
            (None, CircumstanceError::File(error)) => errors::of_file(py, error),
            (option, _) => errors::at(py, option.unwrap_or_default(), errors::in_python(&error)),
        })?;
        Ok(SimulationOptions { stop: stop.clone(), ..rules })
    }
}

/// The result of a policy on a log.
#[pyclass(frozen, module = "makespan._native")]
pub struct Simulation {
    instance: Arc<CoreInstance>,
    simulated: Arc<Simulated>,
    seconds: f64,
}

#[pymethods]
impl Simulation {
    /// Spec or name of the policy.
    #[getter]
    fn policy(&self) -> &str {
        &self.simulated.policy
    }

    /// The time that the simulation took, in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The number of events that the policy received.
    #[getter]
    fn events(&self) -> u64 {
        self.simulated.simulation.events
    }

    /// The names of the tasks that the policy cancelled.
    #[getter]
    fn given_up(&self) -> Vec<String> {
        let cancelled = &self.simulated.simulation.cancelled;
        cancelled.iter().map(|&task| self.instance.name(task).into_owned()).collect()
    }

    /// Returns the runs of jobs, one in each row.
    fn runs(&self) -> PyResult<Columns> {
        tables::runs(&self.instance, &self.simulated.simulation.trace)
    }

    /// Returns a row for each change of the number of used processors or of waiting jobs, with the new numbers.
    fn usage(&self) -> PyResult<Columns> {
        let usage = Usage::of(&self.instance, &self.simulated.simulation.trace);
        let steps = &usage.steps;
        Table::default()
            .floats("time", steps.iter().map(|step| step.from.seconds()))
            .integers("held", steps.iter().map(|step| i64::from(step.held)))
            .integers("waiting", steps.iter().map(|step| i64::from(step.waiting)))
            .finish()
    }

    /// Returns waits, slowdowns, utilisation and other measures as JSON.
    fn measures(&self) -> PyResult<String> {
        serde_json::to_string(&self.simulated.measures).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Returns the runs as CSV, with the columns of Batsim and evalys.
    fn csv(&self, workload: &str) -> PyResult<String> {
        let (mut bytes, trace) = (Vec::new(), &self.simulated.simulation.trace);
        jobs_csv::write_trace(&self.instance, workload, trace, CsvNames::Raw, &mut bytes)
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Counts the finished tasks over all policies.
struct Count<'a> {
    all: &'a AtomicUsize,
    shown: usize,
}

impl Observer for Count<'_> {
    fn progress(&mut self, _: Time, ended: usize) {
        self.all.fetch_add(ended - self.shown, Ordering::Relaxed);
        self.shown = ended;
    }
}

/// Simulates policies of the catalogue on a log. Simulates several policies at the same time.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    log: &Log,
    specs: Vec<String>,
    rules: Rules,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Simulation>> {
    let stop = Stop::default();
    let options = rules.options(py, log, &stop)?;
    for spec in &specs {
        policy_for(spec, &log.instance, rules.seed).map_err(|error| errors::of_simulation(py, &error.into()))?;
    }
    let (ended, tasks) = (Arc::new(AtomicUsize::new(0)), log.instance.tasks() as f64 * specs.len() as f64);
    let counted = Arc::clone(&ended);
    let done = move || vec![Some(counted.load(Ordering::Relaxed) as f64), Some(tasks)];
    let (instance, actual, seed) = (Arc::clone(&log.instance), Arc::clone(&log.actual), rules.seed);
    let watch = Watch { stop, is_anytime: false, limit: None, progress };
    let (made, _) = watch.wait(py, Some(&done), move || {
        let scene = SimulationInput { instance: &instance, actual: &actual, options: &options, seed };
        play(&scene, &specs, threads, &ended)
    })?;
    let simulation = |(made, seconds): (Result<Simulated, SimulateError>, f64)| {
        let simulated = Arc::new(made.map_err(|error| errors::of_simulation(py, &error))?);
        Ok(Simulation { instance: Arc::clone(&log.instance), simulated, seconds })
    };
    made.into_iter().map(simulation).collect()
}

/// The result of a simulation, and the time that it took in seconds.
type Timed = (Result<Simulated, SimulateError>, f64);

fn play(scene: &SimulationInput<'_>, specs: &[String], threads: usize, ended: &AtomicUsize) -> Vec<Timed> {
    let done: Mutex<Vec<Option<Timed>>> = Mutex::new(specs.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((at, spec)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, specs.get(at)?)))
        {
            let begin = Instant::now();
            let made = simulated_by(scene, spec, &mut Count { all: ended, shown: 0 });
            if let Ok(mut done) = done.lock() {
                done[at] = Some((made, begin.elapsed().as_secs_f64()));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(specs.len()) {
            scope.spawn(work);
        }
        work();
    });
    done.into_inner().unwrap_or_default().into_iter().flatten().collect()
}

/// An observer that reports the progress of a simulation and handles signals. Its methods run in the thread of Python.
struct Told<'a, 'py> {
    py: Python<'py>,
    progress: Option<&'a Bound<'py, PyAny>>,
    tasks: f64,
    last: Instant,
    stop: Stop,
    raised: Option<PyErr>,
}

impl Observer for Told<'_, '_> {
    fn progress(&mut self, _: Time, ended: usize) {
        if self.raised.is_some() || self.last.elapsed() < TICK {
            return;
        }
        self.last = Instant::now();
        let called = self.progress.map_or(Ok(()), |progress| progress.call1((ended as f64, self.tasks)).map(drop));
        if let Err(error) = called.and_then(|()| self.py.check_signals()) {
            self.raised = Some(error);
            self.stop.request();
        }
    }
}

/// Simulates a policy that is written in Python.
#[pyfunction]
pub fn simulate_with<'py>(
    py: Python<'py>,
    log: &Log,
    policy: &Bound<'py, PyAny>,
    name: &str,
    rules: Rules,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Simulation> {
    let stop = Stop::default();
    let options = rules.options(py, log, &stop)?;
    let scene = SimulationInput { instance: &log.instance, actual: &log.actual, options: &options, seed: rules.seed };
    let mut own = Own::new(policy, name, &log.instance, &stop)?;
    let begin = Instant::now();
    let tasks = log.instance.tasks() as f64;
    let mut told = Told { py, progress, tasks, last: begin, stop, raised: None };
    let made = simulate_policy(&scene, name, &mut own, &mut told);
    if let Some(error) = own.raised().or(told.raised) {
        return Err(error);
    }
    let simulated = Arc::new(made.map_err(|error| errors::of_simulation(py, &error))?);
    Ok(Simulation { instance: Arc::clone(&log.instance), simulated, seconds: begin.elapsed().as_secs_f64() })
}

/// Returns a page that compares several policies.
#[pyfunction]
pub fn report(
    title: &str,
    simulations: Vec<PyRef<'_, Simulation>>,
    seed: u64,
    remarks: Vec<String>,
) -> PyResult<String> {
    let Some(first) = simulations.first() else { return Ok(String::new()) };
    let instance = &*first.instance;
    let all: Vec<&Simulated> = simulations.iter().map(|one| &*one.simulated).collect();
    let levels: Vec<Vec<SimulationLevel>> = all.iter().map(|one| levels(instance, one)).collect();
    let charted = instance.tasks() <= CHARTED;
    let charts: Vec<Schedule> = all.iter().filter(|_| charted).map(|one| one.simulation.trace.schedule()).collect();
    let summaries: Vec<String> = all.iter().map(|one| summary(&one.measures)).collect();
    let marks = Marks::default();
    let panel = |(at, one): (usize, &&Simulated)| PolicyPanel {
        name: &all[at].policy,
        summary: &summaries[at],
        end: one.simulation.trace.runs.iter().map(|run| run.end).max().unwrap_or_default(),
        processors: instance.processors(),
        levels: &levels[at],
        phases: all[at].task_flow.as_ref().map(|flow| &flow.phases),
        schedule: charts.get(at),
        marks: &marks,
    };
    let panels: Vec<PolicyPanel<'_>> = all.iter().enumerate().map(panel).collect();
    let comparison = comparison(&all);
    let report = SimulationReport {
        title,
        instance,
        policies: &panels,
        seed,
        remarks: &remarks,
        is_present: false,
        week: None,
        comparison: &comparison,
        sections: &[],
    };
    pages::text(|out| write_simulation(out, &report))
}

fn levels(instance: &CoreInstance, simulated: &Simulated) -> Vec<SimulationLevel> {
    let level = |&UsageStep { from, held, waiting }: &UsageStep| SimulationLevel { time: from, held, waiting };
    Usage::of(instance, &simulated.simulation.trace).steps.iter().map(level).collect()
}

fn summary(measures: &Measures) -> String {
    format!(
        "mean wait {:.1} s, mean bounded slowdown {:.2}, utilisation {:.1} %",
        measures.wait.mean,
        measures.bounded_slowdown.mean,
        100.0 * measures.utilisation
    )
}

/// The name of a measure in the table, and the function that formats its value.
type Row = (&'static str, fn(&Measures) -> String);

fn comparison(all: &[&Simulated]) -> Section {
    let rows: [Row; 8] = [
        ("mean wait", |of| format!("{:.1}", of.wait.mean)),
        ("wait, 95th percentile", |of| format!("{:.1}", of.wait.p95)),
        ("longest wait", |of| format!("{:.1}", of.wait.max)),
        ("mean bounded slowdown", |of| format!("{:.3}", of.bounded_slowdown.mean)),
        ("weighted completion", |of| format!("{:.1}", of.weighted_completion)),
        ("makespan", |of| format!("{:.1}", of.makespan)),
        ("utilisation", |of| format!("{:.2} %", 100.0 * of.utilisation)),
        ("backfilled jobs", |of| of.backfilled.to_string()),
    ];
    let row =
        |(name, of): &Row| std::iter::once((*name).to_owned()).chain(all.iter().map(|one| of(&one.measures))).collect();
    Section {
        title: "Measures".into(),
        text: "Times are in seconds.".into(),
        columns: std::iter::once(String::new()).chain(all.iter().map(|one| one.policy.clone())).collect(),
        rows: rows.iter().map(row).collect(),
        ..Section::default()
    }
}

/// Returns the policies of the catalogue: for each its name, summary, supported instances, source and parameters.
#[pyfunction]
pub fn policies(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let mut all = Vec::new();
    for entry in makespan::policy::policies() {
        let dict = PyDict::new(py);
        dict.set_item("name", entry.name)?;
        dict.set_item("summary", entry.summary)?;
        dict.set_item("supports", entry.supports)?;
        dict.set_item("source", entry.source)?;
        let parameters = PyDict::new(py);
        for parameter in entry.parameters {
            parameters.set_item(parameter.name, format!("{} [default: {}]", parameter.values, parameter.default))?;
        }
        dict.set_item("parameters", parameters)?;
        all.push(dict);
    }
    Ok(all)
}
