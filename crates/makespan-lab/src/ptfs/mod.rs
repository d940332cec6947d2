//! Flows of independent tasks on nodes of different speeds. Compares PTFS, the paper's scheduler with a dynamic
//! scheduling cycle, to three alternatives: scheduling at regular intervals, immediate mode, and the policy `flow`.
//!
//! W. Sun, Y. Zhang, Y. Wu and Y. Inoguchi, "Practical Task Flow Scheduling for High Throughput Computational Grid",
//! section 5. The paper has 4000 tasks of mean size 5000 or 50000 on ten nodes, the six schedulers of Table 2, and
//! several mean rates of arrival. The paper does not state some values, so we chose them:
//! * The capacities of the nodes are 1000, 2000 .. 10000.
//! * The communication cost is 0.05 s.
//! * The sizes of tasks are uniformly distributed.
//! * The arrival rate is constant, or swings by half of its mean to either side.
//!
//! Makespans are compared with [`makespan_bounds::release_area_bound`].

mod claims;
mod points;
mod report;

use std::fmt;

use clap::Args;
use makespan::{SimulationInput, simulate};
use makespan_bounds::release_area_bound;
use makespan_core::{Actual, Objective, Phase, Time};
use makespan_generate::{FlowOptions, flow};
use makespan_sim::{Silent, SimulationOptions};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{self, Campaign, CampaignReport, at_least, failed, positive, refuse, stirred, valid};
use points::Points;

/// A scheduler and its name in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// The name of the scheduler in the paper.
    pub name: &'static str,
    /// The specification of the policy.
    pub spec: &'static str,
    /// True for a scheduler of the paper's Table 2.
    pub printed: bool,
}

const fn printed(name: &'static str, spec: &'static str) -> Scheduler {
    Scheduler { name, spec, printed: true }
}

const fn ours(name: &'static str, spec: &'static str) -> Scheduler {
    Scheduler { name, spec, printed: false }
}

/// The schedulers of Table 2, followed by our own schedulers. In the simulation, a mapping by a genetic algorithm takes
/// as long as the paper states, and a mapping by a heuristic takes no time.
pub const SCHEDULERS: [Scheduler; 9] = [
    printed("PTFS", "ptfs[communication=0.05s]"),
    printed("GA_1", "interval[mapper=ga,scheduling-time=paper,communication=0.05s]"),
    printed("GA_2", "interval[mapper=braun-ga,scheduling-time=paper,communication=0.05s]"),
    printed("Max-min", "interval[mapper=max-min,communication=0.05s]"),
    printed("Min-min", "interval[mapper=min-min,communication=0.05s]"),
    printed("Sufferage", "interval[mapper=sufferage,communication=0.05s]"),
    ours("PTFS by events", "ptfs[cycle=event,scheduling-time=zero,communication=0.05s]"),
    ours("immediate MCT", "immediate[communication=0.05s]"),
    ours("flow", "flow[communication=0.05s]"),
];

/// The options of the campaign. The balance line is the highest arrival rate that the nodes can sustain. By default,
/// the mean rates are from one eighth of the balance line to sixteen times the balance line. The rates are constant, or
/// swing by half of their mean to either side.
#[derive(Args, Clone, Debug)]
pub struct PtfsOptions {
    /// Number of tasks in a flow; the paper has 4000
    #[arg(long, default_value_t = 4000)]
    pub tasks: usize,
    /// Mean sizes of tasks
    #[arg(long, value_delimiter = ',', default_value = "50000,5000", value_name = "SIZE,..")]
    pub sizes: Vec<u32>,
    /// Mean rates of arrival, as multiples of the balance line
    #[arg(long, value_delimiter = ',', default_value = "0.125,0.25,0.5,1,2,4,8,16", value_name = "RATE,..")]
    pub rates: Vec<f64>,
    /// Swings of the rates to either side, as fractions of the mean rates
    #[arg(long, value_delimiter = ',', default_value = "0,0.5", value_name = "SWING,..")]
    pub swings: Vec<f64>,
    /// Number of flows at each point
    #[arg(long, default_value_t = 5)]
    pub runs: u32,
    /// Number of threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The parameters of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PtfsKey {
    /// The mean size of a task.
    pub mean_size: u32,
    /// The swing: the maximum deviation of the arrival rate from its mean, in millionths of the mean. Zero means a
    /// constant rate.
    pub swing: u32,
    /// The mean arrival rate, in millionths of the balance line. The balance line ("balance" in the paper) is the
    /// highest arrival rate that the nodes can sustain.
    pub rate: u64,
    /// The number of the repetition, from 0.
    pub run: u32,
}

/// A run. Its `facts` field is a bound on the makespan, and its outcomes have the names in [`SCHEDULERS`].
type Run = campaign::GridRun<PtfsKey, Time, PtfsOutcome>;

