//! The main loop. It passes events of the simulated cluster to a policy, and carries out the policy's decisions.

mod agenda;
mod decide;
mod happen;

use std::collections::{BTreeMap, HashMap, HashSet};

use makespan_core::{
    Actual, Cluster, Decision, Defect, Estimator, Event, Instance, Policy, Run, TaskId, Time, Trace, Unavailable,
};

use crate::{Observer, Simulation, SimulationError, SimulationOptions};
use agenda::FutureInstants;

/// Maximum number of consecutive instants at which no task is released, starts, ends or is cancelled. After more such
/// instants, the simulation fails, because the policy makes no progress.
const MAX_IDLE_INSTANTS: u64 = 1_000_000;

/// The value in [`Engine::ends`] for a task that is not running.
const NEVER: (Time, bool) = (Time::MAX, false);

/// The state of a simulation.
pub(crate) struct Engine<'a> {
    instance: &'a Instance,
    actual: &'a Actual,
    options: &'a SimulationOptions,
    cluster: Cluster<'a>,
    agenda: FutureInstants<'a>,
    /// Learns run times from ended tasks. The instance in `cluster` contains the learned times; the field `instance`
    /// contains the original times.
    estimator: Option<Box<dyn Estimator>>,
    restated: u64,
    /// For each task, the end of its current run. The flag is true if the walltime ends the run. If an entry of
    /// `agenda` differs from the entry here, the entry of `agenda` is obsolete, because the run was interrupted.
    ends: Vec<(Time, bool)>,
    /// For tasks that are about to start: the time limit that the policy grants, if this limit differs from the
    /// walltime of the task.
    granted: HashMap<TaskId, Time>,
    runs: Vec<Run>,
    cancelled: Vec<TaskId>,
    /// The periods in which processors were down so far.
    down: Vec<Unavailable>,
    /// For each failure that is not repaired yet: its index in `down`.
    broken: BTreeMap<u32, usize>,
    /// For each task, the number of times that it was interrupted.
    interruptions: Vec<u32>,
    /// Number of tasks that have neither ended nor been cancelled.
    left: usize,
    /// Events that the policy has not yet received.
    events: Vec<Event>,
    /// The decisions of the policy. The list is reused at every instant to avoid allocation.
    decisions: Vec<Decision>,
    told: u64,
    instants: u64,
    /// Number of consecutive instants at which nothing was released, started, ended or cancelled.
    barren: u64,
    /// True after the first instant was simulated.
    has_begun: bool,
}

impl<'a> Engine<'a> {
    pub fn new(instance: &'a Instance, actual: &'a Actual, options: &'a SimulationOptions) -> Self {
        let tasks = instance.tasks() as usize;
        Self {
            instance,
            actual,
            options,
            cluster: Cluster::new(instance),
            agenda: FutureInstants::new(instance, options),
            estimator: options.estimation.as_ref().map(|estimation| estimation.begin(instance)),
            restated: 0,
            ends: vec![NEVER; tasks],
            granted: HashMap::new(),
            runs: Vec::with_capacity(tasks),
            cancelled: Vec::new(),
            down: Vec::new(),
            broken: BTreeMap::new(),
            interruptions: vec![0; tasks],
            left: tasks,
            events: Vec::new(),
            decisions: Vec::new(),
            told: 0,
            instants: 0,
            barren: 0,
            has_begun: false,
        }
    }

    /// Runs the simulation until every task has ended or was cancelled.
    pub fn run(&mut self, policy: &mut dyn Policy, observer: &mut dyn Observer) -> Result<(), SimulationError> {
        let tasks = self.instance.tasks() as usize;
        while self.left > 0 {
            let ended = tasks - self.left;
            if self.options.stop.is_requested() {
                return Err(SimulationError::Stopped { at: self.cluster.now(), ended, tasks });
            }
            let Some(now) = self.agenda.next(self.instance).into_iter().chain(self.cluster.next_change()).min() else {
                return self.cluster.check_complete().map_err(|defect| self.defect(defect));
            };
            self.happen(now);
            if !self.has_begun {
                self.begin()?;
            }
            if !self.events.is_empty() {
                self.tell(policy)?;
                observer.progress(now, tasks - self.left);
            }
        }
        Ok(())
    }

    /// Starts the tasks of [`SimulationOptions::running`] at the first instant, before the policy is called.
    fn begin(&mut self) -> Result<(), SimulationError> {
        self.has_begun = true;
        for (task, processors) in &self.options.running {
            self.start(*task, processors.clone())?;
        }
        let running: HashSet<TaskId> = self.options.running.iter().map(|run| run.0).collect();
        self.events.retain(|event| !matches!(event, Event::Submitted(task) if running.contains(task)));
        Ok(())
    }

    pub fn into_simulation(self) -> Simulation {
        let Self { runs, cancelled, down, told: events, instants, restated, .. } = self;
        Simulation { trace: Trace { runs }, cancelled, down, events, instants, restated }
    }

    /// Passes all events of this instant to the policy, and carries out the policy's decisions.
    fn tell(&mut self, policy: &mut dyn Policy) -> Result<(), SimulationError> {
        self.agenda.wake = None;
        self.told += self.events.len() as u64;
        self.instants += 1;
        let idle = self.cluster.running().is_empty();
        let barren = |event: &Event| match event {
            Event::Wake => true,
            Event::NodeUp(_) | Event::NodeDown(_) => idle,
            _ => false,
        };
        self.barren = if self.events.iter().all(barren) { self.barren + 1 } else { 0 };
        let mut decisions = std::mem::take(&mut self.decisions);
        policy.on(&self.events, &self.cluster.view(), &mut decisions);
        self.events.clear();
        for decision in decisions.drain(..) {
            self.decide(decision)?;
        }
        self.decisions = decisions;
        self.cluster.check_gangs().map_err(|defect| self.defect(defect))?;
        match self.cluster.waiting().first() {
            Some(task) if self.barren > MAX_IDLE_INSTANTS => {
                let example = self.cluster.name(task).into_owned();
                Err(self.defect(Defect::Restless { instants: self.barren, example }))
            }
            _ => Ok(()),
        }
    }

    fn defect(&self, defect: Defect) -> SimulationError {
        SimulationError::Policy { at: self.now(), defect }
    }

    fn now(&self) -> Time {
        self.cluster.now()
    }
}
