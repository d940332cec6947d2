//! One instance of a campaign.

use makespan_algos::kernel::chains::method::Method;
use makespan_algos::scheduler::CriticalJobs;
use makespan_core::{Context, Instance, Schedule, cost};
use makespan_generate::{GraphOptions, Shape, generate_graphs};
use serde::{Deserialize, Serialize};

use super::deadlines::{DEADLINES, spec};
use super::outcome::{Key, Outcome, Served};
use super::{Options, costs, flows};
use crate::LabError;
use crate::campaign::{failed, stirred, valid};

/// Shapes of the first campaign: layers as wide as deep, and workflows.
pub(super) const SHAPES: [(&str, Shape); 3] = [
    ("layered", Shape::Layers { width: 8, density: 0.3 }),
    ("montage", Shape::Montage),
    ("epigenomics", Shape::Epigenomics),
];
/// Mean seconds between two jobs of a flow; all at once.
pub(super) const GAPS: [u32; 4] = [40, 20, 10, 0];

/// All outcomes on one instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which instance.
    pub key: Key,
    /// How many jobs it has.
    pub jobs: usize,
    /// No schedule has more of them in time; of flows.
    #[serde(default)]
    pub at_most: Option<usize>,
    /// One an algorithm; the first is HEFT's.
    pub outcomes: Vec<Outcome>,
}

impl Run {
    /// The outcome of an algorithm.
    pub fn of(&self, algorithm: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.algorithm == algorithm)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let (campaign, group, number) = match self.key {
            Key::Graph(shape, run) => ("cost", SHAPES[shape as usize % SHAPES.len()].0.to_owned(), run),
            Key::Flow(gap, run) => ("flow", gap.to_string(), run),
        };
        self.outcomes.iter().map(move |outcome| {
            vec![
                campaign.to_owned(),
                group.clone(),
                number.to_string(),
                outcome.algorithm.clone(),
                format!("{:.9}", outcome.makespan),
                format!("{:.3}", outcome.cost),
                outcome.on_time.to_string(),
                self.jobs.to_string(),
                outcome.fallbacks.to_string(),
            ]
            .into_iter()
            .chain(Served::cells(outcome.served.as_ref()))
            .collect()
        })
    }
}

pub(super) fn keys(graphs: u32, flows: u32) -> Vec<Key> {
    let of_shape = |shape: u32| (0..graphs).map(move |run| Key::Graph(shape, run));
    let of_gap = |&gap: &u32| (0..flows).map(move |run| Key::Flow(gap, run));
    (0..SHAPES.len() as u32).flat_map(of_shape).chain(GAPS.iter().flat_map(of_gap)).collect()
}

/// Every algorithm of the first campaign: HEFT, the method as printed and with types of processors, and at each deadline.
pub(super) fn algorithms() -> Vec<String> {
    let mut all =
        vec!["heft".to_owned(), "critical-jobs[start=empty]".into(), "critical-jobs[start=empty,cpus=types]".into()];
    all.extend(DEADLINES.iter().map(|factor| spec(factor)));
    all
}

pub(super) fn execute(options: &Options, key: Key) -> Result<Run, LabError> {
    let (drawn, algorithms) = match key {
        Key::Graph(shape, run) => {
            let shape = SHAPES[shape as usize % SHAPES.len()].1;
            let seed = stirred(options.seed, [u64::from(run)]);
            let tasks = 20 + (run as usize * 37) % 81;
            let all = algorithms().into_iter().chain(DEADLINES.iter().map(|factor| costs::spec(factor)));
            (GraphOptions { shape, tasks, seed, ..GraphOptions::default() }, all.collect())
        }
        Key::Flow(gap, run) => {
            let gap = (gap > 0).then_some(f64::from(gap));
            let seed = stirred(options.seed, [u64::from(run)]);
            let deadline = Some(2.0);
            let drawn = GraphOptions { jobs: options.jobs, tasks: 12, gap, deadline, seed, ..GraphOptions::default() };
            (drawn, vec!["heft".into(), "critical-jobs[deadline=2,start=empty]".into(), spec("2")])
        }
    };
    let instance = generate_graphs(&drawn)?;
    let each = algorithms.into_iter().map(|algorithm| outcome(&instance, algorithm, key));
    let mut outcomes = each.collect::<Result<Vec<_>, _>>()?;
    let mut at_most = None;
    match key {
        Key::Graph(..) => outcomes.extend(costs::bounds(&instance, outcomes[0].makespan, key)?),
        Key::Flow(..) => {
            at_most = Some(flows::at_most(&instance));
            for policy in flows::POLICIES {
                outcomes.push(flows::outcome(&instance, policy)?);
            }
        }
    }
    Ok(Run { key, jobs: instance.jobs().len(), at_most, outcomes })
}

fn outcome(instance: &Instance, algorithm: String, key: Key) -> Result<Outcome, LabError> {
    let mut context = Context::with_seed(1);
    let scheduler = makespan_algos::scheduler(&algorithm).map_err(|error| LabError::Algorithm(error.to_string()))?;
    let plan =
        scheduler.schedule(instance, &mut context).map_err(|error| failed(&algorithm, key, error.to_string()))?;
    let schedule: Schedule =
        plan.into_schedule().ok_or_else(|| failed(&algorithm, key, "it plans no placements".into()))?;
    valid(instance, &schedule).map_err(|reason| failed(&algorithm, key, reason))?;
    let rule = CriticalJobs { method: Method { deadline: 2.0, ..Method::default() } };
    Ok(Outcome {
        makespan: schedule.makespan().seconds(),
        cost: cost(instance, &schedule) as f64 / 1e3,
        on_time: rule.on_time(instance, &schedule),
        fallbacks: context.remarks.iter().filter(|remark| remark.contains("HEFT's places are taken")).count(),
        served: None,
        algorithm,
    })
}