/// The result of a scheduler on a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PtfsOutcome {
    makespan: Time,
    /// The utilisation as defined in the paper: the mean utilisation of the nodes.
    utilisation: f64,
    /// The mean utilisation of the nodes, with each node weighted by its speed.
    utilisation_by_speed: f64,
    /// The throughput in tasks per second.
    throughput: f64,
    /// The mean time from release to end, in seconds.
    flow_time: f64,
    /// The fractions of the time in the three phases of the paper: saturation, slide region and starvation.
    phases: [f64; 3],
}

impl PtfsKey {
    /// Returns the rate as a multiple of the balance line.
    fn rate(&self) -> f64 {
        self.rate as f64 / 1e6
    }

    /// Returns the swing as a fraction of the mean rate.
    fn swing(&self) -> f64 {
        f64::from(self.swing) / 1e6
    }
}

impl fmt::Display for PtfsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mean size {}, swing {}, rate {}, run {}", self.mean_size, self.swing(), self.rate(), self.run)
    }
}

/// Writes `results.csv` and the figures `figure9.svg` to `figure12.svg`.
impl Campaign for PtfsOptions {
    const NAME: &'static str = "ptfs";
    const PAPER: &'static str =
        "Sun, Zhang, Wu, Inoguchi: practical task flow scheduling for high throughput computational grid";
    const UNIT: &'static str = "flows";
    type Run = Run;

    fn check(&self) -> Result<(), LabError> {
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            refuse("sizes", format!("{:?}", self.sizes), "give at least one mean size; each must be positive")?;
        }
        if self.rates.is_empty() || !self.rates.iter().all(|rate| (1e-3..=1e3).contains(rate)) {
            refuse("rates", format!("{:?}", self.rates), "give at least one rate, each from 0.001 to 1000")?;
        }
        if self.swings.is_empty() || !self.swings.iter().all(|swing| (0.0..=1.0).contains(swing)) {
            refuse("swings", format!("{:?}", self.swings), "give at least one swing, each from 0 to 1")?;
        }
        positive(&[("tasks", self.tasks), ("runs", self.runs as usize)])
    }

    fn version(&self) -> String {
        format!("seed {}; {} tasks", self.seed, self.tasks)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<PtfsKey> {
        let mut keys = Vec::new();
        for &mean_size in &self.sizes {
            for &swing in &self.swings {
                let swing = (swing * 1e6).round() as u32;
                for &rate in &self.rates {
                    let rate = (rate * 1e6).round() as u64;
                    keys.extend((0..self.runs).map(|run| PtfsKey { mean_size, swing, rate, run }));
                }
            }
        }
        keys
    }

    /// Generates the flow and simulates it with every scheduler. In each repetition, the tasks are equal for all rates
    /// and swings. Validates every schedule. Returns an error if a makespan is below the bound.
    fn measure(&self, key: PtfsKey) -> Result<Run, LabError> {
        let seed = stirred(self.seed, [u64::from(key.mean_size), u64::from(key.run)]);
        let paper = FlowOptions::paper(key.mean_size);
        let drawn = FlowOptions { tasks: self.tasks, rate: key.rate(), swing: key.swing(), seed, ..paper };
        let instance = flow(&drawn)?;
        let bound = release_area_bound(&instance);
        let rules = SimulationOptions::default();
        let scene = SimulationInput { instance: &instance, actual: &Actual::AsEstimated, options: &rules, seed };
        let mut outcomes = Vec::with_capacity(SCHEDULERS.len());
        for scheduler in SCHEDULERS {
            let failed = |reason: String| failed(scheduler.spec, key, reason);
            let played = simulate(&scene, scheduler.spec, &mut Silent).map_err(|error| failed(error.to_string()))?;
            let schedule = played.simulation.trace.schedule();
            valid(&instance, &schedule).map_err(failed)?;
            let makespan = schedule.placements().iter().map(|placement| placement.end).max().unwrap_or(Time::ZERO);
            at_least(bound.ticks().into(), Objective::Makespan, makespan.ticks().into(), scheduler.spec, key)?;
            let measures = played.task_flow.ok_or_else(|| failed("the instance is not a flow of tasks".into()))?;
            let outcome = PtfsOutcome {
                makespan,
                utilisation: measures.utilisation,
                utilisation_by_speed: measures.utilisation_by_speed,
                throughput: measures.throughput,
                flow_time: played.measures.flow.mean,
                phases: Phase::ALL.map(|phase| measures.phases.share(phase)),
            };
            outcomes.push((scheduler.name.to_owned(), outcome));
        }
        Ok(Run { key, seed, facts: bound, outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let points = Points::of(runs);
        let mut files = report::figures(&points)?;
        files.push(report::results(runs));
        Ok(CampaignReport { claims: claims::all(&points), text: report::text(self, &points), files })
    }
}

#[cfg(test)]
mod tests;
