//! Counts the compound jobs that end by their deadlines if nodes fail, and if run times deviate from the estimates.
//!
//! A. Tselishchev and V. V. Toporkov (54th IWK, Ilmenau 2009) keep several variants of the plan of each job, so that a
//! job can switch to another variant when the load changes. The paper has no measurements of such disturbances. This
//! campaign compares `job-flow`, which keeps variants, with HEFT's plan on random flows of jobs.

#[cfg(test)]
mod tests;

use std::fmt;

use clap::Args;
use makespan::{Circumstances, Deviation, Silent, SimulationInput, SimulationOptions, simulate};
use makespan_core::Actual;
use makespan_generate::{GraphOptions, generate_graphs};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{self, Campaign, CampaignReport, Claim, aligned, failed, positive, refuse, rows, table, texts};

/// HEFT's plan, with which the other policies are compared.
const HEFT: &str = "follow[scheduler=heft]";
const POLICIES: &str =
    "follow[scheduler=heft],job-flow,job-flow[starts=auto],job-flow[starts=auto,flow=finish],job-flow[starts=reserved]";

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct StrategiesOptions {
    /// Policies that are compared
    #[arg(long, default_value = POLICIES, value_name = "SPECS")]
    pub policies: String,
    /// Times between the releases of two jobs, in seconds; 0 releases all jobs at once
    #[arg(long, value_delimiter = ',', default_value = "40,20,0", value_name = "GAPS")]
    pub gaps: Vec<u32>,
    /// Number of jobs of a flow
    #[arg(long, default_value_t = 8)]
    pub jobs: usize,
    /// Number of tasks of a job
    #[arg(long, default_value_t = 12)]
    pub tasks: usize,
    /// Time from the release of a job to its deadline, as a multiple of HEFT's makespan of the job alone
    #[arg(long, default_value_t = 2.0)]
    pub deadline: f64,
    /// Failures of nodes, as in `simulate`
    #[arg(long, default_value = "model:mtbf=1000s,mttr=60s", value_name = "model:..")]
    pub failures: String,
    /// Standard deviation of the factor between estimated and actual run times
    #[arg(long, default_value_t = 0.3)]
    pub deviation: f64,
    /// Number of flows for each gap
    #[arg(long, default_value_t = 8)]
    pub runs: u32,
    /// Number of threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The disturbance of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Disturbance {
    /// Nodes fail and are repaired.
    Failures,
    /// Run times deviate from the estimates.
    Deviation,
}

impl Disturbance {
    const ALL: [Self; 2] = [Self::Failures, Self::Deviation];

    fn name(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::Deviation => "deviation",
        }
    }
}

/// The key of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StrategiesKey {
    /// The disturbance.
    pub disturbance: Disturbance,
    /// The time between two releases in seconds.
    pub gap: u32,
    /// The number of the repetition, from 0.
    pub run: u32,
}

impl fmt::Display for StrategiesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} with {} and a gap of {} s", self.run, self.disturbance.name(), self.gap)
    }
}

/// The result of a flow under one policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrategiesOutcome {
    /// Number of jobs that succeeded by their deadlines.
    in_time: usize,
    /// Cost of the flow in thousandths.
    cost: i64,
    /// Total number of times that jobs switched to another variant or were planned again.
    changes: usize,
}

/// A run of the campaign. The facts of a run are its number of jobs.
type Run = campaign::GridRun<StrategiesKey, usize, StrategiesOutcome>;

/// Writes `results.csv`.
impl Campaign for StrategiesOptions {
    const NAME: &'static str = "strategies";
    const PAPER: &'static str = "Compound jobs in time under failures and deviations of run times, with strategies of several variants \
                                 (Tselishchev, Toporkov, IWK 2009)";
    const UNIT: &'static str = "runs";
    type Run = Run;

    fn check(&self) -> Result<(), LabError> {
        if self.gaps.is_empty() {
            refuse("gaps", "", "give at least one gap in seconds, such as 20")?;
        }
        positive(&[("jobs", self.jobs), ("tasks", self.tasks), ("runs", self.runs as usize)])
    }

