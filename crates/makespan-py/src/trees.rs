//! Simulates bags of tasks on a tree of machines with decentralised policies.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use makespan::formats::parse_bandwidth;
use makespan::policy::tree::Heuristic;
use makespan::tree::TreeProblem;
use makespan::{
    Instance as Core, NetworkChange, NetworkOptions, NodeChange, Stop, Time, TreeRun, TreeRunError, TreeScene,
};
use makespan_core::Quantity;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::columns::{Columns, Table};
use crate::instance::Instance;
use crate::waiting::Watch;
use crate::{convert, errors};

/// The rules of a simulation.
#[derive(FromPyObject)]
pub struct Rules<'py> {
    #[pyo3(item)]
    buffer: u32,
    #[pyo3(item)]
    sends: u32,
    #[pyo3(item)]
    slow_requests: bool,
    /// Changes of nodes: the instant, the node, the kind (`bandwidth`, `speed` or `removed`) and the value.
    #[pyo3(item)]
    changes: Vec<(Bound<'py, PyAny>, String, String, String)>,
}

impl Rules<'_> {
    fn options(&self, py: Python<'_>, instance: &Core, problem: &TreeProblem) -> PyResult<NetworkOptions> {
        let change = |(at, (when, node, what, value)): (usize, &(Bound<'_, PyAny>, String, String, String))| {
            let place = format!("changes[{at}]");
            let fail = |problem: String| errors::at(py, &place, problem);
            let nodes = instance.platform().nodes();
            let found = nodes.iter().position(|other| other.name == *node);
            let found = found.ok_or_else(|| fail(format!("there is no node `{node}`")))?;
            let what = match what.as_str() {
                "bandwidth" => NodeChange::Bandwidth(parse_bandwidth(value).map_err(fail)?),
                "speed" => {
                    let speed =
                        value.parse().map_err(|_| fail(format!("`{value}` is not a speed; give a positive number")))?;
                    let speed = Quantity::SPEED.check(speed);
                    NodeChange::Speed(speed.map_err(|error| fail(format!("`{value}` is not a speed: {error}")))?)
                }
                _ => NodeChange::Removed,
            };
            let node = problem.order().iter().position(|&other| other == found).unwrap_or_default();
            Ok(NetworkChange { at: convert::time(when, &place)?, node, what })
        };
        Ok(NetworkOptions {
            buffer: self.buffer,
            sends: self.sends,
            slow_requests: self.slow_requests,
            changes: self.changes.iter().enumerate().map(change).collect::<PyResult<_>>()?,
            ..NetworkOptions::default()
        })
    }
}

/// The result of a policy for bags of tasks on a tree.
#[pyclass(frozen, module = "makespan._native")]
pub struct TreeSimulation {
    instance: Arc<Core>,
    scene: Arc<TreeScene>,
    run: TreeRun,
    seconds: f64,
}

#[pymethods]
impl TreeSimulation {
    /// Spec of the policy.
    #[getter]
    fn policy(&self) -> String {
        self.run.heuristic.to_string()
    }

    /// The minimum, over the applications, of the weighted tasks per second in the steady part of the run. None if no
    /// application completed a task.
    #[getter]
    fn throughput(&self) -> Option<f64> {
        self.run.measured.as_ref().map(|measured| measured.fair)
    }

    /// A proven upper bound on the long-run throughput of every schedule.
    #[getter]
    fn bound(&self) -> f64 {
        self.scene.bound
    }

    /// The end of the run.
    #[getter]
    fn end(&self) -> f64 {
        self.run.run.end.seconds()
    }

    /// The number of unfinished tasks.
    #[getter]
    fn unfinished(&self) -> u64 {
        self.run.run.unfinished()
    }

    /// True if the simulation ended with unfinished tasks because no further event could occur.
    #[getter]
    fn stalled(&self) -> bool {
        self.run.run.stalled
    }

    /// The number of transfers of tasks over links.
    #[getter]
    fn hops(&self) -> u64 {
        self.run.run.hops
    }

    /// The number of tasks that returned to the root because a node was removed.
    #[getter]
    fn resent(&self) -> u64 {
        self.run.run.resent
    }

    /// The time that the simulation took, in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the applications, one in each row.
    fn applications(&self) -> PyResult<Columns> {
        let (run, measured) = (&self.run.run, self.run.measured.as_ref());
        let all = || 0..run.tasks.len();
        Table::default()
            .texts("application", all().map(|at| self.instance.jobs()[at].name.as_str()))
            .integers("tasks", all().map(|at| run.tasks[at] as i64))
            .integers("computed", all().map(|at| run.completions[at].len() as i64))
            .floats("weight", self.scene.weights.iter().copied())
            .some_floats("throughput", all().map(|at| measured.map(|measured| measured.throughput[at])))
            .some_floats("done", all().map(|at| run.done(at).map(Time::seconds)))
            .finish()
    }

