//! The parameters of the critical jobs method. A scheduler and a policy use this method.

use makespan_core::Instance;

use super::criterion::Criterion;
use super::ranking::Cover;
use super::reserve::Isolated;
use super::strategy::{ChainBase, Settings};
use crate::kernel::graph::GraphProblem;

/// The rules by which jobs are planned, and the time within which they must end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// The settings for each job.
    pub settings: Settings,
    /// For a job that states no deadline, the time from its release to its deadline. The unit is HEFT's makespan for
    /// the job on idle processors.
    pub deadline: f64,
    /// Whether chains are planned on types of processors. If so, collisions are resolved afterwards.
    pub types: bool,
    /// Whether the plan assumes that a transfer within a node takes as long as over the link of the node. In reality,
    /// such a transfer may take no time, so the real schedule is never longer than the plan.
    pub paid: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self { settings: Settings::default(), deadline: 1.5, types: false, paid: false }
    }
}

impl Method {
    /// Returns the tasks of an instance, with the transfer times that the method assumes.
    ///
    /// # Panics
    /// Panics if some task cannot run on one processor.
    pub fn problem(&self, instance: &Instance) -> GraphProblem {
        if self.paid { GraphProblem::with_paid_transfers(instance) } else { GraphProblem::new(instance) }
    }

    /// Returns the parameters that differ from `default`, as text for a spec, in the order of the catalogue.
    pub fn parameters(&self, default: &Self) -> Vec<String> {
        let each = self.all().into_iter().zip(default.all());
        each.filter(|(own, usual)| own != usual).map(|((key, value), _)| format!("{key}={value}")).collect()
    }

    fn all(&self) -> [(&'static str, String); 10] {
        let Settings { criterion: aim, cover: chains, start: into, penalties, isolated: alone } = self.settings;
        [
            ("criterion", criterion(aim).to_owned()),
            ("deadline", self.deadline.to_string()),
            ("chains", cover(chains).to_owned()),
            ("start", start(into).to_owned()),
            ("cpus", cpus(self.types).to_owned()),
            ("isolated", isolated(alone).to_owned()),
            ("same-cpu-transfer", transfer(self.paid).to_owned()),
            ("penalty-cost", penalties.cost.to_string()),
            ("penalty-delay", penalties.delay.to_string()),
            ("penalty-change", penalties.change.to_string()),
        ]
    }
}

fn criterion(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Cost => "cost",
        Criterion::Utilisation => "utilisation",
    }
}

fn cover(cover: Cover) -> &'static str {
    match cover {
        Cover::Covering => "covering",
        Cover::Disjoint => "disjoint",
    }
}

fn start(start: ChainBase) -> &'static str {
    match start {
        ChainBase::Empty => "empty",
        ChainBase::Heft => "heft",
        ChainBase::Both => "both",
    }
}

fn cpus(types: bool) -> &'static str {
    if types { "types" } else { "real" }
}

fn isolated(isolated: Isolated) -> &'static str {
    match isolated {
        Isolated::Run => "run",
        Isolated::Reserve => "reserve",
    }
}

fn transfer(paid: bool) -> &'static str {
    if paid { "paid" } else { "free" }
}