    fn version(&self) -> String {
        let Self { seed, jobs, tasks, deadline, failures, deviation, policies, .. } = self;
        format!("seed {seed}; {jobs} jobs; {tasks} tasks; {deadline}; {failures}; {deviation}; {policies}")
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<StrategiesKey> {
        let of = |disturbance| {
            self.gaps
                .iter()
                .flat_map(move |&gap| (0..self.runs).map(move |run| StrategiesKey { disturbance, gap, run }))
        };
        Disturbance::ALL.into_iter().flat_map(of).collect()
    }

    fn measure(&self, key: StrategiesKey) -> Result<Run, LabError> {
        let seed = self.seed + u64::from(key.run);
        let unusable = |reason: String| failed("flow", key, reason);
        let drawn = GraphOptions {
            jobs: self.jobs,
            tasks: self.tasks,
            gap: (key.gap > 0).then(|| f64::from(key.gap)),
            deadline: Some(self.deadline),
            seed,
            ..GraphOptions::default()
        };
        let instance = generate_graphs(&drawn)?;
        let (actual, options) = match key.disturbance {
            Disturbance::Failures => {
                let stated = Circumstances { failures: Some(self.failures.clone()), seed, ..Circumstances::default() };
                (Actual::AsEstimated, stated.rules(&instance).map_err(|error| unusable(error.to_string()))?)
            }
            Disturbance::Deviation => {
                let deviation = Deviation::new(self.deviation, seed).map_err(|error| unusable(error.to_string()))?;
                (deviation.draw(instance.tasks() as usize), SimulationOptions::default())
            }
        };
        let input = SimulationInput { instance: &instance, actual: &actual, options: &options, seed };
        let mut outcomes = Vec::new();
        for spec in makespan::split_specs(&self.policies) {
            let played = simulate(&input, &spec, &mut Silent).map_err(|error| unusable(error.to_string()))?;
            let flow = played.compound.map(|compound| compound.flow);
            let flow = flow.ok_or_else(|| unusable("the flow has no compound jobs".into()))?;
            let cost = i64::try_from(flow.cost).unwrap_or(i64::MAX);
            outcomes.push((spec, StrategiesOutcome { in_time: flow.in_time, cost, changes: flow.changes }));
        }
        Ok(Run { key, seed, facts: self.jobs, outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        Ok(CampaignReport { text: text(self, runs), claims: claims(self, runs), files: vec![results(runs)] })
    }
}

/// Returns the total number of jobs in time in all flows with this disturbance.
fn in_time(runs: &[Run], disturbance: Disturbance, policy: &str) -> usize {
    let own = runs.iter().filter(|run| run.key.disturbance == disturbance);
    own.filter_map(|run| run.outcomes.iter().find(|(spec, _)| spec == policy)).map(|(_, outcome)| outcome.in_time).sum()
}

/// Formats a table of the numbers of jobs in time.
fn text(options: &StrategiesOptions, runs: &[Run]) -> String {
    let jobs = |disturbance| -> usize {
        runs.iter().filter(|run| run.key.disturbance == disturbance).map(|run| run.facts).sum()
    };
    let mut text = format!(
        "Jobs in time, of {} with failures ({}) and {} with deviations ({})\n\n",
        jobs(Disturbance::Failures),
        options.failures,
        jobs(Disturbance::Deviation),
        options.deviation
    );
    let line = |name: &str, cells: Vec<String>| aligned(&[-42, 10], std::iter::once(name.to_owned()).chain(cells));
    text += &line("policy", Disturbance::ALL.iter().map(|one| one.name().to_owned()).collect());
    for policy in makespan::split_specs(&options.policies) {
        let cells = Disturbance::ALL.iter().map(|&one| in_time(runs, one, &policy).to_string());
        text += &line(&policy, cells.collect());
    }
    text
}

/// Returns, for each policy except HEFT's plan, the claim that more jobs are in time with the policy than with HEFT's
/// plan. Returns no claims if the policies do not include HEFT's plan.
fn claims(options: &StrategiesOptions, runs: &[Run]) -> Vec<Claim> {
    let policies = makespan::split_specs(&options.policies);
    if !policies.iter().any(|policy| policy == HEFT) {
        return Vec::new();
    }
    let others = policies.iter().filter(|policy| *policy != HEFT);
    let claim = |policy: &String| {
        let evidence = Disturbance::ALL.map(|one| {
            let (own, heft) = (in_time(runs, one, policy), in_time(runs, one, HEFT));
            (format!("{own} against {heft} with {}", one.name()), own > heft)
        });
        let statement = format!("More jobs are in time with {policy} than with HEFT's plan");
        Claim::each("Section 1, strategies", &statement, ", ", evidence.to_vec())
    };
    others.map(claim).collect()
}

/// Returns a row for each policy of each run.
fn results(runs: &[Run]) -> campaign::File {
    let row = |(run, policy, outcome): campaign::GridRow<'_, Run>| {
        let StrategiesKey { disturbance, gap, run: number } = run.key;
        texts(&[
            &disturbance.name(),
            &gap,
            &number,
            &policy,
            &outcome.in_time,
            &run.facts,
            &(outcome.cost as f64 / 1e3),
            &outcome.changes,
        ])
    };
    table("results.csv", "disturbance,gap,run,policy,in_time,jobs,cost,changes", rows(runs).map(row))
}
