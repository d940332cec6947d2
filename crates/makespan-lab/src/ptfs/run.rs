//! One flow under every scheduler.

use std::fmt;

use makespan::{Scene, simulate};
use makespan_core::{Actual, Objective, Phase, Time, release_area_bound};
use makespan_generate::{FlowOptions, flow};
use makespan_sim::{Silent, SimulationOptions};
use serde::{Deserialize, Serialize};

use super::{Options, SCHEDULERS};
use crate::LabError;
use crate::campaign::{at_least, failed, stirred, valid};

/// Which flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Mean size of a task.
    pub mean_size: u32,
    /// By which part of its mean the rate swings to either side, in millionths.
    pub swing: u32,
    /// Mean rate of arrival, in millionths of the balance line.
    pub rate: u64,
    /// Which repetition, from 0.
    pub run: u32,
}

/// What one flow gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which flow.
    pub key: Key,
    /// Bound on the makespan.
    pub bound: Time,
    /// One a scheduler, in the order of [`SCHEDULERS`].
    pub outcomes: Vec<Outcome>,
}

/// What a scheduler made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// When the last task ended. The other name stands in journals of campaigns that were begun before.
    #[serde(alias = "maxspan")]
    pub makespan: Time,
    /// The paper's mean over nodes.
    pub utilisation: f64,
    /// Nodes counted with their speed.
    pub utilisation_by_speed: f64,
    /// Tasks a second.
    pub throughput: f64,
    /// Mean time from release to end, in seconds.
    pub flow_time: f64,
    /// Parts of the time in saturation, the slide region and starvation.
    pub phases: [f64; 3],
}

impl Key {
    /// The rate as a multiple of the balance line.
    pub fn rate(&self) -> f64 {
        self.rate as f64 / 1e6
    }

    /// By which part of its mean the rate swings.
    pub fn swing(&self) -> f64 {
        f64::from(self.swing) / 1e6
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mean size {}, swing {}, rate {}, run {}", self.mean_size, self.swing(), self.rate(), self.run)
    }
}

/// Draws the flow and plays it under every scheduler. The tasks of a repetition are the same at every rate and swing. Every schedule is
/// validated, and none may be below the bound.
pub(super) fn execute(options: &Options, key: Key) -> Result<Run, LabError> {
    let seed = stirred(options.seed, [u64::from(key.mean_size), u64::from(key.run)]);
    let paper = FlowOptions::paper(key.mean_size);
    let drawn = FlowOptions { tasks: options.tasks, rate: key.rate(), swing: key.swing(), seed, ..paper };
    let instance = flow(&drawn)?;
    let bound = release_area_bound(&instance);
    let rules = SimulationOptions::default();
    let scene = Scene { instance: &instance, actual: &Actual::AsEstimated, options: &rules, seed };
    let mut outcomes = Vec::with_capacity(SCHEDULERS.len());
    for scheduler in SCHEDULERS {
        let failed = |reason: String| failed(scheduler.spec, key, reason);
        let played = simulate(&scene, scheduler.spec, &mut Silent).map_err(|error| failed(error.to_string()))?;
        let schedule = played.simulation.trace.schedule();
        valid(&instance, &schedule).map_err(failed)?;
        let makespan = schedule.placements().iter().map(|placement| placement.end).max().unwrap_or(Time::ZERO);
        at_least(bound.ticks().into(), Objective::Makespan, makespan.ticks().into(), scheduler.spec, key)?;
        let measures = played.task_flow.ok_or_else(|| failed("it is no flow of tasks".into()))?;
        outcomes.push(Outcome {
            makespan,
            utilisation: measures.utilisation,
            utilisation_by_speed: measures.utilisation_by_speed,
            throughput: measures.throughput,
            flow_time: played.measures.flow.mean,
            phases: Phase::ALL.map(|phase| measures.phases.share(phase)),
        });
    }
    Ok(Run { key, bound, outcomes })
}
