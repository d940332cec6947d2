//! Measures the waits of users and of owners with and without a metascheduler over two domains.
//!
//! A. Tselishchev and V. V. Toporkov (54th IWK, Ilmenau 2009) describe the architecture: each domain has nodes, a
//! queue with a local policy, and owners with jobs of their own. Users submit compound jobs with deadlines and budgets.
//! The paper has no measurements of this architecture. The jobs of the owners come from two logs. Each run has another
//! part of the logs and other jobs of users.
//!
//! Three cases are compared: the owners alone, users without a metascheduler (each compound job is submitted to the
//! queue of one domain, and the domains take turns), and users with the metascheduler ([`Domains`]). Half of the runs
//! have failures: for two hours each, at three instants, one of the domains is down.

mod report;
mod scene;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use clap::Args;
use makespan::{Silent, SimulationInput, SimulationOptions, simulate_policy};
use makespan_algos::policy::{DomainMeasures, DomainScene, Domains, JobFlowRules};
use makespan_core::{Failure, LogEntry, Time, Trace};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{self, Campaign, CampaignReport, failed, positive, refuse, stirred};
use scene::{Scene, SceneLogs, UserJobs};

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct DomainsOptions {
    /// Logs of the owners of two domains, such as KTH.swf.gz,CTC.swf.gz [default: two random logs]
    #[arg(long, value_delimiter = ',', value_name = "LOG,LOG")]
    pub logs: Vec<PathBuf>,
    /// Local policies of the two domains
    #[arg(long, value_delimiter = ',', default_value = "easy,conservative", value_name = "POLICY,POLICY")]
    pub policies: Vec<String>,
    /// Number of jobs of owners in each domain
    #[arg(long, default_value_t = 400)]
    pub owners: usize,
    /// Number of compound jobs of users
    #[arg(long, default_value_t = 40)]
    pub users: usize,
    /// Number of runs with failures, and number of runs without failures
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Number of threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The key of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DomainsKey {
    /// Whether domains fail.
    pub failures: bool,
    /// The number of the repetition, from 0.
    pub run: u32,
}

impl fmt::Display for DomainsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} {} failures", self.run, if self.failures { "with" } else { "without" })
    }
}

/// Measurements of a simulation. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DomainsOutcome {
    /// Mean time from the submission of an owner's job to its first start, for each domain.
    owners_wait: [f64; 2],
    /// Mean time from the submission of a user's job to the first start of one of its tasks.
    users_wait: Option<f64>,
    /// Mean time from the submission of a user's job to its end.
    users_response: Option<f64>,
    /// Number of users' jobs that end by their deadline.
    in_time: usize,
    /// Number of users' jobs that were cancelled.
    cancelled: usize,
    /// Number of users' jobs with charges above their budget.
    over_budget: usize,
    /// Sum of the charges of all users' jobs, in units of volume per time.
    charges: f64,
    /// Number of times that a job switched to another variant or was planned again.
    changes: usize,
    /// Number of users' jobs with tasks in both domains.
    divided: usize,
}

/// A run. Its facts are the number of users' jobs.
type Run = campaign::GridRun<DomainsKey, usize, DomainsOutcome>;

/// The three cases, with their names in reports.
const CASES: [(&str, UserJobs); 3] =
    [("owners alone", UserJobs::None), ("local queues", UserJobs::Local), ("metascheduler", UserJobs::Metascheduler)];

/// Writes `results.csv`.
impl Campaign for DomainsOptions {
    const NAME: &'static str = "domains";
    const PAPER: &'static str = "Compound jobs of users over two domains with owners (Tselishchev, Toporkov, IWK 2009): waits with and \
                                 without a metascheduler";
    const UNIT: &'static str = "runs";
    type Run = Run;

    fn check(&self) -> Result<(), LabError> {
        if !self.logs.is_empty() && self.logs.len() != 2 {
            refuse("logs", self.logs.len().to_string(), "give two logs, or none for random logs")?;
        }
        if self.policies.len() != 2 {
            refuse("policies", self.policies.len().to_string(), "give two policies, such as easy,conservative")?;
        }
        positive(&[("owners", self.owners), ("users", self.users), ("runs", self.runs as usize)])
    }

