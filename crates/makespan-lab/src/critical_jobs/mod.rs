//! Compares the planning of compound jobs by critical chains with other algorithms.
//!
//! The paper is A. Tselishchev and V. V. Toporkov, "Compound job scheduling and job-flows management in distributed
//! computing" (54th IWK, Ilmenau 2009), section 4. The paper describes only one example, and does not list its tasks.
//! So this module constructs two jobs with the deadlines of the example (110 and 140) on 8 processors.
//!
//! The campaign compares the paper's method with HEFT. On layered graphs and workflows, it measures the makespan and
//! the cost. On flows of jobs, it measures the number of jobs that end by their deadline. The jobs of a flow are
//! planned in two ways:
//! * An algorithm plans each job at its arrival, around the plans of earlier jobs.
//! * A simulation runs the metascheduler (the policy `job-flow`).

mod costs;
mod example;
mod flows;
mod makespans;
mod report;

use std::fmt;

use clap::Args;
use makespan_algos::kernel::chains::method::Method;
use makespan_algos::scheduler::CriticalJobs;
use makespan_core::{Instance, cost};
use makespan_generate::{GraphOptions, Shape, generate_graphs};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{
    self, AnyCampaign, Campaign, CampaignReport, failed, positive, rows, scheduled, stirred, table, texts,
};
use example::example;

/// The shapes of the graphs on which costs are compared.
const SHAPES: [(&str, Shape); 3] = [
    ("layered", Shape::Layers { width: 8, density: 0.3 }),
    ("montage", Shape::Montage),
    ("epigenomics", Shape::Epigenomics),
];
/// Mean times between two jobs of a flow, in seconds. 0 means that all jobs arrive at once.
const GAPS: [u32; 4] = [40, 20, 10, 0];

/// Part of the remark of the paper's method if it found no plan for a job. The job then has HEFT's plan.
const FALLBACK: &str = "HEFT's places are taken";
/// The deadlines for plans of graphs, as multiples of HEFT's makespan.
const DEADLINES: [&str; 4] = ["1.25", "1.5", "2", "3"];

/// Returns the spec of the paper's method with a deadline of `factor` times HEFT's makespan.
fn with_deadline(factor: &str) -> String {
    if factor == "1.5" { "critical-jobs".into() } else { format!("critical-jobs[deadline={factor}]") }
}

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct CriticalJobsOptions {
    /// Number of graphs for each of 3 shapes
    #[arg(long, default_value_t = 20)]
    pub graphs: u32,
    /// Number of flows for each of 4 mean times between two jobs
    #[arg(long, default_value_t = 3)]
    pub flows: u32,
    /// Number of jobs in a flow
    #[arg(long, default_value_t = 30)]
    pub jobs: usize,
    /// Number of threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The options of the part that compares makespans.
    #[command(flatten)]
    pub makespans: makespans::MakespansOptions,
}

/// The key of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CriticalJobsKey {
    /// A graph: the index of its shape, and its index among the graphs of this shape.
    Graph(u32, u32),
    /// A flow of jobs: the mean seconds between two jobs, and the index of the flow.
    Flow(u32, u32),
}

impl fmt::Display for CriticalJobsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graph(shape, run) => write!(f, "graph {run} of shape {shape}"),
            Self::Flow(gap, run) => write!(f, "flow {run} with {gap} s between jobs"),
        }
    }
}

/// Measurements of the plan of an algorithm, or of a flow under a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CriticalJobsOutcome {
    /// Makespan in seconds.
    makespan: f64,
    /// The cost: the sum of volume divided by time over all tasks. Each quotient is rounded up to a thousandth.
    cost: f64,
    /// Number of jobs that end by their deadline.
    on_time: usize,
    /// Number of jobs for which the paper's method found no plan.
    fallbacks: usize,
    /// Additional measurements. `None` if the plan is from an algorithm, and not from a policy.
    served: Option<Served>,
}

/// Additional measurements of a flow under a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// Mean load of the processors from the first release to the last end.
    utilisation: f64,
    /// Mean load of the processors divided by the largest load of a processor.
    balance: f64,
    /// Number of jobs that end by their deadline according to the policy's clock: depending on the policy, the deadline
    /// is counted from the arrival of the job or from its hand-over (the instant at which it is planned for the first
    /// time).
    as_told: usize,
    /// Number of collisions in the executed plans. In a collision, a plan puts two tasks on the same processor at the
    /// same time.
    collisions: usize,
    /// Sum of the penalties of all collisions.
    penalty: f64,
}

impl Served {
    /// Formats the five measurements as cells of a row. Without measurements, the cells are empty.
    fn cells(served: Option<&Self>) -> [String; 5] {
        let Some(Self { utilisation, balance, as_told, collisions, penalty }) = served else {
            return [const { String::new() }; 5];
        };
        [
            format!("{utilisation:.6}"),
            format!("{balance:.6}"),
            as_told.to_string(),
            collisions.to_string(),
            penalty.to_string(),
        ]
    }
}
/// Facts about an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    jobs: usize,
    /// For flows, an upper bound on the number of jobs that end by their deadline.
    at_most: Option<usize>,
}

/// A run. The first outcome is the outcome of HEFT.
type Run = campaign::GridRun<CriticalJobsKey, Facts, CriticalJobsOutcome>;

/// Returns the specs that are compared on graphs: HEFT, the paper's method as printed, the method with `cpus=types`,
/// and the method with each deadline.
fn algorithms() -> Vec<String> {
    let mut all =
        vec!["heft".to_owned(), "critical-jobs[start=empty]".into(), "critical-jobs[start=empty,cpus=types]".into()];
    all.extend(DEADLINES.iter().map(|factor| with_deadline(factor)));
    all
}