    /// Returns the nodes, one in each row. Loads are fractions of the time.
    fn nodes(&self) -> PyResult<Columns> {
        let (run, nodes, end) = (&self.run.run, self.scene.network.nodes(), self.run.run.end.seconds());
        let load = |busy: Time, units: u32| {
            let all = end * f64::from(units);
            (all > 0.0).then(|| busy.seconds() / all)
        };
        let all = || 0..nodes.len();
        let name = |at: usize| self.instance.platform().nodes()[self.scene.network.origin(at)].name.as_str();
        Table::default()
            .texts("node", all().map(name))
            .integers("computed", all().map(|at| self.run.computed(at).iter().sum::<u64>() as i64))
            .some_floats("processor_load", all().map(|at| load(run.processor_busy[at], nodes[at].processors)))
            .some_floats("port_load", all().map(|at| load(run.port_busy[at], 1)))
            .some_floats("link_load", all().map(|at| load(run.link_busy[at], 1)))
            .integers("peak", all().map(|at| i64::from(run.peak[at])))
            .integers("removed", all().map(|at| i64::from(run.removed[at])))
            .finish()
    }

    /// Returns the completion times of the tasks, one in each row, ordered by application and time.
    fn completions(&self) -> PyResult<Columns> {
        let all = self.run.run.completions.iter().enumerate();
        let each: Vec<(usize, Time)> = all.flat_map(|(at, ends)| ends.iter().map(move |&end| (at, end))).collect();
        Table::default()
            .texts("application", each.iter().map(|&(at, _)| self.instance.jobs()[at].name.as_str()))
            .floats("time", each.iter().map(|&(_, end)| end.seconds()))
            .finish()
    }
}

/// Simulates bags of tasks on a tree with these policies, several at the same time.
#[pyfunction]
pub fn simulate_tree(
    py: Python<'_>,
    instance: &Instance,
    specs: Vec<String>,
    rules: Rules<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<TreeSimulation>> {
    let heuristic = |spec: &String| spec.parse::<Heuristic>().map_err(|error| errors::algorithm(py, error));
    let heuristics = specs.iter().map(heuristic).collect::<PyResult<Vec<_>>>()?;
    let problem = TreeProblem::new(&instance.core).map_err(|error| errors::input(py, error))?;
    let options = rules.options(py, &instance.core, &problem)?;
    let (ended, count) = (Arc::new(AtomicUsize::new(0)), heuristics.len() as f64);
    let counted = Arc::clone(&ended);
    let done = move || vec![Some(counted.load(Ordering::Relaxed) as f64), Some(count)];
    let watch = Watch { stop: Stop::default(), is_anytime: false, limit: None, progress };
    let (made, _) = watch.wait(py, Some(&done), move || {
        let scene = Arc::new(TreeScene::of(&problem)?);
        let runs = play(&scene, &heuristics, &options, threads, &ended);
        Ok::<_, TreeRunError>((scene, runs))
    })?;
    let (scene, runs) = made.map_err(|error| errors::input(py, error))?;
    let simulation = |(run, seconds): Timed| {
        let run = run.map_err(|error| errors::algorithm(py, error))?;
        Ok(TreeSimulation { instance: Arc::clone(&instance.core), scene: Arc::clone(&scene), run, seconds })
    };
    let runs = runs.into_iter().map(|run| {
        run.ok_or_else(|| PyRuntimeError::new_err("a defect of Makespan (see the message above); please report it"))
    });
    runs.map(|run| simulation(run?)).collect()
}

/// The result of a run, and the time that its simulation took in seconds.
type Timed = (Result<TreeRun, TreeRunError>, f64);

/// Simulates the heuristics, several at the same time. Returns the runs in the order of the heuristics.
fn play(
    scene: &TreeScene,
    heuristics: &[Heuristic],
    options: &NetworkOptions,
    threads: usize,
    ended: &AtomicUsize,
) -> Vec<Option<Timed>> {
    let (next, played) = (AtomicUsize::new(0), Mutex::new(heuristics.iter().map(|_| None).collect::<Vec<_>>()));
    let work = || {
        while let Some((at, &heuristic)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, heuristics.get(at)?)))
        {
            let begin = Instant::now();
            let run = scene.play(heuristic, options);
            if let Ok(mut played) = played.lock() {
                played[at] = Some((run, begin.elapsed().as_secs_f64()));
            }
            ended.fetch_add(1, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(heuristics.len()) {
            scope.spawn(work);
        }
        work();
    });
    played.into_inner().unwrap_or_default()
}