    fn version(&self) -> String {
        let Self { seed, owners, users, .. } = self;
        format!("seed {seed}; {owners} owners; {users} users; {:?}; {:?}", self.logs, self.policies)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<DomainsKey> {
        let of = |failures| (0..self.runs).map(move |run| DomainsKey { failures, run });
        of(false).chain(of(true)).collect()
    }

    fn measure(&self, key: DomainsKey) -> Result<Run, LabError> {
        let seed = stirred(self.seed, [u64::from(key.run)]);
        let logs = SceneLogs::read(self, key.run, seed)?;
        let mut outcomes = Vec::new();
        for (name, users) in CASES {
            let scene = logs.scene(self, users, seed)?;
            outcomes.push((name.to_owned(), outcome(&scene, users, name, key, seed)?));
        }
        Ok(Run { key, seed, facts: self.users, outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        Ok(CampaignReport {
            text: report::text(self, runs),
            claims: report::claims(runs),
            files: vec![report::results(runs)],
        })
    }
}

/// Simulates a case, and validates the executed schedule.
fn outcome(scene: &Scene, users: UserJobs, name: &str, key: DomainsKey, seed: u64) -> Result<DomainsOutcome, LabError> {
    let unusable = |reason: String| failed(name, key, reason);
    let Scene { instance, actual, .. } = scene;
    let budgets = if users == UserJobs::Metascheduler { scene.budgets.clone() } else { BTreeMap::new() };
    let rules = JobFlowRules { method: scene::method(), ..JobFlowRules::default() };
    let mut policy = Domains::new(instance, scene.rules.clone(), budgets, rules, seed)
        .map_err(|error| unusable(error.to_string()))?;
    let failures = if key.failures { failures(scene) } else { Vec::new() };
    let options = SimulationOptions { failures, ..SimulationOptions::default() };
    let input = SimulationInput { instance, actual, options: &options, seed };
    let played =
        simulate_policy(&input, name, &mut policy, &mut Silent).map_err(|error| unusable(error.to_string()))?;
    valid_runs(scene, &played.simulation.trace).map_err(unusable)?;
    Ok(measures(scene, &played.simulation.trace, &played.log))
}

/// Returns the failures of a run: three times, a domain is down for two hours. The domains take turns.
fn failures(scene: &Scene) -> Vec<Failure> {
    let failure = |number: i64| {
        let down = Time::from_ticks(scene.span.ticks() / 4 * number);
        let processors = scene.rules[number as usize % 2].processors.clone();
        Failure { processors, down, up: down + Time::from_seconds(7200), expected_up: None }
    };
    (1..=3).map(failure).collect()
}

/// Checks that no two runs use a processor at the same time, and that the owners stay in their domains.
fn valid_runs(scene: &Scene, trace: &Trace) -> Result<(), String> {
    let mut runs: Vec<_> = trace.runs.iter().collect();
    runs.sort_by_key(|run| (run.start, run.end));
    let mut free = vec![Time::ZERO; scene.instance.processors() as usize];
    for run in runs {
        let job = scene.instance.job_id(run.task);
        if let Some(rules) = scene.rules.iter().find(|rules| rules.owners.contains(&job))
            && !run.processors.is_subset(&rules.processors)
        {
            return Err(format!("`{}` runs outside its domain", scene.instance.name(run.task)));
        }
        for id in run.processors.iter() {
            if run.start < free[id as usize] {
                return Err(format!("`{}` overlaps another task", scene.instance.name(run.task)));
            }
            free[id as usize] = run.end;
        }
    }
    Ok(())
}

fn measures(scene: &Scene, trace: &Trace, log: &[LogEntry]) -> DomainsOutcome {
    let Scene { instance, rules, users, budgets, .. } = scene;
    let measures = DomainMeasures::of(&DomainScene { instance, rules, users, budgets }, trace, log);
    DomainsOutcome {
        owners_wait: [0, 1].map(|domain: usize| measures.owners_wait[domain].unwrap_or_default()),
        users_wait: measures.users_wait,
        users_response: measures.users_response,
        in_time: measures.in_time(),
        cancelled: measures.unfinished(),
        over_budget: measures.over_budget(),
        charges: measures.charges(),
        changes: measures.changes,
        divided: measures.divided(),
    }
}

#[cfg(test)]
mod tests;