/// Writes `results.csv` and two Gantt charts of the example: `figure2.svg` (the jobs are planned one after the other)
/// and `figure3.svg` (the jobs are planned together). The second part of the campaign (about makespans) writes its
/// files to the folder `makespans`.
impl Campaign for CriticalJobsOptions {
    const NAME: &'static str = "critical-jobs";
    const PAPER: &'static str = "Tselishchev, Toporkov: compound jobs by their critical chains (IWK 2009)";
    const UNIT: &'static str = "instances";
    type Run = Run;

    fn arguments(command: clap::Command) -> clap::Command {
        makespans::MakespansOptions::usual_search(Self::augment_args(command))
    }

    fn check(&self) -> Result<(), LabError> {
        positive(&[("graphs", self.graphs as usize), ("flows", self.flows as usize), ("jobs", self.jobs)])?;
        self.makespans.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {} jobs", self.seed, self.jobs)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<CriticalJobsKey> {
        let of_shape = |shape: u32| (0..self.graphs).map(move |run| CriticalJobsKey::Graph(shape, run));
        let of_gap = |&gap: &u32| (0..self.flows).map(move |run| CriticalJobsKey::Flow(gap, run));
        (0..SHAPES.len() as u32).flat_map(of_shape).chain(GAPS.iter().flat_map(of_gap)).collect()
    }

    fn measure(&self, key: CriticalJobsKey) -> Result<Run, LabError> {
        let (drawn, algorithms) = match key {
            CriticalJobsKey::Graph(shape, run) => {
                let shape = SHAPES[shape as usize % SHAPES.len()].1;
                let seed = stirred(self.seed, [u64::from(run)]);
                let tasks = 20 + (run as usize * 37) % 81;
                let all = algorithms().into_iter().chain(DEADLINES.iter().map(|factor| costs::spec(factor)));
                (GraphOptions { shape, tasks, seed, ..GraphOptions::default() }, all.collect())
            }
            CriticalJobsKey::Flow(gap, run) => {
                let gap = (gap > 0).then_some(f64::from(gap));
                let seed = stirred(self.seed, [u64::from(run)]);
                let deadline = Some(2.0);
                let drawn = GraphOptions { jobs: self.jobs, tasks: 12, gap, deadline, seed, ..GraphOptions::default() };
                (drawn, vec!["heft".into(), "critical-jobs[deadline=2,start=empty]".into(), with_deadline("2")])
            }
        };
        let instance = generate_graphs(&drawn)?;
        let each = algorithms.into_iter().map(|algorithm| outcome(&instance, algorithm, key));
        let mut outcomes = each.collect::<Result<Vec<_>, _>>()?;
        let mut at_most = None;
        match key {
            CriticalJobsKey::Graph(..) => outcomes.extend(costs::bounds(&instance, outcomes[0].1.makespan, key)?),
            CriticalJobsKey::Flow(..) => {
                at_most = Some(flows::at_most(&instance));
                for policy in flows::POLICIES {
                    outcomes.push((policy.to_owned(), flows::outcome(&instance, policy)?));
                }
            }
        }
        let facts = Facts { jobs: instance.jobs().len(), at_most };
        Ok(Run { key, seed: self.seed, facts, outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let example = example()?;
        let mut claims = report::claims(runs, &example);
        claims.extend(flows::claims(runs));
        let text = report::text(self, runs, &example) + &flows::text(runs, self.jobs);
        let mut files = vec![results(runs)];
        files.extend(example.figures()?);
        Ok(CampaignReport { text, claims, files })
    }

    fn part(&self) -> Option<Box<dyn AnyCampaign>> {
        Some(Box::new(makespans::MakespansOptions { seed: self.seed, ..self.makespans.clone() }))
    }
}

fn outcome(
    instance: &Instance,
    algorithm: String,
    key: CriticalJobsKey,
) -> Result<(String, CriticalJobsOutcome), LabError> {
    let (schedule, remarks, _) =
        scheduled(instance, &algorithm, 1).map_err(|reason| failed(&algorithm, key, reason))?;
    let rule = CriticalJobs { method: Method { deadline: 2.0, ..Method::default() } };
    let outcome = CriticalJobsOutcome {
        makespan: schedule.makespan().seconds(),
        cost: cost(instance, &schedule) as f64 / 1e3,
        on_time: rule.on_time(instance, &schedule),
        fallbacks: remarks.iter().filter(|remark| remark.contains(FALLBACK)).count(),
        served: None,
    };
    Ok((algorithm, outcome))
}

/// Returns a row for each outcome.
fn results(runs: &[Run]) -> campaign::File {
    let header = "campaign,group,run,algorithm,makespan,cost,on_time,jobs,fallbacks,utilisation,balance,as_told,\
                  collisions,penalty";
    let row = |(run, algorithm, outcome): campaign::GridRow<'_, Run>| {
        let (campaign, group, number) = match run.key {
            CriticalJobsKey::Graph(shape, run) => ("cost", SHAPES[shape as usize % SHAPES.len()].0.to_owned(), run),
            CriticalJobsKey::Flow(gap, run) => ("flow", gap.to_string(), run),
        };
        let CriticalJobsOutcome { makespan, cost, on_time, fallbacks, served } = outcome;
        let head = texts(&[&campaign, &group, &number, &algorithm, &format!("{makespan:.9}"), &format!("{cost:.3}")]);
        let counts = texts(&[on_time, &run.facts.jobs, fallbacks]);
        [head, counts, Served::cells(served.as_ref()).to_vec()].concat()
    };
    table("results.csv", header, rows(runs).map(row))
}

#[cfg(test)]
mod tests;
